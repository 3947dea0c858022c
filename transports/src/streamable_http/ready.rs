//! The ready `HttpServer`: what an MCP server needs of its sockets.

use std::{any::Any, fmt::Debug, io, net, net::SocketAddr, time::Duration};

use actix_http::Request;
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use actix_web::{
    HttpRequest, HttpServer,
    body::MessageBody,
    dev::{AppConfig, Extensions, Response},
    rt::net::TcpStream,
};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

use super::shutdown;

/// A peer that acknowledges nothing for this long has gone.
const USER_TIMEOUT: Duration = Duration::from_secs(20);
/// An idle connection is probed after this long, and so often.
const PROBE_AFTER: Duration = Duration::from_secs(15);
const PROBE_EVERY: Duration = Duration::from_secs(5);
/// What the kernel may hold for a reader that stands still.
const SEND_BUFFER: usize = 256 * 1024; // bytes
const BACKLOG: i32 = 1024; // connections
/// A connection may be idle for this long. actix-http counts from when it has taken the end of a response, even if its reader
/// has not: a reader that is slower than this loses the rest, so it is as long as a stream may stand still.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// A connection that [`on_connect`] has seen.
#[derive(Clone, Copy, Debug)]
struct Connected {
    /// The socket's own address, where the connection told it.
    local: Option<SocketAddr>,
}

/// An `HttpServer` that notices clients that disconnect, writes events at once, and ends streams when it is told to stop.
///
/// It is actix-web's own: bind it, set its workers and run it as any other. Some of its settings must stay: a later
/// `.on_connect(..)` must call [`on_connect`], `.h1_allow_half_closed(true)` would make disconnects go unnoticed, and a
/// `.keep_alive(..)` shorter than a stream may stand still (30 s by default) would cost slow readers the end of theirs.
/// Where TLS hides the socket, use [`listener`].
///
/// On SIGTERM or SIGINT new work is refused with 503, standalone streams end, and running calls have up to the drain time
/// (5 s by default) to end.
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

/// Sets the socket options of one connection. [`http_server`] has it; an application with an `on_connect` of its own calls
/// this from there.
pub fn on_connect(connection: &dyn Any, extensions: &mut Extensions) {
    let tcp = connection.downcast_ref::<TcpStream>();
    if let Some(tcp) = tcp
        && let Err(error) = set_options(SockRef::from(tcp))
    {
        log::warn!("the socket options of a connection could not be set: {error}");
    }
    extensions.insert(Connected { local: tcp.and_then(|tcp| tcp.local_addr().ok()) });
}

/// A listening socket whose connections have the options that [`on_connect`] sets: on Linux they inherit them. For
/// `.listen(..)` and `.listen_rustls_*(..)`, where the connection's own socket is out of reach.
///
/// # Errors
///
/// The system's, such as an address that is in use.
pub fn listener(addr: impl net::ToSocketAddrs) -> io::Result<net::TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no address to listen on");
    for addr in addr.to_socket_addrs()? {
        match listen(addr) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen(addr: SocketAddr) -> io::Result<net::TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    #[cfg(not(windows))]
    socket.set_reuse_address(true)?;
    set_options(SockRef::from(&socket))?;
    socket.set_tcp_nodelay(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn set_options(socket: SockRef<'_>) -> io::Result<()> {
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY))?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    Ok(())
}

/// Whether the request came through a server with our settings.
pub(super) fn is_ready(request: &HttpRequest) -> bool {
    request.conn_data::<Connected>().is_some()
}

/// The address the request came to.
pub(super) fn local_addr(request: &HttpRequest) -> SocketAddr {
    let local = request.conn_data::<Connected>().and_then(|connected| connected.local);
    local.unwrap_or_else(|| request.app_config().local_addr())
}
