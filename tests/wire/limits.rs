//! Limits: what is just allowed, what is just refused, and the error that names the limit.

use std::time::Duration;

use actix_mcp::{
    Limits,
    testing::{Pipe, paused, script},
};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};

use crate::{
    checks::{assert_no_calls, text},
    fixture::{builder, limited, server},
};

fn message(refusal: &Value) -> &str {
    refusal["error"]["message"].as_str().unwrap_or_else(|| panic!("no refusal: {refusal}"))
}

#[actix_web::test]
async fn requests_in_flight() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.in_flight = 4)).build();
    script(
        &server,
        r#"
        > initialize 2025-11-25
        > initialize 2025-11-25 as b
        > tools/call {"id":1,"name":"slow","arguments":{"ms":100,"tag":"1"}}
        > tools/call {"id":2,"name":"slow","arguments":{"ms":200,"tag":"2"}}
        > tools/call {"id":3,"name":"slow","arguments":{"ms":300,"tag":"3"}}
        > tools/call {"id":4,"name":"slow","arguments":{"ms":400,"tag":"4"}}
        > tools/call {"id":5,"name":"slow","arguments":{"ms":1,"tag":"5"}}
        < {"id":5,"error":{"code":-32603,"message":"too many requests are in flight (the limit is 4)"}}
        > tools/list {"id":6}
        < {"id":6,"error":{"code":-32603}}
        # A duplicate is a duplicate, and the session's own methods are in nobody's way.
        > tools/call {"id":4,"name":"none"}
        < {"id":"$absent","error":{"code":-32600}}
        > ping {"id":7}
        < {"id":7,"result":{}}
        # Another session has its own.
        > tools/call {"id":1,"name":"none"} as b
        < b {"id":1,"result":{}}
        # A cancelled one makes room, and so does one that has ended.
        > notifications/cancelled {"requestId":4}
        > tools/call {"id":5,"name":"slow","arguments":{"ms":500,"tag":"5"}}
        < {"id":1,"result":{}}
        > tools/call {"id":1,"name":"slow","arguments":{"ms":10,"tag":"6"}}
        < {"id":1,"result":{"content":[{"text":"6"}]}}
        < {"id":2,"result":{}}
        < {"id":3,"result":{}}
        < {"id":5,"result":{"content":[{"text":"5"}]}}
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn of_many_requests_in_one_piece_what_the_first_start_gets_its_turn() {
    paused();
    // all at once they would be more than may be in flight
    let server = builder().limits(limited(|limits| limits.session.in_flight = 128)).build();
    let mut pipe = Pipe::with_buffer(&server, 1 << 20);
    pipe.initialize("2025-11-25", json!({})).await;
    let params = json!({ "name": "echo", "arguments": { "text": "x" } });
    let line = |id: u32| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string() + "\n"
    };
    pipe.write((0..500).map(line).collect::<String>().as_bytes()).await;
    for _ in 0..500 {
        let answer = pipe.next().await;
        assert!(answer.get("result").is_some(), "{answer}");
    }
}

#[actix_web::test]
async fn by_default_1024_requests_in_flight() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for id in 0..1025 {
        pipe.call(id, "slow", json!({ "ms": 10_000, "tag": "A" })).await;
    }
    let refusal = pipe.next().await;
    assert_eq!(
        (&refusal["id"], message(&refusal)),
        (&json!(1024), "too many requests are in flight (the limit is 1024)")
    );
    assert_eq!(server.stats().in_flight, 1024);
    for _ in 0..1024 {
        assert_eq!(text(&pipe.next().await), "A");
    }
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn subscriptions() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.subscriptions = 2)).build();
    script(
        &server,
        r#"
        > initialize 2025-11-25
        > resources/subscribe {"id":1,"uri":"mem://a"}
        < {"id":1,"result":{}}
        > resources/subscribe {"id":2,"uri":"mem://item/1"}
        < {"id":2,"result":{}}
        # The same again is no more.
        > resources/subscribe {"id":3,"uri":"mem://a"}
        < {"id":3,"result":{}}
        > resources/subscribe {"id":4,"uri":"mem://b"}
        < {"id":4,"error":{"code":-32603,"message":"too many resource subscriptions (the limit is 2)"}}
        > resources/unsubscribe {"id":5,"uri":"mem://a"}
        < {"id":5,"result":{}}
        > resources/subscribe {"id":6,"uri":"mem://b"}
        < {"id":6,"result":{}}
        "#,
    )
    .await;
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.request(1, "resources/subscribe", json!({ "uri": "mem://a" })).await;
    assert_eq!(pipe.next().await["result"], json!({}));
    assert_eq!(server.stats().subscriptions, 1, "the script's session has ended with its two");
    drop(pipe.finish().await);
    assert_eq!(server.stats().subscriptions, 0);
}

#[actix_web::test]
async fn open_requests_to_the_client() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.client_requests = 2)).build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for id in [1, 2] {
        pipe.call(id, "ask", json!({})).await;
        assert_eq!(pipe.next().await["method"], "elicitation/create");
    }
    pipe.call(3, "ask", json!({})).await;
    let answer = pipe.next().await;
    assert_eq!(answer["id"], 3);
    assert_eq!(text(&answer), "ask failed: too many requests to the client are open (the limit is 2)");
    pipe.answer(&json!(1), json!({ "action": "decline" })).await;
    assert_eq!(text(&pipe.next().await), "declined");
    pipe.call(4, "ask", json!({})).await;
    assert_eq!(pipe.next().await["method"], "elicitation/create");
}

#[actix_web::test]
async fn messages_in_a_batch() {
    paused();
    let server = builder().limits(limited(|limits| limits.message.batch = 3)).build();
    let mut pipe = Pipe::connect(&server, "2025-03-26").await;
    let ping = |id: i32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    pipe.send(&(0..3).map(ping).collect()).await;
    assert_eq!(pipe.next().await.as_array().unwrap().len(), 3);
    pipe.send(&(0..4).map(ping).collect()).await;
    let refusal = pipe.next().await;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!(message(&refusal), "a batch holds at most 3 messages, this one has 4");
    pipe.silence().await;
}

#[actix_web::test]
async fn levels_of_nesting() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    // the message, its params, their arguments: three levels, and so many more
    let call = |levels: usize| {
        let any = format!("{}{}", "[".repeat(levels - 3), "]".repeat(levels - 3));
        let params = format!(r#"{{"name":"typed","arguments":{{"n":1,"any":{any}}}}}"#);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}\n")
    };
    pipe.write(call(64).as_bytes()).await;
    assert_eq!(text(&pipe.next().await), "typed");
    for levels in [65, 100, 100_000] {
        pipe.write(call(levels).as_bytes()).await;
        let refusal = pipe.next().await;
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(1), &json!(-32600)));
        assert_eq!(message(&refusal), "the message nests deeper than 64 levels");
    }
    assert_eq!(server.calls(), 1);
}

#[actix_web::test]
async fn bytes_of_an_id() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let id = "i".repeat(8 * 1024);
    pipe.call(id.clone(), "none", json!({})).await;
    assert_eq!(pipe.next().await["id"], id);
    pipe.call(format!("{id}i"), "none", json!({})).await;
    let refusal = pipe.next().await;
    assert!(refusal.get("id").is_none(), "an id over the limit is not given back");
    assert_eq!(
        (&refusal["error"]["code"], message(&refusal)),
        (&json!(-32600), "`id` is longer than 8192 bytes")
    );
    assert_eq!(server.calls(), 1);
}

#[actix_web::test]
async fn bytes_of_names_and_uris() {
    paused();
    let server = builder().limits(limited(|limits| limits.message.name_bytes = 100)).build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (method, field, prefix) in [
        ("tools/call", "name", ""),
        ("prompts/get", "name", ""),
        ("resources/read", "uri", "mem://item/"),
        ("resources/subscribe", "uri", "mem://item/"),
        ("resources/unsubscribe", "uri", "mem://item/"),
    ] {
        for (bytes, over) in [(100, false), (101, true)] {
            let name = format!("{prefix}{}", "n".repeat(bytes - prefix.len()));
            pipe.request(1, method, json!({ field: name })).await;
            let answer = pipe.next().await;
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            assert_eq!(said == format!("`{field}` is longer than 100 bytes"), over, "{method}: {answer}");
            if over {
                assert_eq!(answer["error"]["code"], -32602, "{method}");
            }
        }
    }
    let method = "m".repeat(100);
    pipe.request(1, &method, json!({})).await;
    assert_eq!(pipe.next().await["error"]["code"], -32601);
    pipe.request(1, &format!("{method}m"), json!({})).await;
    let refusal = pipe.next().await;
    assert_eq!(message(&refusal), "`method` is longer than 100 bytes");
}

#[actix_web::test]
async fn bytes_of_a_line() {
    paused();
    let server = builder().limits(limited(|limits| limits.message.line_bytes = 1000)).build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let line = |bytes: usize| {
        let start = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#;
        format!("{start}{}\"}}}}", "x".repeat(bytes - start.len() - 3))
    };
    pipe.write(format!("{}\n", line(1000)).as_bytes()).await;
    assert_eq!(pipe.next().await["result"], json!({}));
    pipe.write(format!("{}\n", line(1001)).as_bytes()).await;
    let refusal = pipe.next().await;
    assert_eq!(message(&refusal), "the message is too long (the limit is 1000 bytes)");
    assert!(refusal.get("id").is_none());
    pipe.request(2, "ping", json!({})).await;
    assert_eq!(pipe.next().await["id"], 2);
}

#[actix_web::test]
async fn the_wait_for_the_client() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call(1, "ask", json!({})).await;
    pipe.next().await;
    sleep(Duration::from_millis(59_900)).await;
    pipe.silence().await;
    sleep(Duration::from_millis(200)).await;
    assert_eq!(pipe.until_silence().await.len(), 2, "the cancellation and the answer");
}

#[test]
fn limits_are_read_from_a_configuration_and_a_mistake_in_it_is_named() {
    let read = |text: &str| serde_json::from_str::<Limits>(text).map_err(|error| error.to_string());
    let limits = read(
        r#"{ "message": { "line_bytes": 1 }, "http": { "keep_alive": "1m 30s" }, "process": { "listens": 2 },
        "session": { "replay": { "life": "200ms" } }, "state": { "life": "1h" } }"#,
    );
    let expected = limited(|limits| {
        limits.message.line_bytes = 1;
        limits.http.keep_alive = Duration::from_secs(90);
        limits.process.listens = 2;
        limits.session.replay.life = Duration::from_millis(200);
        limits.state.life = Duration::from_secs(3600);
    });
    assert_eq!(limits, Ok(expected));
    assert_eq!(read("{}"), Ok(Limits::default()));
    for (text, named) in [
        (r#"{ "session": { "in_flights": 1 } }"#, "in_flights"),
        (r#"{ "sessions": {} }"#, "sessions"),
        (r#"{ "session": { "idle": "soon" } }"#, "soon"),
        (r#"{ "http": { "body_bytes": -1 } }"#, "-1"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(named), "{text}: {error}");
    }
}
