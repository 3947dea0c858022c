//! How a server on a byte stream ends: what was asked is answered first, for as long as the drain lasts.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, settle},
};
use actix_web::rt::{spawn, time::sleep};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};

use crate::fixture::{builder, limited, server};

const DRAIN: Duration = Duration::from_secs(5);

#[actix_web::test]
async fn all_that_was_asked_before_the_end_is_answered() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for n in 1..=20 {
        pipe.call(n, "slow", json!({ "ms": 100, "tag": n.to_string() })).await;
    }
    let (answers, ended) = pipe.finish().await;
    ended.unwrap();
    let mut tags: Vec<_> =
        answers.iter().map(|answer| answer["result"]["content"][0]["text"].clone()).collect();
    // those that end at the same moment come in any order
    tags.sort_by_key(|tag| tag.as_str().and_then(|tag| tag.parse::<u32>().ok()));
    assert_eq!(tags, (1..=20).map(|n| json!(n.to_string())).collect::<Vec<_>>());
}

#[actix_web::test]
async fn an_endless_call_holds_the_end_up_for_the_drain_time_only() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call(1, "slow", json!({ "ms": 3_600_000, "tag": "never" })).await;
    pipe.call(2, "slow", json!({ "ms": 4_900, "tag": "in time" })).await;
    pipe.call(3, "slow", json!({ "ms": 5_100, "tag": "late" })).await;
    let start = Instant::now();
    let (answers, ended) = pipe.finish().await;
    ended.unwrap();
    assert_eq!(answers[0]["result"]["content"][0]["text"], "in time");
    let mut stopped: Vec<_> = answers[1..].iter().map(|answer| (&answer["id"], &answer["error"])).collect();
    stopped.sort_by_key(|(id, _)| id.as_u64());
    let error = json!({ "code": -32603, "message": "the server is shutting down; the call was stopped" });
    assert_eq!(stopped, [(&json!(1), &error), (&json!(3), &error)]);
    assert!((DRAIN..DRAIN + Duration::from_millis(100)).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert_eq!(server.stats().in_flight, 0);
}

#[actix_web::test]
async fn the_drain_time_is_the_authors_to_set() {
    paused();
    let limits = limited(|limits| limits.session.drain = Duration::from_secs(60));
    let mut pipe = Pipe::connect(&builder().limits(limits).build(), "2025-11-25").await;
    pipe.call(1, "slow", json!({ "ms": 59_000, "tag": "in time" })).await;
    let (answers, ended) = pipe.finish().await;
    ended.unwrap();
    assert_eq!(answers[0]["result"]["content"][0]["text"], "in time");
}

#[actix_web::test]
async fn without_a_drain_time_the_end_waits_for_the_last_call() {
    paused();
    let limits = limited(|limits| limits.session.drain = Duration::MAX);
    for shut_down in [false, true] {
        let server = builder().limits(limits.clone()).build();
        let mut pipe = Pipe::connect(&server, "2025-11-25").await;
        pipe.call(1, "slow", json!({ "ms": 3_600_000, "tag": "in time" })).await;
        settle().await;
        let shutdown = shut_down.then(|| {
            spawn({
                let server = server.clone();
                async move { server.shutdown().await }
            })
        });
        let (answers, ended) = pipe.finish().await;
        ended.unwrap();
        assert_eq!(answers[0]["result"]["content"][0]["text"], "in time");
        if let Some(shutdown) = shutdown {
            shutdown.await.unwrap();
        }
    }
}

#[actix_web::test]
async fn a_question_to_a_client_that_has_closed_its_end_fails_at_once() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.call(1, "ask", json!({})).await;
    pipe.message("elicitation/create").await;
    let start = Instant::now();
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    let answer = rest.iter().find(|message| message["id"] == 1).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[actix_web::test]
async fn without_anything_in_flight_the_end_comes_at_once() {
    paused();
    for handshake in [false, true] {
        let mut pipe = Pipe::open(&server());
        if handshake {
            pipe.initialize("2025-11-25", json!({})).await;
            // subscriptions and detached tasks are nothing that is waited for
            pipe.request(1, "resources/subscribe", json!({ "uri": "mem://a" })).await;
            pipe.call_with_progress(2, "late", json!({}), "p").await;
            pipe.answer_to(2).await;
        }
        let start = Instant::now();
        pipe.finish().await.1.unwrap();
        assert!(start.elapsed() < Duration::from_millis(10), "{:?}", start.elapsed());
    }
}

#[actix_web::test]
async fn a_client_that_stops_reading_holds_the_end_up_for_the_drain_time_only() {
    paused();
    let mut pipe = Pipe::with_buffer(&server(), 1024);
    pipe.initialize("2025-11-25", json!({})).await;
    // an answer that fits no buffer, and a call that never ends: together they have one drain time, not one each
    pipe.call(1, "big", json!({ "bytes": 100_000 })).await;
    pipe.call(2, "slow", json!({ "ms": 3_600_000, "tag": "never" })).await;
    let start = Instant::now();
    pipe.close().await;
    pipe.ended().await.unwrap();
    assert!((DRAIN..DRAIN + Duration::from_secs(1)).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[actix_web::test]
async fn a_client_that_stops_reading_is_noticed_at_the_next_message() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.call(1, "slow", json!({ "ms": 1000, "tag": "x" })).await;
    pipe.call(2, "slow", json!({ "ms": 3_600_000, "tag": "never" })).await;
    let start = Instant::now();
    pipe.hang_up().await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[actix_web::test]
async fn a_client_that_stops_reading_during_the_drain_is_noticed_at_the_next_message() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.call(1, "slow", json!({ "ms": 1000, "tag": "x" })).await;
    pipe.call(2, "slow", json!({ "ms": 3_600_000, "tag": "never" })).await;
    let start = Instant::now();
    pipe.close().await;
    sleep(Duration::from_millis(500)).await;
    pipe.hang_up().await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[actix_web::test]
async fn what_is_answered_when_the_drain_time_is_over_has_a_moment_to_be_read() {
    const BYTES: usize = 100_000;
    paused();
    let mut pipe = Pipe::with_buffer(&server(), 1024);
    pipe.initialize("2025-03-26", json!({})).await;
    // the endless one holds the answer of the other back until the drain time is over
    let call = |id: u32, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let endless = call(1, "slow", json!({ "ms": 3_600_000, "tag": "never" }));
    pipe.send(&json!([endless, call(2, "big", json!({ "bytes": BYTES }))])).await;
    pipe.close().await;
    sleep(DRAIN + Duration::from_millis(300)).await;
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    let text = rest[0][0]["result"]["content"][0]["text"].as_str();
    assert_eq!((rest.len(), text.map(str::len)), (1, Some(BYTES)));
}

#[actix_web::test]
async fn a_shutdown_reaches_a_pipe_without_a_handshake() {
    paused();
    let server = server();
    let call = |id: u32, ms: u64| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let arguments = json!({ "ms": ms, "tag": "in time" });
        let params = json!({ "name": "slow", "arguments": arguments, "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let mut pipe = Pipe::open(&server);
    pipe.send(&call(1, 1000)).await;
    pipe.send(&call(2, 3_600_000)).await;
    settle().await;
    let shutdown = spawn({
        let server = server.clone();
        async move { server.shutdown().await }
    });
    settle().await;
    // what is new is refused, what runs has the drain time
    pipe.send(&call(3, 0)).await;
    let start = Instant::now();
    let (first, second, third) = (pipe.next().await, pipe.next().await, pipe.next().await);
    assert_eq!(
        (&first["id"], &first["error"]["message"]),
        (&json!(3), &json!("the server is shutting down"))
    );
    assert_eq!((&second["id"], &second["result"]["content"][0]["text"]), (&json!(1), &json!("in time")));
    assert_eq!((&third["id"], &third["error"]["code"]), (&json!(2), &json!(-32603)), "{third}");
    assert!((DRAIN - Duration::from_secs(1)..=DRAIN).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert_eq!(pipe.try_next().await, None);
    pipe.ended().await.unwrap();
    shutdown.await.unwrap();
    assert_eq!(server.stats(), Default::default());

    // nor does one that connects later get anything
    let mut late = Pipe::open(&server);
    late.send(&call(1, 0)).await;
    assert_eq!(late.next().await["error"]["message"], "the server is shutting down");
    late.finish().await.1.unwrap();
}

#[actix_web::test]
async fn a_server_that_lacks_a_handlers_data_says_so_and_writes_nothing() {
    async fn needy(count: web::Data<u32>) -> String {
        count.to_string()
    }
    paused();
    let mut pipe = Pipe::open(&Server::builder("needy", "1").tool(Tool::new("needy", needy)).build());
    assert_eq!(pipe.next_line().await, None);
    let error = pipe.ended().await.unwrap_err();
    assert!(error.to_string().contains("`needy` needs web::Data<u32>"), "{error}");
}

/// A stream whose other end was reset.
struct Reset {
    kind: io::ErrorKind,
}

impl AsyncRead for Reset {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(self.kind.into()))
    }
}

impl AsyncWrite for Reset {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(self.kind.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[actix_web::test]
async fn a_client_that_was_killed_is_no_error_of_the_servers() {
    paused();
    for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset, io::ErrorKind::ConnectionAborted]
    {
        server().serve_stream(Reset { kind }, tokio::io::sink()).await.unwrap();
        let input = &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"[..];
        server().serve_stream(input, Reset { kind }).await.unwrap();
    }
    let kind = io::ErrorKind::PermissionDenied;
    assert_eq!(server().serve_stream(Reset { kind }, tokio::io::sink()).await.unwrap_err().kind(), kind);
}
