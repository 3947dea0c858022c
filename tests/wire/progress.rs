//! Progress: under which token, in which order, and never after the answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, script},
};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};

use crate::{
    checks::{assert_idle, assert_no_calls, text},
    fixture::{builder, server},
};

#[actix_web::test]
async fn a_token_is_echoed_as_it_was_written() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for token in
        ["0", "7", r#""7""#, r#""""#, "9007199254740993", "-1", "18446744073709551615", r#""a\u0000é""#]
    {
        let call = r#""method":"tools/call","params":{"name":"progress","arguments":{"n":2}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,{call},"_meta":{{"progressToken":{token}}}}}}}"#);
        pipe.write(format!("{line}\n").as_bytes()).await;
        for step in [1, 2] {
            let expected = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step},"total":2}}}}"#
            );
            assert_eq!(pipe.next_line().await.unwrap(), expected);
        }
        assert_eq!(text(&pipe.next().await), "done");
    }
}

#[actix_web::test]
async fn without_a_token_there_is_no_progress() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for meta in [json!(null), json!({}), json!({ "progresstoken": 1, "progress_token": 2 })] {
        let params =
            json!({ "name": "progress", "arguments": { "n": 3 }, "_meta": meta, "progressToken": 5 });
        pipe.request(1, "tools/call", params).await;
        assert_eq!(text(&pipe.next().await), "done", "{meta}");
    }
    pipe.call(1, "progress", json!({ "n": 3 })).await;
    assert_eq!(text(&pipe.next().await), "done");
    pipe.silence().await;
}

#[actix_web::test]
async fn a_token_that_is_none_is_refused_and_nothing_runs() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for token in [json!(1.5), json!(null), json!({}), json!([1]), json!(true)] {
        pipe.call_with_progress(1, "progress", json!({ "n": 1 }), token.clone()).await;
        let refusal = pipe.next().await;
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(1), &json!(-32602)), "{token}");
        assert!(refusal["error"]["message"].as_str().unwrap().contains("`_meta.progressToken`"), "{refusal}");
    }
    assert_eq!(server.calls(), 0);
}

#[actix_web::test]
async fn calls_of_one_token_each_report_their_own() {
    paused();
    // a client that breaks the rule of unique tokens mixes up its own calls only, and never their answers
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for id in [1, 2] {
        let text = id.to_string();
        pipe.call_with_progress(id, "progress", json!({ "n": 3, "ms": 10, "text": text }), "p").await;
    }
    let all: Vec<Value> = async {
        let mut all = Vec::new();
        for _ in 0..8 {
            all.push(pipe.next().await);
        }
        all
    }
    .await;
    for id in ["1", "2"] {
        let own = all.iter().filter(|message| message["params"]["message"] == id);
        let values: Vec<_> = own.map(|message| message["params"]["progress"].clone()).collect();
        assert_eq!(values, [1, 2, 3]);
    }
}

#[actix_web::test]
async fn nothing_follows_an_answer_or_a_cancel() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        > initialize 2025-11-25
        # A part that outlives its handler reports to nobody.
        > tools/call {"id":1,"name":"late","_meta":{"progressToken":"late"}}
        < {"id":1,"result":{"content":[{"text":"returned"}]}}
        = 1s
        < nothing
        # Not even when the id and the token are in use again.
        > tools/call {"id":1,"name":"late","_meta":{"progressToken":"late"}}
        < {"id":1,"result":{}}
        > tools/call {"id":1,"name":"slow","arguments":{"ms":1000,"tag":"A"},"_meta":{"progressToken":"late"}}
        < {"id":1,"result":{"content":[{"text":"A"}]}}
        # A cancelled call falls silent.
        > tools/call {"id":2,"name":"progress","arguments":{"n":1000,"ms":10},"_meta":{"progressToken":2}}
        < {"params":{"progressToken":2,"progress":1}}
        < {"params":{"progressToken":2,"progress":2}}
        > notifications/cancelled {"requestId":2}
        < nothing
        = 1s
        < nothing
        "#,
    )
    .await;
    assert_idle(&server).await;
}

#[actix_web::test]
async fn values_on_the_wire_increase_whatever_a_handler_reports() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for (values, sent) in [
        (json!([5, 5, 3]), json!([5])),
        (json!([5, 3, 6, 6, 5.5, 6.5]), json!([5, 6, 6.5])),
        (json!([-2.5, -2.5, -3, 0]), json!([-2.5, 0])),
        (json!([0, 0.1, 0.1, 1]), json!([0, 0.1, 1])),
    ] {
        pipe.call_with_progress(1, "progress", json!({ "values": values }), "p").await;
        for value in sent.as_array().unwrap() {
            assert_eq!(pipe.next().await["params"]["progress"], *value, "{values}");
        }
        assert_eq!(text(&pipe.next().await), "done", "{values}");
    }
}

/// Reports 1 to `n`, counts what it has handed over, and answers.
fn flooding(reported: &Arc<AtomicU64>) -> Server {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Flood {
        n: u64,
        now: Option<bool>,
    }
    let reported = reported.clone();
    builder()
        .tool(Tool::new("flood", move |Args(Flood { n, now }), progress: Progress| {
            let reported = reported.clone();
            async move {
                for value in 1..=n {
                    if now == Some(true) {
                        progress.try_report(value).ok();
                    } else {
                        progress.report(value).await.ok();
                    }
                    reported.store(value, Ordering::Relaxed);
                }
                "flooded"
            }
        }))
        .build()
}

/// Messages that may be between a handler and a reader: the queue (256), a writer's buffer (32 KiB of lines of more than
/// 96 bytes), the pipe (1 KiB), and one in the hand.
const BETWEEN: u64 = 256 + 32 * 1024 / 96 + 12 + 1;

#[actix_web::test]
async fn a_slow_reader_loses_nothing_and_the_handler_waits_for_it() {
    paused();
    let reported = Arc::new(AtomicU64::new(0));
    let server = flooding(&reported);
    let mut pipe = Pipe::with_buffer(&server, 1024);
    pipe.initialize("2025-11-25", json!({})).await;
    pipe.call_with_progress(1, "flood", json!({ "n": 10_000 }), "a token of a few bytes").await;
    let mut farthest = 0;
    for value in 1..=10_000_u64 {
        // slow, but never as slow as a stream that stands still
        if value % 100 == 0 {
            sleep(Duration::from_millis(300)).await;
        }
        assert_eq!(pipe.next().await["params"]["progress"], value);
        farthest =
            farthest.max(reported.load(Ordering::Relaxed) - value.min(reported.load(Ordering::Relaxed)));
    }
    assert_eq!(text(&pipe.next().await), "flooded");
    assert!(farthest <= BETWEEN, "the handler was {farthest} values ahead");
    assert!(farthest > 100, "the reader was never slower: {farthest}");
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn a_reader_that_stands_still_loses_the_oldest_and_no_answer() {
    paused();
    let reported = Arc::new(AtomicU64::new(0));
    let server = flooding(&reported);
    let mut pipe = Pipe::with_buffer(&server, 1024);
    pipe.initialize("2025-11-25", json!({ "elicitation": {} })).await;
    pipe.call_with_progress(1, "flood", json!({ "n": 2000 }), "a token of a few bytes").await;
    sleep(Duration::from_millis(900)).await;
    let waiting = reported.load(Ordering::Relaxed);
    assert!(waiting <= BETWEEN, "{waiting} were handed over before a second had passed");
    pipe.call(2, "echo", json!({ "text": "an answer" })).await;
    pipe.call(3, "ask", json!({})).await;
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(
        reported.load(Ordering::Relaxed),
        2000,
        "a reader that stands still must not stop the handler"
    );
    let all = pipe.until_silence().await;
    let values: Vec<_> = all.iter().filter_map(|message| message["params"]["progress"].as_u64()).collect();
    assert!(values.is_sorted_by(|a, b| a < b));
    assert_eq!(values.last(), Some(&2000), "the newest stay");
    assert!(values.len() as u64 <= BETWEEN, "{} values were kept", values.len());
    let answers: Vec<_> = all.iter().filter(|message| message.get("result").is_some()).map(text).collect();
    assert_eq!(answers, ["an answer", "ask failed: the client did not answer in time", "flooded"]);
    // a question would be one more that must not go, so it is not even sent
    assert!(
        all.iter().all(|message| matches!(message["method"].as_str(), None | Some("notifications/progress")))
    );
}

#[actix_web::test]
async fn what_is_reported_without_waiting_is_bounded_too() {
    paused();
    let reported = Arc::new(AtomicU64::new(0));
    let server = flooding(&reported);
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call_with_progress(1, "flood", json!({ "n": 10_000, "now": true }), "a token of a few bytes").await;
    let all = pipe.until_silence().await;
    let values: Vec<_> = all.iter().filter_map(|message| message["params"]["progress"].as_u64()).collect();
    assert!(values.is_sorted_by(|a, b| a < b));
    assert_eq!(values.last(), Some(&10_000));
    assert!(values.len() as u64 <= BETWEEN, "{} values were kept", values.len());
    assert_eq!(text(all.last().unwrap()), "flooded");
    // and so are logs
    pipe.call(1, "log", json!({ "level": "info", "n": 10_000 })).await;
    let all = pipe.until_silence().await;
    assert!(all.len() as u64 <= BETWEEN, "{} logs were kept", all.len());
    assert_eq!(all[all.len() - 2]["params"]["data"], "log 10000");
    assert_eq!(text(all.last().unwrap()), "logged");
}
