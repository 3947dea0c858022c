//! Extractors that a handler can take in addition to its arguments.

use std::{rc::Rc, sync::Arc};

use actix_mcp_router::{
    Args, Call, Cancelled, ErrorCode, FromCall, FromMiddleware, Http, McpError, Meta, Principal, Session,
    Tool,
    internal::{CallContext, DataMap, cancelled::is_listening},
};
use actix_web::{HttpMessage, HttpRequest, test::TestRequest, web};

use crate::{call, call_from, checked, errors_logged};

async fn text_of(tool: Tool, call: Call) -> String {
    let result = Arc::new(checked(tool)).call(call).await.unwrap();
    serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned()
}

fn from_http(request: HttpRequest, data: DataMap) -> Call {
    call_from(CallContext { http: Some(request), ..CallContext::detached() }, data, "{}")
}

async fn data(text: web::Data<String>) -> String {
    text.to_string()
}

#[tokio::test]
async fn data_is_the_apps_own_before_the_servers() {
    let server = || {
        let mut data = DataMap::default();
        data.insert(Arc::new("server".to_owned()));
        data
    };
    let app = || TestRequest::default().app_data(web::Data::new("app".to_owned())).to_http_request();
    let bare = || TestRequest::default().to_http_request();
    let tool = || Tool::new("data", data);
    assert_eq!(text_of(tool(), from_http(app(), server())).await, "app");
    assert_eq!(text_of(tool(), from_http(bare(), server())).await, "server");
    assert_eq!(text_of(tool(), call_from(CallContext::detached(), server(), "{}")).await, "server");
}

#[tokio::test]
async fn missing_data_is_named_in_the_log_but_not_to_the_client() {
    async fn two(_: web::Data<String>, _: web::Data<Rc<u8>>, _: Option<web::Data<u16>>) {}
    let tool = Arc::new(checked(Tool::new("two", two)));
    let mut error = None;
    let lines = errors_logged(async { error = tool.call(call("{}")).await.err() }).await;
    let error = error.unwrap();
    assert_eq!((error.code, error.message.as_ref()), (ErrorCode::INTERNAL_ERROR, "internal error"));
    assert!(lines[0].contains("alloc::string::String"), "{lines:?}");
}

#[tokio::test]
async fn data_may_be_a_trait_object() {
    trait Greet: Send + Sync {
        fn greet(&self) -> String;
    }
    struct Hello;
    impl Greet for Hello {
        fn greet(&self) -> String {
            "hello".to_owned()
        }
    }
    async fn greet(greeter: web::Data<dyn Greet>) -> String {
        greeter.greet()
    }
    let mut data = DataMap::default();
    data.insert::<dyn Greet>(Arc::new(Hello));
    assert_eq!(
        text_of(Tool::new("greet", greet), call_from(CallContext::detached(), data, "{}")).await,
        "hello"
    );
}

#[tokio::test]
async fn the_http_request_and_what_middleware_left_in_it() {
    #[derive(Clone)]
    struct Tenant(&'static str);
    async fn http(http: Http, FromMiddleware(Tenant(tenant)): FromMiddleware<Tenant>) -> String {
        format!("{} {:?} {tenant}", http.uri(), http.headers().get("x-a").unwrap())
    }
    let request = TestRequest::with_uri("/mcp").insert_header(("x-a", "b")).to_http_request();
    request.extensions_mut().insert(Tenant("acme"));
    assert_eq!(
        text_of(Tool::new("http", http), from_http(request, DataMap::default())).await,
        "/mcp \"b\" acme"
    );

    async fn maybe(http: Option<Http>, tenant: Option<FromMiddleware<Tenant>>) -> bool {
        http.is_none() && tenant.is_none()
    }
    assert_eq!(text_of(Tool::new("maybe", maybe), call("{}")).await, "true");
    let error = Arc::new(Tool::new("http", http)).call(call("{}")).await.unwrap_err();
    assert_eq!(error.message, "internal error");
}

#[tokio::test]
async fn a_principal_is_required_unless_it_is_optional() {
    async fn who(principal: Principal) -> String {
        principal.name().to_owned()
    }
    let context = CallContext { principal: Some(Principal::new("ada")), ..CallContext::detached() };
    assert_eq!(text_of(Tool::new("who", who), call_from(context, DataMap::default(), "{}")).await, "ada");
    let error = Arc::new(Tool::new("who", who)).call(call("{}")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_REQUEST);
}

#[tokio::test]
async fn only_who_extracts_the_cancellation_listens_to_it() {
    async fn deaf(_: Session) {}
    async fn listening(cancelled: Cancelled) -> bool {
        cancelled.is_cancelled()
    }
    for (tool, listens) in [(Tool::new("deaf", deaf), false), (Tool::new("listening", listening), true)] {
        let call = call("{}");
        let cancelled = call.cancelled().clone();
        Arc::new(tool).call(call).await.unwrap();
        assert_eq!(is_listening(&cancelled), listens);
    }
}

#[tokio::test]
async fn meta_is_read_by_key() {
    async fn meta(meta: Meta) -> Result<String, McpError> {
        Ok(format!("{:?} {:?}", meta.get::<u8>("com.example/n")?, meta.get::<u8>("absent")?))
    }
    let with = |text: &str| {
        let meta = Some(text.into());
        CallContext::detached().into_call(Arc::default(), "meta".into(), None, meta, None)
    };
    let tool = || Tool::new("meta", meta);
    assert_eq!(text_of(tool(), with(r#"{"com.example/n":7,"x":{}}"#)).await, "Some(7) None");
    assert_eq!(text_of(tool(), call("{}")).await, "None None");
    let error = Arc::new(tool()).call(with(r#"{"com.example/n":"x"}"#)).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(error.message.starts_with("_meta, com.example/n: "), "{}", error.message);
}

#[tokio::test]
async fn an_extractor_of_the_authors_decides_who_is_told() {
    struct Refuse<const CODE: i64>;
    impl<const CODE: i64> FromCall for Refuse<CODE> {
        async fn from_call(_: &Call) -> Result<Self, McpError> {
            Err(McpError::new(ErrorCode(CODE), "the reason"))
        }
    }
    async fn refuse<const CODE: i64>(_: Refuse<CODE>) {
        panic!("the handler ran");
    }
    // the model, which can do better
    assert_eq!(text_of(Tool::new("t", refuse::<-32602>), call("{}")).await, "the reason");
    // the client
    let error = Arc::new(Tool::new("t", refuse::<-32042>)).call(call("{}")).await.unwrap_err();
    assert_eq!((error.code.0, error.message.as_ref()), (-32042, "the reason"));
    // the log
    let mut error = None;
    let tool = Arc::new(Tool::new("t", refuse::<-32603>));
    let lines = errors_logged(async { error = tool.call(call("{}")).await.err() }).await;
    assert_eq!(error.unwrap().message, "internal error");
    assert_eq!(lines, [r#"extractor of "the-tool" failed: the reason"#]);
}

#[tokio::test]
async fn a_handler_takes_up_to_twelve_extractors_or_none() {
    type S = Session;
    #[expect(clippy::too_many_arguments, reason = "the most there are")]
    async fn twelve(
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        _: S,
        a: Args<Empty>,
    ) -> usize {
        12 + size_of_val(&a)
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Empty {}
    assert_eq!(text_of(Tool::new("twelve", twelve), call("{}")).await, "12");
    assert_eq!(text_of(Tool::new("none", async || 0), call("{}")).await, "0");
}
