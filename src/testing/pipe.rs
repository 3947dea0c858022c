//! A client on a byte stream.

use std::{collections::VecDeque, io, time::Duration};

use actix_rt::task::JoinHandle;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    time::timeout,
};

use super::QUIET;
use crate::Server;

const BUFFER: usize = 64 * 1024; // bytes
/// A message that has not arrived by then never will. Costs nothing on a paused clock.
const NEVER: Duration = Duration::from_secs(86_400);

/// A client of a server on an in-memory byte stream. Anything without a method here can be written as bytes.
///
/// Its methods panic to fail the test.
#[derive(Debug)]
pub struct Pipe {
    output: BufReader<ReadHalf<DuplexStream>>,
    /// `None` once the client has closed its end.
    input: Option<WriteHalf<DuplexStream>>,
    /// Messages read while looking for another, not yet returned.
    seen: VecDeque<Value>,
    /// The line being read, so that a cancelled read loses nothing.
    line: Vec<u8>,
    server: Option<JoinHandle<io::Result<()>>>,
}

#[expect(
    clippy::missing_panics_doc,
    clippy::expect_used,
    reason = "in a test a panic is the failure, as the type says"
)]
impl Pipe {
    /// Connects to a server, without a handshake. A request that states its version in `_meta` (2026-07-28) needs none;
    /// for older revisions call [`initialize`](Self::initialize) first.
    #[must_use]
    pub fn open(server: &Server) -> Self {
        Self::with_buffer(server, BUFFER)
    }

    /// Connects with streams that buffer `bytes` bytes each way before a write waits.
    #[must_use]
    pub fn with_buffer(server: &Server, bytes: usize) -> Self {
        // two streams, so that each end can be closed alone
        let (client_in, server_in) = tokio::io::duplex(bytes);
        let (client_out, server_out) = tokio::io::duplex(bytes);
        let serve = server.clone().serve_stream(server_in, server_out);
        let (output, _) = tokio::io::split(client_out);
        let (_, input) = tokio::io::split(client_in);
        Self {
            output: BufReader::new(output),
            input: Some(input),
            seen: VecDeque::new(),
            line: Vec::new(),
            server: Some(actix_rt::spawn(serve)),
        }
    }

    /// Connects and does the handshake at this revision. The client declares form and URL elicitation, sampling with
    /// tools, and roots.
    pub async fn connect(server: &Server, revision: &str) -> Self {
        let mut pipe = Self::open(server);
        let capabilities =
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} });
        pipe.initialize(revision, capabilities).await;
        pipe
    }

    /// Does the handshake and returns the result of `initialize`.
    pub async fn initialize(&mut self, revision: &str, capabilities: Value) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
        self.request(json!("initialize"), "initialize", params).await;
        let answer = self.next().await;
        self.notify("notifications/initialized", json!({})).await;
        answer["result"].clone()
    }

    /// Sends a request.
    pub async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id: Value = id.into();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    /// Sends `tools/call`.
    pub async fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    }

    /// Sends `tools/call` with this progress token.
    pub async fn call_with_progress(
        &mut self,
        id: impl Into<Value>,
        tool: &str,
        arguments: Value,
        token: impl Into<Value>,
    ) {
        let token: Value = token.into();
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } });
        self.request(id, "tools/call", params).await;
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Answers a server-initiated request.
    pub async fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    /// Sends `notifications/cancelled`.
    pub async fn cancel(&mut self, id: impl Into<Value>) {
        let id: Value = id.into();
        self.notify("notifications/cancelled", json!({ "requestId": id })).await;
    }

    /// Sends one message.
    pub async fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Writes bytes as they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).await.expect("the server has closed its input");
    }

    /// Writes bytes as they are, to a server that may have ended.
    ///
    /// # Errors
    ///
    /// An I/O error, once the server has closed its input.
    pub async fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let input = self.input.as_mut().expect("the client has closed its end");
        input.write_all(bytes).await
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        self.try_next().await.expect("the server has ended")
    }

    /// The next message; `None` when the server has ended.
    pub async fn try_next(&mut self) -> Option<Value> {
        if let Some(message) = self.seen.pop_front() {
            return Some(message);
        }
        let line = self.next_line().await?;
        Some(
            serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("not JSON on the output: {line:?}: {error}")),
        )
    }

    /// The next line as received, without its line feed; `None` when the server has ended.
    pub async fn next_line(&mut self) -> Option<String> {
        let read = timeout(NEVER, self.output.read_until(b'\n', &mut self.line)).await;
        read.expect("no line arrived in a day").expect("the output failed");
        if self.line.is_empty() {
            return None;
        }
        let mut line = std::mem::take(&mut self.line);
        assert_eq!(line.pop(), Some(b'\n'), "a line must end with a line feed");
        Some(String::from_utf8(line).expect("the output must be UTF-8"))
    }

    /// The answer to a request. Messages before it can still be read.
    pub async fn answer_to(&mut self, id: impl Into<Value>) -> Value {
        let id: Value = id.into();
        self.find(|message| message.get("method").is_none() && message.get("id") == Some(&id)).await
    }

    /// The next message of this method. Messages before it can still be read.
    pub async fn message(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method).await
    }

    async fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut before = VecDeque::new();
        loop {
            let message = self.next().await;
            if is_it(&message) {
                before.append(&mut self.seen);
                self.seen = before;
                return message;
            }
            before.push_back(message);
        }
    }

    /// Asserts that no message arrives until the server only waits, nor in the 60 ms after that: change notifications
    /// are held back for 50 ms by default. The clock must be paused.
    pub async fn silence(&mut self) {
        if let Ok(message) = timeout(QUIET, self.try_next()).await {
            panic!("expected no message, got {message:?}");
        }
    }

    /// All messages until none has arrived for 60 ms. The clock must be paused.
    pub async fn until_silence(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Ok(Some(message)) = timeout(QUIET, self.try_next()).await {
            all.push(message);
        }
        all
    }

    /// Closes the client's end.
    pub async fn close(&mut self) {
        if let Some(mut input) = self.input.take() {
            input.shutdown().await.expect("the server has closed its input");
        }
    }

    /// Closes the client's end. Returns all remaining messages, and the result of the server.
    pub async fn finish(mut self) -> (Vec<Value>, io::Result<()>) {
        self.close().await;
        let mut rest = Vec::new();
        while let Some(message) = self.try_next().await {
            rest.push(message);
        }
        (rest, self.ended().await)
    }

    /// Stops reading, so that the server finds its output closed. Returns the result of the server.
    ///
    /// # Errors
    ///
    /// The error that the server returned.
    pub async fn hang_up(mut self) -> io::Result<()> {
        drop(std::mem::replace(&mut self.output, BufReader::new(tokio::io::split(tokio::io::duplex(1).0).0)));
        self.ended().await
    }

    /// Waits until the server has ended, and returns its result.
    ///
    /// # Errors
    ///
    /// The error that the server returned.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.server.take().expect("`ended` is called once").await.expect("the server panicked")
    }
}
