//! The built server, and the ways to serve it.

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
/// Clones are the same server. Its settings are fixed; its tools, prompts and resources can change while it runs,
/// through its [`handle`](Self::handle).
#[derive(Clone, Debug)]
pub struct Server {
    pub(crate) backend: Backend,
}

impl Server {
    /// Starts building a server. Clients see its name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }

    /// Mounts the endpoint in an `App`, under any prefix. The path is served with and without a trailing slash.
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
    /// Call it in the application's factory: each worker has its own endpoint, and all share the sessions. An endpoint
    /// at `""` or `/` hides the services registered after it, as any such scope in an `App` does, so register it last.
    ///
    /// A compressed body (with `Content-Encoding`) is refused with 415. Middleware that decompresses bodies must remove
    /// that header.
    pub fn mount(&self, path: &str) -> impl FnOnce(&mut ServiceConfig) + use<> {
        let scope = self.scope(path);
        move |config| {
            config.service(scope);
        }
    }

    /// Mounts the endpoint as [`mount`](Self::mount) does, wrapped in middleware that `wrap` adds, such as
    /// authentication:
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
    /// CORS preflights (`OPTIONS`) bypass that middleware, since browsers send them without `Authorization`; they never
    /// reach a session or a tool. A preflight from an allowed origin may request any headers, up to 64 names and 4 KiB
    /// in total.
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

    /// The endpoint as an actix-web scope, if you want to wrap or guard it yourself; usually you call
    /// [`mount`](Self::mount).
    ///
    /// Middleware around the scope also sees CORS preflights. Authentication middleware would refuse them, so no web
    /// page could use the server; [`mount_with`](Self::mount_with) avoids this.
    #[must_use]
    pub fn scope(&self, path: &str) -> Scope {
        self.backend.scope(path)
    }

    /// Serves one client over this process's stdin and stdout.
    ///
    /// Returns when the client has closed stdin or stopped reading stdout, or on SIGTERM, SIGINT or SIGHUP. Running
    /// calls have up to the drain time (5 s by default) to end, and are then answered with -32603. Answers to all
    /// requests read by then are written before it returns; a client that does not read them has half a second. A
    /// second SIGTERM or SIGINT ends the process at once, with status 143 or 130. If SIGHUP was ignored when the
    /// process started, as under `nohup`, it stays ignored (on Linux).
    ///
    /// Nothing else may write to stdout: use `eprintln!` or a logger that writes to stderr, as `env_logger` does.
    ///
    /// # Errors
    ///
    /// An I/O error of the streams, or a missing value: a handler takes a `web::Data<T>` that was not added to the
    /// server. A client that disconnects is not an error.
    pub async fn stdio(self) -> io::Result<()> {
        self.backend.stdio().await
    }

    /// Serves one client over any byte stream, as [`stdio`](Self::stdio) does over stdin and stdout.
    ///
    /// # Errors
    ///
    /// The same as [`stdio`](Self::stdio).
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

    /// Stops serving: new work is refused with 503, standalone streams end, and running calls have up to the drain time
    /// (5 s by default) to end. Calls still running then are answered with -32603, "the server is shutting down; the
    /// call was stopped", and named in the log; their handlers are cancelled, and every session is closed. The future
    /// resolves when clients have read everything written for them, or after another half second. A stopped server
    /// cannot be restarted.
    ///
    /// [`http_server`](crate::http_server) does this on SIGTERM, SIGINT and SIGHUP. Stop your own `HttpServer`
    /// afterwards, so that no open stream delays it:
    ///
    /// ```no_run
    /// # use actix_mcp::Server;
    /// # async fn stop(server: Server, handle: actix_web::dev::ServerHandle) {
    /// server.shutdown().await;
    /// handle.stop(true).await;
    /// # }
    /// ```
    ///
    /// A handler that awaits this waits for itself, for the whole drain time: spawn a task that calls it instead.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, nothing new is served, and running calls continue.
    pub async fn shutdown(&self) {
        self.backend.shutdown().await;
    }

    /// A handle to add and remove tools, prompts and resources while the server runs, from any thread.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.backend.router.handle()
    }

    /// The current counts of sessions, requests in flight and streams.
    #[must_use]
    pub fn stats(&self) -> Snapshot {
        self.backend.sessions.stats().snapshot()
    }

    /// The number of messages from calls (progress and logs) dropped so far, to make room on a stalled or full stream
    /// or because the client accepts only plain JSON. Responses and requests to the client are never dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.backend.sessions.stats().dropped()
    }

    /// The number of tool handlers started so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.backend.router.calls()
    }
}
