//! Clients of requests that speak for themselves: those that go, which stops their call (case C08), those that stop reading,
//! and many at once. What becomes of a session's calls is in `disconnects`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use actix_mcp::{
    Cancelled, Progress, Server,
    testing::{paused, settle},
    tool,
};
use actix_web::{rt::time::sleep, web};
use futures_util::future::{join_all, pending};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    fixture,
    served::{Client, Served, call, modern, modern_call},
};

/// What tools note for the test.
#[derive(Default)]
struct Notes {
    dropped: AtomicUsize,
    said: Mutex<Vec<String>>,
}

impl Notes {
    fn note(&self, what: impl Into<String>) {
        self.said.lock().unwrap().push(what.into());
    }

    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
    }
}

struct Guard(web::Data<Notes>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reports so often and then never ends, and never writes.
#[tool]
async fn hold(reports: u32, progress: Progress, notes: web::Data<Notes>) -> &'static str {
    let _guard = Guard(notes);
    for report in 1..=reports {
        progress.report(report).await.ok();
    }
    pending().await
}

/// Cleans up for so long when it is cancelled, and tries to say so.
#[tool]
async fn careful(ms: u64, progress: Progress, cancelled: Cancelled, notes: web::Data<Notes>) -> &'static str {
    let _guard = Guard(notes.clone());
    progress.report(1).await.ok();
    cancelled.wait().await;
    let told = progress.report(2).await;
    sleep(Duration::from_millis(ms)).await;
    notes.note(format!("clean, told: {}", told.is_ok()));
    "clean"
}

/// Answers, and leaves a part behind that goes on reporting.
#[tool]
async fn leave(progress: Progress, notes: web::Data<Notes>) -> &'static str {
    actix_web::rt::spawn(async move {
        sleep(Duration::from_millis(100)).await;
        let start = Instant::now();
        let told = progress.report(1).await;
        notes.note(format!("told: {} after {:?}", told.is_ok(), start.elapsed().as_secs()));
    });
    "left"
}

fn server() -> (Server, Arc<Notes>) {
    let notes = Arc::<Notes>::default();
    (fixture::builder().tool(hold).tool(careful).tool(leave).data_arc(notes.clone()).build(), notes)
}

fn counts(server: &Server) -> (usize, usize) {
    let stats = server.stats();
    (stats.streams, stats.in_flight)
}

fn with_progress(id: u32, tool: &str, arguments: Value, token: impl Into<Value>) -> crate::client::Request {
    let token: Value = token.into();
    modern(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } }),
    )
}

// C08
#[actix_web::test]
async fn a_client_that_goes_before_the_head_stops_its_call() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    for accept in ["application/json, text/event-stream", "application/json", "text/event-stream"] {
        let before = notes.dropped();
        let mut connection = served.connect();
        connection.send(&modern_call(1, "hold", json!({ "reports": 0 })).set("Accept", accept)).await;
        sleep(Duration::from_millis(100)).await;
        assert_eq!((counts(&server), notes.dropped()), ((0, 1), before), "{accept}");
        let start = Instant::now();
        connection.finish().await;
        assert_eq!(connection.closed().await, b"", "nothing is sent");
        settle().await;
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!((counts(&server), notes.dropped()), ((0, 0), before + 1), "{accept}");
    }
}

// C08
#[actix_web::test]
async fn a_client_that_goes_in_the_middle_of_a_stream_stops_its_call() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    for reports in [0, 1] {
        let mut connection = served.connect();
        connection.send(&with_progress(1, "hold", json!({ "reports": reports }), 1)).await;
        let mut stream = connection.response().await.expect(200).await;
        if reports == 1 {
            assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
        }
        sleep(Duration::from_secs(20)).await;
        assert_eq!((counts(&server), notes.dropped()), ((1, 1), reports as usize));
        let start = Instant::now();
        drop(stream);
        settle().await;
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!((counts(&server), notes.dropped()), ((0, 0), reports as usize + 1));
    }
}

#[actix_web::test]
async fn a_fin_stops_a_call_and_nothing_more_is_written() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    let mut connection = served.connect();
    connection.send(&with_progress(1, "careful", json!({ "ms": 500 }), 1)).await;
    settle().await;
    assert_eq!(counts(&server), (1, 1));
    connection.finish().await;
    let sent = String::from_utf8(connection.closed().await).unwrap();
    assert!(sent.contains("\"progress\":1") && !sent.contains("\"progress\":2"), "{sent}");
    assert_eq!((counts(&server), notes.dropped()), ((0, 1), 0), "it has no grace");
    sleep(Duration::from_millis(600)).await;
    assert_eq!((counts(&server), notes.dropped()), ((0, 0), 1));
    assert_eq!(*notes.said.lock().unwrap(), ["clean, told: false"]);
}

#[actix_web::test]
async fn a_call_that_uses_up_its_grace_is_dropped() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    let stream =
        served.send(&with_progress(1, "careful", json!({ "ms": 60_000 }), 1)).await.expect(200).await;
    drop(stream);
    sleep(Duration::from_millis(1990)).await;
    assert_eq!((counts(&server), notes.dropped()), ((0, 1), 0));
    sleep(Duration::from_millis(20)).await;
    assert_eq!((counts(&server), notes.dropped()), ((0, 0), 1));
    assert!(notes.said.lock().unwrap().is_empty());
}

#[actix_web::test]
async fn a_client_that_goes_at_once_leaves_nothing_behind() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    for _ in 0..50 {
        let mut connection = served.connect();
        connection.send(&modern_call(1, "hold", json!({ "reports": 1 }))).await;
        drop(connection);
        settle().await;
        assert_eq!(counts(&server), (0, 0));
    }
    assert_eq!(notes.dropped(), usize::try_from(server.calls()).unwrap());
}

#[actix_web::test]
async fn a_handler_whose_destructor_panics_takes_nobody_with_it() {
    #[tool]
    async fn bomb() -> &'static str {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("in drop");
            }
        }
        let _bomb = Bomb;
        pending().await
    }
    paused();
    let server = fixture::builder().tool(bomb).build();
    let served = Served::new(&server).await;
    for wait in [100, 1000] {
        let mut connection = served.connect();
        connection.send(&modern_call(1, "bomb", json!({}))).await;
        sleep(Duration::from_millis(wait)).await;
        drop(connection);
        settle().await;
        assert_eq!(counts(&server), (0, 0));
    }
    served.send(&modern_call(1, "none", json!({}))).await.expect(200).await;
}

// C18
#[actix_web::test]
async fn a_part_that_outlives_its_call_reaches_nobody() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    for accept in ["application/json", "application/json, text/event-stream", "text/event-stream"] {
        let request = with_progress(1, "leave", json!({}), 1).set("Accept", accept);
        let answer = served.send(&request).await.expect(200).await.answer().await;
        assert_eq!(answer["result"]["content"][0]["text"], "left");
        sleep(Duration::from_secs(100)).await;
        assert_eq!(notes.said.lock().unwrap().pop().unwrap(), "told: false after 0", "{accept}");
    }
}

#[actix_web::test]
async fn what_happens_to_others_does_not_touch_a_session() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let legacy =
        client.start(&client.request(&call(1, "slow", json!({ "ms": 5000, "tag": "legacy" })))).await;
    // the same id, on the same endpoint, with the session's own header
    let modern = client
        .start(
            &client
                .dress(modern_call(1, "hold", json!({ "reports": 0 })).without("MCP-Protocol-Version"))
                .set("MCP-Protocol-Version", "2026-07-28"),
        )
        .await;
    settle().await;
    assert_eq!(server.stats().in_flight, 2);
    drop(modern);
    settle().await;
    assert_eq!((server.stats().in_flight, notes.dropped()), (1, 1));
    let answer = legacy.response().await.expect(200).await.answer().await;
    assert_eq!(answer["result"]["content"][0]["text"], "legacy");
}

// C01
#[actix_web::test]
async fn fifty_callers_with_one_id_get_fifty_own_answers() {
    paused();
    let (server, _) = server();
    let served = Served::new(&server).await;
    let call = async |caller: u32| {
        let arguments = json!({ "n": 3, "ms": 100, "text": format!("of {caller}") });
        let messages = served
            .send(&with_progress(1, "progress", arguments, caller))
            .await
            .expect(200)
            .await
            .messages()
            .await;
        assert_eq!(messages.len(), 4, "{messages:?}");
        for (at, message) in messages[..3].iter().enumerate() {
            let params = &message["params"];
            assert_eq!((&params["progressToken"], &params["progress"]), (&json!(caller), &json!(at + 1)));
            assert_eq!(params["message"], format!("of {caller}"));
        }
        assert_eq!(
            (&messages[3]["id"], &messages[3]["result"]["content"][0]["text"]),
            (&json!(1), &json!("done"))
        );
    };
    let all = async { join_all((0..50).map(call)).await };
    let most = async {
        sleep(Duration::from_millis(50)).await;
        server.stats().in_flight
    };
    let (_, most) = tokio::join!(all, most);
    assert_eq!(most, 50, "they did not run at once");
    let echo = async |caller: u32| {
        let text = format!("of {caller}");
        let answer = served
            .send(&modern_call(1, "slow", json!({ "ms": 10, "tag": text })))
            .await
            .expect(200)
            .await
            .json()
            .await;
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!(text)));
    };
    join_all((0..50).map(echo)).await;
    settle().await;
    assert_eq!(counts(&server), (0, 0));
}

// C36
#[actix_web::test]
async fn a_reader_that_stands_still_is_given_up_after_thirty_seconds_and_its_call_stopped() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    let mut connection = served.connect_with(1024);
    connection.send(&with_progress(1, "hold", json!({ "reports": 10_000 }), 1)).await;
    sleep(Duration::from_secs(29)).await;
    assert_eq!((counts(&server), notes.dropped()), ((1, 1), 0));
    sleep(Duration::from_secs(2)).await;
    assert_eq!((server.stats().in_flight, notes.dropped()), (0, 1));
    // one whose answer waits for it just as long
    let mut connection = served.connect_with(1024);
    let text = "x".repeat(1000);
    connection.send(&with_progress(1, "progress", json!({ "n": 200, "text": text }), 1)).await;
    sleep(Duration::from_secs(29)).await;
    assert_eq!(counts(&server), (1, 0));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(counts(&server), (0, 0));
}

#[actix_web::test]
async fn calls_that_do_not_end_have_the_drain_time_whatever_they_are_answered_with() {
    paused();
    let (server, notes) = server();
    let served = Served::new(&server).await;
    let mut json_only = served.connect();
    json_only
        .send(&modern_call("q1", "hold", json!({ "reports": 0 })).set("Accept", "application/json"))
        .await;
    let mut stream =
        served.send(&with_progress(2, "hold", json!({ "reports": 1 }), 1)).await.expect(200).await;
    stream.message().await.unwrap();
    let ending =
        served.send(&modern_call(3, "slow", json!({ "ms": 4000, "tag": "x" }))).await.expect(200).await;
    let start = Instant::now();
    let shutdown = async {
        server.shutdown().await;
        start.elapsed().as_secs()
    };
    let meanwhile = async {
        sleep(Duration::from_millis(10)).await;
        let refused = served.send(&modern_call("q1", "none", json!({}))).await.expect(503).await;
        assert!(refused.header("retry-after").is_some());
        let error = refused.json().await;
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!("q1"), &json!(-32603)));
        assert_eq!(ending.messages().await.pop().unwrap()["result"]["content"][0]["text"], "x");
    };
    let (took, ()) = tokio::join!(shutdown, meanwhile);
    assert_eq!(took, 5);
    let stopped = stream.message().await.expect("an answer");
    assert_eq!((&stopped["id"], &stopped["error"]["code"]), (&json!(2), &json!(-32603)), "{stopped}");
    assert_eq!(stream.message().await, None);
    let stopped = json_only.response().await.expect(200).await.json().await;
    assert_eq!((&stopped["id"], &stopped["error"]["code"]), (&json!("q1"), &json!(-32603)), "{stopped}");
    settle().await;
    assert_eq!((server.stats(), notes.dropped()), (Default::default(), 2));
}
