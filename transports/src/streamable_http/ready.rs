//! The `HttpServer` with the settings that an MCP server needs. Its socket options are in `sockets`.

use std::{fmt::Debug, time::Duration};

use actix_http::Request;
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::{
    HttpServer,
    body::MessageBody,
    dev::{AppConfig, Response},
};

use super::{shutdown, sockets::on_connect};

/// How long an idle connection is kept: longer than load balancers and proxies keep theirs, most of them for 60 s or
/// 75 s. actix-http counts from when it has taken the end of a response, even if the client has not read it: a slower
/// client loses the rest, so this must not be shorter than a stream may be stalled.
const KEEP_ALIVE: Duration = Duration::from_secs(90);
const _: () = assert!(
    KEEP_ALIVE.as_secs() > 75,
    "a proxy in front would send requests on connections that were closed"
);

/// An `HttpServer` that detects client disconnects, writes events at once, and ends streams on shutdown.
///
/// It is an ordinary actix-web server: bind it, set its workers and run it like any other. Keep these settings:
///
/// - If you set `.on_connect(..)`, call [`on_connect`](super::on_connect) from it.
/// - Do not set `.h1_allow_half_closed(true)`: disconnects would go unnoticed.
/// - Keep `.keep_alive(..)` longer than a stream may be stalled (30 s by default): slow clients would lose the end of
///   their streams.
///
/// With TLS, which hides the socket, use [`listener`](super::listener).
///
/// An idle connection is kept for 90 s. Behind a load balancer or a proxy, this must be longer than the proxy's own
/// idle timeout (60 s and 75 s are common): otherwise the proxy sends a request on a connection that the server is
/// closing, and answers its client with 502. Lower the proxy's timeout, or raise this one with `.keep_alive(..)`.
///
/// Some behaviour of actix-http cannot be changed from here:
///
/// - A request with more than 96 headers, or a head of more than 128 KiB, is refused with 431, and a malformed head
///   with 400, both without a body.
/// - A connection whose first request head is not complete after 5 s gets 408, even if nothing was sent on it;
///   `.client_request_timeout(..)` sets the time.
/// - The endpoint ignores `Upgrade` headers, and its response to such a request has `Connection: close`. Responses of
///   other routes and of middleware have `Connection: upgrade`.
/// - A pipelined request changes the response to the one before it, since actix-http frames a response by the last
///   request it has read: the response has `Connection: upgrade` if that has an `Upgrade` header, has no body if that
///   is a `HEAD`, and wrongly claims to be chunked if that is HTTP/1.0 or offers `websocket`. A request pipelined
///   behind a response that closes the connection is served. MCP clients do not pipeline; a proxy in front that does
///   not either prevents all this.
/// - While a request runs, a connection with 16 pipelined requests and 128 KiB more behind it keeps its worker busy,
///   and its disconnect is not noticed before the next write. Put a proxy in front of a public server.
/// - A client that closes its sending side right after a request counts as disconnected.
/// - An HTTP/1.0 client gets the endpoint's streams without chunks, but streamed bodies of other routes in chunks.
/// - `.bind_uds(..)` does not call `on_connect`; the endpoint treats a connection without a peer address as a Unix
///   socket.
///
/// On SIGTERM, SIGINT or SIGHUP new work is refused with 503, standalone streams end, and running calls have the
/// drain time (5 s by default) to finish; then they are answered with an error, which clients have half a second to
/// read. Anything still open after these 5.5 s has 5 s more, or the time set with `.shutdown_timeout(..)`: other
/// requests of the `App`, and connections whose client has stopped reading. actix-web cannot tell the two apart, and
/// closes both at that time. A second SIGTERM or SIGINT ends the process at once, with status 143 or 130. A SIGHUP
/// that was ignored when the process was started, as by `nohup`, stays ignored (on Linux).
pub fn http_server<F, I, S, B>(factory: F) -> HttpServer<F, I, S, B>
where
    F: Fn() -> I + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Error: Into<actix_web::Error> + 'static,
    S::InitError: Debug,
    S::Response: Into<Response<B>> + 'static,
    <S::Service as Service<Request>>::Future: 'static,
    S::Service: 'static,
    B: MessageBody + 'static,
{
    HttpServer::new(factory)
        .h1_allow_half_closed(false)
        .keep_alive(KEEP_ALIVE)
        .tcp_nodelay(true)
        .on_connect(on_connect)
        .shutdown_signal(shutdown::on_signal())
        // by then the endpoint has no running calls any more
        .shutdown_timeout(5)
}
