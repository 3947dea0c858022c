//! A raw HTTP/1.1 client: what is written is what the test says, byte for byte, and what comes back is taken apart.
//!
//! [`Request`] writes, [`Connection`] carries, [`Response`] reads: its head by httparse, its events by russe. Methods panic
//! where a test would; every wait has a guard, so that a test fails instead of hanging.

use std::{fmt, io, time::Duration};

use actix_web::web::{Buf, Bytes, BytesMut};
use russe::Event;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};
use tokio_util::codec::Decoder as _;

/// A request that can be changed before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// A request without any header but `Host`, to `/mcp`.
    pub(crate) fn new(method: &str) -> Self {
        let headers = vec![("Host".to_owned(), "127.0.0.1:8080".to_owned())];
        Self { method: method.to_owned(), target: "/mcp".to_owned(), headers, body: Vec::new() }
    }

    /// A POST with the two headers that every client sends.
    pub(crate) fn post(body: impl ToString) -> Self {
        Self::new("POST")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(body.to_string())
    }

    /// A GET for events.
    pub(crate) fn get() -> Self {
        Self::new("GET").header("Accept", "text/event-stream")
    }

    /// Sends it to another path.
    pub(crate) fn to(mut self, target: &str) -> Self {
        target.clone_into(&mut self.target);
        self
    }

    /// Sends it with another method.
    pub(crate) fn method(mut self, method: &str) -> Self {
        method.clone_into(&mut self.method);
        self
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("a body of text")
    }

    /// Adds a header, also one that is there already.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a header in the place of all of its name.
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    /// Takes a header out.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets the body, whose length is announced.
    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The head alone, with no `Content-Length` of its own: for bodies that are written by hand.
    pub(crate) fn head(&self) -> String {
        let lines = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("{} {} HTTP/1.1\r\n{}\r\n", self.method, self.target, lines.collect::<String>())
    }

    /// The whole request.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut request = self.clone();
        if !request.body.is_empty() || request.method == "POST" {
            request = request.header("Content-Length", &self.body.len().to_string());
        }
        [request.head().into_bytes(), request.body].concat()
    }
}

pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Io for T {}

/// A connection. Dropping it closes both directions, as a client that was killed does.
pub(crate) struct Connection {
    io: Box<dyn Io>,
    input: BytesMut,
    /// Whether the last request was HEAD, whose response has no body.
    head: bool,
    guard: Duration,
}

impl Connection {
    /// A connection on a stream; nothing is waited for longer than `guard`.
    pub(crate) fn on(io: impl Io + 'static, guard: Duration) -> Self {
        Self { io: Box::new(io), input: BytesMut::new(), head: false, guard }
    }

    /// A connection to a real socket.
    pub(crate) async fn tcp(addr: std::net::SocketAddr) -> Self {
        let stream = tokio::net::TcpStream::connect(addr).await.expect("the server must listen");
        stream.set_nodelay(true).expect("a TCP socket");
        Self::on(stream, Duration::from_secs(60))
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_write(bytes).await.expect("the server has closed the connection");
    }

    /// Writes bytes as they are, to a server that may have closed the connection.
    pub(crate) async fn try_write(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let write = async {
            self.io.write_all(bytes.as_ref()).await?;
            self.io.flush().await
        };
        timeout(self.guard, write).await.expect("the server does not read")
    }

    /// Sends a request.
    pub(crate) async fn send(&mut self, request: &Request) {
        self.head = request.method == "HEAD";
        self.write(request.bytes()).await;
    }

    /// Closes the direction to the server: it gets a FIN.
    pub(crate) async fn finish(&mut self) {
        self.io.shutdown().await.expect("the server has closed the connection");
    }

    /// Reads the head of a response.
    pub(crate) async fn response(self) -> Response {
        self.try_response().await.expect("the server has closed the connection without a response")
    }

    /// Reads the head of a response; `None` if the connection ends without one.
    pub(crate) async fn try_response(mut self) -> Option<Response> {
        loop {
            if let Some((length, status, headers)) = parse_head(&self.input) {
                self.input.advance(length);
                // 100 Continue is no response
                if status != 100 {
                    return Some(Response::new(self, status, headers));
                }
            } else if !self.fill().await {
                assert!(self.input.is_empty(), "half a head: {:?}", self.input);
                return None;
            }
        }
    }

    /// Waits until the server has closed the connection; what came before, as it came.
    pub(crate) async fn closed(mut self) -> Vec<u8> {
        while self.fill().await {}
        self.input.to_vec()
    }

    /// Reads what there is; `false` at the end.
    async fn fill(&mut self) -> bool {
        let read = timeout(self.guard, self.io.read_buf(&mut self.input)).await.expect("nothing came");
        // a reset is an end as well
        read.is_ok_and(|length| length > 0)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("input", &self.input).finish_non_exhaustive()
    }
}

fn parse_head(input: &[u8]) -> Option<(usize, u16, Headers)> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(input).expect("a head must be HTTP") else {
        return None;
    };
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).expect("a header must be text");
    let headers = head.headers.iter().map(|header| (header.name.to_ascii_lowercase(), text(header.value)));
    Some((length, head.code.expect("a head must have a status"), headers.collect()))
}

/// In order, with names in lower case.
type Headers = Vec<(String, String)>;

/// How a body ends.
#[derive(Debug)]
enum Framing {
    /// After so many more bytes.
    Length(usize),
    /// With the empty chunk.
    Chunked,
    /// With the connection.
    Close,
}

/// A response: its head, and a body that is read as it comes.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    framing: Framing,
    /// All of the body that was read so far, as it came.
    pub(crate) raw: Vec<u8>,
    events: BytesMut,
    decoder: russe::Decoder,
    connection: Connection,
}

impl Response {
    fn new(connection: Connection, status: u16, headers: Headers) -> Self {
        let decoder = russe::Decoder::default();
        let framing = Framing::Close;
        let mut response =
            Self { status, headers, framing, raw: Vec::new(), events: BytesMut::new(), decoder, connection };
        response.framing = if response.connection.head || matches!(status, 204 | 304) {
            Framing::Length(0)
        } else if response.header("transfer-encoding") == Some("chunked") {
            Framing::Chunked
        } else {
            response.header("content-length").map_or(Framing::Close, |length| {
                Framing::Length(length.parse().expect("a length must be a number"))
            })
        };
        response
    }

    /// The one value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let value = values.next();
        assert!(values.next().is_none(), "`{name}` is there more than once");
        value.map(|(_, value)| &**value)
    }

    /// Asserts the status; the body is in the message if it is another.
    pub(crate) async fn expect(mut self, status: u16) -> Self {
        if self.status != status {
            let body = self.bytes().await;
            panic!("status {status} was expected, not {}: {}", self.status, String::from_utf8_lossy(&body));
        }
        self
    }

    /// The next piece of the body, of whatever size; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Option<Bytes> {
        let chunk = match self.framing {
            Framing::Length(0) => return None,
            Framing::Length(left) => {
                self.fill_to(1).await;
                let length = left.min(self.connection.input.len());
                self.framing = Framing::Length(left - length);
                self.connection.input.split_to(length)
            }
            Framing::Close => {
                if self.connection.input.is_empty() && !self.connection.fill().await {
                    return None;
                }
                self.connection.input.split()
            }
            Framing::Chunked => self.http_chunk().await?,
        };
        self.raw.extend_from_slice(&chunk);
        Some(chunk.freeze())
    }

    async fn http_chunk(&mut self) -> Option<BytesMut> {
        let (head, length) = loop {
            match httparse::parse_chunk_size(&self.connection.input).expect("a chunk must have a size") {
                httparse::Status::Complete((head, length)) => {
                    break (head, usize::try_from(length).expect("a chunk must fit"));
                }
                httparse::Status::Partial => {
                    let more = self.connection.fill().await;
                    // the connection broke: what a client sees as an error
                    assert!(more, "the body ends without its last chunk");
                }
            }
        };
        self.fill_to(head + length + 2).await;
        self.connection.input.advance(head);
        let chunk = self.connection.input.split_to(length);
        self.connection.input.advance(2);
        if length > 0 {
            return Some(chunk);
        }
        self.framing = Framing::Length(0);
        None
    }

    async fn fill_to(&mut self, length: usize) {
        while self.connection.input.len() < length {
            assert!(self.connection.fill().await, "the body ends too early");
        }
    }

    /// What is left of the body.
    pub(crate) async fn bytes(&mut self) -> Vec<u8> {
        let guard = self.connection.guard;
        let rest = async {
            let mut all = Vec::new();
            while let Some(chunk) = self.chunk().await {
                all.extend_from_slice(&chunk);
            }
            all
        };
        timeout(guard, rest).await.expect("the body does not end")
    }

    /// The body as one JSON message.
    pub(crate) async fn json(mut self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        let body = self.bytes().await;
        serde_json::from_slice(&body)
            .unwrap_or_else(|error| panic!("no JSON: {:?}: {error}", String::from_utf8_lossy(&body)))
    }

    /// Asserts that it has no body at all.
    pub(crate) async fn empty(mut self) {
        assert_eq!(String::from_utf8_lossy(&self.bytes().await), "");
    }

    /// The next event, comments included; `None` at the end of the body.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.decoder.decode(&mut self.events).expect("events must be UTF-8") {
                return Some(event);
            }
            match self.chunk().await {
                Some(chunk) => self.events.extend_from_slice(&chunk),
                None => {
                    assert!(self.events.is_empty(), "half an event: {:?}", self.events);
                    return None;
                }
            }
        }
    }

    /// The next event with a message, and its id: comments and the priming event are passed over.
    pub(crate) async fn message_event(&mut self) -> Option<(Option<String>, Value)> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        let guard = self.connection.guard;
        let event = async {
            loop {
                if let Event::Message(event) = self.event().await?
                    && !event.data.is_empty()
                {
                    return Some(event);
                }
            }
        };
        // over all of it: comments come for ever
        let event = timeout(guard, event).await.expect("no message came")?;
        // C93
        assert_eq!(event.event.as_deref(), Some("message"), "{event:?}");
        let message = serde_json::from_str(&event.data)
            .unwrap_or_else(|error| panic!("no JSON: {:?}: {error}", event.data));
        Some((event.id.map(|id| id.to_string()), message))
    }

    /// The next message; `None` at the end of the body.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        self.message_event().await.map(|(_, message)| message)
    }

    /// All messages that are left.
    pub(crate) async fn messages(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(message) = self.message().await {
            all.push(message);
        }
        all
    }

    /// The one message that answers, in whichever form it came.
    pub(crate) async fn answer(self) -> Value {
        if self.header("content-type") == Some("application/json") {
            return self.json().await;
        }
        self.messages().await.pop().expect("the stream has no answer")
    }

    /// Asserts that nothing comes while the server has nothing left to do but wait. The clock must be paused.
    pub(crate) async fn silence(&mut self) {
        if let Ok(event) = timeout(Duration::from_micros(10), self.event()).await {
            panic!("nothing was expected, but {event:?} came");
        }
    }

    /// The connection, for the next request; the body must have been read.
    pub(crate) fn into_connection(self) -> Connection {
        assert!(matches!(self.framing, Framing::Length(0)), "there is more of the body");
        self.connection
    }
}
