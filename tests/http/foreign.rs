//! An `HttpServer` that is not ours: what it lacks is said once.

use actix_mcp::testing::paused;
use actix_web::App;
use serde_json::json;

use crate::{
    fixture::server,
    logs,
    served::{Client, Served},
};

/// The lines that warn of an `HttpServer` since the last time.
fn warnings() -> Vec<String> {
    let of_server = |line: &String| line.starts_with("WARN") && line.contains("this HttpServer");
    logs::take().into_iter().filter(of_server).collect()
}

#[actix_web::test]
async fn a_server_that_lacks_our_settings_is_warned_of_once_however_many_workers_it_has() {
    paused();
    logs::install();
    let server = server();
    let workers = [
        Served::app_with(App::new().service(server.scope("/mcp")), false).await,
        Served::app_with(App::new().service(server.scope("/mcp")), false).await,
    ];
    for worker in &workers {
        let client = Client::open(worker, "2025-11-25").await;
        client.call(1, "echo", json!({ "text": "x" })).await.expect(200).await;
    }
    let warnings = warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("actix_mcp::http_server"), "it does not say what to do: {warnings:?}");
}

#[actix_web::test]
async fn a_server_with_our_settings_is_not_warned_of() {
    paused();
    logs::install();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    client.call(1, "echo", json!({ "text": "x" })).await.expect(200).await;
    assert_eq!(warnings(), Vec::<String>::new());
}
