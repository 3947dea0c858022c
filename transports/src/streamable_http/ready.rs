//! The ready `HttpServer`: what an MCP server needs of it. What it needs of its sockets is in `sockets`.

use std::{fmt::Debug, time::Duration};

use actix_http::Request;
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::{
    HttpServer,
    body::MessageBody,
    dev::{AppConfig, Response},
};

use super::{shutdown, sockets::on_connect};

/// A connection may be idle for this long: longer than the balancers and proxies in front keep theirs, most of them for 60 s
/// or 75 s. actix-http counts from when it has taken the end of a response, even if its reader has not: a reader that is
/// slower than this loses the rest, so it may not be shorter than a stream may stall.
const KEEP_ALIVE: Duration = Duration::from_secs(90);
const _: () = assert!(
    KEEP_ALIVE.as_secs() > 75,
    "a proxy in front would send requests on connections that were closed"
);

/// An `HttpServer` that notices clients that disconnect, writes events at once, and ends streams when it is told to stop.
///
/// It is actix-web's own: bind it, set its workers and run it as any other. Some of its settings must stay: a later
/// `.on_connect(..)` must call [`on_connect`](super::on_connect), `.h1_allow_half_closed(true)` would make disconnects go unnoticed, and a
/// `.keep_alive(..)` shorter than a stream may stall (30 s by default) would cost slow readers the end of theirs.
/// Where TLS hides the socket, use [`listener`](super::listener).
///
/// An idle connection is kept for 90 s. Behind a load balancer or a proxy, this must be longer than what that keeps its own
/// idle connections for (60 s and 75 s are common): otherwise it sends a request on a connection that the server is closing,
/// and answers its client with 502. Lower the balancer's value, or give `.keep_alive(..)` a higher one.
///
/// What actix-http decides before a request is ours cannot be changed from here:
///
/// - A head of more than 96 headers, or of more than 128 KiB, is refused with 431, and a malformed one with 400, both
///   without a body.
/// - A connection whose first head is not complete after 5 s gets 408, although nothing was sent on it;
///   `.client_request_timeout(..)` sets the time.
/// - An offer to upgrade the connection is ignored by the endpoint, and its response says `Connection: close`. Responses of
///   other routes and of middleware say `Connection: upgrade`.
/// - A pipelined request changes the response to the one before it, since actix-http frames it by what it read last: it says
///   `Connection: upgrade` behind an offer, has no body behind `HEAD`, and says that it is chunked where it is not behind
///   HTTP/1.0 or an offer of `websocket`. A request pipelined behind a response that closes the connection is served. The
///   clients of MCP do not pipeline; a proxy in front that does not either keeps all of this away.
/// - A connection with 16 pipelined requests and 128 KiB more behind a request that runs keeps its worker busy, and its
///   disconnect is not noticed before the next write. On a public server, have a proxy in front.
/// - A client that closes its sending side right after a request counts as gone.
/// - A client of HTTP/1.0 gets the endpoint's streams without chunks. Streamed bodies of other routes go to it in chunks.
/// - `.bind_uds(..)` calls no `on_connect`; the endpoint takes a connection without a peer's address for a Unix socket's.
///
/// On SIGTERM, SIGINT or SIGHUP new work is refused with 503, standalone streams end, and running calls have up to the drain
/// time (5 s by default) to end; then they are answered with an error. Clients have half a second to read that. What is still
/// open after these 5.5 s has up to 5 s more, or what `.shutdown_timeout(..)` says: what the `App` serves besides, and
/// connections whose client has stopped reading. actix-web cannot be told which of the two a connection is, and closes both
/// at that time. A second SIGTERM or SIGINT ends the process at once, with the status 143 or 130. A SIGHUP that was ignored
/// when the process was started, as by `nohup`, stays so (on Linux).
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
        // by then nothing of ours is open any more
        .shutdown_timeout(5)
}
