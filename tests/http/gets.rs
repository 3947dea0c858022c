//! A GET that says it has seen nothing, and connections that wait: cases C103 and C105.

use std::time::Duration;

use actix_mcp::testing::paused;
use actix_web::rt::time::sleep;
use serde_json::json;

use crate::{
    client::Request,
    fixture::server,
    served::{Client, Served, message},
};

// C103
#[actix_web::test]
async fn an_empty_last_event_id_opens_a_stream_as_if_it_were_absent() {
    paused();
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = server();
        let client = Client::open(&Served::new(&server).await, revision).await;
        for value in ["", " ", "\t", "  \t "] {
            let mut stream = client.resume(value).await.expect(200).await;
            assert!(stream.event().await.is_some(), "{value:?}");
            client.call(1, "toggle", json!({})).await.expect(200).await;
            let notice = stream.message().await.expect("a notice");
            assert_eq!(notice["method"], "notifications/tools/list_changed", "{value:?}");
        }
        // what names something that is not there is refused as before
        for value in ["x", "0", "0-0", "."] {
            client.resume(value).await.expect(400).await;
        }
        let two = client.dress(Request::get().header("Last-Event-ID", "").header("Last-Event-ID", ""));
        client.send(&two).await.expect(400).await;
    }
}

// C105: `Served` has the setting of `http_server`, which a constant of its own holds above 75 s
#[actix_web::test]
async fn a_connection_that_is_idle_for_longer_than_a_balancer_keeps_it_is_still_there() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let ping = client.request(&message(1, "ping", json!({})));
    let mut connection = client.start(&ping).await;
    for idle in [60, 75, 85] {
        let mut response = connection.response().await.expect(200).await;
        response.bytes().await;
        connection = response.into_connection();
        sleep(Duration::from_secs(idle)).await;
        connection.send(&ping).await;
    }
    let mut response = connection.response().await.expect(200).await;
    response.bytes().await;
    sleep(Duration::from_secs(95)).await;
    assert_eq!(response.into_connection().closed().await, b"");
}
