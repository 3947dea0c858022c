//! A server in this process, and a client of one of its sessions.

use std::{fmt, net::SocketAddr, rc::Rc, time::Duration};

use actix_http::HttpService;
use actix_mcp::Server;
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, map_config};
use actix_web::{App, body::MessageBody, dev::AppConfig, rt::spawn};
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::{
    client::{Connection, Request, Response},
    metadata::stateless,
};

/// Longer than anything lasts that a test waits for, on the paused clock.
pub(crate) const GUARD: Duration = Duration::from_secs(2 * 3600);
const BUFFER: usize = 64 * 1024; // bytes

/// An application served by the real `HttpService` with the settings of `http_server`, on streams in memory.
#[derive(Clone)]
pub(crate) struct Served(Rc<dyn Fn(DuplexStream)>);

impl Served {
    /// Serves a server at `/mcp`.
    pub(crate) async fn new(server: &Server) -> Self {
        Self::app(App::new().service(server.scope("/mcp"))).await
    }

    /// Serves an application.
    pub(crate) async fn app<I, S, B>(app: I) -> Self
    where
        I: IntoServiceFactory<S, actix_http::Request>,
        S: ServiceFactory<actix_http::Request, Config = AppConfig, Error = actix_web::Error> + 'static,
        S::InitError: fmt::Debug,
        S::Response: Into<actix_http::Response<B>> + 'static,
        S::Service: 'static,
        B: MessageBody + 'static,
    {
        Self::app_with(app, true).await
    }

    /// Serves an application, through [`actix_mcp::on_connect`] or as an `HttpServer` that lacks it.
    pub(crate) async fn app_with<I, S, B>(app: I, on_connect: bool) -> Self
    where
        I: IntoServiceFactory<S, actix_http::Request>,
        S: ServiceFactory<actix_http::Request, Config = AppConfig, Error = actix_web::Error> + 'static,
        S::InitError: fmt::Debug,
        S::Response: Into<actix_http::Response<B>> + 'static,
        S::Service: 'static,
        B: MessageBody + 'static,
    {
        let app = map_config(app.into_factory(), |()| AppConfig::default());
        let app = app.map_err(|error: actix_web::Error| error.error_response());
        let http = HttpService::build()
            .h1_allow_half_closed(false)
            .keep_alive(Duration::from_secs(90))
            .on_connect_ext(move |io: &DuplexStream, extensions| {
                if on_connect {
                    actix_mcp::on_connect(io, extensions);
                }
            })
            .h1(app);
        let http = Rc::new(http.new_service(()).await.expect("the service must start"));
        Self(Rc::new(move |io| {
            let peer = SocketAddr::from(([127, 0, 0, 1], 50_000));
            // ends in an error when the client breaks the connection, which is what some tests do
            spawn(http.call((io, Some(peer))));
        }))
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> Connection {
        self.connect_with(BUFFER)
    }

    /// A new connection that holds so many bytes each way before a write waits.
    pub(crate) fn connect_with(&self, bytes: usize) -> Connection {
        Connection::on(self.dial(bytes), GUARD)
    }

    /// The client's end of such a connection, as it is.
    pub(crate) fn dial(&self, bytes: usize) -> DuplexStream {
        let (client, server) = tokio::io::duplex(bytes);
        (self.0)(server);
        client
    }

    /// Sends a request on a connection of its own and reads the head of its response.
    pub(crate) async fn send(&self, request: &Request) -> Response {
        let mut connection = self.connect();
        connection.send(request).await;
        connection.response().await
    }
}

/// Where requests go.
#[derive(Clone)]
pub(crate) enum Net {
    Memory(Served),
    Tcp(SocketAddr),
}

impl From<&Served> for Net {
    fn from(served: &Served) -> Self {
        Self::Memory(served.clone())
    }
}

impl From<SocketAddr> for Net {
    fn from(addr: SocketAddr) -> Self {
        Self::Tcp(addr)
    }
}

impl Net {
    pub(crate) async fn connect(&self) -> Connection {
        match self {
            Self::Memory(served) => served.connect(),
            Self::Tcp(addr) => Connection::tcp(*addr).await,
        }
    }
}

/// The request that opens a session; the client declares nothing.
pub(crate) fn initialize(revision: &str) -> Request {
    initialize_with(revision, json!({}))
}

/// The request that opens a session.
pub(crate) fn initialize_with(revision: &str, capabilities: Value) -> Request {
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
    Request::post(message(0, "initialize", params))
}

/// A request's message.
pub(crate) fn message(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let id: Value = id.into();
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A `tools/call`'s message.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    message(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// A `tools/call`'s message that wants progress under this token.
pub(crate) fn call_with_progress(
    id: impl Into<Value>,
    tool: &str,
    arguments: Value,
    token: impl Into<Value>,
) -> Value {
    let token: Value = token.into();
    message(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } }),
    )
}

/// A request that speaks for itself, with the headers that repeat what it says: revision 2026-07-28, no capabilities. What
/// `params._meta` holds is kept.
pub(crate) fn modern(id: impl Into<Value>, method: &str, params: Value) -> Request {
    modern_with(id, method, params, json!({}))
}

/// The same of a client with these capabilities.
pub(crate) fn modern_with(id: impl Into<Value>, method: &str, params: Value, capabilities: Value) -> Request {
    let params = stateless(params, capabilities);
    let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let request = Request::post(message(id, method, params))
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method);
    name.iter().fold(request, |request, name| request.header("Mcp-Name", name))
}

/// A `tools/call` that speaks for itself.
pub(crate) fn modern_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Request {
    modern(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// A client of one session. Each request has a connection of its own; clones share the session.
#[derive(Clone)]
pub(crate) struct Client {
    net: Net,
    pub(crate) session: String,
    pub(crate) revision: String,
    /// Sent with every request, such as a bearer.
    headers: Vec<(String, String)>,
}

impl Client {
    /// Opens a session and does the handshake; the client declares form and URL elicitation, sampling and roots.
    pub(crate) async fn open(net: impl Into<Net>, revision: &str) -> Self {
        let capabilities =
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} });
        Self::open_with(net, initialize_with(revision, capabilities), &[]).await
    }

    /// Opens a session by this request and says that it is initialized; sends these headers with every request.
    pub(crate) async fn open_with(net: impl Into<Net>, request: Request, headers: &[(&str, &str)]) -> Self {
        let client = Self::uninitialized(net, request, headers).await;
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// Opens a session by this request and leaves it at that.
    pub(crate) async fn uninitialized(
        net: impl Into<Net>,
        request: Request,
        headers: &[(&str, &str)],
    ) -> Self {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut client = Self { net: net.into(), session: String::new(), revision: String::new(), headers };
        let request = client.headers.iter().fold(request, |request, (name, value)| request.set(name, value));
        let response = client.send(&request).await.expect(200).await;
        response.header("mcp-session-id").expect("no session id").clone_into(&mut client.session);
        let answer = response.answer().await;
        answer["result"]["protocolVersion"].as_str().expect("no revision").clone_into(&mut client.revision);
        client
    }

    /// Puts the session's headers into a request.
    pub(crate) fn dress(&self, request: Request) -> Request {
        let request =
            request.header("Mcp-Session-Id", &self.session).header("MCP-Protocol-Version", &self.revision);
        self.headers.iter().fold(request, |request, (name, value)| request.set(name, value))
    }

    /// A POST of this message to the session.
    pub(crate) fn request(&self, message: &Value) -> Request {
        self.dress(Request::post(message))
    }

    /// Sends a request on a connection of its own, and waits for nothing.
    pub(crate) async fn start(&self, request: &Request) -> Connection {
        let mut connection = self.net.connect().await;
        connection.send(request).await;
        connection
    }

    /// Sends a request on a connection of its own and reads the head of its response.
    pub(crate) async fn send(&self, request: &Request) -> Response {
        self.start(request).await.response().await
    }

    /// Posts a message.
    pub(crate) async fn post(&self, message: &Value) -> Response {
        self.send(&self.request(message)).await
    }

    /// Posts `tools/call`.
    pub(crate) async fn call(&self, id: impl Into<Value>, tool: &str, arguments: Value) -> Response {
        self.post(&call(id, tool, arguments)).await
    }

    /// Posts a notification, which must be accepted.
    pub(crate) async fn notify(&self, method: &str, params: Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.post(&notification).await.expect(202).await.empty().await;
    }

    /// Answers a request of the server; the answer must be accepted.
    pub(crate) async fn answer(&self, id: &Value, result: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.post(&answer).await.expect(202).await.empty().await;
    }

    /// Opens a standalone stream.
    pub(crate) async fn get(&self) -> Response {
        self.send(&self.dress(Request::get())).await
    }

    /// Comes back to a stream.
    pub(crate) async fn resume(&self, last: &str) -> Response {
        self.send(&self.dress(Request::get().header("Last-Event-ID", last))).await
    }

    /// Ends the session.
    pub(crate) async fn delete(&self) -> Response {
        self.send(&self.dress(Request::new("DELETE"))).await
    }
}
