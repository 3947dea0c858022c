//! The server that authors hold: what the transports serve, and how.

use std::io;

use actix_mcp_router::Handle;
use actix_mcp_session::Snapshot;
use actix_mcp_transports::internal::Backend;
use actix_web::{Scope, dev::HttpServiceFactory, guard, web::ServiceConfig};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::builder::ServerBuilder;

/// An MCP server: built once, then served by a transport.
///
/// ```no_run
/// use actix_mcp::{Server, Tool};
///
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// # async fn run() -> std::io::Result<()> {
/// Server::builder("greeter", "1.0.0").tool(Tool::new("hello", hello)).build().stdio().await
/// # }
/// ```
///
/// Clones are the same server. What it is made of is fixed; what it offers can change while it runs, through its
/// [`handle`](Self::handle).
#[derive(Clone, Debug)]
pub struct Server {
    pub(crate) backend: Backend,
}

impl Server {
    /// Begins a server of this name and version, which clients see.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }

    /// Mounts the endpoint in an `App`, under any prefix: both the path and the path with a slash at its end are served.
    ///
    /// ```no_run
    /// use actix_mcp::prelude::*;
    ///
    /// # #[actix_web::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = Server::builder("calculator", "1.0.0").build();
    /// actix_mcp::http_server(move || App::new().configure(server.mount("/mcp")))
    ///     .bind(("127.0.0.1", 8080))?
    ///     .run()
    ///     .await
    /// # }
    /// ```
    ///
    /// Call it in the application's factory: each worker has an endpoint of its own, and all have the same sessions. An endpoint
    /// at `""` or `/` takes what comes after it in the `App`, as any scope there does: put it last.
    ///
    /// A body that is labelled as compressed is refused with 415. Middleware that decodes bodies must remove
    /// `Content-Encoding`.
    pub fn mount(&self, path: &str) -> impl FnOnce(&mut ServiceConfig) + use<> {
        let scope = self.scope(path);
        move |config| {
            config.service(scope);
        }
    }

    /// Mounts the endpoint as [`mount`](Self::mount) does, inside what `wrap` adds to it, such as middleware that authenticates:
    ///
    /// ```no_run
    /// use actix_mcp::prelude::*;
    /// # fn app(server: Server) {
    /// # let authentication = actix_web::middleware::DefaultHeaders::new();
    ///
    /// App::new().configure(server.mount_with("/mcp", |scope| scope.wrap(authentication)))
    /// # ;
    /// # }
    /// ```
    ///
    /// CORS preflights (`OPTIONS`) are answered outside of it, since browsers send them without `Authorization`; they reach no
    /// session and no tool. To a preflight of an allowed origin the answer allows every header that it asks for, within bounds:
    /// 64 names, and 4 KiB of them.
    pub fn mount_with<W, S>(&self, path: &str, wrap: W) -> impl FnOnce(&mut ServiceConfig) + use<W, S>
    where
        W: FnOnce(Scope) -> S,
        S: HttpServiceFactory + 'static,
    {
        let preflights = self.scope(path).guard(guard::Options());
        let scope = self.scope(path);
        move |config| {
            config.service(preflights).service(wrap(scope));
        }
    }

    /// The endpoint as an actix-web scope, for an `App` that wraps or guards it itself; [`mount`](Self::mount) is the usual
    /// way.
    ///
    /// Middleware around the scope sees each request first, preflights too: middleware that authenticates would refuse them, and
    /// with them every page. [`mount_with`](Self::mount_with) keeps them out of it.
    #[must_use]
    pub fn scope(&self, path: &str) -> Scope {
        self.backend.scope(path)
    }

    /// Serves one client over this process's stdin and stdout.
    ///
    /// Returns when the client has closed stdin, has stopped reading stdout, or on SIGTERM, SIGINT or SIGHUP; running calls
    /// have up to the drain time (5 s by default) to end, and are then answered with -32603. Answers to all requests read by
    /// then are written first, for which a client that does not read has half a second. A second SIGTERM or SIGINT ends the
    /// process at once, with the status 143 or 130. A SIGHUP that was ignored when the process was started, as by `nohup`,
    /// stays so (on Linux).
    ///
    /// Nothing else may write to stdout: use `eprintln!` or a logger that writes to stderr, as `env_logger` does.
    ///
    /// # Errors
    ///
    /// An input or output error of the streams, or values that handlers need and nobody gave to the server. A client that
    /// has gone is not an error.
    pub async fn stdio(self) -> io::Result<()> {
        self.backend.stdio().await
    }

    /// Serves one client over any byte stream, as [`stdio`](Self::stdio) does over this process's own.
    ///
    /// # Errors
    ///
    /// As [`stdio`](Self::stdio).
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the session without a drain.
    pub async fn serve_stream(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + 'static,
    ) -> io::Result<()> {
        self.backend.serve_stream(input, output).await
    }

    /// Stops serving: new work is refused with 503, standalone streams end, and running calls have up to the drain time (5 s by
    /// default) to end. Those that have not are answered with -32603, "the server is shutting down; the call was stopped", and
    /// named in the log; their handlers are cancelled, and every session is closed. It resolves when clients have read what
    /// was written for them, after half a second more at the latest. A server that was stopped stays so.
    ///
    /// [`http_server`](crate::http_server) does this on SIGTERM, SIGINT and SIGHUP. An `HttpServer` of your own is stopped after
    /// it, and finds no stream open that would keep it from ending:
    ///
    /// ```no_run
    /// # use actix_mcp::Server;
    /// # async fn stop(server: Server, handle: actix_web::dev::ServerHandle) {
    /// server.shutdown().await;
    /// handle.stop(true).await;
    /// # }
    /// ```
    ///
    /// A handler that calls this waits for itself, for the whole drain time; let it spawn a task for it.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, nothing new is served, and what runs goes on.
    pub async fn shutdown(&self) {
        self.backend.shutdown().await;
    }

    /// The way to change what the server offers while it runs, from anywhere.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.backend.router.handle()
    }

    /// What runs at this moment.
    #[must_use]
    pub fn stats(&self) -> Snapshot {
        self.backend.sessions.stats().snapshot()
    }

    /// How many messages of calls (progress and logs) were dropped so far: to make room on a stream that is stalled or full, or
    /// because the client reads plain JSON only. Responses and requests to the client are never dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.backend.sessions.stats().dropped()
    }

    /// How many tool handlers were started so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.backend.router.calls()
    }
}
