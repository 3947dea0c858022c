//! C117: the errors of registration.

use serde_json::json;

use super::*;
use crate::wire::content::Icon;

async fn nothing() -> &'static str {
    ""
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri, "r", nothing)
}

#[test]
fn a_resource_is_at_a_uri() {
    let router = Router::new("s", "1");
    for uri in [
        "not a uri",
        "a.txt",
        "/a/b",
        "mem://a b",
        "file:///gr\u{f6}\u{df}e",
        "1a:b",
        "mem://%zz",
        "mem://[a",
        "?",
        "a\n:b",
    ] {
        let told = router.add_resource(resource(uri)).unwrap_err();
        assert_eq!(told, AddError::Uri { uri: uri.to_owned() });
        assert!(told.to_string().contains("is not a URI"), "{told}");
    }
    for uri in [
        "mem://a",
        "a:b",
        "file:///gr%C3%B6%C3%9Fe/a.txt",
        "https://[::1]:1/a?b#c",
        "urn:isbn:1",
        "x-my.scheme+1:",
    ] {
        router.add_resource(resource(uri)).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(router.add_resource(resource("")), Err(AddError::NoName { kind: "resource" }));
}

#[test]
fn icons_and_keys_of_meta_are_looked_at_in_every_definition() {
    let router = Router::new("s", "1");
    let template = || ResourceTemplate::new("t:{x}", "t", nothing);
    let wrong = "what?";
    for told in [
        router.add_tool(Tool::new("t", nothing).meta(wrong, 2)),
        router.add_prompt(Prompt::new("t", nothing).meta(wrong, 2)),
        router.add_resource(resource("t:x").meta(wrong, 2)),
        router.add_resource_template(template().meta(wrong, 2)),
    ] {
        let told = told.unwrap_err();
        assert!(matches!(&told, AddError::Meta { member, .. } if member == wrong), "{told}");
        assert!(told.to_string().contains("is not a key of `_meta`: its name"), "{told}");
    }
    let reserved = router.add_tool(Tool::new("t", nothing).meta("dev.mcp/x", json!({}))).unwrap_err();
    assert!(reserved.to_string().contains("reserved"), "{reserved}");
    let icon = || Icon::new("javascript:alert(1)");
    for told in [
        router.add_tool(Tool::new("t", nothing).icon(icon())),
        router.add_prompt(Prompt::new("t", nothing).icon(icon())),
        router.add_resource(resource("t:x").icon(icon())),
        router.add_resource_template(template().icon(icon())),
    ] {
        let told = told.unwrap_err();
        assert!(matches!(told, AddError::Icon { .. }), "{told}");
    }
    let told = router.add_resource_template(ResourceTemplate::new("t:<{x}>", "t", nothing)).unwrap_err();
    assert_eq!(told, AddError::Literal { template: "t:<{x}>".to_owned(), wrong: '<' });
    let told = router.add_resource_template(ResourceTemplate::new("/a/{x}", "t", nothing)).unwrap_err();
    assert_eq!(told, AddError::NoScheme { template: "/a/{x}".to_owned() });
    // nothing was registered
    router.add_tool(Tool::new("t", nothing).meta("com.example/x", 1).icon(Icon::new("data:,"))).unwrap();
    router.add_prompt(Prompt::new("t", nothing)).unwrap();
    router.add_resource(resource("t:x")).unwrap();
    router.add_resource_template(template()).unwrap();
}

#[test]
#[should_panic(expected = "resource \"not a uri\": it is not a URI")]
fn whoever_builds_a_server_gets_a_panic() {
    Router::new("s", "1").resource(resource("not a uri"));
}

#[test]
fn a_name_that_clients_may_refuse_is_taken() {
    let router = Router::new("s", "1");
    for name in ["odd name", "\u{e4}", "a/b", &"x".repeat(129)] {
        assert_eq!(router.add_tool(Tool::new(name, nothing)), Ok(()), "{name}");
    }
}

#[test]
#[should_panic(expected = "the server already has a value of type `u8`")]
fn a_value_of_a_type_that_is_there_is_refused() {
    let mut router = Router::new("s", "1");
    router.settings_mut().insert_data(std::sync::Arc::new(1_u16));
    router.settings_mut().insert_data(std::sync::Arc::new(1_u8));
    router.settings_mut().insert_data(std::sync::Arc::new(2_u8));
}
