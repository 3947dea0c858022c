//! What a POST may look like: `Accept`, `Content-Type`, the body, and what each wrong one is told.

use actix_mcp::testing::paused;
use serde_json::json;

use crate::{
    client::Request,
    fixture::server,
    served::{Client, Served, initialize},
};

/// Case C39.
#[actix_web::test]
async fn accept_takes_ranges_and_no_header_is_anything() {
    paused();
    let served = Served::new(&server()).await;
    for (accept, kind) in [
        (None, "application/json"),
        (Some("*/*"), "application/json"),
        (Some("application/*, text/*"), "application/json"),
        (Some("text/event-stream, application/json"), "application/json"),
        (Some("application/json;q=0.9, text/event-stream;q=0.5"), "application/json"),
        (Some("APPLICATION/JSON"), "application/json"),
        (Some("application/json"), "application/json"),
        (Some("text/event-stream"), "text/event-stream"),
    ] {
        let request = initialize("2025-11-25").without("Accept");
        let request = accept.iter().fold(request, |request, accept| request.header("Accept", accept));
        let response = served.send(&request).await.expect(200).await;
        assert_eq!(response.header("content-type"), Some(kind), "{accept:?}");
        assert_eq!(response.answer().await["result"]["protocolVersion"], "2025-11-25");
    }
}

#[actix_web::test]
async fn a_session_is_a_handshake_and_calls() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let answer = client.call(1, "echo", json!({ "text": "hi" })).await.expect(200).await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "hi");
    let mut stream = client.call(2, "slow", json!({ "ms": 1000, "tag": "x" })).await.expect(200).await;
    assert_eq!(stream.message().await.unwrap()["result"]["content"][0]["text"], "x");
    assert_eq!(stream.message().await, None);
    client.delete().await.expect(204).await.empty().await;
    served.send(&Request::new("PUT")).await.expect(405).await;
}
