//! Request ids: which are taken, which are refused, and when one is free again.

use actix_mcp::testing::{Pipe, paused, script};
use serde_json::{Value, json};

use crate::{
    checks::{assert_idle, assert_no_calls, text},
    fixture::server,
};

#[actix_web::test]
async fn a_second_request_under_a_live_id_is_refused_and_the_first_keeps_everything() {
    paused();
    script(
        &server(),
        r#"
        # A second request under a live id is refused without an id, and the first keeps its progress and its answer.
        > initialize 2025-11-25
        > tools/call {"id":7,"name":"progress","arguments":{"n":2,"ms":100},"_meta":{"progressToken":"p"}}
        < {"method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2}}
        > tools/call {"id":7,"name":"echo","arguments":{"text":"B"}}
        < {"id":"$absent","error":{"code":-32600,"message":"request id 7 is already in flight"}}
        < {"method":"notifications/progress","params":{"progressToken":"p","progress":2,"total":2}}
        < {"id":7,"result":{"content":[{"type":"text","text":"done"}]}}
        # It is free again after the answer.
        > tools/call {"id":7,"name":"echo","arguments":{"text":"C"}}
        < {"id":7,"result":{"content":[{"type":"text","text":"C"}]}}
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn of_two_hundred_requests_under_one_id_exactly_one_runs() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for n in 0..200 {
        pipe.call(7, "slow", json!({ "ms": 1000, "tag": n.to_string() })).await;
    }
    let mut refused = 0;
    let answer = loop {
        let message = pipe.next().await;
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["error"]["code"], -32600);
        refused += 1;
    };
    assert_eq!(refused, 199);
    assert_eq!(text(&answer), "0");
    assert_eq!(server.calls(), 1);
    pipe.silence().await;
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn below_2025_11_25_the_refusal_has_a_null_id() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut pipe = Pipe::connect(&server(), revision).await;
        pipe.call("a", "slow", json!({ "ms": 10, "tag": "A" })).await;
        pipe.call("a", "echo", json!({ "text": "B" })).await;
        let refusal = pipe.next().await;
        assert_eq!(refusal.get("id"), Some(&Value::Null), "{revision}: {refusal}");
        assert_eq!(refusal["error"]["message"], "request id \"a\" is already in flight");
        assert_eq!(text(&pipe.answer_to("a").await), "A");
    }
}

#[actix_web::test]
async fn every_method_under_a_live_id_is_refused_and_the_owner_can_still_be_cancelled() {
    paused();
    let initialize =
        r#"{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"0"}}"#;
    for (method, params) in [
        ("initialize", initialize),
        ("ping", "{}"),
        ("tools/list", "{}"),
        ("logging/setLevel", r#"{"level":"error"}"#),
        ("resources/subscribe", r#"{"uri":"mem://a"}"#),
        ("no/such", "{}"),
        ("tools/call", r#"{"name":"no such tool"}"#),
    ] {
        let server = server();
        let mut pipe = Pipe::connect(&server, "2025-11-25").await;
        pipe.call("x", "slow", json!({ "ms": 1000, "tag": "A" })).await;
        let line = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{params}}}"#);
        pipe.write(format!("{line}\n").as_bytes()).await;
        let refusal = pipe.next().await;
        assert!(refusal.get("id").is_none(), "{method}: {refusal}");
        assert_eq!(refusal["error"]["code"], -32600, "{method}");
        assert_eq!(server.stats().subscriptions, 0, "{method} had an effect");
        assert_eq!(server.stats().in_flight, 1, "{method} evicted the owner");
        pipe.cancel("x").await;
        pipe.silence().await;
        assert_no_calls(&server).await;
        // free at once, and the answer of the cancelled one never comes
        pipe.call("x", "slow", json!({ "ms": 2000, "tag": "B" })).await;
        assert_eq!(text(&pipe.next().await), "B");
        pipe.silence().await;
    }
}

#[actix_web::test]
async fn an_id_is_free_in_the_very_line_after_its_answer_or_its_cancel() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for n in 0..100 {
        pipe.call(1, "echo", json!({ "text": n.to_string() })).await;
        assert_eq!(text(&pipe.next().await), n.to_string());
    }
    // in one write: call, cancel, call under one id; the first of them is never answered
    for n in 0..100 {
        let mut lines = String::new();
        for (ms, tag) in [(5, "stopped"), (1, "kept")] {
            let params = json!({ "name": "slow", "arguments": { "ms": ms, "tag": format!("{tag} {n}") } });
            lines += &format!(
                "{}\n",
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
            );
            if tag == "stopped" {
                lines += r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
                lines += "\n";
            }
        }
        pipe.write(lines.as_bytes()).await;
        assert_eq!(text(&pipe.next().await), format!("kept {n}"));
    }
    actix_web::rt::time::sleep(std::time::Duration::from_millis(100)).await;
    pipe.silence().await;
    let (rest, ended) = pipe.finish().await;
    assert!(rest.is_empty() && ended.is_ok(), "{rest:?}");
    assert_idle(&server).await;
}

#[actix_web::test]
async fn one_and_the_text_one_are_two_requests() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-11-25
        > tools/call {"id":1,"name":"slow","arguments":{"ms":200,"tag":"number"}}
        > tools/call {"id":"1","name":"slow","arguments":{"ms":100,"tag":"text"}}
        > tools/call {"id":"01","name":"slow","arguments":{"ms":300,"tag":"other"}}
        < {"id":"1","result":{"content":[{"text":"text"}]}}
        # A cancel names one of them only.
        > tools/call {"id":"1","name":"slow","arguments":{"ms":400,"tag":"again"}}
        > notifications/cancelled {"requestId":"1"}
        < {"id":1,"result":{"content":[{"text":"number"}]}}
        < {"id":"01","result":{"content":[{"text":"other"}]}}
        = 1s
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn within_a_batch_the_second_is_refused_and_the_rest_is_served() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        > initialize 2025-03-26
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"ms":50,"tag":"A"}}},{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"B"}}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{"ms":10,"tag":"C"}}}]
        # Under the ids of a running batch nothing else is served either.
        > ping {"id":2}
        < {"id":null,"error":{"code":-32600,"message":"request id 2 is already in flight"}}
        < [{"id":null,"error":{"code":-32600,"message":"request id 1 is already in flight"}},{"id":2,"result":{"content":[{"text":"C"}]}},{"id":1,"result":{"content":[{"text":"A"}]}}]
        > ping {"id":1}
        < {"id":1,"result":{}}
        # A cancelled member has no answer; with no answer at all there is no line.
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"ms":50,"tag":"A"}}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < [{"id":2,"result":{}}]
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"ms":50,"tag":"A"}}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]
        = 1s
        < nothing
        "#,
    )
    .await;
    assert_idle(&server).await;
}

/// Every legal kind of id, as its sender writes it.
fn legal() -> Vec<String> {
    let mut ids = [
        "0",
        "-1",
        "2147483648",
        "1774232524389",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        r#""""#,
        r#""a\u0000b""#,
        r#""1.0""#,
        r#""null""#,
        r#""é 世 😀 \" \\""#,
    ]
    .map(str::to_owned)
    .to_vec();
    ids.push(format!("\"{}\"", "i".repeat(4096)));
    ids
}

#[actix_web::test]
async fn an_id_is_echoed_as_it_was_written_by_results_and_errors() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for id in legal() {
        pipe.write(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes()).await;
        pipe.write(b"\n").await;
        assert_eq!(
            pipe.next_line().await.unwrap(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
        for (method, rest) in [("tools/call", r#""params":{"name":"fail"}"#), ("no/such", r#""x":1"#)] {
            pipe.write(format!(r#"{{{rest},"method":"{method}","id":{id},"jsonrpc":"2.0"}}"#).as_bytes())
                .await;
            pipe.write(b"\n").await;
            let line = pipe.next_line().await.unwrap();
            assert!(line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},""#)), "{line}");
        }
    }
}

#[actix_web::test]
async fn a_legal_id_is_held_in_flight_and_cancelled_as_it_was_written() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for id in legal() {
        let call = r#""method":"tools/call","params":{"name":"slow","arguments":{"ms":1000,"tag":"A"}}"#;
        pipe.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{call}}}\n").as_bytes()).await;
    }
    pipe.silence().await;
    assert_eq!(server.stats().in_flight, legal().len());
    for id in legal() {
        let cancel = r#""method":"notifications/cancelled""#;
        let line = format!("{{\"jsonrpc\":\"2.0\",{cancel},\"params\":{{\"requestId\":{id}}}}}\n");
        pipe.write(line.as_bytes()).await;
    }
    pipe.silence().await;
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn an_illegal_id_is_refused_without_an_id_and_never_runs() {
    paused();
    for (revision, no_id) in [("2025-11-25", None), ("2025-06-18", Some(Value::Null))] {
        let server = server();
        let mut pipe = Pipe::connect(&server, revision).await;
        for id in [
            "null",
            "1.5",
            "1.00000000000000000001",
            "1e-1",
            "1e20",
            "1e400",
            "true",
            "false",
            "[]",
            "[1]",
            "{}",
            "18446744073709551616",
            "-9223372036854775809",
        ] {
            for (method, params) in [
                ("tools/list", "{}"),
                ("tools/call", r#"{"name":"none"}"#),
                ("initialize", "{}"),
                ("notifications/cancelled", r#"{"requestId":1}"#),
            ] {
                let line = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
                );
                pipe.write(line.as_bytes()).await;
                let refusal = pipe.next().await;
                assert_eq!(refusal.get("id"), no_id.as_ref(), "{id}: {refusal}");
                assert_eq!(refusal["error"]["code"], -32600, "{id}: {refusal}");
                assert!(refusal["error"]["message"].as_str().unwrap().contains("`id`"), "{refusal}");
            }
        }
        pipe.silence().await;
        assert_eq!(server.calls(), 0);
        pipe.request(1, "ping", json!({})).await;
        assert_eq!(pipe.next().await["result"], json!({}));
    }
}
