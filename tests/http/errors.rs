//! Which status an error has at 2026-07-28, which codes leave at all, and what becomes of a question that its client cannot be
//! asked: cases C112, C113 and C114, and C104 as far as headers repeat URIs.

use std::{error::Error, fmt};

use actix_mcp::{
    InputRequired, Outcome, QuestionError, client::ClientCapability, error::ErrorCode,
    extract::CompletionRequest, prelude::*, question::SamplingRequest, testing::paused,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::Request,
    logs,
    served::{Client as Session, Served, message, modern, modern_with},
};

#[derive(Deserialize, JsonSchema)]
struct Name {
    #[expect(dead_code, reason = "it is asked for")]
    name: String,
}

/// An error of the author's that tells nothing of what it came from.
#[derive(Debug)]
struct Own;

impl fmt::Display for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mine")
    }
}

impl Error for Own {}

async fn elicited(client: &Client) -> Result<String, QuestionError> {
    client.elicit::<Name>("who?").await.map(|_| "asked".to_owned())
}

async fn passed_on(client: Client) -> Result<String, QuestionError> {
    elicited(&client).await
}

async fn as_text(client: Client) -> Result<String, String> {
    elicited(&client).await.map_err(|error| error.to_string())
}

async fn as_own(client: Client) -> Result<String, Own> {
    elicited(&client).await.map_err(|_| Own)
}

async fn as_anyhow(client: Client) -> anyhow::Result<String> {
    anyhow::Context::context(elicited(&client).await, "while asking")
}

async fn as_boxed(client: Client) -> Result<String, Box<dyn Error>> {
    Ok(elicited(&client).await?)
}

async fn as_protocol(client: Client) -> Result<String, McpError> {
    elicited(&client).await.map_err(|_| McpError::invalid_params("mine"))
}

async fn looked_at(client: Client) -> Result<String, String> {
    Ok(elicited(&client).await.unwrap_or_else(|error| {
        assert!(matches!(error, QuestionError::Unsupported(_)), "{error}");
        "not asked".to_owned()
    }))
}

async fn by_hand() -> Result<Outcome<String>, Own> {
    Ok(InputRequired::new().elicit::<Name>("k", "who?").into())
}

async fn required(client: Client) -> Result<String, String> {
    client.require(ClientCapability::ElicitationForm).map_err(|error| error.to_string())?;
    Ok("asked".to_owned())
}

async fn all_at_once(client: Client) -> Result<String, Own> {
    let sample = client.sample(SamplingRequest::text("hello")).await;
    let (roots, url) = (client.roots().await, client.elicit_url("sign in", "https://example.com").await);
    if sample.is_err() || roots.is_err() || url.is_err() { Err(Own) } else { Ok("asked".to_owned()) }
}

async fn completed(typed: CompletionRequest, client: Client) -> Result<Vec<String>, String> {
    elicited(&client).await.map(|_| vec![typed.value]).map_err(|error| error.to_string())
}

async fn text() -> &'static str {
    "text"
}

/// All of them as tools, prompts and resources.
fn asking() -> Server {
    macro_rules! offer {
        ($server:expr, $($name:ident)*) => {$server$(
            .tool(Tool::new(stringify!($name), $name))
            .prompt(Prompt::new(stringify!($name), $name))
            .resource(Resource::new(concat!("ask://", stringify!($name)), stringify!($name), $name))
        )*};
    }
    let server = offer!(
        Server::builder("asking", "1"),
        passed_on as_text as_own as_anyhow as_boxed as_protocol looked_at by_hand required all_at_once
    );
    server.prompt(Prompt::new("completed", text).optional_argument("a", "").complete("a", completed)).build()
}

/// The three requests that run a handler of this name.
fn requests(name: &str, capabilities: &Value) -> [Request; 3] {
    let of = |method, params| modern_with("q1", method, params, capabilities.clone());
    [
        of("tools/call", json!({ "name": name })),
        of("prompts/get", json!({ "name": name })),
        of("resources/read", json!({ "uri": format!("ask://{name}") })),
    ]
}

// C112
#[actix_web::test]
async fn a_handler_that_fails_for_what_its_client_lacks_is_answered_with_the_protocols_own_error() {
    paused();
    let served = Served::new(&asking()).await;
    for name in
        ["passed_on", "as_text", "as_own", "as_anyhow", "as_boxed", "as_protocol", "by_hand", "required"]
    {
        for request in requests(name, &json!({})) {
            let answer = served.send(&request).await.expect(400).await.json().await;
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("q1"), &json!(-32021)), "{answer}");
            let data = json!({ "requiredCapabilities": { "elicitation": {} } });
            assert_eq!(answer["error"]["data"], data, "{name}");
        }
        for request in requests(name, &json!({ "elicitation": {} })) {
            let answer = served.send(&request).await.expect(200).await.json().await;
            let kind = if name == "required" { "complete" } else { "input_required" };
            assert_eq!(answer["result"]["resultType"], kind, "{answer}");
        }
    }
    for request in requests("all_at_once", &json!({})) {
        let answer = served.send(&request).await.expect(400).await.json().await;
        let data =
            json!({ "requiredCapabilities": { "elicitation": { "url": {} }, "roots": {}, "sampling": {} } });
        assert_eq!(answer["error"]["data"], data);
    }
}

// C112
#[actix_web::test]
async fn a_handler_that_looks_at_the_error_and_has_a_result_keeps_it() {
    paused();
    let served = Served::new(&asking()).await;
    for request in requests("looked_at", &json!({})) {
        let answer = served.send(&request).await.expect(200).await.json().await;
        assert_eq!(answer["result"]["resultType"], "complete");
        assert!(answer["result"].to_string().contains("not asked"), "{answer}");
        assert_ne!(answer["result"]["isError"], true);
    }
}

// C112
#[actix_web::test]
async fn a_completer_that_asks_is_told_apart_from_a_client_that_cannot_be_asked() {
    paused();
    let served = Served::new(&asking()).await;
    let params = json!({ "ref": { "type": "ref/prompt", "name": "completed" }, "argument": { "name": "a", "value": "x" } });
    let lacks = modern_with("q1", "completion/complete", params.clone(), json!({}));
    let answer = served.send(&lacks).await.expect(400).await.json().await;
    assert_eq!(answer["error"]["code"], -32021);
    // what the client declared it need not declare again
    let declares = modern_with("q1", "completion/complete", params, json!({ "elicitation": {} }));
    let answer = served.send(&declares).await.expect(200).await.json().await;
    assert_eq!(answer["error"], json!({ "code": -32603, "message": "internal error" }));
}

// C112
#[actix_web::test]
async fn in_a_session_the_error_stays_the_handlers_own() {
    paused();
    let served = Served::new(&asking()).await;
    let hello = crate::served::initialize("2025-11-25");
    let session = Session::open_with(&served, hello, &[]).await;
    for (name, told) in [("as_own", "mine"), ("as_text", "elicitation"), ("all_at_once", "mine")] {
        let answer = session.call(1, name, json!({})).await.expect(200).await.answer().await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert!(answer["result"]["isError"] == true && text.contains(told), "{answer}");
    }
    let answer = session.call(1, "as_protocol", json!({})).await.expect(200).await.answer().await;
    assert_eq!(answer["error"], json!({ "code": -32602, "message": "mine" }));
}

/// A tool, a prompt, a resource and a completer that fail with this code.
fn failing(code: i64) -> Server {
    let error =
        move || McpError::new(ErrorCode(code), "the reason\nhas two lines").with_data(json!({ "secret": 1 }));
    let fails = move || std::future::ready(Err::<String, _>(error()));
    let wrapped = move || {
        let error = anyhow::Error::from(error()).context("wrapped");
        std::future::ready(Err::<String, _>(error))
    };
    let completes = move || std::future::ready(Err::<Vec<String>, _>(error()));
    Server::builder("failing", "1")
        .tool(Tool::new("fails", fails))
        .tool(Tool::new("wrapped", wrapped))
        .prompt(Prompt::new("fails", fails).optional_argument("a", "").complete("a", completes))
        .resource(Resource::new("mem://fails", "fails", fails))
        .build()
}

fn calls() -> Vec<(&'static str, Value)> {
    let completion =
        json!({ "ref": { "type": "ref/prompt", "name": "fails" }, "argument": { "name": "a", "value": "" } });
    vec![
        ("tools/call", json!({ "name": "fails" })),
        ("tools/call", json!({ "name": "wrapped" })),
        ("prompts/get", json!({ "name": "fails" })),
        ("resources/read", json!({ "uri": "mem://fails" })),
        ("completion/complete", completion),
    ]
}

// C114
#[actix_web::test]
async fn a_code_that_is_not_the_authors_is_an_internal_error_and_is_logged() {
    paused();
    logs::install();
    for code in [-32000, -32001, -32003, -32019, -32020, -32022, -32023, -32050, -32099] {
        let served = Served::new(&failing(code)).await;
        let session = Session::open(&served, "2025-11-25").await;
        for (method, params) in calls() {
            for own in [true, false] {
                logs::take();
                let response = if own {
                    served.send(&modern("q1", method, params.clone())).await
                } else {
                    session.post(&message("q1", method, params.clone())).await
                };
                let answer = response.expect(200).await.answer().await;
                let error = json!({ "code": -32603, "message": "internal error" });
                assert_eq!(answer["error"], error, "{code} {method}");
                let lines = logs::take();
                let of_it = lines.iter().filter(|line| {
                    line.starts_with("ERROR")
                        && line.contains(&code.to_string())
                        && line.contains(r"the reason\nhas two lines")
                });
                assert_eq!(of_it.count(), 1, "{code} {method} {lines:?}");
            }
        }
    }
}

// C113
#[actix_web::test]
async fn a_handlers_own_code_is_an_answer_like_any_other() {
    paused();
    for code in [-32601, -32602, -32600, -32603, -32700, -32100, -31999, -1, 7] {
        let served = Served::new(&failing(code)).await;
        let session = Session::open(&served, "2025-11-25").await;
        for (method, params) in calls() {
            let own = served.send(&modern("q1", method, params.clone())).await.expect(200).await.json().await;
            let other = session.post(&message("q1", method, params)).await.expect(200).await.answer().await;
            assert_eq!((&own["error"]["code"], &other["error"]["code"]), (&json!(code), &json!(code)));
        }
    }
    // where it is defined it leaves, and where it is not, its successor does
    let served = Served::new(&failing(-32002)).await;
    let session = Session::open(&served, "2025-11-25").await;
    for (method, params) in calls() {
        let own = served.send(&modern("q1", method, params.clone())).await.expect(200).await.json().await;
        let other = session.post(&message("q1", method, params)).await.expect(200).await.answer().await;
        assert_eq!((&own["error"]["code"], &other["error"]["code"]), (&json!(-32602), &json!(-32002)));
    }
}

// C104: the header repeats what the body says, and names it as it does
#[actix_web::test]
async fn a_resource_is_read_over_http_however_its_uri_is_written() {
    paused();
    let template =
        ResourceTemplate::new("file:///größe/{name}", "n", async |Uri(uri): Uri| uri.to_string());
    let served = Served::new(&Server::builder("uris", "1").resource_template(template).build()).await;
    let session = Session::open(&served, "2025-11-25").await;
    for uri in ["file:///gr%C3%B6%C3%9Fe/a.txt", "file:///gr%c3%b6%c3%9fe/a.txt", "file:///größe/a.txt"] {
        let params = json!({ "uri": uri });
        let own = modern("q1", "resources/read", params.clone());
        let own =
            if uri.is_ascii() { own } else { own.set("Mcp-Name", "=?base64?ZmlsZTovLy9ncsO2w59lL2EudHh0?=") };
        let own = served.send(&own).await.expect(200).await.json().await;
        let other =
            session.post(&message(1, "resources/read", params)).await.expect(200).await.answer().await;
        let contents = json!([{ "uri": uri, "text": uri }]);
        assert_eq!((&own["result"]["contents"], &other["result"]["contents"]), (&contents, &contents));
    }
}
