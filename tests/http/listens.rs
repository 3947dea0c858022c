//! `subscriptions/listen` over HTTP. Cases C10, C11, C17 and C71 to C73 as far as they are about it.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use actix_mcp::{
    Server, ServerBuilder, Tool,
    bus::{Change, Node},
    testing::{paused, settle},
};
use actix_web::rt::time::sleep;
use futures_util::future::join_all;
use russe::Event;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Request, Response},
    fixture::{builder, limited, server},
    refused::{Refusal, assert_idle},
    served::{Client, Served, message, modern},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";

fn listen(id: impl Into<Value>, notifications: Value) -> Request {
    modern(id, "subscriptions/listen", json!({ "notifications": notifications }))
}

/// Asks to listen, and reads the acknowledgement.
async fn listening(served: &Served, id: impl Into<Value>, notifications: Value) -> (Response, Value) {
    let id: Value = id.into();
    let mut stream = served.send(&listen(id.clone(), notifications)).await.expect(200).await;
    let honoured = acknowledgement(&mut stream, &id).await;
    (stream, honoured)
}

async fn acknowledgement(stream: &mut Response, id: &Value) -> Value {
    let first = stream.message().await.expect("an acknowledgement");
    assert_eq!(first["method"], ACKNOWLEDGED);
    assert_eq!(first["params"]["_meta"], json!({ SUBSCRIPTION: id }));
    first["params"]["notifications"].clone()
}

/// Reads the stream to its end, which must be a result: what came before it.
async fn graceful_end(stream: Response, id: &Value) -> Vec<Value> {
    let mut messages = stream.messages().await;
    let result = messages.pop().expect("a result");
    assert_eq!(&result["id"], id, "{result}");
    assert_eq!(result["result"]["resultType"], "complete");
    assert_eq!(&result["result"]["_meta"][SUBSCRIPTION], id);
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fixture");
    messages
}

#[actix_web::test]
async fn the_stream_begins_with_the_acknowledgement_at_once_and_has_nothing_of_sessions() {
    paused();
    // whatever is preferred for what ends by itself
    for server in [server(), builder().json_response().build()] {
        let served = Served::new(&server).await;
        let start = Instant::now();
        let filter = json!({ "toolsListChanged": true, "promptsListChanged": false });
        let mut stream = served.send(&listen(7, filter)).await.expect(200).await;
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        assert_eq!(stream.header("cache-control"), Some("no-cache, no-transform"));
        assert_eq!(stream.header("x-accel-buffering"), Some("no"));
        assert_eq!(stream.header("mcp-session-id"), None);
        assert_eq!(acknowledgement(&mut stream, &json!(7)).await, json!({ "toolsListChanged": true }));
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert!(server.handle().remove_tool("none"));
        let notice = stream.message().await.expect("a notice");
        assert_eq!(
            notice,
            json!({ "jsonrpc": "2.0", "method": TOOLS, "params": { "_meta": { SUBSCRIPTION: 7 } } })
        );
        assert!(start.elapsed() <= Duration::from_millis(51));
        let raw = String::from_utf8(stream.raw.clone()).expect("text");
        for line in raw.lines() {
            let carries =
                !line.starts_with("id:") && !line.starts_with("retry:") && line.trim_end() != "data:";
            assert!(carries, "{raw}");
        }
        drop(stream);
        assert_idle(&server).await;
    }
}

#[actix_web::test]
async fn a_quiet_stream_is_kept_alive_by_comments_and_ends_only_with_its_client() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let (mut stream, _) = listening(&served, "s", json!({ "toolsListChanged": true })).await;
    for _ in 0..240 {
        let start = Instant::now();
        let event = stream.event().await.expect("it stays open");
        assert!(matches!(event, Event::Comment(_)), "{event:?}");
        assert_eq!(start.elapsed().as_secs(), 15);
    }
    assert!(server.handle().remove_tool("none"));
    assert_eq!(stream.message().await.expect("after an hour")["method"], TOOLS);
    drop(stream);
    assert_idle(&server).await;
}

#[actix_web::test]
async fn what_is_refused_leaves_nothing() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let any = || json!({ "toolsListChanged": true });
    let uris = (0..1025).map(|n| format!("mem://item/{n}")).collect::<Vec<_>>();
    let uri = format!("mem://item/{}", "x".repeat(8192));
    for (request, refusal, what) in [
        (
            listen(1, any()).set("Accept", "application/json"),
            Refusal::new(406, -32600, "`Accept`"),
            "JSON only",
        ),
        (
            modern(1, "subscriptions/listen", json!({})),
            Refusal::new(200, -32602, "`notifications`"),
            "no filter",
        ),
        (listen(1, json!([])), Refusal::new(200, -32602, "`notifications`"), "no object"),
        (
            listen(1, json!({ "toolsListChanged": "yes" })),
            Refusal::new(200, -32602, "`notifications.toolsListChanged`"),
            "no truth value",
        ),
        (
            listen(1, json!({ "resourceSubscriptions": uris })),
            Refusal::new(200, -32602, "more than 1024 resources"),
            "too many",
        ),
        (
            listen(1, json!({ "resourceSubscriptions": [uri] })),
            Refusal::new(200, -32602, "longer than 8192 bytes"),
            "too long",
        ),
    ] {
        refusal.of(1).check(served.send(&request).await, what).await;
        assert_idle(&server).await;
    }
    let events = listen(1, any()).set("Accept", "text/event-stream");
    acknowledgement(&mut served.send(&events).await.expect(200).await, &json!(1)).await;
}

// C73
#[actix_web::test]
async fn a_filter_without_hope_is_acknowledged_as_what_it_is_and_stays_until_the_end() {
    paused();
    let bare = Server::builder("fixture", "1.0.0").build();
    for (server, filter) in [
        (server(), json!({})),
        (server(), json!({ "resourceSubscriptions": ["mem://nope"] })),
        (bare, json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true })),
    ] {
        let served = Served::new(&server).await;
        let (stream, honoured) = listening(&served, 1, filter).await;
        assert_eq!(honoured, json!({}));
        sleep(Duration::from_secs(600)).await;
        assert_eq!(server.stats().listens, 1);
        server.shutdown().await;
        assert_eq!(graceful_end(stream, &json!(1)).await, Vec::<Value>::new());
        assert_idle(&server).await;
    }
}

#[actix_web::test]
async fn a_session_with_a_handshake_has_no_such_method() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let answer = client.post(&message(1, "subscriptions/listen", json!({ "notifications": {} }))).await;
    assert_eq!(answer.expect(200).await.answer().await["error"]["code"], -32601);
}

#[actix_web::test]
async fn fifty_callers_with_one_id_have_fifty_subscriptions() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let uri = |n: usize| format!("mem://item/{n}");
    let filter = |n: usize| json!({ "resourceSubscriptions": [uri(n)] });
    let streams = join_all((0..50).map(|n| listening(&served, 1, filter(n)))).await;
    assert_eq!(server.stats().listens, 50);
    (0..50).for_each(|n| server.handle().resource_updated(&uri(n)));
    for (n, (mut stream, honoured)) in streams.into_iter().enumerate() {
        assert_eq!(honoured, filter(n));
        let told = stream.message().await.expect("a notice");
        assert_eq!((&told["method"], &told["params"]["uri"]), (&json!(UPDATED), &json!(uri(n))));
        stream.silence().await;
    }
}

/// Changes the server in a loop without a pause, in a thread of its own.
struct Changes {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Changes {
    fn of(server: &Server) -> Self {
        let (handle, stop) = (server.handle(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                handle.add_tool(Tool::new("extra", async || "")).expect("it is not there");
                assert!(handle.remove_tool("extra"));
                handle.resource_updated("mem://a");
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the changes went well");
        }
    }
}

// C72
#[actix_web::test]
async fn no_change_overtakes_the_acknowledgement_of_any_of_five_hundred_streams() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let changes = Changes::of(&server);
    let mut streams = Vec::new();
    for id in 0..500 {
        let (stream, honoured) = listening(&served, id, json!({ "toolsListChanged": true })).await;
        assert_eq!(honoured, json!({ "toolsListChanged": true }));
        streams.push(stream);
    }
    drop(changes);
    // one for all, whatever the machine did to the thread
    assert!(server.handle().remove_tool("none"));
    sleep(Duration::from_millis(60)).await;
    server.shutdown().await;
    for (id, stream) in streams.into_iter().enumerate() {
        let told = graceful_end(stream, &json!(id)).await;
        assert!(!told.is_empty(), "{id}: the last change was lost");
        for notice in told {
            assert_eq!(
                (&notice["method"], &notice["params"]["_meta"][SUBSCRIPTION]),
                (&json!(TOOLS), &json!(id))
            );
        }
    }
    assert_idle(&server).await;
}

#[actix_web::test]
async fn streams_that_come_and_go_while_things_change_leave_nothing() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let (stays, _) = listening(&served, "stays", json!({ "promptsListChanged": true })).await;
    let changes = Changes::of(&server);
    let filter = || json!({ "toolsListChanged": true, "resourceSubscriptions": ["mem://a"] });
    for round in 0..50 {
        join_all((0..10).map(|n| {
            let served = served.clone();
            async move {
                let mut connection = served.connect();
                connection.send(&listen(n, filter())).await;
                // gone before the head, after the acknowledgement, or among the notices
                if (round + n) % 3 > 0 {
                    let mut stream = connection.response().await.expect(200).await;
                    acknowledgement(&mut stream, &json!(n)).await;
                    if (round + n) % 3 > 1 {
                        stream.message().await.expect("a notice");
                    }
                }
            }
        }))
        .await;
    }
    drop(changes);
    settle().await;
    let stats = server.stats();
    assert_eq!((stats.listens, stats.streams, stats.in_flight), (1, 1, 0));
    server.shutdown().await;
    assert_eq!(graceful_end(stays, &json!("stays")).await, Vec::<Value>::new());
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_shutdown_gives_a_thousand_streams_their_result_at_once_and_takes_no_more() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let mut streams = Vec::new();
    for id in 0..1000 {
        streams.push(listening(&served, id, json!({ "toolsListChanged": true })).await.0);
    }
    assert!(server.handle().remove_tool("none"));
    let start = Instant::now();
    let shutdown = actix_web::rt::spawn({
        let server = server.clone();
        async move { server.shutdown().await }
    });
    let ends = streams.into_iter().enumerate().map(async |(id, stream)| {
        // it had changed before the end
        assert_eq!(graceful_end(stream, &json!(id)).await.len(), 1);
    });
    join_all(ends).await;
    shutdown.await.expect("it ends");
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_idle(&server).await;
    let refusal = Refusal::new(503, -32603, "shutting down").of(1);
    refusal.check(served.send(&listen(1, json!({}))).await, "after the end").await;
}

#[actix_web::test]
async fn the_limit_of_streams_holds_on_both_sides() {
    paused();
    let server = builder().limits(limited(|limits| limits.process.listens = 2)).build();
    let served = Served::new(&server).await;
    let (first, _) = listening(&served, 1, json!({})).await;
    let (second, _) = listening(&served, 1, json!({})).await;
    let refusal = Refusal::new(503, -32603, "too many subscriptions are open (the limit is 2)").of(1);
    refusal.check(served.send(&listen(1, json!({}))).await, "the third").await;
    // other requests are not concerned
    served.send(&modern(1, "tools/list", json!({}))).await.expect(200).await;
    drop(first);
    settle().await;
    let (third, _) = listening(&served, 1, json!({})).await;
    drop((second, third));
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_reader_that_stands_still_is_owed_a_bounded_number_of_notices_and_then_closed() {
    paused();
    let limits = limited(|limits| limits.session.coalesce = Duration::from_millis(1));
    let server = builder().limits(limits).build();
    let served = Served::new(&server).await;
    let mut connection = served.connect_with(1024);
    connection.send(&listen(1, json!({ "resourceSubscriptions": ["mem://a"] }))).await;
    let (mut other, _) = listening(&served, 2, json!({ "resourceSubscriptions": ["mem://b"] })).await;
    for _ in 0..10_000 {
        server.handle().resource_updated("mem://a");
        sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(server.stats().listens, 2, "a reader may be late");
    server.handle().resource_updated("mem://b");
    other.message().await.expect("the slow one costs itself only");
    sleep(Duration::from_secs(31)).await;
    assert_eq!(server.stats().listens, 1, "a stream that stands still is closed");
    // it broke: what was on its way can be read, and no more than that
    let sent = connection.closed().await;
    let sent = String::from_utf8_lossy(&sent).matches(UPDATED).count();
    assert!((1..1_200).contains(&sent), "{sent} notices were kept");
}

#[actix_web::test]
async fn a_late_reader_gets_what_was_kept_for_it_and_the_last_change() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let mut connection = served.connect_with(1024);
    connection.send(&listen(1, json!({ "resourceSubscriptions": ["mem://a", "mem://item/last"] }))).await;
    for _ in 0..500 {
        server.handle().resource_updated("mem://a");
        sleep(Duration::from_millis(55)).await;
    }
    server.handle().resource_updated("mem://item/last");
    sleep(Duration::from_millis(55)).await;
    let mut stream = connection.response().await.expect(200).await;
    acknowledgement(&mut stream, &json!(1)).await;
    loop {
        let told = stream.message().await.expect("it is told of the last change");
        if told["params"]["uri"] == "mem://item/last" {
            break;
        }
    }
    stream.silence().await;
}

/// Joins servers of this process.
#[derive(Clone, Default)]
struct Joined(Arc<Mutex<Vec<Node>>>);

impl Joined {
    /// The server as one of the joined, and the changes that it published.
    fn join(&self, server: ServerBuilder) -> (Server, Arc<Mutex<Vec<Change>>>) {
        let published = Arc::<Mutex<Vec<Change>>>::default();
        let (nodes, out) = (self.0.clone(), published.clone());
        let server = server.bus(|node| {
            let mut all = nodes.lock().expect("no test panicked");
            let own = all.len();
            all.push(node);
            drop(all);
            move |change: Change| {
                let nodes = nodes.lock().expect("no test panicked").clone();
                let others = nodes.iter().enumerate().filter(|(place, _)| *place != own);
                others.for_each(|(_, node)| assert!(node.deliver(&change)));
                out.lock().expect("no test panicked").push(change);
            }
        });
        (server.build(), published)
    }
}

#[actix_web::test]
async fn a_change_on_one_node_reaches_the_clients_of_each_exactly_once() {
    paused();
    let bus = Joined::default();
    let ((a, from_a), (b, from_b)) = (bus.join(builder()), bus.join(builder()));
    let (at_a, at_b) = (Served::new(&a).await, Served::new(&b).await);
    let filter = || json!({ "toolsListChanged": true, "resourceSubscriptions": ["mem://a"] });
    let (mut to_a, _) = listening(&at_a, 1, filter()).await;
    let (mut to_b, _) = listening(&at_b, 1, filter()).await;
    // a session with a handshake is told by the same announcements
    let client = Client::open(&at_b, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    for (server, change) in [(&a, Change::Tools), (&b, Change::Resource("mem://a".into()))] {
        match change.uri() {
            Some(uri) => server.handle().resource_updated(uri),
            None => assert!(server.handle().remove_tool("none")),
        }
        for stream in [&mut to_a, &mut to_b] {
            assert_eq!(stream.message().await.expect("a notice")["method"], change.method());
            sleep(Duration::from_millis(200)).await;
            stream.silence().await;
        }
    }
    assert_eq!(get.message().await.expect("a notice")["method"], TOOLS);
    assert_eq!(*from_a.lock().expect("no test panicked"), [Change::Tools]);
    assert_eq!(*from_b.lock().expect("no test panicked"), [Change::Resource("mem://a".into())]);
}
