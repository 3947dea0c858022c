//! Handlers that hold a thread, on pipes that have a thread each. Case C23; `tests/http/blocking.rs` has its workers.
//!
//! Who waits for what is made certain by a gate: a tool holds its thread until the test has seen what must get through.

use std::thread::{self, JoinHandle};

use actix_mcp::Server;
use actix_web::rt::System;
use futures_util::future::poll_immediate;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    time::timeout,
};

use crate::{
    checks::text,
    fixture::builder,
    gate::{GUARD, Held},
};

/// A client of a pipe that another thread serves.
struct Wire {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Wire {
    async fn connect(server: &Server) -> Self {
        let (input, server_in) = tokio::io::duplex(64 * 1024);
        let (output, server_out) = tokio::io::duplex(64 * 1024);
        let server = server.clone();
        let thread = thread::spawn(|| System::new().block_on(server.serve_stream(server_in, server_out)));
        let mut wire = Self { input, output: BufReader::new(output).lines(), thread };
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        wire.request(0, "initialize", params).await;
        assert_eq!(wire.next().await["id"], 0);
        wire
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("the pipe has room");
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    async fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
        self.request(id, "tools/call", params).await;
    }

    async fn cancel(&mut self, id: u32) {
        let params = json!({ "requestId": id });
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }

    async fn next(&mut self) -> Value {
        let line = timeout(GUARD, self.output.next_line()).await.expect("nothing came");
        let line = line.expect("UTF-8").expect("the server has ended");
        serde_json::from_str(&line).expect("a line is JSON")
    }

    /// Asserts that a ping, a list and a call are each answered before the next is sent.
    async fn assert_served(&mut self) {
        for (id, method) in [(90, "ping"), (91, "tools/list")] {
            self.request(id, method, json!({})).await;
            assert_eq!(self.next().await["id"], id);
        }
        self.call(92, "echo", json!({ "text": "hi" })).await;
        assert_eq!(text(&self.next().await), "hi");
    }

    /// Closes the input: nothing more comes, and the server ends well.
    async fn finish(mut self) {
        drop(self.input);
        assert_eq!(self.output.next_line().await.expect("UTF-8"), None);
        self.thread.join().expect("no panic").expect("a good end");
    }
}

#[actix_web::test]
async fn a_handler_that_blocks_holds_up_its_own_pipe_and_no_other() {
    let (server, mut held) = Held::on(builder());
    let (mut wire, mut other) = (Wire::connect(&server).await, Wire::connect(&server).await);
    wire.call(1, "block", json!({})).await;
    held.entered().await;
    wire.cancel(1).await;
    wire.request(2, "ping", json!({})).await;
    for _ in 0..50 {
        other.assert_served().await;
    }
    assert!(poll_immediate(wire.output.next_line()).await.is_none(), "a pipe has one thread, and it is held");
    held.let_go(1).await;
    // the cancel has waited behind the call it names, and comes too late
    assert_eq!(text(&wire.next().await), "let go");
    assert_eq!(wire.next().await["id"], 2);
    wire.finish().await;
    other.finish().await;
}

#[actix_web::test]
async fn beside_what_blocks_in_the_pool_all_gets_through_its_own_cancel_too() {
    let (server, mut held) = Held::on(builder());
    let mut wire = Wire::connect(&server).await;
    for id in [1, 2] {
        wire.call(id, "offload", json!({})).await;
        held.entered().await;
        assert_eq!(wire.next().await["params"], json!({ "progressToken": id, "progress": 1 }));
    }
    wire.assert_served().await;
    wire.cancel(1).await;
    // the cancel took effect, so its id is free
    wire.call(1, "echo", json!({ "text": "free" })).await;
    assert_eq!(text(&wire.next().await), "free");
    // what was handed to the pool cannot be stopped from outside
    held.assert_held();
    held.let_go(2).await;
    let answer = wire.next().await;
    assert_eq!((&answer["id"], text(&answer)), (&json!(2), "let go"));
    wire.finish().await;
}
