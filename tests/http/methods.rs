//! Methods that the endpoint does not have, and the paths it is found under.

use actix_mcp::testing::paused;
use actix_web::{App, web};

use crate::{
    client::Request,
    fixture::server,
    refused::{Refusal, assert_idle},
    served::{Client, Served, initialize, message},
};

// C58
#[actix_web::test]
async fn other_methods_are_405_at_once_and_open_nothing() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    for method in ["PUT", "PATCH", "TRACE", "PROPFIND"] {
        for request in [initialize("2025-11-25").method(method), Request::new(method)] {
            let response = served.send(&request).await;
            let allowed: Vec<_> = response.header("allow").unwrap().split(", ").map(str::to_owned).collect();
            assert_eq!(allowed, ["GET", "POST", "DELETE", "OPTIONS"]);
            Refusal::new(405, -32600, "method").check(response, method).await;
        }
    }
    for request in [Request::new("HEAD"), Request::new("HEAD").header("Accept", "text/event-stream")] {
        let mut response = served.send(&request).await.expect(405).await;
        assert!(response.header("allow").is_some());
        assert!(response.bytes().await.is_empty());
        // the connection is in step: nothing of a body came
        let mut connection = response.into_connection();
        connection.send(&Request::new("OPTIONS")).await;
        connection.response().await.expect(204).await;
    }
    assert_idle(&server).await;
}

// C58
#[actix_web::test]
async fn head_in_a_session_opens_no_stream() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let head = client.dress(Request::get()).method("HEAD");
    client.send(&head).await.expect(405).await.empty().await;
    assert_eq!(server.stats().streams, 0);
}

// C90
#[actix_web::test]
async fn the_endpoint_is_found_with_and_without_a_slash_under_any_prefix_and_never_redirects() {
    paused();
    let (plain, nested, root) = (server(), server(), server());
    let app = App::new()
        .service(plain.scope("/mcp"))
        .service(web::scope("/api/v1").service(nested.scope("/mcp")))
        .service(web::scope("/outer").service(root.scope("")));
    let served = Served::app(app).await;
    for path in ["/mcp", "/mcp/", "/api/v1/mcp", "/api/v1/mcp/", "/mcp?x=1", "/outer", "/outer/"] {
        let response = served.send(&initialize("2025-11-25").to(path)).await.expect(200).await;
        let session = response.header("mcp-session-id").unwrap().to_owned();
        let ping = Request::post(message(1, "ping", serde_json::json!({}))).to(path);
        served.send(&ping.header("Mcp-Session-Id", &session)).await.expect(200).await;
    }
    for path in ["/", "/mcpx", "/mcp/x", "/mcp//", "/api/mcp"] {
        served.send(&initialize("2025-11-25").to(path)).await.expect(404).await;
    }
    assert_eq!((plain.stats().sessions, nested.stats().sessions, root.stats().sessions), (3, 2, 2));
}
