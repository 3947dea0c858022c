//! A client that sends each request in its own exchange: the session's side of HTTP, without HTTP.

use std::sync::Arc;

use actix::Addr;
use actix_mcp_router::{
    Principal,
    internal::{Incoming, Payload, RequestMeta, Router, TransportContext, read},
};
use actix_mcp_session::internal::{
    Accepts, Answered, Close, Disposition, Drain, EventId, HttpReply, Notified, OpenError, OpenStream,
    ReplyTo, ResponseHead, Resume, SessionActor, Sessions, Source, serve as serve_request,
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::QUIET;
use crate::Server;

/// A client of one session that sends every request in its own exchange.
///
/// It has a session, so it supports revisions up to 2025-11-25 only: over HTTP a request of 2026-07-28 belongs to no
/// session. To test those, use [`Pipe::open`](super::Pipe::open), which takes requests of all revisions, or, over HTTP,
/// `actix_web::test` with the server's scope.
///
/// Its methods panic to fail the test.
#[derive(Clone, Debug)]
pub struct Posts {
    session: Addr<SessionActor>,
    id: Arc<str>,
    sessions: Sessions,
    router: Arc<Router>,
    principal: Option<Principal>,
}

/// The pending answer to one request.
#[derive(Debug)]
pub struct PendingAnswer {
    head: oneshot::Receiver<ResponseHead>,
}

/// A stream of events.
#[derive(Debug)]
pub struct Stream(Source);

impl From<Source> for Stream {
    fn from(events: Source) -> Self {
        Self(events)
    }
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SseEvent {
    /// The event id, if it has one.
    pub id: Option<String>,
    /// The message; null for the priming event, which has none.
    pub message: Value,
}

#[expect(
    clippy::missing_panics_doc,
    clippy::expect_used,
    reason = "in a test a panic is the failure, as the type says"
)]
impl Posts {
    /// Opens a session without a handshake.
    #[must_use]
    pub fn open(server: &Server) -> Self {
        Self::try_open(server, None).expect("the limit of sessions is reached")
    }

    /// Opens a session for this principal, without a handshake. Its calls also act for the principal.
    ///
    /// # Errors
    ///
    /// If the limit of sessions is reached.
    pub fn try_open(server: &Server, principal: Option<Principal>) -> Result<Self, OpenError> {
        let opening = server.backend.opening(principal.clone(), None);
        let (session, id) = SessionActor::open(opening)?;
        let (sessions, router) = (server.backend.sessions.clone(), server.backend.router.clone());
        Ok(Self { session, id, sessions, router, principal })
    }

    /// Whether this principal finds the session under its id.
    #[must_use]
    pub fn is_found_by(&self, principal: Option<&Principal>) -> bool {
        self.sessions.get(&self.id, principal).is_some()
    }

    /// Opens a session and does the handshake at this revision. The client declares form and URL elicitation, sampling
    /// with tools, and roots.
    pub async fn connect(server: &Server, revision: &str) -> Self {
        let posts = Self::open(server);
        posts.initialize(revision).await;
        posts
    }

    /// Does the handshake, as [`connect`](Self::connect) does.
    pub async fn initialize(&self, revision: &str) {
        let capabilities =
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} });
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
        let answer = self.request("initialize", "initialize", params).json().await.1;
        assert_eq!(answer["result"]["protocolVersion"], revision);
        self.notify("notifications/initialized", json!({}));
    }

    /// Sends a request.
    pub fn request(&self, id: impl Into<Value>, method: &str, params: Value) -> PendingAnswer {
        let id: Value = id.into();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }), Accepts::Both)
    }

    /// Sends `tools/call` with its own id as the progress token.
    pub fn call(&self, id: impl Into<Value>, tool: &str, arguments: Value) -> PendingAnswer {
        let id: Value = id.into();
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
        self.request(id, "tools/call", params)
    }

    /// Sends a request from a client that accepts these responses. Panics if the request states its version in `_meta`.
    pub fn send(&self, message: &Value, accepts: Accepts) -> PendingAnswer {
        let (send, head) = oneshot::channel();
        match self.read(message) {
            Incoming::Request(request) if RequestMeta::of(&request.params).is_some() => panic!(
                "{message} states its version, so it has no session: use `Pipe::open` or `actix_web::test`"
            ),
            Incoming::Request(request) => {
                let reply_to = ReplyTo::Http(HttpReply { head: send, accepts });
                let (session, router, sessions) = (&self.session, &self.router, &self.sessions);
                let context =
                    TransportContext { principal: self.principal.clone(), ..TransportContext::default() };
                serve_request(session, router, sessions, request, reply_to, context);
            }
            Incoming::Notification(_) | Incoming::Response(_) => panic!("{message} is not a request"),
        }
        PendingAnswer { head }
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        match self.read(&json!({ "jsonrpc": "2.0", "method": method, "params": params })) {
            Incoming::Notification(notification) => self.session.do_send(Notified { notification }),
            Incoming::Request(_) | Incoming::Response(_) => panic!("{method} is not a notification"),
        }
    }

    /// Sends `notifications/cancelled`.
    pub fn cancel(&self, id: impl Into<Value>) {
        let id: Value = id.into();
        self.notify("notifications/cancelled", json!({ "requestId": id }));
    }

    /// Answers a server-initiated request.
    pub fn answer(&self, id: &Value, result: Value) {
        match self.read(&json!({ "jsonrpc": "2.0", "id": id, "result": result })) {
            Incoming::Response(response) => self.session.do_send(Answered { response }),
            Incoming::Request(_) | Incoming::Notification(_) => panic!("{result} is not an answer"),
        }
    }

    /// Opens a standalone stream.
    pub async fn stream(&self) -> Stream {
        self.try_stream().await.expect("the limit of streams is reached")
    }

    /// Opens a standalone stream; `None` if the limit of streams is reached.
    pub async fn try_stream(&self) -> Option<Stream> {
        self.session.send(OpenStream).await.expect("the session has ended").ok().map(Stream)
    }

    /// Resumes a stream after this event; `None` if it cannot be resumed there.
    pub async fn resume(&self, last: &str) -> Option<Stream> {
        let last: EventId = last.parse().ok()?;
        self.session.send(Resume { last }).await.expect("the session has ended").ok().map(Stream)
    }

    /// Lets running calls end and admits no new ones; resolves when nothing is in flight. Set `input_closed` if the
    /// client can no longer answer.
    pub async fn drain(&self, input_closed: bool) {
        let (done, drained) = oneshot::channel();
        self.session.do_send(Drain { done, input_closed });
        drained.await.expect("the session has ended");
    }

    /// Ends the session.
    pub fn close(&self) {
        self.session.do_send(Close);
    }

    /// Whether the session is alive.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.session.connected()
    }

    fn read(&self, message: &Value) -> Incoming {
        match read(Bytes::from(message.to_string()), self.router.limits()) {
            Ok(Payload::One(incoming)) => incoming,
            other => panic!("{message} is not a message: {other:?}"),
        }
    }
}

#[expect(clippy::missing_panics_doc, reason = "in a test a panic is the failure, as `Posts` says")]
impl PendingAnswer {
    /// The head of the response; `None` if the session ended without one.
    pub async fn head(self) -> Option<ResponseHead> {
        self.head.await.ok()
    }

    /// Waits for a single answer: its disposition and its message.
    pub async fn json(self) -> (Disposition, Value) {
        match self.head().await {
            Some(ResponseHead::Json { json, disposition }) => (
                disposition,
                serde_json::from_slice(&json).unwrap_or_else(|error| panic!("not JSON: {error}")),
            ),
            other => panic!("expected a single answer, got {other:?}"),
        }
    }

    /// Waits for a stream.
    pub async fn stream(self) -> Stream {
        match self.head().await {
            Some(ResponseHead::Events(events)) => Stream(events),
            other => panic!("expected a stream, got {other:?}"),
        }
    }
}

#[expect(
    clippy::missing_panics_doc,
    clippy::expect_used,
    reason = "in a test a panic is the failure, as `Posts` says"
)]
impl Stream {
    /// The next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<SseEvent> {
        let bytes = loop {
            let bytes = self.0.next().await?;
            // neither a comment nor a `retry` field is an event
            if !bytes.starts_with(b":") && !bytes.starts_with(b"retry:") {
                break bytes;
            }
        };
        let text = std::str::from_utf8(&bytes).expect("events must be UTF-8");
        assert!(text.ends_with("\n\n"), "an event must end with an empty line: {text:?}");
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
        let data = field("data:").expect("an event must have data");
        let message = match data {
            "" => Value::Null,
            // every event with a message must be named `message`
            _ if field("event:") != Some("message") => panic!("an event must be named `message`: {text:?}"),
            data => serde_json::from_str(data).unwrap_or_else(|error| panic!("not JSON: {data:?}: {error}")),
        };
        Some(SseEvent { id: field("id:").map(str::to_owned), message })
    }

    /// The next message; `None` at the end of the stream. Skips the priming event.
    pub async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.next().await?;
            if !event.message.is_null() {
                return Some(event.message);
            }
        }
    }

    /// All messages until the end of the stream.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(message) = self.message().await {
            all.push(message);
        }
        all
    }

    /// Asserts that no event arrives until the server only waits, nor in the 60 ms after that: change notifications are
    /// held back for 50 ms by default. The clock must be paused.
    pub async fn silence(&mut self) {
        if let Ok(event) = tokio::time::timeout(QUIET, self.next()).await {
            panic!("expected no event, got {event:?}");
        }
    }
}
