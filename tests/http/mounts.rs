//! Where the endpoint is mounted: both spellings serve, whichever was written. Case C107.

use actix_mcp::testing::paused;
use actix_web::{App, HttpResponse, web};

use crate::{
    client::Request,
    fixture::server,
    logs,
    served::{Served, initialize, message},
};

async fn assert_served(served: &Served, path: &str, mounted: &str) {
    let response = served.send(&initialize("2025-11-25").to(path)).await;
    assert_eq!(response.status, 200, "{path} where {mounted:?} was written");
    let session = response.header("mcp-session-id").expect("a session").to_owned();
    let with = |request: Request| request.to(path).header("Mcp-Session-Id", &session);
    let ping = Request::post(message(1, "ping", serde_json::json!({})));
    served.send(&with(ping)).await.expect(200).await;
    served.send(&with(Request::get())).await.expect(200).await;
    served.send(&with(Request::new("DELETE"))).await.expect(204).await;
}

#[actix_web::test]
async fn with_and_without_a_slash_it_is_found_whichever_was_written() {
    paused();
    for mounted in ["/mcp", "/mcp/", "mcp", "mcp/", "/mcp//"] {
        let served = Served::app(App::new().service(server().scope(mounted))).await;
        for path in ["/mcp", "/mcp/", "/mcp?x=1", "/mcp/?x=1"] {
            assert_served(&served, path, mounted).await;
        }
        for path in ["/", "/mcpx", "/mcp/x", "/mcp//", "/x/mcp"] {
            served.send(&initialize("2025-11-25").to(path)).await.expect(404).await;
        }
    }
    for mounted in ["/a/{tenant}/mcp", "a/{tenant}/mcp/"] {
        let served = Served::app(App::new().service(server().scope(mounted))).await;
        for path in ["/a/b/mcp", "/a/b/mcp/"] {
            assert_served(&served, path, mounted).await;
        }
    }
}

#[actix_web::test]
async fn at_the_root_of_the_app_and_of_another_scope_it_is_found_too() {
    paused();
    for mounted in ["", "/"] {
        let health = web::resource("/health").to(HttpResponse::NoContent);
        let served = Served::app(App::new().service(health).service(server().scope(mounted))).await;
        for path in ["/", "/?x=1"] {
            assert_served(&served, path, mounted).await;
        }
        served.send(&Request::get().to("/health")).await.expect(204).await;
        served.send(&initialize("2025-11-25").to("/mcp")).await.expect(404).await;
        let outer = web::scope("/outer").service(server().scope(mounted));
        let served = Served::app(App::new().service(outer)).await;
        for path in ["/outer", "/outer/"] {
            assert_served(&served, path, mounted).await;
        }
    }
}

// a line for each place, and not one for each worker
#[actix_web::test]
async fn each_place_is_logged_once_with_its_path_whatever_the_number_of_workers() {
    paused();
    logs::install();
    let (one, other) = (server(), server());
    for _worker in 0..3 {
        drop((
            one.scope("/mcp"),
            one.scope("mcp/"),
            one.scope("/tenant/mcp"),
            other.scope("/mcp"),
            other.scope(""),
        ));
    }
    let lines = logs::take();
    let of = |path: &str| lines.iter().filter(|line| line.contains(&format!("HTTP at {path};"))).count();
    assert_eq!((of("/mcp"), of("/tenant/mcp"), of("/")), (2, 1, 1), "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[actix_web::test]
async fn mounted_by_a_configuration_it_is_served_at_any_depth() {
    paused();
    let served = Served::app(App::new().configure(server().mount("/mcp"))).await;
    for path in ["/mcp", "/mcp/"] {
        assert_served(&served, path, "/mcp").await;
    }
    let inner = web::scope("/a").configure(server().mount("mcp/"));
    let served = Served::app(App::new().service(inner)).await;
    assert_served(&served, "/a/mcp", "mcp/").await;
}
