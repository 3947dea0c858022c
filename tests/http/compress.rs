//! Compression around the endpoint: events are readable at once, and single answers may be compressed.
//!
//! Of the encodings only gzip is built in. A stream says that it is not to be encoded, so none is begun whichever the client
//! takes; br and zstd would add a C library and minutes to every build of the tests, for the same branch.

use std::time::Duration;

use actix_mcp::testing::paused;
use actix_web::{
    App,
    middleware::{Compress, Condition},
};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    client::Request,
    fixture::server,
    served::{Client, Served, call_with_progress, initialize, message, modern, modern_call},
};

const ENCODINGS: (&str, &str) = ("Accept-Encoding", "gzip, br, zstd");

// C60
#[actix_web::test]
async fn behind_an_encoder_each_event_is_readable_at_once() {
    paused();
    let server = server();
    let served = Served::app(App::new().wrap(Compress::default()).service(server.scope("/mcp"))).await;
    let client = Client::open_with(&served, initialize("2025-11-25"), &[]).await;
    let mut get =
        client.send(&client.dress(Request::get()).header(ENCODINGS.0, ENCODINGS.1)).await.expect(200).await;
    let call = client.request(&call_with_progress(1, "progress", json!({ "n": 5, "ms": 500 }), "p"));
    let own =
        json!({ "name": "progress", "arguments": { "n": 5, "ms": 500 }, "_meta": { "progressToken": "p" } });
    for call in [call, modern(1, "tools/call", own)] {
        let start = Instant::now();
        let mut stream = client.send(&call.header(ENCODINGS.0, ENCODINGS.1)).await.expect(200).await;
        for step in 0..5 {
            let message = stream.message().await.unwrap();
            assert_eq!(message["params"]["progress"], f64::from(step + 1));
            let due = Duration::from_millis(500) * step;
            assert!(start.elapsed() < due + Duration::from_millis(100), "{:?}", start.elapsed());
        }
        assert!(stream.message().await.unwrap()["result"].is_object());
    }
    let listen = modern(1, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let mut listen = client.send(&listen.header(ENCODINGS.0, ENCODINGS.1)).await.expect(200).await;
    assert!(listen.message().await.is_some());
    assert!(get.event().await.is_some());
    let start = Instant::now();
    client.call(2, "toggle", json!({})).await.expect(200).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    assert_eq!(listen.message().await.unwrap()["method"], "notifications/tools/list_changed");
    assert!(start.elapsed() < Duration::from_millis(100));
}

// C60
#[actix_web::test]
async fn behind_an_encoder_a_single_answer_is_compressed() {
    paused();
    let server = server();
    let served = Served::app(App::new().wrap(Compress::default()).service(server.scope("/mcp"))).await;
    let client = Client::open_with(&served, initialize("2025-11-25"), &[]).await;
    let list = client.request(&message(1, "tools/list", json!({})));
    let mut response = client.send(&list.clone().header("Accept-Encoding", "gzip")).await.expect(200).await;
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    assert_eq!(response.header("content-type"), Some("application/json"));
    let compressed = response.bytes().await;
    assert_eq!(compressed[..2], [0x1f, 0x8b]);
    let plain = client.send(&list).await.expect(200).await.bytes().await;
    assert!(compressed.len() < plain.len() / 2);
}

// C108: RFC 9110, 8.4 has it that `identity` SHOULD NOT be sent; `Compress` leaves nothing else alone
#[actix_web::test]
async fn a_stream_says_that_it_is_not_encoded_only_where_an_encoder_could_act() {
    paused();
    for compress in [false, true] {
        let server = server();
        let app =
            App::new().wrap(Condition::new(compress, Compress::default())).service(server.scope("/mcp"));
        let served = Served::app(app).await;
        let client = Client::open_with(&served, initialize("2025-11-25"), &[]).await;
        let own = json!({ "name": "progress", "arguments": { "n": 1, "ms": 1 }, "_meta": { "progressToken": "p" } });
        for request in [
            client.dress(Request::get()),
            modern_call(1, "slow", json!({ "ms": 1000, "tag": "x" })),
            modern(1, "tools/call", own),
            modern(1, "subscriptions/listen", json!({ "notifications": {} })),
            modern(1, "tools/list", json!({})).set("Accept", "text/event-stream"),
        ] {
            let response = served.send(&request).await.expect(200).await;
            assert_eq!(response.header("content-type"), Some("text/event-stream"));
            assert_eq!(response.header("content-encoding"), None);
            let response = served.send(&request.header(ENCODINGS.0, ENCODINGS.1)).await.expect(200).await;
            assert_eq!(response.header("content-encoding"), Some("identity"));
            assert_ne!(response.header("vary"), Some("accept-encoding"));
        }
        for (id, coding) in [(1, None), (2, Some("identity"))] {
            let call = client.request(&call_with_progress(id, "progress", json!({ "n": 1, "ms": 1 }), id));
            let call = coding.iter().fold(call, |call, _| call.header(ENCODINGS.0, ENCODINGS.1));
            let response = served.send(&call).await.expect(200).await;
            assert_eq!(response.header("content-encoding"), coding);
            assert_eq!(response.messages().await.len(), 2);
        }
        let list = client.request(&message(1, "tools/list", json!({})));
        let response = client.send(&list.header("Accept-Encoding", "identity")).await.expect(200).await;
        assert_eq!(response.header("content-encoding"), None, "a single answer");
    }
}
