//! The socket options of an MCP server: disconnects are detected, and events leave at once.

use std::{any::Any, io, net, net::SocketAddr, time::Duration};

use actix_web::{HttpRequest, dev::Extensions, rt::net::TcpStream};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

/// By default, a peer that acknowledges nothing for this long counts as disconnected.
const USER_TIMEOUT: Duration = Duration::from_secs(20);
/// An idle connection is probed after this time, and then at this interval.
const PROBE_AFTER: Duration = Duration::from_secs(15);
const PROBE_EVERY: Duration = Duration::from_secs(5);
/// How much the kernel may hold for a stalled client.
const SEND_BUFFER: usize = 256 * 1024; // bytes
const BACKLOG: i32 = 1024; // connections

/// A connection that [`on_connect`] has seen, and the address of its socket on this side.
#[derive(Clone, Copy, Debug)]
enum Connected {
    Tcp(SocketAddr),
    Unix,
    /// TLS hides the socket.
    Hidden,
}

impl Connected {
    fn new(connection: &dyn Any) -> Self {
        #[cfg(unix)]
        if connection.is::<actix_web::rt::net::UnixStream>() {
            return Self::Unix;
        }
        let tcp = connection.downcast_ref::<TcpStream>();
        tcp.and_then(|tcp| tcp.local_addr().ok()).map_or(Self::Hidden, Self::Tcp)
    }
}

/// The socket options of an MCP server: keep-alive probes, a bounded send buffer, and a time after which a peer that
/// acknowledges nothing counts as disconnected.
///
/// [`http_server`](super::http_server), [`on_connect`] and [`listener`] use the defaults. Set your own where
/// connections are accepted:
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_transports::{SocketOptions, http_server}; }
/// # use actix_web::App;
/// use std::time::Duration;
///
/// use actix_mcp::{SocketOptions, http_server};
///
/// let sockets = SocketOptions::new().user_timeout(Duration::from_secs(60));
/// let server = http_server(|| App::new())
///     .on_connect(move |connection, extensions| sockets.on_connect(connection, extensions));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SocketOptions {
    user_timeout: Duration,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { user_timeout: USER_TIMEOUT }
    }
}

impl SocketOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long a peer may leave what was sent to it unacknowledged before its connection is closed: TCP's user
    /// timeout, in milliseconds, on Linux and Android. 20 s by default; zero leaves it to the system, which waits for
    /// about 15 minutes.
    pub fn user_timeout(mut self, time: Duration) -> Self {
        self.user_timeout = time;
        self
    }

    /// Does what [`on_connect`] does, with these options.
    pub fn on_connect(&self, connection: &dyn Any, extensions: &mut Extensions) {
        let tcp = connection.downcast_ref::<TcpStream>();
        if let Some(tcp) = tcp
            && let Err(error) = self.set(SockRef::from(tcp))
        {
            log::warn!("could not set the socket options of a connection: {error}");
        }
        extensions.insert(Connected::new(connection));
    }

    /// Does what [`listener`] does, with these options.
    ///
    /// # Errors
    ///
    /// An error of the system, such as an address that is in use.
    pub fn listener(&self, addr: impl net::ToSocketAddrs) -> io::Result<net::TcpListener> {
        let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no address to listen on");
        for addr in addr.to_socket_addrs()? {
            match self.listen(addr) {
                Ok(listener) => return Ok(listener),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn listen(&self, addr: SocketAddr) -> io::Result<net::TcpListener> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        #[cfg(not(windows))]
        socket.set_reuse_address(true)?;
        self.set(SockRef::from(&socket))?;
        socket.set_tcp_nodelay(true)?;
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        Ok(socket.into())
    }

    fn set(&self, socket: SockRef<'_>) -> io::Result<()> {
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY))?;
        socket.set_send_buffer_size(SEND_BUFFER)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        socket.set_tcp_user_timeout(Some(self.user_timeout))?;
        Ok(())
    }
}

/// Sets the socket options of one connection. [`http_server`](super::http_server) calls it; if you set your own
/// `.on_connect(..)`, call it from there.
pub fn on_connect(connection: &dyn Any, extensions: &mut Extensions) {
    SocketOptions::new().on_connect(connection, extensions);
}

/// A listening socket whose connections have the options that [`on_connect`] sets: on Linux they inherit them. Use it
/// with `.listen(..)` and `.listen_rustls_*(..)`, if the connection's own socket is out of reach.
///
/// # Errors
///
/// An error of the system, such as an address that is in use.
pub fn listener(addr: impl net::ToSocketAddrs) -> io::Result<net::TcpListener> {
    SocketOptions::new().listener(addr)
}

/// Whether the request came through a server with our settings.
pub(super) fn is_ready(request: &HttpRequest) -> bool {
    request.conn_data::<Connected>().is_some()
}

/// The IP address the request came to; `None` for a Unix socket.
pub(super) fn local_addr(request: &HttpRequest) -> Option<SocketAddr> {
    match request.conn_data::<Connected>() {
        Some(Connected::Tcp(local)) => Some(*local),
        Some(Connected::Unix) => None,
        Some(Connected::Hidden) => Some(request.app_config().local_addr()),
        // `bind_uds` of actix-web 4.18 does not call `on_connect`, and reports 127.0.0.1:8080; but only TCP has a peer
        None => request.peer_addr().map(|_| request.app_config().local_addr()),
    }
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]
mod tests {
    use actix_web::rt::net::TcpListener;

    use super::*;

    /// The user timeout of a connection that came in at this listener, and was shown to `seen`.
    async fn accepted(listener: net::TcpListener, seen: impl FnOnce(&dyn Any)) -> Duration {
        let _client = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (tcp, _) = TcpListener::from_std(listener).unwrap().accept().await.unwrap();
        seen(&tcp);
        SockRef::from(&tcp).tcp_user_timeout().unwrap().unwrap_or_default()
    }

    #[actix_rt::test]
    async fn a_connection_has_the_user_timeout_that_was_asked_for() {
        let plain = || net::TcpListener::bind("127.0.0.1:0").unwrap();
        let options = SocketOptions::new().user_timeout(Duration::from_secs(7));
        let mut extensions = Extensions::new();
        let set = accepted(plain(), |tcp| options.on_connect(tcp, &mut extensions)).await;
        assert_eq!(set, Duration::from_secs(7));
        assert!(extensions.contains::<Connected>());
        let default = accepted(plain(), |tcp| on_connect(tcp, &mut extensions)).await;
        assert_eq!(default, Duration::from_secs(20));
    }

    #[actix_rt::test]
    async fn a_connection_inherits_the_user_timeout_of_its_listener() {
        let options = SocketOptions::new().user_timeout(Duration::from_secs(7));
        let inherited = accepted(options.listener("127.0.0.1:0").unwrap(), |_| ()).await;
        assert_eq!(inherited, Duration::from_secs(7));
        let default = accepted(listener("127.0.0.1:0").unwrap(), |_| ()).await;
        assert_eq!(default, Duration::from_secs(20));
    }
}
