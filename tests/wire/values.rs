//! C94, C110, C115: numbers, ids and arguments as clients of every era write them.

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, script},
};
use serde_json::{Value, json};

use crate::{checks::text, fixture::server};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// Writes a line as it stands, and reads the answer.
async fn ask(pipe: &mut Pipe, line: &str) -> Value {
    pipe.write(format!("{line}\n").as_bytes()).await;
    pipe.next().await
}

/// A pipe of each era, and what each request of it holds in its parameters.
async fn eras(server: &Server) -> Vec<(Pipe, String)> {
    let mut all = vec![(Pipe::open(server), format!("{META},"))];
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        all.push((Pipe::connect(server, revision).await, String::new()));
    }
    all
}

#[actix_web::test]
async fn a_whole_number_is_an_integer_in_every_era() {
    paused();
    for (mut pipe, meta) in eras(&server()).await {
        for ms in ["10.0", "1e1", "0.0", "-0.0", "-0", "100e-1"] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"slow","arguments":{{"ms":{ms},"tag":"x"}}}}}}"#
            );
            assert_eq!(text(&ask(&mut pipe, &line).await), "x", "{ms}");
        }
        for n in ["5.0", "5e0", "1e2", "-0.0"] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"typed","arguments":{{"n":{n},"any":5.0}}}}}}"#
            );
            assert_eq!(text(&ask(&mut pipe, &line).await), "typed", "{n}");
        }
        for (ms, told) in [
            ("5.5", "argument `ms`: invalid type: floating point `5.5`, expected u64"),
            ("\"5\"", "argument `ms`: invalid type: string \"5\", expected u64"),
            ("-1.0", "argument `ms`: invalid value: integer `-1`, expected u64"),
        ] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"slow","arguments":{{"ms":{ms},"tag":"x"}}}}}}"#
            );
            let answer = ask(&mut pipe, &line).await;
            assert_eq!((text(&answer), &answer["result"]["isError"]), (told, &json!(true)));
        }
    }
}

#[actix_web::test]
async fn an_id_that_is_a_whole_number_is_that_integer() {
    paused();
    for (mut pipe, meta) in eras(&server()).await {
        for (id, integer) in [("1.0", 1), ("1e0", 1), ("-0.0", 0), ("10e-1", 1)] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta}"name":"none"}}}}"#
            );
            pipe.write(format!("{line}\n").as_bytes()).await;
            let answer = pipe.next_line().await.unwrap();
            assert!(answer.contains(&format!(r#""id":{integer},"#)), "{answer}");
        }
        // one with `7` among those in flight
        let slow = |id: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta}"name":"slow","arguments":{{"ms":500,"tag":"A"}}}}}}"#
            )
        };
        pipe.write(format!("{}\n", slow("7.0")).as_bytes()).await;
        let refused = ask(&mut pipe, &slow("7")).await;
        assert_eq!(refused["error"]["message"], "request id 7 is already in flight");
        assert_eq!(text(&pipe.answer_to(7).await), "A");
        // and a cancellation may write it either way
        for (id, cancelled) in [("8", "8.0"), ("8.0", "8"), ("8e0", "80e-1")] {
            pipe.write(format!("{}\n", slow(id)).as_bytes()).await;
            let cancel = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{meta}"requestId":{cancelled}}}}}"#
            );
            pipe.write(format!("{cancel}\n").as_bytes()).await;
            pipe.silence().await;
        }
        let refused = ask(&mut pipe, &slow("1.5")).await;
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
    }
}

#[actix_web::test]
async fn an_answer_and_a_progress_token_may_write_integers_as_floats() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":1.0},"_meta":{"progressToken":5.0}}}"#;
    pipe.write(format!("{line}\n").as_bytes()).await;
    let progress = pipe.next_line().await.unwrap();
    assert!(progress.contains(r#""progressToken":5,"#), "{progress}");
    assert_eq!(text(&pipe.next().await), "done");
    let mut pipe = Pipe::open(&server());
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    let line = line.replace(r#""progressToken""#, &format!(r#"{meta},"progressToken""#));
    pipe.write(format!("{line}\n").as_bytes()).await;
    let progress = pipe.next_line().await.unwrap();
    assert!(progress.contains(r#""progressToken":5,"#), "{progress}");
    assert_eq!(text(&pipe.next().await), "done");
    let mut pipe = Pipe::open(&server());
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "roots": {} }, "clientInfo": { "name": "t", "version": "1" } });
    pipe.request(0, "initialize", params).await;
    pipe.next().await;
    pipe.notify("notifications/initialized", json!({})).await;
    pipe.call(2, "roots", json!({})).await;
    let question = pipe.next().await;
    if let Some(id) = question["id"].as_i64() {
        let answer =
            format!(r#"{{"jsonrpc":"2.0","id":{id}.0,"result":{{"roots":[{{"uri":"file:///a"}}]}}}}"#);
        assert_eq!(text(&ask(&mut pipe, &answer).await), "file:///a");
    }
}

#[actix_web::test]
async fn the_ids_of_a_batch_may_be_written_as_floats() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-03-26").await;
    let answers = ask(
        &mut pipe,
        r#"[{"jsonrpc":"2.0","id":3.0,"method":"ping"},{"jsonrpc":"2.0","id":4e0,"method":"ping"}]"#,
    )
    .await;
    let mut ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(3), json!(4)]);
}

#[actix_web::test]
async fn a_tool_without_inputs_refuses_a_dummy_argument_by_name() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-11-25
        > tools/call {"id":1,"name":"none","arguments":{"random_string":""}}
        < {"id":1,"result":{"isError":true,"content":[{"type":"text","text":"argument `random_string`: it is not known: the tool takes no arguments"}]}}
        > tools/call {"id":2,"name":"none","arguments":{}}
        < {"id":2,"result":{"content":[{"type":"text","text":"ok"}]}}
        > tools/call {"id":3,"name":"none","arguments":null}
        < {"id":3,"result":{"content":[{"type":"text","text":"ok"}]}}
        > tools/call {"id":4,"name":"none"}
        < {"id":4,"result":{"content":[{"type":"text","text":"ok"}]}}
        "#,
    )
    .await;
}

// C118
#[actix_web::test]
async fn what_does_not_fit_a_schema_with_branches_is_named_to_the_model() {
    paused();
    let schema = r#"{"type":"object","properties":{"phone":{"type":"string"},"email":{"type":"string"}},
        "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"additionalProperties":false}"#;
    let contact = Tool::new("contact", async || "ok").input_schema(schema);
    let server = Server::builder("s", "1").tool(contact).build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call(1, "contact", json!({ "fax": true })).await;
    assert_eq!(
        text(&pipe.next().await),
        "arguments: `phone` is missing, or `email` is missing; `fax` is not allowed"
    );
}

#[actix_web::test]
#[should_panic(expected = "the website \"example\" is not a URL")]
async fn a_website_that_is_not_a_url_is_a_mistake() {
    drop(Server::builder("s", "1").website_url("example"));
}
