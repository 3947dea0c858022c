//! Requests to the client: whose answer counts, and what becomes of one that is never answered.

use std::time::Duration;

use actix_mcp::testing::{Pipe, Posts, paused, script};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    checks::{assert_idle, assert_no_calls, text},
    fixture::{builder, limited, server},
};

/// Tools that ask, and the method of what they ask.
const ASKING: [(&str, &str); 4] = [
    ("ask", "elicitation/create"),
    ("ask_url", "elicitation/create"),
    ("sample", "sampling/createMessage"),
    ("roots", "roots/list"),
];

#[actix_web::test]
async fn an_ask_that_is_not_answered_in_time_is_cancelled_at_the_client() {
    paused();
    let server = builder()
        .limits(limited(|limits| limits.session.client_request_timeout = Duration::from_secs(1)))
        .build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (tool, method) in ASKING {
        let start = Instant::now();
        pipe.call(1, tool, json!({})).await;
        let ask = pipe.next().await;
        assert_eq!(ask["method"], method, "{tool}");
        let cancelled = pipe.next().await;
        assert_eq!(cancelled["method"], "notifications/cancelled", "{tool}");
        assert_eq!(cancelled["params"]["requestId"], ask["id"], "{tool}");
        let waited = start.elapsed();
        assert!((1000..1100).contains(&waited.as_millis()), "{tool}: {waited:?}");
        let answer = pipe.next().await;
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)), "{tool}");
        assert!(text(&answer).starts_with("ask failed: ") && text(&answer).contains("in time"), "{answer}");
        // the answer comes after all
        pipe.answer(&ask["id"], json!({ "action": "accept", "content": { "x": "late" } })).await;
        pipe.silence().await;
    }
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn an_error_of_the_client_is_an_error_of_the_ask() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for error in [
        json!({ "code": -32601, "message": "Method not found" }),
        json!({ "code": -1, "message": "User rejected", "data": { "a": [1] } }),
        json!({ "code": "what", "message": 5 }),
        json!("no object"),
    ] {
        for (tool, _) in ASKING {
            pipe.call(1, tool, json!({})).await;
            let ask = pipe.next().await;
            pipe.send(&json!({ "jsonrpc": "2.0", "id": ask["id"], "error": error })).await;
            let answer = pipe.next().await;
            assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)), "{tool}");
            assert!(text(&answer).starts_with("ask failed: the client answered with an error"), "{answer}");
        }
    }
    pipe.silence().await;
}

#[actix_web::test]
async fn cancelling_the_call_takes_its_question_back() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (tool, _) in ASKING {
        pipe.call(1, tool, json!({})).await;
        let ask = pipe.next().await;
        pipe.cancel(1).await;
        let cancelled = pipe.next().await;
        assert_eq!(cancelled["method"], "notifications/cancelled", "{tool}");
        assert_eq!(cancelled["params"]["requestId"], ask["id"], "{tool}");
        assert_no_calls(&server).await;
        pipe.answer(&ask["id"], json!({ "action": "accept", "content": { "x": "late" } })).await;
        pipe.silence().await;
        // nothing of it is left to time out
        sleep(Duration::from_secs(100)).await;
        pipe.silence().await;
    }
}

#[actix_web::test]
async fn at_the_end_of_the_input_whoever_waits_for_the_client_goes_on() {
    paused();
    let server = server();
    for (tool, _) in ASKING {
        let mut pipe = Pipe::connect(&server, "2025-11-25").await;
        pipe.call(1, tool, json!({})).await;
        pipe.next().await;
        let start = Instant::now();
        let (rest, ended) = pipe.finish().await;
        assert!(ended.is_ok() && start.elapsed() < Duration::from_millis(100), "{tool}");
        assert_eq!(rest.len(), 1, "{tool}: {rest:?}");
        assert_eq!(text(&rest[0]), "ask failed: the call has ended", "{tool}");
        assert_idle(&server).await;
    }
}

#[actix_web::test]
async fn when_the_client_stops_reading_for_good_nothing_is_left() {
    paused();
    let server = server();
    for (tool, _) in ASKING {
        let mut pipe = Pipe::connect(&server, "2025-11-25").await;
        pipe.call(1, tool, json!({})).await;
        pipe.next().await;
        pipe.call_with_progress(2, "progress", json!({ "n": 1000, "ms": 10 }), "p").await;
        assert!(pipe.hang_up().await.is_ok(), "{tool}");
        assert_idle(&server).await;
    }
}

#[actix_web::test]
async fn only_the_answer_to_that_very_request_in_its_own_session_counts() {
    paused();
    let server = server();
    let (mut a, mut b) =
        (Pipe::connect(&server, "2025-11-25").await, Pipe::connect(&server, "2025-11-25").await);
    let accept = |x: &str| json!({ "action": "accept", "content": { "x": x } });
    a.call(1, "ask", json!({})).await;
    b.call(1, "ask", json!({})).await;
    let (of_a, of_b) = (a.next().await["id"].clone(), b.next().await["id"].clone());
    assert_eq!(of_a, of_b, "the sessions number their requests alike, or this proves less");
    // other ids, other types, no ids
    for id in [json!(of_a.to_string()), json!(99), json!(-1), json!(""), Value::Null, json!(1.5), json!([1])]
    {
        a.answer(&id, accept("wrong")).await;
    }
    a.write(b"{\"jsonrpc\":\"2.0\",\"result\":{\"action\":\"accept\"}}\n").await;
    a.silence().await;
    // the other session's answer is the other session's
    b.answer(&of_b, accept("b")).await;
    assert_eq!(text(&b.next().await), "accept:b");
    b.answer(&of_b, accept("again")).await;
    a.silence().await;
    assert_eq!(server.stats().in_flight, 1);
    a.answer(&of_a, accept("a")).await;
    a.answer(&of_a, accept("twice")).await;
    assert_eq!(text(&a.next().await), "accept:a");
    for pipe in [&mut a, &mut b] {
        pipe.silence().await;
        // a number that was used is never used again
        pipe.call(2, "ask", json!({})).await;
        assert_ne!(pipe.next().await["id"], of_a);
    }
}

#[actix_web::test]
async fn answers_find_their_questions_in_any_order() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    let mut asks = Vec::new();
    for n in 0..50 {
        pipe.call(n, "ask", json!({ "target": n.to_string() })).await;
        let ask = pipe.next().await;
        assert_eq!(ask["params"]["message"], format!("input wanted for {n}"));
        asks.push((n, ask["id"].clone()));
    }
    for (n, id) in asks.iter().rev() {
        pipe.answer(id, json!({ "action": "accept", "content": { "x": n.to_string() } })).await;
        let answer = pipe.next().await;
        assert_eq!((&answer["id"], text(&answer)), (&json!(n), &*format!("accept:{n}")));
    }
    for (action, expected) in [("decline", "declined"), ("cancel", "cancelled")] {
        pipe.call(1, "ask", json!({})).await;
        let ask = pipe.next().await;
        pipe.answer(&ask["id"], json!({ "action": action })).await;
        assert_eq!(text(&pipe.next().await), expected);
    }
}

#[actix_web::test]
async fn a_client_is_asked_only_for_what_it_declared_itself() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        # The last one to come does not speak for the others.
        > initialize 2025-11-25 {"elicitation":{},"sampling":{}} as a
        > initialize 2025-11-25 {} as b
        > tools/call {"id":1,"name":"ask"} as b
        < b {"id":1,"result":{"isError":true,"content":[{"text":"ask failed: the client does not support elicitation"}]}}
        > tools/call {"id":1,"name":"ask_url"} as b
        < b {"id":1,"result":{"isError":true,"content":[{"text":"ask failed: the client does not support elicitation.url"}]}}
        > tools/call {"id":1,"name":"sample"} as b
        < b {"id":1,"result":{"isError":true,"content":[{"text":"ask failed: the client does not support sampling"}]}}
        > tools/call {"id":1,"name":"roots"} as b
        < b {"id":1,"result":{"isError":true,"content":[{"text":"ask failed: the client does not support roots"}]}}
        > tools/call {"id":1,"name":"ask"} as a
        < a {"method":"elicitation/create"}
        > tools/call {"id":2,"name":"sample"} as a
        < a {"method":"sampling/createMessage"}
        > tools/call {"id":3,"name":"roots"} as a
        < a {"id":3,"result":{"isError":true}}
        < nothing
        # What the revision lacks was not declared, whatever the client says.
        > initialize 2025-03-26 {"elicitation":{"form":{},"url":{}},"roots":{}} as c
        > tools/call {"id":1,"name":"ask"} as c
        < c {"id":1,"result":{"isError":true}}
        > tools/call {"id":1,"name":"roots"} as c
        < c {"method":"roots/list"}
        > initialize 2025-06-18 {"elicitation":{"form":{},"url":{}}} as d
        > tools/call {"id":1,"name":"ask_url"} as d
        < d {"id":1,"result":{"isError":true}}
        > tools/call {"id":1,"name":"ask"} as d
        < d {"method":"elicitation/create"}
        < nothing
        "#,
    )
    .await;
}

/// Opens a session up to the answer to `initialize`, without `notifications/initialized`.
async fn opened(pipe: &mut Pipe) {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {}, "roots": {} },
        "clientInfo": { "name": "t", "version": "1" },
    });
    pipe.request(0, "initialize", params).await;
    pipe.next().await;
}

#[actix_web::test]
async fn before_initialized_a_request_to_the_client_is_held() {
    paused();
    let server = builder()
        .limits(limited(|limits| limits.session.client_request_timeout = Duration::from_secs(10)))
        .build();
    let mut pipe = Pipe::open(&server);
    opened(&mut pipe).await;
    pipe.call(1, "ask", json!({ "target": "first" })).await;
    pipe.call(2, "ask", json!({ "target": "cancelled" })).await;
    pipe.call(3, "roots", json!({})).await;
    pipe.silence().await;
    // one that was never sent is taken back without a word
    pipe.cancel(2).await;
    sleep(Duration::from_secs(5)).await;
    pipe.silence().await;
    assert_eq!(server.stats().in_flight, 2);
    pipe.notify("notifications/initialized", json!({})).await;
    let mut asked = pipe.until_silence().await;
    asked.sort_by_key(|ask| ask["method"].to_string());
    assert_eq!(asked.len(), 2, "{asked:?}");
    let first = &asked[0];
    assert_eq!(first["params"]["message"], "input wanted for first");
    assert_eq!(asked[1]["method"], "roots/list");
    pipe.answer(&first["id"], json!({ "action": "accept", "content": { "x": "1" } })).await;
    assert_eq!(text(&pipe.next().await), "accept:1");
    pipe.silence().await;
}

#[actix_web::test]
async fn a_held_request_that_times_out_was_never_there() {
    paused();
    let server = builder()
        .limits(limited(|limits| limits.session.client_request_timeout = Duration::from_secs(10)))
        .build();
    let mut pipe = Pipe::open(&server);
    opened(&mut pipe).await;
    pipe.call(1, "ask", json!({})).await;
    let answer = pipe.next().await;
    assert!(text(&answer).contains("in time"), "{answer}");
    pipe.notify("notifications/initialized", json!({})).await;
    pipe.silence().await;
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn a_request_to_the_client_rides_with_the_call_that_asked() {
    paused();
    let server = server();
    let posts = Posts::connect(&server, "2025-11-25").await;
    let mut streams = Vec::new();
    for (tool, method) in ASKING {
        streams.push((tool, method, posts.call(tool, tool, json!({})).stream().await));
    }
    // each stream has the priming event, its own question and its own answer
    let mut asks = Vec::new();
    for (tool, method, stream) in &mut streams {
        assert_eq!(stream.next().await.unwrap().message, Value::Null, "{tool}");
        let ask = stream.next().await.unwrap().message;
        assert_eq!(ask["method"], *method, "{tool}");
        asks.push(ask["id"].clone());
    }
    for id in asks.iter().rev() {
        posts.answer(
            id,
            json!({ "roots": [], "role": "assistant", "model": "m", "action": "decline",
            "content": { "type": "text", "text": "t" } }),
        );
    }
    for (tool, _, stream) in &mut streams {
        assert_eq!(stream.next().await.unwrap().message["id"], *tool);
        assert!(stream.next().await.is_none());
    }
}
