//! Cancellation: whose it is, when it comes, and what becomes of the handler.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use actix_mcp::{
    Limits,
    prelude::*,
    testing::{Pipe, paused, script, settle},
};
use actix_web::rt::{spawn, time::sleep};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    checks::{assert_idle, assert_no_calls, text},
    fixture::{builder, limited, server},
    turns::{Round, linger, turns},
};

#[actix_web::test]
async fn one_slow_call_holds_up_neither_others_nor_its_own_cancel() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let start = Instant::now();
    pipe.call(1, "slow", json!({ "ms": 5000, "tag": "A" })).await;
    pipe.request(2, "ping", json!({})).await;
    assert_eq!(pipe.next().await["id"], 2);
    pipe.request(3, "tools/list", json!({})).await;
    assert_eq!(pipe.next().await["id"], 3);
    assert_eq!(server.stats().in_flight, 1);
    pipe.cancel(1).await;
    assert_no_calls(&server).await;
    pipe.silence().await;
    assert!(start.elapsed() < Duration::from_millis(200), "{:?}", start.elapsed());
    sleep(Duration::from_secs(10)).await;
    pipe.silence().await;
}

// C28; `tests/http/cancels.rs` has the same over HTTP
#[actix_web::test]
async fn at_any_moment_a_cancel_leaves_at_most_one_answer_and_a_free_id() {
    paused();
    let server = builder().tool(linger).build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    // spawned, so that it takes its turns with what it races
    let raced = spawn(async move {
        let mut answered = Vec::new();
        for round in Round::all() {
            pipe.call(1, "linger", json!({ "ms": round.ms, "turns": round.lag })).await;
            if round.wait > 0 {
                sleep(Duration::from_millis(round.wait)).await;
            }
            turns(round.before).await;
            pipe.cancel(1).await;
            turns(round.after).await;
            // the same id again: served, and told apart by its result
            pipe.call(1, "echo", json!({ "text": "B" })).await;
            let mut first = pipe.next().await;
            let before = text(&first) == "A";
            if before {
                first = pipe.next().await;
            }
            assert_eq!((text(&first), &first["id"]), ("B", &json!(1)), "{round:?}");
            answered.push((before, round));
        }
        (answered, pipe)
    });
    let (answered, mut pipe) = raced.await.expect("no panic");
    sleep(Duration::from_millis(10)).await;
    pipe.silence().await;
    Round::assert_raced(&answered);
    let (rest, ended) = pipe.finish().await;
    assert!(rest.is_empty() && ended.is_ok());
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_cancel_that_names_nothing_in_flight_does_nothing() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        > initialize 2025-11-25
        > tools/call {"id":1,"name":"slow","arguments":{"ms":100,"tag":"A"}}
        # Unknown, another type, the handshake, no id, no id of any kind, nothing at all.
        > notifications/cancelled {"requestId":2}
        > notifications/cancelled {"requestId":"1"}
        > notifications/cancelled {"requestId":"initialize"}
        > notifications/cancelled {"requestId":0}
        > notifications/cancelled {"reason":"no id"}
        > notifications/cancelled {"requestId":null}
        > notifications/cancelled {"requestId":1.5}
        > notifications/cancelled {"requestId":[1]}
        > notifications/cancelled {"requestId":{}}
        > notifications/cancelled {}
        > {"jsonrpc":"2.0","method":"notifications/cancelled"}
        < {"id":1,"result":{"content":[{"text":"A"}]}}
        # It has ended.
        > notifications/cancelled {"requestId":1}
        < nothing
        # A cancel that comes first does not poison the request it names.
        > notifications/cancelled {"requestId":3}
        > tools/call {"id":3,"name":"slow","arguments":{"ms":100,"tag":"B"}}
        < {"id":3,"result":{"content":[{"text":"B"}]}}
        # Twice is once.
        > tools/call {"id":4,"name":"slow","arguments":{"ms":100,"tag":"C"}}
        > notifications/cancelled {"requestId":4}
        > notifications/cancelled {"requestId":4}
        > tools/call {"id":4,"name":"slow","arguments":{"ms":100,"tag":"D"}}
        < {"id":4,"result":{"content":[{"text":"D"}]}}
        < nothing
        "#,
    )
    .await;
    assert_idle(&server).await;
}

#[actix_web::test]
async fn initialize_is_never_cancelled() {
    paused();
    let mut pipe = Pipe::open(&server());
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 0 } });
    pipe.write(format!("{cancel}\n{initialize}\n{cancel}\n").as_bytes()).await;
    assert_eq!(pipe.next().await["result"]["protocolVersion"], "2025-11-25");
    pipe.call(0, "echo", json!({ "text": "open" })).await;
    assert_eq!(text(&pipe.next().await), "open");
}

#[actix_web::test]
async fn a_cancel_stops_no_call_of_another_session() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        > initialize 2025-11-25 as a
        > initialize 2025-11-25 as b
        > tools/call {"id":1,"name":"slow","arguments":{"ms":1500,"tag":"A"}} as a
        > tools/call {"id":1,"name":"slow","arguments":{"ms":1500,"tag":"B"}} as b
        > tools/call {"id":2,"name":"slow","arguments":{"ms":1600,"tag":"C"}} as a
        > notifications/cancelled {"requestId":1} as b
        > notifications/cancelled {"requestId":2} as b
        < a {"id":1,"result":{"content":[{"text":"A"}]}}
        < a {"id":2,"result":{"content":[{"text":"C"}]}}
        = 2s
        < nothing
        # Nor does the end of a session.
        > tools/call {"id":3,"name":"slow","arguments":{"ms":1500,"tag":"D"}} as a
        > tools/call {"id":3,"name":"slow","arguments":{"ms":60000,"tag":"E"}} as b
        > eof as b
        < a {"id":3,"result":{"content":[{"text":"D"}]}}
        < b {"id":3,"error":{"code":-32603}}
        < b eof
        "#,
    )
    .await;
    assert_idle(&server).await;
}

/// What a handler did, and when.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, what: impl Into<String>) {
        self.entries().push(what.into());
    }

    fn entries(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> Vec<String> {
        self.entries().clone()
    }
}

/// Notes when it is dropped.
struct Guard(Diary);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

/// Two tools that run until they are cancelled: one listens and then takes `ms` to clean up, the other does not listen.
fn stoppable(diary: &Diary) -> Server {
    stoppable_with(diary, |_| {})
}

fn stoppable_with(diary: &Diary, set: impl FnOnce(&mut Limits)) -> Server {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct CleanUp {
        ms: u64,
    }
    let (listening, deaf) = (diary.clone(), diary.clone());
    builder()
        .limits(limited(set))
        .tool(Tool::new("listens", move |Args(CleanUp { ms }), cancelled: Cancelled, progress: Progress| {
            let diary = listening.clone();
            async move {
                let _guard = Guard(diary.clone());
                cancelled.wait().await;
                diary.note(format!("cancelled: {:?}", cancelled.reason()));
                diary.note(format!("progress: {}", progress.report(1).await.is_ok()));
                sleep(Duration::from_millis(ms)).await;
                diary.note("cleaned up");
                "reaches nobody"
            }
        }))
        .tool(Tool::new("deaf", move || {
            let diary = deaf.clone();
            async move {
                let _guard = Guard(diary.clone());
                sleep(Duration::from_secs(3600)).await;
                "late"
            }
        }))
        .build()
}

#[actix_web::test]
async fn a_handler_that_does_not_listen_is_dropped_at_once() {
    paused();
    let diary = Diary::default();
    let server = stoppable(&diary);
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call(1, "deaf", json!({})).await;
    settle().await;
    let start = Instant::now();
    pipe.cancel(1).await;
    settle().await;
    assert_eq!(diary.read(), ["dropped"]);
    assert!(start.elapsed() < Duration::from_millis(5));
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn a_handler_that_listens_learns_the_reason_and_may_clean_up_off_its_id() {
    paused();
    let diary = Diary::default();
    let server = stoppable(&diary);
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call_with_progress(1, "listens", json!({ "ms": 1900 }), "p").await;
    settle().await;
    pipe.notify("notifications/cancelled", json!({ "requestId": 1, "reason": "changed my mind" })).await;
    // the id is free while it cleans up
    pipe.call(1, "echo", json!({ "text": "B" })).await;
    assert_eq!(text(&pipe.next().await), "B");
    assert_eq!(diary.read(), [r#"cancelled: Some("changed my mind")"#, "progress: false"]);
    assert_eq!(server.stats().in_flight, 1, "it still cleans up");
    sleep(Duration::from_millis(1950)).await;
    assert_eq!(diary.read()[2..], ["cleaned up", "dropped"]);
    pipe.silence().await;
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn a_reason_that_cannot_be_read_keeps_no_call_running() {
    paused();
    let diary = Diary::default();
    let server = stoppable(&diary);
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for reason in [json!(7), json!({ "a": 1 }), json!(["x"])] {
        pipe.call(1, "listens", json!({ "ms": 0 })).await;
        settle().await;
        pipe.notify("notifications/cancelled", json!({ "requestId": 1, "reason": reason })).await;
        pipe.call(1, "echo", json!({ "text": "B" })).await;
        assert_eq!(text(&pipe.next().await), "B", "the id is free, since the call was cancelled");
    }
    let said = diary.read();
    assert_eq!(said.iter().filter(|line| *line == "cancelled: None").count(), 3, "{said:?}");
}

#[actix_web::test]
async fn the_grace_of_a_cancelled_handler_ends() {
    paused();
    let diary = Diary::default();
    let server = stoppable(&diary);
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call_with_progress(1, "listens", json!({ "ms": 10_000 }), "p").await;
    settle().await;
    pipe.cancel(1).await;
    sleep(Duration::from_millis(1990)).await;
    assert_eq!(diary.read(), ["cancelled: None", "progress: false"]);
    sleep(Duration::from_millis(20)).await;
    assert_eq!(diary.read()[2..], ["dropped"]);
    pipe.silence().await;
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn the_grace_is_a_limit_of_the_session() {
    paused();
    let diary = Diary::default();
    let server = stoppable_with(&diary, |limits| limits.session.grace = Duration::from_millis(100));
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (id, ms) in [(1, 90), (2, 110)] {
        pipe.call(id, "listens", json!({ "ms": ms })).await;
        settle().await;
        pipe.cancel(id).await;
        sleep(Duration::from_secs(1)).await;
    }
    let cleaned = diary.read().iter().filter(|note| *note == "cleaned up").count();
    assert_eq!(cleaned, 1, "{:?}", diary.read());
    assert_no_calls(&server).await;
}

#[actix_web::test]
async fn at_the_end_of_the_input_a_cancelled_handler_keeps_its_grace() {
    paused();
    let diary = Diary::default();
    let server = stoppable(&diary);
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call(1, "listens", json!({ "ms": 1000 })).await;
    settle().await;
    pipe.cancel(1).await;
    let (rest, ended) = pipe.finish().await;
    assert!(rest.is_empty() && ended.is_ok());
    assert_eq!(diary.read()[2..], ["cleaned up", "dropped"]);
    assert_idle(&server).await;
}
