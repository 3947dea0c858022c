//! A server in an `HttpServer` of one's own, which is shut down from within: under both mains, over real sockets.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc::channel},
    thread,
    time::Duration,
};

use actix_mcp::{Progress, Server, http_server, tool};
use actix_web::{App, dev::ServerHandle, web};
use serde_json::json;
use tokio::{sync::Semaphore, time::timeout};

use crate::{
    client::Request,
    fixture,
    served::{Client, call_with_progress, initialize, message},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Lets the test say when a call that runs may end: after all that is asked of the server meanwhile, however slow that is.
struct Gate(Semaphore);

#[tool]
async fn wait(gate: web::Data<Gate>, progress: Progress) -> &'static str {
    progress.report(1).await.ok();
    drop(gate.0.acquire().await);
    "done"
}

fn gated() -> (Server, Arc<Gate>) {
    let gate = Arc::new(Gate(Semaphore::new(0)));
    let limits = fixture::limited(|limits| limits.session.drain = PATIENCE);
    (fixture::builder().tool(wait).data_arc(gate.clone()).limits(limits).build(), gate)
}

fn bind(server: &Server) -> (actix_web::dev::Server, SocketAddr) {
    let server = server.clone();
    let http = http_server(move || App::new().service(server.scope("/mcp")))
        // the test's own process keeps its signals
        .shutdown_signal(std::future::pending())
        .workers(2)
        .bind("127.0.0.1:0")
        .unwrap();
    let addr = http.addrs()[0];
    (http.run(), addr)
}

/// Shuts a server down while streams are open and a call runs, from the runtime of its clients.
async fn shut_down(server: Server, gate: Arc<Gate>, addr: SocketAddr, handle: ServerHandle) {
    let client = Client::open(addr, "2025-11-25").await;
    let mut gets = Vec::new();
    for _ in 0..3 {
        let mut get = client.get().await.expect(200).await;
        get.event().await.expect("a first event");
        gets.push(get);
    }
    let mut running = client.post(&call_with_progress(1, "wait", json!({}), 1)).await.expect(200).await;
    running.message().await.expect("progress");

    let shutdown = actix_web::rt::spawn({
        let server = server.clone();
        async move { server.shutdown().await }
    });
    for mut get in gets {
        while get.event().await.is_some() {}
        // the priming event says so, too
        let raw = String::from_utf8_lossy(&get.raw);
        assert_eq!(raw.matches("retry: ").count(), 2, "no word of when to come back: {raw:?}");
    }
    // what is new is refused, what comes back to a running call is not
    for refused in [
        client.post(&message(2, "tools/list", json!({}))).await,
        client.get().await,
        client.send(&client.request(&message(3, "tools/call", json!({ "name": "none" })))).await,
    ] {
        assert_eq!(refused.status, 503);
        assert!(refused.header("retry-after").is_some());
        assert_eq!(refused.json().await["error"]["code"], -32603);
    }
    let connection = client.start(&initialize("2025-11-25")).await;
    connection.response().await.expect(503).await;
    gate.0.add_permits(1);
    let rest = running.messages().await;
    assert_eq!(rest.last().expect("an answer")["result"]["content"][0]["text"], "done");
    timeout(PATIENCE, shutdown).await.expect("it ends").unwrap();
    assert_eq!(server.stats().streams, 0);
    client.send(&client.dress(Request::get())).await.expect(404).await;
    timeout(PATIENCE, handle.stop(true)).await.expect("no stream holds it");
}

/// Runs the server where `main` says, and the clients in a thread of their own.
fn with_clients(main: impl FnOnce(Server, Box<dyn FnOnce(SocketAddr, ServerHandle) + Send>)) {
    let (server, gate) = gated();
    let (send, started) = channel();
    let clients = thread::spawn({
        let server = server.clone();
        move || {
            let (addr, handle) = started.recv_timeout(PATIENCE).expect("the server starts");
            actix_web::rt::System::new().block_on(shut_down(server, gate, addr, handle));
        }
    });
    main(server, Box::new(move |addr, handle| send.send((addr, handle)).unwrap()));
    clients.join().expect("the clients are content");
}

#[test]
fn a_server_of_ones_own_is_shut_down_under_the_main_of_actix() {
    with_clients(|server, started| {
        actix_web::rt::System::new().block_on(async move {
            let (running, addr) = bind(&server);
            started(addr, running.handle());
            running.await.unwrap();
        });
    });
}

#[test]
fn a_server_of_ones_own_is_shut_down_under_the_main_of_tokio() {
    with_clients(|server, started| {
        // what `#[tokio::main(flavor = "current_thread")]` makes: no System, and no Arbiter in the workers
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let (running, addr) = bind(&server);
            started(addr, running.handle());
            running.await.unwrap();
        });
    });
}

#[test]
fn a_server_of_ones_own_is_shut_down_under_the_main_of_tokio_with_many_threads() {
    with_clients(|server, started| {
        // what `#[tokio::main]` makes: main's future is on this thread, what it spawns on any
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move {
            let (running, addr) = bind(&server);
            started(addr, running.handle());
            // polled on a thread of the runtime, where an Arbiter or a System would be looked for in vain
            runtime_thread(running).await;
        });
    });
}

/// Runs a server in a task that any thread of a runtime may poll.
async fn runtime_thread(running: actix_web::dev::Server) {
    let main = std::thread::current().id();
    #[expect(
        clippy::disallowed_methods,
        reason = "it is the other threads of the runtime that this is about"
    )]
    let task = tokio::spawn(async move {
        assert_ne!(std::thread::current().id(), main);
        running.await.unwrap();
    });
    task.await.unwrap();
}

#[actix_web::test]
async fn a_body_that_does_not_come_keeps_no_server_from_ending() {
    actix_mcp::testing::paused();
    let server = fixture::server();
    let served = crate::served::Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let request = client.request(&message(1, "ping", json!({}))).bytes();
    let mut connection = served.connect();
    connection.write(&request[..request.len() - 1]).await;
    actix_mcp::testing::settle().await;
    let start = tokio::time::Instant::now();
    server.shutdown().await;
    let response = connection.response().await.expect(503).await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(response.json().await["error"]["message"].as_str().unwrap().contains("shutting down"));
}

#[actix_web::test]
async fn calls_that_do_not_end_have_the_drain_time_and_no_more() {
    actix_mcp::testing::paused();
    let server = fixture::server();
    let client = Client::open(&crate::served::Served::new(&server).await, "2025-11-25").await;
    let request = call_with_progress(1, "progress", json!({ "n": 2, "ms": 3_600_000 }), 1);
    let mut running = client.post(&request).await.expect(200).await;
    running.message().await.expect("progress");
    let start = tokio::time::Instant::now();
    server.shutdown().await;
    assert_eq!(start.elapsed().as_secs(), 5);
    let stopped = running.message().await.expect("an answer");
    assert_eq!((&stopped["id"], &stopped["error"]["code"]), (&json!(1), &json!(-32603)), "{stopped}");
    assert_eq!(running.message().await, None);
    actix_mcp::testing::settle().await;
    assert_eq!(server.stats(), Default::default());
}

#[actix_web::test]
async fn an_initialize_after_a_shutdown_is_refused_before_room_for_a_session_is_looked_for() {
    actix_mcp::testing::paused();
    let server = fixture::builder().limits(fixture::limited(|limits| limits.process.sessions = 0)).build();
    let served = crate::served::Served::new(&server).await;
    server.shutdown().await;
    let response = served.send(&initialize("2025-11-25")).await;
    crate::refused::Refusal::new(503, -32603, "shutting down").of(0).check(response, "initialize").await;
}
