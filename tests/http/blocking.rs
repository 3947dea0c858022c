//! Handlers that hold a thread, on two workers with connections and sessions of both. Case C23; `tests/wire/blocking.rs` has
//! the pipes.
//!
//! Who waits for what is made certain by a gate: a tool holds its thread until the test has seen what must get through.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{collections::BTreeMap, net::SocketAddr, pin::Pin, thread::current};

use actix_mcp::prelude::*;
use futures_util::future::poll_immediate;
use serde_json::{Value, json};

use crate::{
    client::{Connection, Request, Response},
    fixture::builder,
    gate::Held,
    kept::Kept,
    served::{call, call_with_progress, initialize, message},
    workers::Workers,
};

/// The worker that serves the connection.
#[tool]
async fn which() -> String {
    format!("{:?}", current().id())
}

/// A connection that is kept, and the session that was opened on it: both are of one worker.
struct Line {
    kept: Kept,
    session: String,
}

impl Line {
    /// Opens a connection and a session; gives its worker too.
    async fn open(addr: SocketAddr) -> (String, Self) {
        let mut kept = Kept::new(Connection::tcp(addr).await);
        let opened = kept.start(&initialize("2025-11-25")).await.response().await.expect(200).await;
        let session = opened.header("mcp-session-id").unwrap().to_owned();
        kept.read(opened).await;
        let mut line = Self { kept, session };
        let which = line.request(&call(1, "which", json!({})));
        let worker = text(&line.ask(&which).await).to_owned();
        (worker, line)
    }

    /// A request of its session, which may be sent on any line.
    fn request(&self, message: &Value) -> Request {
        Request::post(message)
            .header("Mcp-Session-Id", &self.session)
            .header("MCP-Protocol-Version", "2025-11-25")
    }

    /// Sends a request whose response is still to come.
    async fn pending(&mut self, request: &Request) -> Pin<Box<dyn Future<Output = Response>>> {
        Box::pin(self.kept.start(request).await.response())
    }

    /// Sends a request and reads the one message of its response.
    async fn ask(&mut self, request: &Request) -> Value {
        serde_json::from_slice(&self.kept.ask(request, 200).await).unwrap()
    }

    /// Asserts that a ping, a list and a call of this line's session are each answered before the next is sent.
    async fn assert_served(&mut self) {
        for method in ["ping", "tools/list"] {
            let request = self.request(&message(90, method, json!({})));
            assert_eq!(self.ask(&request).await["id"], 90);
        }
        let request = self.request(&call(90, "echo", json!({ "text": "hi" })));
        assert_eq!(text(&self.ask(&request).await), "hi");
    }

    async fn cancel(&mut self, of: &str, id: u32) {
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        let request = self.request(&cancel).set("Mcp-Session-Id", of);
        self.kept.ask(&request, 202).await;
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// So many lines to each of two workers.
async fn lines<const N: usize>(workers: &Workers) -> [[Line; N]; 2] {
    let mut by_worker: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    // they go round the workers
    for _ in 0..2 * N {
        let (worker, line) = Line::open(workers.addr).await;
        by_worker.entry(worker).or_default().push(line);
    }
    let mut by_worker =
        by_worker.into_values().map(|lines| lines.try_into().ok().expect("not as many to each worker"));
    [(); 2].map(|()| by_worker.next().expect("one worker took all connections"))
}

#[actix_web::test]
async fn a_handler_that_blocks_holds_up_its_worker_with_the_sessions_there_and_no_other() {
    let (server, mut held) = Held::on(builder().tool(which));
    let workers = Workers::start(&server);
    let [[mut near, mut beside], [mut far, mut other]] = lines(&workers).await;
    let blocked = near.request(&call(1, "block", json!({})));
    let blocked = near.pending(&blocked).await;
    held.entered().await;
    // another connection and session of that worker, and the session itself by the other worker
    let ping = message(2, "ping", json!({}));
    let request = beside.request(&ping);
    let mut waiting = [beside.pending(&request).await, far.pending(&near.request(&ping)).await];
    for _ in 0..50 {
        other.assert_served().await;
    }
    for pending in &mut waiting {
        assert!(poll_immediate(pending).await.is_none(), "a worker has one thread, and it is held");
    }
    held.let_go(1).await;
    assert_eq!(text(&blocked.await.expect(200).await.json().await), "let go");
    for pending in waiting {
        assert_eq!(pending.await.expect(200).await.json().await["id"], 2);
    }
}

#[actix_web::test]
async fn a_handler_that_blocks_another_worker_than_its_sessions_holds_up_no_cancel() {
    let (server, mut held) = Held::on(builder().tool(which));
    let workers = Workers::start(&server);
    let [[mut near], [mut far]] = lines(&workers).await;
    let mut blocked = far.pending(&near.request(&call(1, "block", json!({})))).await;
    held.entered().await;
    near.assert_served().await;
    let session = near.session.clone();
    near.cancel(&session, 1).await;
    // the cancel took effect, so its id is free; what is in the handler cannot be stopped from outside
    let again = near.request(&call(1, "echo", json!({ "text": "free" })));
    assert_eq!(text(&near.ask(&again).await), "free");
    held.assert_held();
    assert!(poll_immediate(&mut blocked).await.is_none(), "the exchange is of the worker that is held");
    held.let_go(1).await;
    blocked.await.expect(200).await.empty().await;
}

#[actix_web::test]
async fn beside_more_calls_than_workers_that_block_in_the_pool_all_gets_through_their_cancels_too() {
    let (server, mut held) = Held::on(builder().tool(which));
    let workers = Workers::start(&server);
    let [[mut near, near_lines @ ..], [mut far, far_lines @ ..]] = lines::<5>(&workers).await;
    let session = near.session.clone();
    let mut streams = Vec::new();
    // all of one session, on connections of both workers
    for (id, mut line) in (1..).zip(near_lines.into_iter().chain(far_lines)) {
        let offload = near.request(&call_with_progress(id, "offload", json!({}), id));
        let mut stream = line.pending(&offload).await.await.expect(200).await;
        held.entered().await;
        let progress = stream.message().await.unwrap();
        assert_eq!(progress["params"], json!({ "progressToken": id, "progress": 1 }));
        streams.push(stream);
    }
    for line in [&mut near, &mut far] {
        line.assert_served().await;
    }
    // one on each worker, cancelled from the other
    far.cancel(&session, 1).await;
    near.cancel(&session, 8).await;
    for mut stream in [streams.remove(0), streams.pop().unwrap()] {
        assert_eq!(stream.message().await, None, "a cancelled call is not answered");
    }
    let again = near.request(&call(1, "echo", json!({ "text": "free" })));
    assert_eq!(text(&near.ask(&again).await), "free");
    // what was handed to the pool cannot be stopped from outside
    held.assert_held();
    held.let_go(8).await;
    for (id, stream) in (2..8).zip(streams) {
        let answer = stream.messages().await.pop().unwrap();
        assert_eq!((&answer["id"], text(&answer)), (&json!(id), "let go"));
    }
}
