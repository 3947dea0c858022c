use super::*;

#[test]
fn a_method_that_nothing_offers_is_unknown() {
    let router = Router::new("s", "1");
    for name in ["initialize", "ping", "logging/setLevel"] {
        assert!(router.method(name).is_ok(), "{name}");
    }
    for name in ["tools/list", "resources/subscribe", "completion/complete", "no/such", ""] {
        assert_eq!(router.method(name).unwrap_err().code, ErrorCode::METHOD_NOT_FOUND, "{name}");
    }
    router.offer(Capability::Tools);
    assert_eq!(router.method("tools/list").unwrap(), Method::ListTools);
}
