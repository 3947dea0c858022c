//! `GET /stats`: what is counted, and when it stops to be.

use serde_json::json;

use crate::{client::Request, peer::Http, served::message};

#[actix_web::test]
async fn it_counts_what_runs() {
    let server = Http::start(&[]);
    let response =
        server.send(&Request::new("GET").to("/stats").header("Origin", "http://evil.example")).await;
    let mut response = response.expect(200).await;
    assert_eq!(response.header("content-type"), Some("application/json"));
    let nothing = r#"{"sessions":0,"in_flight":0,"streams":0,"subscriptions":0,"calls":0}"#;
    assert_eq!(String::from_utf8(response.bytes().await).expect("it is JSON"), nothing);

    let client = server.client().await;
    let subscribe = message(1, "resources/subscribe", json!({ "uri": "mem://item/1" }));
    client.post(&subscribe).await.expect(200).await.json().await;
    // its head comes when it has turned into a stream
    let slow = client.call(2, "slow", json!({ "ms": 3_600_000, "tag": "t" })).await.expect(200).await;
    let all = json!({ "sessions": 1, "in_flight": 1, "streams": 1, "subscriptions": 1, "calls": 1 });
    assert_eq!(server.stats().await, all);

    client.notify("notifications/cancelled", json!({ "requestId": 2 })).await;
    assert_eq!(slow.messages().await, Vec::<serde_json::Value>::new());
    server.until("in_flight", 0).await;
    server.until("streams", 0).await;
    client.delete().await.expect(204).await.empty().await;
    server.until("sessions", 0).await;
    server.until("subscriptions", 0).await;
    assert_eq!(server.stats().await["calls"], 1);
}

#[actix_web::test]
async fn a_handler_that_panicked_or_waits_for_the_client_is_counted_as_what_it_is() {
    let server = Http::start(&[]);
    let client = server.client().await;
    client.call(1, "panic", json!({})).await.expect(200).await.json().await;
    server.until("in_flight", 0).await;
    let mut ask = client.call(2, "ask", json!({})).await.expect(200).await;
    let question = ask.message().await.expect("it asks");
    assert_eq!(server.stats().await["in_flight"], 1);
    client.answer(&question["id"], json!({ "action": "decline" })).await;
    ask.message().await.expect("it is answered");
    server.until("in_flight", 0).await;
    assert_eq!(server.stats().await["calls"], 2);
}

#[actix_web::test]
async fn a_stubborn_handler_keeps_nothing_but_itself_when_it_is_cancelled() {
    let server = Http::start(&[]);
    let client = server.client().await;
    let slow = json!({ "ms": 5000, "tag": "t", "stubborn": true });
    let stream = client.call(1, "slow", slow).await.expect(200).await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    assert_eq!(stream.messages().await, Vec::<serde_json::Value>::new());
    // its id is free, and what it returns reaches nobody
    client.call(1, "none", json!({})).await.expect(200).await.json().await;
    server.until("in_flight", 0).await;
}
