//! A server on a Unix socket, which no web page reaches: its Host is not checked. Case C106.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    time::Duration,
};

use actix_mcp::{Server, http_server};
use actix_web::{
    App, HttpServer,
    rt::{net::UnixStream, spawn},
};

use crate::{
    client::{Connection, Response},
    fixture,
    served::initialize,
};

/// How a server comes to its socket.
#[derive(Clone, Copy, Debug)]
enum By {
    Bind,
    Listen,
    /// By an `HttpServer` that is not ours.
    Plain,
}

/// A path that is free; Unix sockets have short ones.
fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mcp-{}-{name}", std::process::id()));
    std::fs::remove_file(&path).ok();
    path
}

fn serve(server: &Server, path: &Path, by: By) {
    let server = server.clone();
    let factory = move || App::new().service(server.scope("/mcp"));
    let running = match by {
        By::Bind => http_server(factory)
            .shutdown_signal(std::future::pending())
            .workers(1)
            .bind_uds(path)
            .unwrap()
            .run(),
        By::Listen => {
            let socket = UnixListener::bind(path).unwrap();
            let http = http_server(factory).shutdown_signal(std::future::pending());
            http.workers(1).listen_uds(socket).unwrap().run()
        }
        By::Plain => HttpServer::new(factory).disable_signals().workers(1).bind_uds(path).unwrap().run(),
    };
    spawn(running);
}

async fn open(path: &Path, host: &str) -> Response {
    let mut connection = Connection::on(UnixStream::connect(path).await.unwrap(), Duration::from_secs(60));
    connection.send(&initialize("2025-11-25").set("Host", host)).await;
    connection.response().await
}

#[actix_web::test]
async fn a_unix_socket_serves_whatever_host_is_named() {
    for by in [By::Bind, By::Listen, By::Plain] {
        let path = path(&format!("{by:?}"));
        serve(&fixture::server(), &path, by);
        for host in ["localhost", "127.0.0.1:8080", "mcp.example", "mcp.example:443", "unix", "socket.sock"] {
            let response = open(&path, host).await.expect(200).await;
            assert!(response.header("mcp-session-id").is_some(), "{by:?} {host}");
        }
        std::fs::remove_file(path).unwrap();
    }
}

#[actix_web::test]
async fn a_host_that_was_allowed_is_asked_for_on_a_unix_socket_too() {
    for by in [By::Bind, By::Listen] {
        let path = path(&format!("{by:?}-allowed"));
        serve(&fixture::builder().allow_host("mcp.example").build(), &path, by);
        for (host, status) in [("mcp.example", 200), ("localhost", 200), ("evil.example", 403)] {
            open(&path, host).await.expect(status).await;
        }
        std::fs::remove_file(path).unwrap();
    }
}
