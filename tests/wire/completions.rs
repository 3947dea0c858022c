//! Completion: how many values a client is sent, and what cannot be completed.

use actix_mcp::{
    extract::CompletionRequest,
    prelude::*,
    result::Completion,
    testing::{Pipe, contains, paused},
};
use serde_json::{Value, json};

use crate::fixture::server;

async fn prompt() -> &'static str {
    "ok"
}

async fn read(Uri(uri): Uri) -> String {
    uri.to_string()
}

/// As many values as the text says.
async fn so_many(typed: CompletionRequest) -> Vec<String> {
    (0..typed.value.parse().unwrap_or(0)).map(|n: usize| n.to_string()).collect()
}

async fn echo(typed: CompletionRequest) -> Vec<String> {
    let mut context: Vec<_> =
        typed.context.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    context.sort();
    [vec![typed.argument, typed.value], context].concat()
}

async fn known_total() -> Completion {
    Completion::new(["a"]).total(7).has_more(true)
}

async fn fail() -> Result<Vec<String>, String> {
    Err("SECRET".to_owned())
}

fn completing() -> Server {
    let arguments = ["count", "echo", "total", "fail", "plain"];
    let prompt = arguments
        .into_iter()
        .fold(Prompt::new("p", prompt), |prompt, name| prompt.optional_argument(name, ""));
    Server::builder("completing", "1")
        .prompt(
            prompt
                .complete("count", so_many)
                .complete("echo", echo)
                .complete("total", known_total)
                .complete("fail", fail),
        )
        .resource(Resource::new("mem://plain", "plain", read))
        .resource_template(ResourceTemplate::new("mem://{a}/{b}", "t", read).complete("b", echo))
        .build()
}

async fn complete(pipe: &mut Pipe, reference: Value, name: &str, value: &str) -> Value {
    let argument = json!({ "name": name, "value": value });
    pipe.request(1, "completion/complete", json!({ "ref": reference, "argument": argument })).await;
    pipe.next().await
}

fn of(name: &str) -> Value {
    json!({ "type": "ref/prompt", "name": name })
}

#[actix_web::test]
async fn a_client_is_sent_a_hundred_values_at_most_and_told_of_the_rest() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    let answer = complete(&mut pipe, of("greet"), "name", "").await;
    let completion = &answer["result"]["completion"];
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!(completion["values"][99], "name099");
    assert_eq!(completion["total"], 250);
    assert_eq!(completion["hasMore"], true);
    let answer = complete(&mut pipe, of("greet"), "name", "name24").await;
    assert_eq!(answer["result"]["completion"]["values"].as_array().map(Vec::len), Some(10));

    let mut pipe = Pipe::connect(&completing(), "2025-11-25").await;
    for (count, sent, more) in
        [(0, 0, false), (1, 1, false), (99, 99, false), (100, 100, false), (101, 100, true)]
    {
        let answer = complete(&mut pipe, of("p"), "count", &count.to_string()).await;
        let completion = &answer["result"]["completion"];
        assert_eq!(completion["values"].as_array().map(Vec::len), Some(sent), "{answer}");
        assert_eq!(completion["total"], count);
        assert_eq!(completion["hasMore"], more);
    }
    let answer = complete(&mut pipe, of("p"), "total", "").await;
    assert_eq!(answer["result"], json!({ "completion": { "values": ["a"], "total": 7, "hasMore": true } }));
}

#[actix_web::test]
async fn a_completer_knows_the_argument_what_was_typed_and_the_other_arguments() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::connect(&completing(), revision).await;
        let argument = json!({ "name": "echo", "value": "ty" });
        let context = json!({ "arguments": { "plain": "x", "count": "2" } });
        pipe.request(
            1,
            "completion/complete",
            json!({ "ref": of("p"), "argument": argument, "context": context }),
        )
        .await;
        assert_eq!(
            pipe.next().await["result"]["completion"]["values"],
            json!(["echo", "ty", "count=2", "plain=x"])
        );
        for context in [Value::Null, json!({}), json!({ "arguments": null }), json!({ "arguments": {} })] {
            pipe.request(
                1,
                "completion/complete",
                json!({ "ref": of("p"), "argument": argument, "context": context }),
            )
            .await;
            assert_eq!(
                pipe.next().await["result"]["completion"]["values"],
                json!(["echo", "ty"]),
                "{context}"
            );
        }
        let template = json!({ "type": "ref/resource", "uri": "mem://{a}/{b}" });
        let answer = complete(&mut pipe, template, "b", "x").await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["b", "x"]));
        let concrete = json!({ "type": "ref/resource", "uri": "mem://1/2" });
        let answer = complete(&mut pipe, concrete, "b", "x").await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["b", "x"]));
    }
}

#[actix_web::test]
async fn what_has_no_completer_has_no_values() {
    paused();
    let mut pipe = Pipe::connect(&completing(), "2025-11-25").await;
    let none = json!({ "completion": { "values": [], "total": 0, "hasMore": false } });
    for (reference, argument) in [
        (of("p"), "plain"),
        (of("p"), "no such argument"),
        (json!({ "type": "ref/resource", "uri": "mem://{a}/{b}" }), "a"),
        (json!({ "type": "ref/resource", "uri": "mem://plain" }), "a"),
    ] {
        let answer = complete(&mut pipe, reference.clone(), argument, "").await;
        assert_eq!(answer["result"], none, "{reference} {argument}");
    }
}

#[actix_web::test]
async fn what_names_nothing_or_is_mistyped_is_refused() {
    paused();
    let mut pipe = Pipe::connect(&completing(), "2025-11-25").await;
    let good = json!({ "name": "count", "value": "1" });
    for (params, message) in [
        (json!({ "ref": of("ghost"), "argument": good }), "unknown prompt: `ref.name` is \"ghost\""),
        (
            json!({ "ref": { "type": "ref/resource", "uri": "x:y" }, "argument": good }),
            "unknown resource template: `ref.uri` is \"x:y\"",
        ),
        (
            json!({ "ref": { "type": "ref/tool", "name": "x" }, "argument": good }),
            "`ref.type` is neither \"ref/prompt\" nor \"ref/resource\"",
        ),
        (json!({ "ref": { "name": "p" }, "argument": good }), "`ref.type` is missing"),
        (json!({ "ref": { "type": "ref/prompt" }, "argument": good }), "`ref.name` is missing"),
        (json!({ "ref": "p", "argument": good }), "`ref` is not an object"),
        (json!({ "argument": good }), "`ref` is missing"),
        (json!({ "ref": of("p") }), "`argument` is missing"),
        (json!({ "ref": of("p"), "argument": [] }), "`argument` is not an object"),
        (json!({ "ref": of("p"), "argument": { "name": "count" } }), "`argument.value` is missing"),
        (
            json!({ "ref": of("p"), "argument": { "name": "count", "value": 1 } }),
            "`argument.value` is not a string",
        ),
        (json!({ "ref": of("p"), "argument": { "value": "" } }), "`argument.name` is missing"),
        (json!({ "ref": of("p"), "argument": good, "context": 1 }), "`context` is not an object"),
        (
            json!({ "ref": of("p"), "argument": good, "context": { "arguments": { "a": 1 } } }),
            "`context.arguments` is not an object of strings",
        ),
    ] {
        pipe.request(1, "completion/complete", params.clone()).await;
        let answer = pipe.next().await;
        contains(&answer, &json!({ "error": { "code": -32602, "message": message } }))
            .unwrap_or_else(|error| panic!("{params}: {error}"));
    }
    let answer = complete(&mut pipe, of("p"), "fail", "").await;
    assert_eq!(answer["error"], json!({ "code": -32603, "message": "internal error" }));
}

#[actix_web::test]
async fn a_server_without_completers_has_no_completion() {
    paused();
    let server = Server::builder("none", "1").prompt(Prompt::new("p", prompt)).build();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::open(&server);
        let hello = pipe.initialize(revision, json!({})).await;
        assert_eq!(hello["capabilities"].get("completions"), None);
        assert_eq!(complete(&mut pipe, of("p"), "a", "").await["error"]["code"], -32601);
    }
}
