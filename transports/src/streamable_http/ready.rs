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

/// A connection may be idle for this long. actix-http counts from when it has taken the end of a response, even if its reader
/// has not: a reader that is slower than this loses the rest, so it is as long as a stream may stand still.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// An `HttpServer` that notices clients that disconnect, writes events at once, and ends streams when it is told to stop.
///
/// It is actix-web's own: bind it, set its workers and run it as any other. Some of its settings must stay: a later
/// `.on_connect(..)` must call [`on_connect`](super::on_connect), `.h1_allow_half_closed(true)` would make disconnects go unnoticed, and a
/// `.keep_alive(..)` shorter than a stream may stand still (30 s by default) would cost slow readers the end of theirs.
/// Where TLS hides the socket, use [`listener`](super::listener).
///
/// On SIGTERM or SIGINT new work is refused with 503, standalone streams end, and running calls have up to the drain time
/// (5 s by default) to end. Then nothing of ours is open any more; what the `App` serves beside has up to 5 s more, or what
/// `.shutdown_timeout(..)` says.
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
