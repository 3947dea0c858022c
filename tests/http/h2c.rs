//! HTTP/2 without TLS, to an application whose actix-web has it: cases C08 (its legacy half), C55 and C59.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use actix_mcp::{Server, http_server, tool};
use actix_web::{
    App,
    rt::{spawn, task::JoinHandle, time::sleep},
    web::{self, Bytes},
};
use h2::{
    RecvStream, SendStream,
    client::{ResponseFuture, SendRequest},
};
use http::{Request, Response};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::Notify, time::timeout};

use crate::{
    fixture,
    served::{call, call_with_progress, modern, modern_call},
};

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn serve(server: &Server) -> SocketAddr {
    let server = server.clone();
    let http = http_server(move || App::new().service(server.scope("/mcp")))
        // the test's own process keeps its signals
        .shutdown_signal(std::future::pending())
        .workers(1)
        .bind_auto_h2c("127.0.0.1:0")
        .unwrap();
    let addr = http.addrs()[0];
    spawn(http.run());
    addr
}

/// A connection; it breaks when what carries it is aborted.
pub(crate) async fn connect(addr: SocketAddr) -> (SendRequest<Bytes>, JoinHandle<()>) {
    let (send, connection) = h2::client::handshake(TcpStream::connect(addr).await.unwrap()).await.unwrap();
    let carrier = spawn(async move {
        // ends in an error when the server closes it
        connection.await.ok();
    });
    (send, carrier)
}

async fn post(
    connection: &SendRequest<Bytes>,
    authority: &str,
    session: Option<&str>,
    message: &Value,
) -> Response<RecvStream> {
    let request = Request::post(format!("http://{authority}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let request = session.iter().fold(request, |request, id| request.header("mcp-session-id", *id));
    send(connection, request.body(()).unwrap(), message.to_string().into()).await
}

pub(crate) async fn send(
    connection: &SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
) -> Response<RecvStream> {
    let mut connection = connection.clone().ready().await.unwrap();
    let (response, mut stream) = connection.send_request(request, false).unwrap();
    stream.send_data(body, true).unwrap();
    timeout(PATIENCE, response).await.expect("nothing came").unwrap()
}

/// Reads the body to where it has `text`, or to its end.
pub(crate) async fn read_to(response: &mut Response<RecvStream>, text: &str) -> String {
    let mut read = String::new();
    while !read.contains(text) {
        let Some(chunk) = timeout(PATIENCE, response.body_mut().data()).await.expect("nothing came") else {
            break;
        };
        let chunk = chunk.unwrap();
        response.body_mut().flow_control().release_capacity(chunk.len()).unwrap();
        read.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    read
}

async fn open(connection: &SendRequest<Bytes>, addr: SocketAddr) -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let hello = crate::served::message(0, "initialize", params);
    let response = post(connection, &addr.to_string(), None, &hello).await;
    assert_eq!(response.status(), 200);
    response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

#[actix_web::test]
async fn the_host_of_a_request_is_its_authority() {
    let addr = serve(&fixture::server());
    let (connection, _carrier) = connect(addr).await;
    let session = open(&connection, addr).await;
    let port = addr.port();
    for (authority, status) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("LOCALHOST:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        ("localhost".to_owned(), 200),
        ("evil.example".to_owned(), 403),
        (format!("evil.example:{port}"), 403),
    ] {
        let ping = crate::served::message(1, "ping", json!({}));
        let response = post(&connection, &authority, Some(&session), &ping).await;
        assert_eq!(response.status(), status, "{authority}");
    }
}

/// Asserts that it is a stream with what proxies need, and without what HTTP/2 forbids.
fn assert_stream(response: &Response<RecvStream>) {
    assert_eq!(response.status(), 200);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "text/event-stream");
    assert_eq!(headers["cache-control"], "no-cache, no-transform");
    assert_eq!(headers["x-accel-buffering"], "no");
    for forbidden in ["connection", "keep-alive", "transfer-encoding", "content-length", "upgrade"] {
        assert!(!headers.contains_key(forbidden), "{forbidden}: {headers:?}");
    }
}

// C59
#[actix_web::test]
async fn a_stream_has_no_header_that_http_2_forbids() {
    let addr = serve(&fixture::server());
    let (connection, _carrier) = connect(addr).await;
    let session = open(&connection, addr).await;
    let get = Request::get(format!("http://{addr}/mcp"))
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &session);
    assert_stream(&send(&connection, get.body(()).unwrap(), Bytes::new()).await);
    let slow = modern_call(1, "slow", json!({ "ms": 3_600_000, "tag": "x" }));
    let listen = modern(1, "subscriptions/listen", json!({ "notifications": {} }));
    for (method, name, message) in [("tools/call", "slow", slow), ("subscriptions/listen", "", listen)] {
        let request = Request::post(format!("http://{addr}/mcp"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .header("mcp-name", name);
        assert_stream(&send(&connection, request.body(()).unwrap(), message.text().into()).await);
    }
    let message = call_with_progress(1, "progress", json!({ "n": 2, "ms": 1 }), 1);
    let mut response = post(&connection, &addr.to_string(), Some(&session), &message).await;
    assert_stream(&response);
    let body = read_to(&mut response, "\"done\"").await;
    assert!(body.contains("\"progress\":2"), "{body}");
}

#[actix_web::test]
async fn a_client_that_goes_is_noticed_by_the_keep_alive_and_cancels_nothing() {
    let server = fixture::builder()
        .limits(fixture::limited(|limits| limits.http.keep_alive = Duration::from_millis(20)))
        .build();
    let addr = serve(&server);
    let (connection, carrier) = connect(addr).await;
    let session = open(&connection, addr).await;
    let message = call(1, "slow", json!({ "ms": 5000, "tag": "x" }));
    let mut response = post(&connection, &addr.to_string(), Some(&session), &message).await;
    let prime = read_to(&mut response, "id: ").await;
    let last = prime.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    assert_eq!(server.stats().streams, 1);
    carrier.abort();
    drop((response, connection));
    let gone = async {
        while server.stats().streams > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("the stream stays open");
    assert_eq!((server.stats().in_flight, server.stats().sessions), (1, 1), "the call was cancelled");

    let (connection, _carrier) = connect(addr).await;
    let request = Request::get(format!("http://{addr}/mcp"))
        .header("accept", "text/event-stream")
        .header("mcp-session-id", session)
        .header("last-event-id", last);
    let mut resumed = send(&connection, request.body(()).unwrap(), Bytes::new()).await;
    assert_eq!(resumed.status(), 200);
    let rest = read_to(&mut resumed, "\"result\"").await;
    assert!(rest.contains(r#""text":"x""#), "{rest}");
}

/// How a client goes.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    /// It resets the call's stream.
    Stream,
    /// Its connection breaks.
    Connection,
}

/// A call that speaks for itself, on a connection of its own.
struct Sent {
    response: ResponseFuture,
    stream: SendStream<Bytes>,
    connection: SendRequest<Bytes>,
    carrier: JoinHandle<()>,
}

async fn send_modern(addr: SocketAddr, tool: &str, arguments: Value, accept: &str) -> Sent {
    let (connection, carrier) = connect(addr).await;
    let request = Request::post(format!("http://{addr}/mcp"))
        .header("content-type", "application/json")
        .header("accept", accept)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool);
    let mut ready = connection.clone().ready().await.unwrap();
    let (response, mut stream) = ready.send_request(request.body(()).unwrap(), false).unwrap();
    stream.send_data(modern_call(1, tool, arguments).text().into(), true).unwrap();
    Sent { response, stream, connection, carrier }
}

/// Goes, and waits until whatever the server learns of it has been learnt.
async fn leave(addr: SocketAddr, sent: Sent, how: Leaves) {
    let Sent { response, mut stream, connection, carrier } = sent;
    match how {
        Leaves::Stream => {
            stream.send_reset(h2::Reason::CANCEL);
            // what comes later on the connection is read later
            open(&connection, addr).await;
        }
        Leaves::Connection => {
            carrier.abort();
            let (connection, _carrier) = connect(addr).await;
            open(&connection, addr).await;
        }
    }
    drop((response, stream, connection));
}

async fn in_flight(server: &Server, calls: usize) {
    let reached = async {
        while server.stats().in_flight != calls {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{:?}", server.stats()));
}

// C08
#[actix_web::test]
async fn a_call_that_speaks_for_itself_is_stopped_when_its_client_goes() {
    // only what is written finds out: the comments of a call come every second, whatever those of others do
    let server = fixture::builder()
        .limits(fixture::limited(|limits| limits.http.keep_alive = Duration::from_secs(3600)))
        .build();
    let addr = serve(&server);
    for how in [Leaves::Stream, Leaves::Connection] {
        for before_the_head in [true, false] {
            let arguments = json!({ "ms": 3_600_000, "tag": "x" });
            let mut sent = send_modern(addr, "slow", arguments, "application/json, text/event-stream").await;
            in_flight(&server, 1).await;
            if before_the_head {
                leave(addr, sent, how).await;
            } else {
                let mut response =
                    timeout(PATIENCE, &mut sent.response).await.expect("nothing came").unwrap();
                assert_eq!(response.status(), 200);
                read_to(&mut response, ":").await;
                leave(addr, sent, how).await;
            }
            in_flight(&server, 0).await;
            assert_eq!(server.stats().streams, 0, "{how:?}");
        }
    }
}

/// What a handler waits for.
#[derive(Default)]
struct Door(Notify);

#[tool]
async fn pass(door: web::Data<Door>) -> &'static str {
    door.0.notified().await;
    "passed"
}

// C08: actix-http polls a handler in a task of its own, to its end; that the stream was reset is found out by a write
#[actix_web::test]
async fn a_call_whose_client_takes_json_only_is_stopped_too_and_its_answer_stays_json() {
    let door = Arc::<Door>::default();
    let server = fixture::builder().tool(pass).data_arc(door.clone()).build();
    let addr = serve(&server);
    for how in [Leaves::Stream, Leaves::Connection] {
        let sent = send_modern(addr, "pass", json!({}), "application/json").await;
        in_flight(&server, 1).await;
        leave(addr, sent, how).await;
        in_flight(&server, 0).await;
    }
    for waits in [false, true] {
        let (tool, arguments) =
            if waits { ("pass", json!({})) } else { ("echo", json!({ "text": "passed" })) };
        let sent = send_modern(addr, tool, arguments, "application/json").await;
        let mut response = timeout(PATIENCE, sent.response).await.expect("nothing came").unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/json");
        if waits {
            read_to(&mut response, " ").await;
            door.0.notify_one();
        }
        let body = read_to(&mut response, "passed\"}]}}").await;
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body:?}"));
        assert_eq!(answer["id"], 1);
    }
}
