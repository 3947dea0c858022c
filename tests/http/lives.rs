//! How long a session lives, and what is left of it. Cases C12, C13 and C25.

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::sleep;
use serde_json::json;

use crate::{
    client::Request,
    fixture::{builder, limited, server},
    served::{Client, Served, call, initialize, message},
};

const IDLE: Duration = Duration::from_secs(2);

async fn is_open(client: &Client) -> bool {
    let response = client.post(&message("open?", "ping", json!({}))).await;
    match response.status {
        200 => true,
        404 => false,
        other => panic!("{other}"),
    }
}

#[actix_web::test]
async fn an_idle_session_expires_and_each_request_starts_its_clock_anew() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.idle = IDLE)).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    for _ in 0..5 {
        sleep(Duration::from_millis(1900)).await;
        assert!(is_open(&client).await, "it expired although it was used");
    }
    sleep(Duration::from_millis(2100)).await;
    assert!(!is_open(&client).await, "it did not expire");
    client.get().await.expect(404).await;
    client.delete().await.expect(404).await;
    assert_eq!(server.stats(), Default::default());
}

#[actix_web::test]
async fn an_open_stream_keeps_its_session() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.idle = IDLE)).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let get = client.get().await.expect(200).await;
    sleep(Duration::from_secs(3600)).await;
    assert!(is_open(&client).await);
    drop(get);
    sleep(Duration::from_millis(2100)).await;
    assert!(!is_open(&client).await, "the end of the stream did not start the clock");
}

#[actix_web::test]
async fn a_running_call_keeps_its_session_whether_its_client_listens_or_not() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.idle = IDLE)).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let request = client.request(&call(1, "slow", json!({ "ms": 5000, "tag": "x" })));
    let listens = client.send(&request).await.expect(200).await;
    assert_eq!(listens.answer().await["result"]["content"][0]["text"], "x");
    let gone = client.start(&request).await;
    settle().await;
    drop(gone);
    sleep(Duration::from_millis(5100)).await;
    assert!(is_open(&client).await);
}

#[actix_web::test]
async fn a_question_to_the_client_keeps_its_session() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.idle = IDLE)).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut asking = client.call(1, "ask", json!({})).await.expect(200).await;
    let question = asking.message().await.unwrap();
    sleep(Duration::from_secs(5)).await;
    client.answer(&question["id"], json!({ "action": "accept", "content": { "x": "1" } })).await;
    assert_eq!(asking.message().await.unwrap()["result"]["content"][0]["text"], "accept:1");
}

#[actix_web::test]
async fn a_get_stream_opens_beside_its_own_zombie_and_each_message_goes_to_one() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    // its client has lost it, and no FIN came
    let mut zombie = client.get().await.expect(200).await;
    zombie.event().await;
    let mut get = client.get().await.expect(200).await;
    get.event().await;
    assert_eq!(server.stats().streams, 2);
    client.call(1, "toggle", json!({})).await.expect(200).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    get.silence().await;
    zombie.silence().await;
}

#[actix_web::test]
async fn what_changes_while_no_stream_is_open_is_told_on_the_next() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    client.call(1, "toggle", json!({ "times": 1000 })).await.expect(200).await;
    sleep(Duration::from_secs(60)).await;
    let mut get = client.get().await.expect(200).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    get.silence().await;
}

#[actix_web::test]
async fn of_five_thousand_sessions_that_expire_nothing_is_left() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.idle = Duration::from_secs(1))).build();
    let served = Served::new(&server).await;
    for round in 0..50 {
        let mut streams = Vec::new();
        for n in 0..100 {
            let client = Client::uninitialized(&served, initialize("2025-11-25"), &[]).await;
            if n % 10 == 0 {
                // with something of each kind
                client
                    .post(&message(1, "resources/subscribe", json!({ "uri": "mem://a" })))
                    .await
                    .expect(200)
                    .await;
                client
                    .post(&message(2, "logging/setLevel", json!({ "level": "debug" })))
                    .await
                    .expect(200)
                    .await;
                drop(client.start(&client.request(&call(3, "slow", json!({ "ms": 500, "tag": "x" })))).await);
            }
            streams.push(client.send(&client.dress(Request::get())).await.expect(200).await);
        }
        let stats = server.stats();
        assert!(
            stats.sessions >= 100 && stats.streams >= 100 && stats.subscriptions >= 10,
            "{round}: {stats:?}"
        );
        drop(streams);
    }
    sleep(Duration::from_secs(3)).await;
    assert_eq!(server.stats(), Default::default());
}
