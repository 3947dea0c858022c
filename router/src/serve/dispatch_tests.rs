use std::sync::Mutex;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::*;
use crate::{
    call::extract::{Args, Meta},
    catalog::{
        add_error::AddError,
        completion::{Completion, CompletionRequest},
        prompt::{Prompt, PromptMessage, PromptResult},
        resource::{Resource, Uri},
        resource_template::ResourceTemplate,
        tool::Tool,
    },
    wire::{
        capability::Capability,
        change::{Change, ChangeListener},
        content::{Content, ResourceContents},
        id::RequestId,
        peer::{ClientCapabilities, Implementation, Peer},
        tool_result::ToolResult,
    },
};

const LATEST: Revision = Revision::LATEST_HANDSHAKE;

fn context(revision: Revision) -> CallContext {
    let peer = Peer::new(revision, ClientCapabilities::default(), Implementation::default(), None);
    CallContext { peer: Arc::new(peer), ..CallContext::detached() }
}

/// Parameters of this text; none of an empty one.
fn given(params: &str) -> Parameters {
    if params.is_empty() { Parameters::default() } else { Parameters::read(params).unwrap() }
}

/// The response to a request with id 7, which must be echoed.
fn answer(
    router: &Arc<Router>,
    revision: Revision,
    method: &str,
    params: &str,
) -> (Value, Option<ErrorCode>) {
    let request = Request { id: RequestId::from(7_i64), method: method.into(), params: given(params) };
    let reply = router.dispatch(request, context(revision)).now_or_never().expect("no handler here waits");
    let mut json: Value = serde_json::from_slice(&reply.json).unwrap();
    let envelope = json.as_object_mut().unwrap();
    assert_eq!((envelope.remove("jsonrpc"), envelope.remove("id")), (Some(json!("2.0")), Some(json!(7))));
    assert_eq!(envelope.len(), 1, "{envelope:?}");
    (json, reply.code)
}

fn result(router: &Arc<Router>, method: &str, params: Value) -> Value {
    let (mut json, code) = answer(router, LATEST, method, &params.to_string());
    assert_eq!(code, None, "{json}");
    json["result"].take()
}

/// The code and the message.
fn refused(router: &Arc<Router>, method: &str, params: &str) -> (i64, String) {
    let (json, code) = answer(router, LATEST, method, params);
    let error = &json["error"];
    assert_eq!(code.map(|code| code.0), error["code"].as_i64(), "{json}");
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
}

fn shared(build: impl FnOnce(&mut Router)) -> Arc<Router> {
    let mut router = Router::new("s", "1");
    build(&mut router);
    Arc::new(router)
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("SECRET");
    }
}

struct PanicsInDisplay;

impl std::fmt::Display for PanicsInDisplay {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("SECRET");
    }
}

#[test]
fn a_method_that_nothing_offers_is_unknown() {
    let router = Router::new("s", "1");
    assert_eq!(router.method("initialize", LATEST).unwrap(), Method::Initialize);
    assert_eq!(router.method("ping", LATEST).unwrap(), Method::Ping);
    for name in ["tools/list", "resources/subscribe", "completion/complete", "no/such", "Tools/List", ""] {
        assert_eq!(router.method(name, LATEST).unwrap_err().code, ErrorCode::METHOD_NOT_FOUND, "{name}");
    }
    router.declare(Capability::Tools);
    assert_eq!(router.method("tools/list", LATEST).unwrap(), Method::ListTools);
    assert_eq!(refused(&Arc::new(router), "no/such", "").0, -32601);
}

#[test]
fn a_tool_gets_its_arguments_as_they_came() {
    async fn shown(Args(arguments): Args<serde_json::Map<String, Value>>) -> String {
        Value::Object(arguments).to_string()
    }
    let router = shared(|router| router.tool(Tool::new("shown", shown)));
    let text =
        |params| result(&router, "tools/call", params)["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(json!({ "name": "shown", "arguments": { "a": [1, "x"] } })), r#"{"a":[1,"x"]}"#);
    assert_eq!(text(json!({ "name": "shown" })), "{}");
    assert_eq!(text(json!({ "name": "shown", "arguments": null, "task": { "ttl": 1 } })), "{}");
    for bad in ["[]", "\"x\"", "7"] {
        let params = format!(r#"{{"name":"shown","arguments":{bad}}}"#);
        assert_eq!(refused(&router, "tools/call", &params).0, -32602, "{bad}");
    }
}

#[test]
fn a_tool_that_is_not_there_is_named() {
    let router = shared(|router| router.declare(Capability::Tools));
    let unknown = refused(&router, "tools/call", r#"{"name":"gh\nost"}"#);
    assert_eq!(unknown, (-32602, r#"unknown tool: `name` is "gh\nost""#.to_owned()));
    for (params, message) in [
        ("", "`name` is missing"),
        ("{}", "`name` is missing"),
        (r#"{"name":7}"#, "`name` is not a string"),
        (r#"{"name":null}"#, "`name` is not a string"),
        (r#"{"name":"a","name":"b"}"#, "duplicate member `name`"),
    ] {
        assert_eq!(refused(&router, "tools/call", params), (-32602, message.to_owned()), "{params}");
    }
}

#[test]
fn a_name_may_be_as_long_as_its_limit_and_no_longer() {
    let router = shared(|router| {
        router.declare(Capability::Tools);
        router.declare(Capability::Resources);
    });
    for (method, member) in [("tools/call", "name"), ("resources/read", "uri")] {
        let message =
            |bytes: usize| refused(&router, method, &json!({ member: "x".repeat(bytes) }).to_string()).1;
        assert!(!message(8192).contains("longer"));
        assert_eq!(message(8193), format!("`{member}` is longer than 8192 bytes"));
    }
}

#[test]
fn a_progress_token_is_a_string_or_an_integer_and_nothing_else() {
    async fn token(meta: Meta) -> String {
        drop(meta);
        String::new()
    }
    let router = shared(|router| router.tool(Tool::new("token", token)));
    let call = |token: &str| format!(r#"{{"name":"token","_meta":{{"progressToken":{token}}}}}"#);
    for token in ["0", "7", "\"7\"", "\"\"", "9007199254740993", "-1"] {
        let (json, code) = answer(&router, LATEST, "tools/call", &call(token));
        assert_eq!(code, None, "{token}: {json}");
        let read = progress_token_of(&call(token));
        assert_eq!(serde_json::to_string(&read).unwrap(), token);
    }
    // C115: echoed as the integer it is
    for (token, echoed) in
        [("1.0", "1"), ("1e2", "100"), ("-0.0", "0"), ("18446744073709551615.0", "18446744073709551615")]
    {
        let read = progress_token_of(&call(token));
        assert_eq!(serde_json::to_string(&read).unwrap(), echoed);
    }
    for token in ["1.5", "1e20", "1e1000000000", "null", "{}", "[]", "true", "18446744073709551616"] {
        let message = "`_meta.progressToken` is not a string or an integer".to_owned();
        assert_eq!(refused(&router, "tools/call", &call(token)), (-32602, message), "{token}");
    }
    assert_eq!(
        refused(&router, "tools/call", r#"{"name":"token","_meta":[]}"#).1,
        "`_meta` is not an object"
    );
    assert!(answer(&router, LATEST, "tools/call", r#"{"name":"token","_meta":null}"#).1.is_none());
}

fn progress_token_of(params: &str) -> Option<crate::wire::id::ProgressToken> {
    let params = Parameters::read(params).unwrap();
    crate::serve::calls::progress_token((&params).raw("_meta").unwrap()).unwrap()
}

#[test]
fn whatever_panics_in_a_handler_is_one_internal_error_without_its_text() {
    let router = shared(|router| {
        router.tool(Tool::new("panics", async || -> String { panic!("SECRET") }));
        router.tool(Tool::new("drop", async || {
            let _guard = PanicsInDrop;
            "ok"
        }));
        router.tool(Tool::new("display", async || Err::<String, _>(PanicsInDisplay)));
        router.tool(Tool::new("payload", async || -> String { std::panic::panic_any(PanicsInDrop) }));
        router.prompt(
            Prompt::new("p", async || Err::<String, _>(PanicsInDisplay))
                .argument("a", "")
                .complete("a", async || -> Vec<String> { panic!("SECRET") }),
        );
        router.resource(Resource::new("mem://a", "a", async || -> Vec<u8> { panic!("SECRET") }));
    });
    let completion = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#;
    for (method, params) in [
        ("tools/call", r#"{"name":"panics"}"#),
        ("tools/call", r#"{"name":"drop"}"#),
        ("tools/call", r#"{"name":"display"}"#),
        ("tools/call", r#"{"name":"payload"}"#),
        ("prompts/get", r#"{"name":"p","arguments":{"a":""}}"#),
        ("resources/read", r#"{"uri":"mem://a"}"#),
        ("completion/complete", completion),
    ] {
        assert_eq!(
            refused(&router, method, params),
            (-32603, "internal error".to_owned()),
            "{method} {params}"
        );
    }
}

#[test]
fn a_result_is_cut_to_its_revision() {
    async fn full() -> ToolResult {
        let result = ToolResult::new().content(Content::audio(vec![1], "audio/wav"));
        result.content(Content::resource_link("mem://a", "a")).structured(&json!({ "v": 1 })).unwrap()
    }
    let router = shared(|router| router.tool(Tool::new("full", full)));
    let shape = |revision| {
        let (json, _) = answer(&router, revision, "tools/call", r#"{"name":"full"}"#);
        let kinds: Vec<_> =
            json["result"]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        (json!(kinds), json["result"].get("structuredContent").is_some())
    };
    assert_eq!(shape(Revision::V2024_11_05), (json!(["text", "text"]), false));
    assert_eq!(shape(Revision::V2025_03_26), (json!(["audio", "text"]), false));
    assert_eq!(shape(Revision::V2025_06_18), (json!(["audio", "resource_link"]), true));
    assert_eq!(shape(Revision::V2025_11_25), (json!(["audio", "resource_link"]), true));
}

#[test]
fn structured_content_that_is_no_object_is_sent_as_its_text_only() {
    async fn list() -> ToolResult {
        ToolResult::new().structured(&[1, 2]).unwrap()
    }
    let router = shared(|router| router.tool(Tool::new("list", list)));
    let result = result(&router, "tools/call", json!({ "name": "list" }));
    assert_eq!(result, json!({ "content": [{ "type": "text", "text": "[1,2]" }] }));
}

#[test]
fn an_authors_error_has_no_code_that_its_revision_lacks() {
    let data = json!({ "elicitations": [{ "mode": "url", "elicitationId": "1", "url": "https://a.test", "message": "" }] });
    let error = McpError::new(ErrorCode::URL_ELICITATION_REQUIRED, "sign in").with_data(data);
    let asks = move || std::future::ready(Err::<String, _>(error.clone()));
    let router = shared(|router| router.tool(Tool::new("asks", asks)));
    let code = |revision| answer(&router, revision, "tools/call", r#"{"name":"asks"}"#).1;
    assert_eq!(code(Revision::V2025_11_25), Some(ErrorCode::URL_ELICITATION_REQUIRED));
    assert_eq!(code(Revision::V2025_06_18), Some(ErrorCode::INTERNAL_ERROR));
}

#[test]
fn a_list_is_paged_and_its_cursors_are_its_own() {
    let router = shared(|router| {
        router.set_page_size(10);
        for number in 0..25 {
            router.tool(Tool::new(format!("t{number}"), async || "x"));
            router.prompt(Prompt::new(format!("p{number}"), async || "x"));
        }
    });
    let mut params = json!({});
    let mut names = Vec::new();
    let mut cursors = Vec::new();
    loop {
        let page = result(&router, "tools/list", params);
        names.extend(
            page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page.get("nextCursor") else { break };
        cursors.push(cursor.clone());
        params = json!({ "cursor": cursor });
    }
    assert_eq!(names, (0..25).map(|number| format!("t{number}")).collect::<Vec<_>>());
    assert_eq!(cursors.len(), 2);
    assert_eq!(
        result(&router, "tools/list", json!({ "cursor": null }))["tools"].as_array().unwrap().len(),
        10
    );

    let foreign = result(&router, "prompts/list", json!({}))["nextCursor"].take();
    for bogus in [json!("bogus"), json!(""), json!(5), foreign] {
        let (code, message) = refused(&router, "tools/list", &json!({ "cursor": bogus }).to_string());
        assert!(code == -32602 && message.contains("`cursor`"), "{bogus}: {message}");
    }
    assert!(router.remove_tool("t4"));
    assert_eq!(refused(&router, "tools/list", &json!({ "cursor": cursors[0] }).to_string()).0, -32602);
}

#[test]
fn lists_are_the_same_bytes_at_every_start() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Zoo {
        #[expect(dead_code, reason = "only its place counts")]
        zebra: i64,
        #[expect(dead_code, reason = "only its place counts")]
        ape: Option<String>,
    }
    let page = || {
        let router = shared(|router| {
            router.tool(Tool::new("z", async |_: Args<Zoo>| "x"));
            router.tool(Tool::new("a", async || "x"));
        });
        router.tools.page(LATEST, None).unwrap()
    };
    let first = page();
    for _ in 0..5 {
        assert_eq!(first, page());
    }
    let text = std::str::from_utf8(&first).unwrap();
    assert!(text.find("zebra") < text.find("ape") && text.find(r#""name":"z""#) < text.find(r#""name":"a""#));
}

#[test]
fn a_prompt_is_filled_in_with_its_arguments() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Greet {
        /// Who is greeted.
        name: String,
        #[serde(default)]
        how: Option<String>,
    }
    async fn greet(Args(Greet { name, how }): Args<Greet>) -> String {
        format!("{} {name}", how.as_deref().unwrap_or("Hello"))
    }
    let router = shared(|router| router.prompt(Prompt::new("greet", greet).description("Greets.")));
    let list = result(&router, "prompts/list", json!({}));
    assert_eq!(
        list["prompts"],
        json!([{
            "name": "greet",
            "description": "Greets.",
            "arguments": [
                { "name": "name", "description": "Who is greeted.", "required": true },
                { "name": "how", "required": false },
            ],
        }])
    );
    assert_eq!(
        result(&router, "prompts/get", json!({ "name": "greet", "arguments": { "name": "Ann" } })),
        json!({
            "description": "Greets.",
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Hello Ann" } }],
        })
    );
    for (params, names) in [
        (json!({ "name": "ghost" }), "`name` is \"ghost\""),
        (json!({}), "`name`"),
        (json!({ "name": "greet" }), "argument \"name\""),
        (json!({ "name": "greet", "arguments": null }), "argument \"name\""),
        (json!({ "name": "greet", "arguments": { "name": 7 } }), "argument \"name\" is not a string"),
        (json!({ "name": "greet", "arguments": [] }), "`arguments`"),
    ] {
        let (code, message) = refused(&router, "prompts/get", &params.to_string());
        assert!(code == -32602 && message.contains(names), "{params}: {message}");
    }
}

#[test]
fn a_prompt_may_return_messages_of_both_roles() {
    let router = shared(|router| {
        router.prompt(Prompt::new("both", async || {
            Ok::<_, McpError>(vec![
                PromptMessage::user("q"),
                PromptMessage::assistant(Content::image(vec![1], "image/png")),
            ])
        }));
        router.prompt(Prompt::new("own", async || PromptResult {
            description: Some("mine".to_owned()),
            messages: vec![PromptMessage::user(Content::audio(vec![1], "audio/wav"))],
        }));
    });
    let both = result(&router, "prompts/get", json!({ "name": "both" }));
    assert_eq!(
        (&both["messages"][0]["role"], &both["messages"][1]["role"]),
        (&json!("user"), &json!("assistant"))
    );
    assert!(both.get("description").is_none());
    let (own, _) = answer(&router, Revision::V2024_11_05, "prompts/get", r#"{"name":"own"}"#);
    assert_eq!(own["result"]["description"], "mine");
    assert_eq!(own["result"]["messages"][0]["content"]["type"], "text");
}

fn resources() -> Arc<Router> {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Item {
        id: String,
    }
    shared(|router| {
        let a = Resource::new("mem://a", "a", async |uri: Uri| format!("content of {uri}"));
        router.resource(a.mime_type("text/plain"));
        router.resource(Resource::new("mem://blob", "blob", async || vec![0_u8, 255]));
        let own = Resource::new("mem://own", "own", async || ResourceContents::text("mem://else", "x"));
        router.resource(own.mime_type("text/plain"));
        let item = async |Args(Item { id }): Args<Item>| match id.as_str() {
            "none" => Ok(None),
            "empty" => Ok(Some(vec![])),
            "fails" => Err("SECRET"),
            _ => Ok(Some(vec![ResourceContents::text(format!("mem://item/{id}"), "x")])),
        };
        router.resource_template(ResourceTemplate::new("mem://item/{id}", "item", item).mime_type("text/x"));
        let missing = async || Err::<String, _>(McpError::new(ErrorCode::RESOURCE_NOT_FOUND, "gone"));
        router.resource_template(ResourceTemplate::new("gone://{id}", "gone", missing));
    })
}

#[test]
fn a_resource_is_read_by_its_uri_or_by_the_template_it_fits() {
    let router = resources();
    let read = |uri: &str| result(&router, "resources/read", json!({ "uri": uri }))["contents"].take();
    let text = |uri: &str, text: &str, kind: &str| json!([{ "uri": uri, "mimeType": kind, "text": text }]);
    assert_eq!(read("mem://a"), text("mem://a", "content of mem://a", "text/plain"));
    assert_eq!(read("mem://item/7"), text("mem://item/7", "x", "text/x"));
    assert_eq!(read("mem://blob"), json!([{ "uri": "mem://blob", "blob": "AP8=" }]));
    assert_eq!(read("mem://own"), json!([{ "uri": "mem://else", "text": "x" }]));
}

#[test]
fn a_resource_that_is_not_there_is_an_error_with_its_uri() {
    let router = resources();
    for uri in ["mem://none", "mem://item/none", "mem://item/empty", "mem://item/a/b", "gone://x", ""] {
        let (json, code) = answer(&router, LATEST, "resources/read", &json!({ "uri": uri }).to_string());
        assert_eq!(code, Some(ErrorCode::RESOURCE_NOT_FOUND), "{uri}");
        assert_eq!(json["error"]["data"], json!({ "uri": uri }));
    }
    assert_eq!(refused(&router, "resources/read", "{}"), (-32602, "`uri` is missing".to_owned()));
    let failed = refused(&router, "resources/read", r#"{"uri":"mem://item/fails"}"#);
    assert_eq!(failed, (-32603, "internal error".to_owned()));
}

#[test]
fn what_is_listed_or_fits_a_template_can_be_subscribed_to() {
    let router = resources();
    let subscribable = |uri: &str| router.subscribable(&given(&json!({ "uri": uri }).to_string()));
    for uri in ["mem://a", "mem://item/7", "mem://item/none"] {
        assert_eq!(subscribable(uri).unwrap(), uri);
    }
    assert_eq!(subscribable("mem://none").unwrap_err().code, ErrorCode::RESOURCE_NOT_FOUND);
    assert_eq!(router.subscribable(&given("")).unwrap_err().message, "`uri` is missing");
    assert_eq!(router.parse_uri(&given(r#"{"uri":"mem://none"}"#)).unwrap(), "mem://none");
}

#[test]
fn templates_are_listed_apart_from_resources() {
    let router = resources();
    let count = |method, member: &str| result(&router, method, json!({}))[member].as_array().unwrap().len();
    assert_eq!(count("resources/list", "resources"), 3);
    assert_eq!(count("resources/templates/list", "resourceTemplates"), 2);
}

fn completing(count: usize) -> Arc<Router> {
    shared(|router| {
        let names = move |typed: CompletionRequest| async move {
            let all = (0..count).map(|number| format!("name{number:03}"));
            all.filter(|name| name.starts_with(&typed.value)).collect::<Vec<_>>()
        };
        let greet = Prompt::new("greet", async || "x").argument("name", "").optional_argument("how", "");
        router.prompt(greet.complete("name", names));
        let id = async |typed: CompletionRequest| {
            vec![format!("{}:{}:{}", typed.argument, typed.value, typed.context["a"])]
        };
        router.resource_template(
            ResourceTemplate::new("mem://{a}/{id}", "item", async || "x").complete("id", id),
        );
        router.resource(Resource::new("mem://r", "r", async || "x"));
    })
}

fn complete(router: &Arc<Router>, reference: Value, argument: &str, value: &str) -> Value {
    let argument = json!({ "name": argument, "value": value });
    let params = json!({ "ref": reference, "argument": argument, "context": { "arguments": { "a": "b" } } });
    result(router, "completion/complete", params)["completion"].take()
}

#[test]
fn at_most_a_hundred_values_are_sent_and_the_rest_is_counted() {
    let greet = json!({ "type": "ref/prompt", "name": "greet" });
    let values = |count, typed: &str| {
        let completion = complete(&completing(count), greet.clone(), "name", typed);
        (
            completion["values"].as_array().unwrap().len(),
            completion["total"].clone(),
            completion["hasMore"].clone(),
        )
    };
    assert_eq!(values(250, ""), (100, json!(250), json!(true)));
    assert_eq!(values(100, ""), (100, json!(100), json!(false)));
    assert_eq!(values(101, ""), (100, json!(101), json!(true)));
    assert_eq!(values(250, "name24"), (10, json!(10), json!(false)));
    assert_eq!(values(250, "x"), (0, json!(0), json!(false)));
}

#[test]
fn a_completer_that_knows_more_than_it_gives_says_so() {
    let cut = |given: usize, total, has_more| {
        let completion = Completion { values: vec![String::new(); given], total, has_more }.cut();
        (completion.values.len(), completion.total, completion.has_more)
    };
    assert_eq!(cut(2, Some(9), false), (2, Some(9), true));
    assert_eq!(cut(2, None, true), (2, None, true));
    assert_eq!(cut(300, None, true), (100, None, true));
    assert_eq!(cut(3, Some(1), false), (3, Some(3), false));
}

#[test]
fn a_template_completes_its_variables_with_what_is_known_already() {
    let router = completing(0);
    let template = json!({ "type": "ref/resource", "uri": "mem://{a}/{id}" });
    assert_eq!(complete(&router, template, "id", "x")["values"], json!(["id:x:b"]));
    let fits = json!({ "type": "ref/resource", "uri": "mem://q/r" });
    assert_eq!(complete(&router, fits, "id", "x")["values"], json!(["id:x:b"]));
    let resource = json!({ "type": "ref/resource", "uri": "mem://r" });
    assert_eq!(complete(&router, resource, "id", "x")["values"], json!([]));
}

#[test]
fn an_unknown_argument_has_no_values_and_an_unknown_prompt_is_an_error() {
    let router = completing(5);
    let greet = json!({ "type": "ref/prompt", "name": "greet" });
    for argument in ["how", "ghost"] {
        let completion = complete(&router, greet.clone(), argument, "");
        assert_eq!(completion, json!({ "values": [], "total": 0, "hasMore": false }));
    }
    let argument = json!({ "name": "name", "value": "" });
    for (params, names) in [
        (
            json!({ "ref": { "type": "ref/prompt", "name": "ghost" }, "argument": argument }),
            "`ref.name` is \"ghost\"",
        ),
        (
            json!({ "ref": { "type": "ref/resource", "uri": "no" }, "argument": argument }),
            "`ref.uri` is \"no\"",
        ),
        (json!({ "ref": { "type": "ref/tool", "name": "x" }, "argument": argument }), "`ref.type`"),
        (json!({ "ref": greet }), "`argument` is missing"),
        (json!({ "argument": argument }), "`ref` is missing"),
        (json!({ "ref": greet, "argument": { "name": "name" } }), "`argument.value` is missing"),
        (
            json!({ "ref": greet, "argument": argument, "context": { "arguments": { "a": 1 } } }),
            "`context.arguments`",
        ),
    ] {
        let (code, message) = refused(&router, "completion/complete", &params.to_string());
        assert!(code == -32602 && message.contains(names), "{params}: {message}");
    }
    let none = shared(|router| router.prompt(Prompt::new("p", async || "x")));
    assert_eq!(refused(&none, "completion/complete", "{}").0, -32601);
}

#[derive(Default)]
struct Notes(Mutex<Vec<(Change, usize)>>, std::sync::OnceLock<Arc<Router>>);

impl ChangeListener for Notes {
    fn announce(&self, change: Change) {
        let tools = self.1.get().map_or(0, |router| router.tools.snapshot().iter().count());
        self.0.lock().unwrap().push((change, tools));
    }
}

#[test]
fn a_change_is_announced_once_it_took_effect() {
    let notes = Arc::new(Notes::default());
    let router = shared(|router| router.tool(Tool::new("a", async || "x")));
    notes.1.set(Arc::clone(&router)).unwrap_or_else(|_| panic!("set twice"));
    router.set_change_listener(Arc::clone(&notes) as Arc<dyn ChangeListener>);
    router.add_tool(Tool::new("b", async || "x")).unwrap();
    assert!(router.add_tool(Tool::new("b", async || "x")).is_err());
    assert!(router.remove_tool("a") && !router.remove_tool("a"));
    router.add_prompt(Prompt::new("p", async || "x")).unwrap();
    router.add_resource(Resource::new("mem://r", "r", async || "x")).unwrap();
    router.add_resource_template(ResourceTemplate::new("mem://{r}", "r", async || "x")).unwrap();
    assert!(
        router.remove_resource("mem://r")
            && router.remove_resource_template("mem://{r}")
            && router.remove_prompt("p")
    );
    router.resource_updated("mem://r");
    let notes: Vec<_> = std::mem::take(&mut *notes.0.lock().unwrap());
    let changes: Vec<_> = notes.iter().map(|(change, _)| change.clone()).collect();
    use Change::{Prompts, Resource as Updated, Resources, Tools};
    let expected = [
        Tools,
        Tools,
        Prompts,
        Resources,
        Resources,
        Resources,
        Resources,
        Prompts,
        Updated("mem://r".into()),
    ];
    assert_eq!(changes, expected);
    assert_eq!((notes[0].1, notes[1].1), (2, 1));
}

#[test]
fn a_capability_stays_when_the_last_of_its_kind_is_removed() {
    let router = shared(|router| router.tool(Tool::new("a", async || "x")));
    assert!(router.remove_tool("a"));
    assert_eq!(result(&router, "tools/list", json!({})), json!({ "tools": [] }));
    let told = serde_json::to_value(router.initialize_result(LATEST)).unwrap();
    assert_eq!(told["capabilities"], json!({ "tools": { "listChanged": true } }));
}

#[test]
fn capabilities_are_those_of_what_is_registered() {
    let told = |revision| {
        serde_json::to_value(completing(0).initialize_result(revision)).unwrap()["capabilities"].take()
    };
    let with = json!({
        "completions": {},
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
    });
    assert_eq!(told(LATEST), with);
    assert!(told(Revision::V2024_11_05).get("completions").is_none());
}

#[test]
fn an_authors_mistake_is_told_when_it_is_registered() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "only the types count")]
    struct Count {
        text: Option<String>,
        n: u64,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the types count")]
    struct Closed {
        n: String,
    }
    let router = completing(0);
    let error = |result: Result<(), AddError>| result.unwrap_err().to_string();
    assert_eq!(
        error(router.add_prompt(Prompt::new("greet", async || "x"))),
        "prompt \"greet\" is already registered"
    );
    assert_eq!(error(router.add_prompt(Prompt::new("", async || "x"))), "a prompt has no name");
    let long = Resource::new("x".repeat(8193), "r", async || "x");
    assert_eq!(error(router.add_resource(long)), "a resource has a name of 8193 bytes (the limit is 8192)");
    let odd = ResourceTemplate::new("x:{?q}", "r", async || "x");
    let expected = "resource template \"x:{?q}\": the expression \"{?q}\" is neither {var} nor {+var}";
    assert_eq!(error(router.add_resource_template(odd)), expected);
    let stray = Prompt::new("p", async || "x").complete("ghost", async || vec!["x"]);
    assert_eq!(
        error(router.add_prompt(stray)),
        "prompt \"p\" has a completer for \"ghost\", which does not exist"
    );
    let number = Prompt::new("p", async |_: Args<Count>| "x");
    let expected = "prompt \"p\": argument \"n\" is not a string; clients can send only strings";
    assert_eq!(error(router.add_prompt(number)), expected);
    assert!(router.prompts.get("p").is_none());
    // a template and its reader have the same names
    let keyed = ResourceTemplate::new("n://{key}/{lang}", "n", async |_: Args<Count>| "x");
    let expected = "resource template \"n://{key}/{lang}\": its reader requires the argument \"n\", but its variables \
                    are key, lang";
    assert_eq!(error(router.add_resource_template(keyed)), expected);
    let one = Resource::new("n://1", "n", async |_: Args<Count>| "x");
    let expected = "resource \"n://1\": its reader requires the argument \"n\", but a resource has no variables: use a \
                    `ResourceTemplate`";
    assert_eq!(error(router.add_resource(one)), expected);
    let closed = ResourceTemplate::new("n://{n}/{key}", "n", async |_: Args<Closed>| "x");
    let expected = "resource template \"n://{n}/{key}\": its reader refuses the variable \"key\" (`deny_unknown_fields`)";
    assert_eq!(error(router.add_resource_template(closed)), expected);
    let twice = ResourceTemplate::new("n://{n}", "n", async |_: Args<Count>, _: Args<Count>| "x");
    assert!(error(router.add_resource_template(twice)).contains("takes all arguments"));
    // C104
    let a = async || "x";
    router.add_resource(Resource::new("mem://dup/%C3%B6", "r", a)).unwrap();
    let again = error(router.add_resource(Resource::new("MEM://dup/%c3%b6", "r", a)));
    assert_eq!(again, "resource \"MEM://dup/%c3%b6\" is already registered");
    router.add_resource_template(ResourceTemplate::new("mem://dup/a b/{id}", "r", a)).unwrap();
    let again = ResourceTemplate::new("mem://dup/%61%20b/{id}", "r", a);
    assert!(error(router.add_resource_template(again)).ends_with("is already registered"));
    assert!(
        router.remove_resource("mem://dup/%C3%B6") && router.remove_resource_template("mem://DUP/a%20b/{id}")
    );
}

#[test]
fn a_name_registered_twice_panics_with_the_authors_line() {
    // other tests panic too, at the same time
    let (place, here) = (Arc::new(Mutex::new(None)), std::thread::current().id());
    let seen = Arc::clone(&place);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == here {
            *seen.lock().unwrap() =
                info.location().map(|location| (location.file().to_owned(), location.line()));
        }
    }));
    let mut router = Router::new("s", "1");
    router.prompt(Prompt::new("p", async || "x"));
    let twice = AssertUnwindSafe(|| router.prompt(Prompt::new("p", async || "x")));
    let line = line!() - 1;
    let panicked = std::panic::catch_unwind(twice).is_err();
    std::panic::set_hook(before);
    assert!(panicked);
    let (file, at) = place.lock().unwrap().clone().unwrap();
    assert!(file.ends_with("dispatch_tests.rs") && at == line, "{file} {at}");
}

#[test]
fn a_level_is_one_of_the_eight() {
    let level = |level: &str| Router::parse_level(&given(&format!(r#"{{"level":{level}}}"#)));
    assert_eq!(level("\"warning\"").unwrap(), Level::Warning);
    for bad in ["\"WARN\"", "\"loud\"", "5", "null", r#"{"debug":null}"#] {
        let error = level(bad).unwrap_err();
        assert!(error.code.0 == -32602 && error.message.contains("`level`"), "{bad}");
    }
    assert_eq!(Router::parse_level(&given("")).unwrap_err().message, "`level` is missing");
}

#[test]
fn a_dropped_dispatch_drops_its_handler() {
    let (sender, mut dropped) = oneshot::channel::<()>();
    let sender = Mutex::new(Some(sender));
    let router = shared(|router| {
        router.tool(Tool::new("waits", move || {
            let guard = sender.lock().unwrap().take();
            async move {
                std::future::pending::<()>().await;
                drop(guard);
                "never"
            }
        }));
    });
    let request = Request {
        id: RequestId::from(1_i64),
        method: "tools/call".into(),
        params: given(r#"{"name":"waits"}"#),
    };
    let mut running = Box::pin(router.dispatch(request, context(LATEST)));
    assert!((&mut running).now_or_never().is_none());
    assert_eq!(dropped.try_recv(), Err(oneshot::error::TryRecvError::Empty));
    drop(running);
    assert_eq!(dropped.try_recv(), Err(oneshot::error::TryRecvError::Closed));
}

/// What every request's task holds. glibc serves up to 1032 bytes from a cache of the thread, the task's own parts included;
/// beyond, an allocation costs as much as the rest of the call.
#[test]
fn the_future_of_a_request_is_small() {
    let router = Arc::new(Router::new("test", "1"));
    let request = Request { id: RequestId::from(7_i64), method: "tools/call".into(), params: given("") };
    let size = size_of_val(&router.dispatch(request, context(LATEST)));
    assert!(size <= 704, "{size} bytes");
}
