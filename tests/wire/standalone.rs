//! Standalone streams: what concerns no request, each message on exactly one of them.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::testing::{Posts, paused, settle};
use actix_mcp::{Server, Tool};

use crate::puppet::server;

async fn extra() -> &'static str {
    "ok"
}

/// Changes the list of tools, and waits until the notice has gone out.
async fn change(server: &Server) {
    if !server.handle().remove_tool("extra") {
        server.handle().add_tool(Tool::new("extra", extra)).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(60)).await;
}

#[actix_web::test]
async fn the_newest_stream_gets_each_message_and_the_others_get_none_and_stay_open() {
    paused();
    let (server, _) = server();
    let posts = Posts::connect(&server, "2025-11-25").await;
    let mut older = posts.stream().await;
    let mut newer = posts.stream().await;
    assert!(older.next().await.unwrap().message.is_null());
    change(&server).await;
    assert_eq!(newer.message().await.unwrap()["method"], "notifications/tools/list_changed");
    newer.silence().await;
    older.silence().await;
    drop(newer);
    settle().await;
    change(&server).await;
    assert_eq!(older.message().await.unwrap()["method"], "notifications/tools/list_changed");
    older.silence().await;
}

#[actix_web::test]
async fn the_limit_of_streams_holds_on_both_sides() {
    paused();
    let (server, _) = server();
    let posts = Posts::connect(&server, "2025-11-25").await;
    let mut streams = Vec::new();
    for _ in 0..8 {
        streams.push(posts.try_stream().await.unwrap());
    }
    assert!(posts.try_stream().await.is_none());
    settle().await;
    assert_eq!(server.stats().streams, 8);
    streams.pop();
    settle().await;
    assert!(posts.try_stream().await.is_some());
}

#[actix_web::test]
async fn a_change_while_no_stream_is_open_is_told_once_one_is() {
    paused();
    let (server, _) = server();
    let posts = Posts::connect(&server, "2025-11-25").await;
    for _ in 0..5 {
        change(&server).await;
    }
    let mut stream = posts.stream().await;
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/tools/list_changed");
    tokio::time::sleep(Duration::from_secs(1)).await;
    stream.silence().await;
}

#[actix_web::test]
async fn a_change_that_found_the_only_stream_full_is_told_when_it_is_read() {
    paused();
    let (server, _) = server();
    let posts = Posts::connect(&server, "2025-11-25").await;
    let mut stream = posts.stream().await;
    for _ in 0..300 {
        change(&server).await;
    }
    let mut told = 0;
    while told < 256 {
        stream.message().await.unwrap();
        told += 1;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    while tokio::time::timeout(Duration::from_micros(10), stream.message()).await.is_ok() {
        told += 1;
    }
    assert_eq!(told, 257, "one that joined all the later ones came after the stream was read");
}
