#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! - [`prelude`]: what a server needs, in one `use`
//! - [`Server`] and its [`Handle`]: what is offered, and changes while it runs
//! - [`tool`](macro@tool), [`Tool`], [`Prompt`], [`Resource`], [`ResourceTemplate`]: what can be offered
//! - [`extract`]: what a handler can take; [`Client`], [`Progress`], [`Log`], [`Cancelled`] among it
//! - [`content`], [`result`], [`ToolResult`], [`McpError`]: what a handler can give back
//! - [`progress`], [`elicit`], [`sample`], [`roots`], [`offer`]: the errors of what a handler can do
//! - [`round`], [`seal`]: questions asked by hand, and what carries their answers where there is no session
//! - `testing`: the test kit, with the feature of that name
//!
//! # Handlers that compute or block
//!
//! A handler runs on one thread with everything else that is served there: over HTTP on the worker that took its request,
//! over stdio on the thread that reads the pipe. Between two of its `await`s nothing else runs on that thread. Over HTTP
//! that means every request on the worker's connections, and every session that was opened there, by whichever worker its
//! requests come; over stdio the whole session, so a cancellation is read when the call that it names has ended. Sessions
//! and connections of other workers go on.
//!
//! So what computes for long, or blocks (files, `std::sync`, a client that is not async), goes to the pool of threads that
//! is there for it, by `web::block`. While it runs, ping, cancellations, progress and all other calls get through at once:
//!
//! ```
//! use actix_mcp::prelude::*;
//! use actix_web::error::BlockingError;
//!
//! /// Counts the primes below n.
//! #[tool]
//! async fn primes(n: u32, progress: Progress, cancelled: Cancelled) -> Result<usize, BlockingError> {
//!     web::block(move || {
//!         let mut found = 0;
//!         for candidate in 2..n {
//!             if cancelled.is_cancelled() {
//!                 break;
//!             }
//!             if (2..candidate).take_while(|d| d * d <= candidate).all(|d| candidate % d != 0) {
//!                 found += 1;
//!                 progress.try_report(candidate).ok();
//!             }
//!         }
//!         found
//!     })
//!     .await
//! }
//! ```
//!
//! A cancellation ends the call, and what was handed to the pool runs on: let it look at [`Cancelled::is_cancelled`], which
//! also keeps it from holding up the end of the process. The pool has a bound (`HttpServer::worker_max_blocking_threads`);
//! what comes beyond it waits for a thread. All this holds for prompts, resources and completions too.
//!
//! How a request is served is told by the crates below this one: `actix_mcp_transports`, `actix_mcp_session` and
//! `actix_mcp_router`, in this order.

/// Makes a tool of an async function.
///
/// The function's name is the tool's, its documentation the description, its parameters the arguments, with the
/// documentation that is on them. Parameters that are extractors (`Progress`, `web::Data<T>`, `Args(x): Args<T>`, your
/// own) are no arguments. An `Option` need not be given.
///
/// ```
/// use actix_mcp::prelude::*;
///
/// /// Adds two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// The one.
///     a: i64,
///     /// The other; 1 if absent.
///     b: Option<i64>,
/// ) -> i64 {
///     a + b.unwrap_or(1)
/// }
///
/// let server = Server::new("calculator", "1.0.0").tool(add);
/// ```
///
/// What computes for long, or blocks, goes into `web::block(..).await`: without, everything else on the handler's thread
/// waits, pings and its own cancellation among it. The documentation of this crate says more ("Handlers that compute or
/// block").
///
/// `#[header("Region")]` on an argument asks clients to repeat it in the HTTP header `Mcp-Param-Region`, for proxies that
/// route by it (from 2026-07-28 on). It must be a string, an integer or a `bool`, and no secret. A 2026-07-28 client's call
/// that has the argument without the header, or another value in it, is refused with status 400 and -32020, and does not
/// run. Calls of older revisions are never checked.
///
/// The function stays what it is: `add(1, None).await` in a unit test, `.tool(add)` on the server. It may also stand in an
/// `impl`, without `self`: `.tool(Calculator::add)`. `#[doc = include_str!("add.md")]` describes as a comment does. An
/// argument with a default or a rule of its own (`#[serde(..)]`, `#[schemars(..)]`) is a member of a struct, taken as `Args<T>`.
///
/// Options: `name`, `title`, `description` (strings); `read_only`, `destructive`, `idempotent`, `open_world` (alone, or
/// `= false`).
pub use actix_mcp_router::__private::attribute::tool;
pub use actix_mcp_router::{
    QuestionError,
    call::Call,
    cancelled::Cancelled,
    change::Change,
    client::Client,
    completion,
    content::{self, Content},
    definition, elicit, era,
    era::Eras,
    error::{ErrorCode, McpError},
    extension::InvalidExtension,
    extract::{self, Args, FromCall, FromMiddleware, Http, Meta, Session, TraceContext},
    handle::Handle,
    id,
    jsonrpc::ReadLimits,
    link,
    log::{Level, Log},
    offer::{self, AddError},
    peer::{self, ClientCapability, Principal},
    progress::{self, Progress},
    prompt::{self, Prompt, PromptMessage},
    resource::{self, Resource, Uri},
    resource_template::ResourceTemplate,
    result::{self, Json, ToolResult},
    roots,
    round::{self, InputRequired, InputResponses, Outcome},
    router::Capability,
    sample, seal,
    stamp::{Cache, CacheScope},
    tool::Tool,
};
pub use actix_mcp_session::{bus, limits, stats};
/// Tests of a server, in one process and without a network. The crate's feature `testing` has them:
///
/// ```toml
/// [dev-dependencies]
/// # from where `[dependencies]` has it, by path or git
/// actix-mcp = { path = "../actix-mcp", features = ["testing"] }
/// serde_json = "1"
/// ```
///
/// A client connects, calls, and answers what it is asked; a unit test calls the function:
///
/// ```
/// # mod actix_web { pub use ::actix_web::main as test; }
/// use actix_mcp::{QuestionError, prelude::*, testing::{Pipe, TestCall, paused}};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Party {
///     guests: u8,
/// }
///
/// /// Books a table.
/// #[tool]
/// async fn book(day: String, client: Client) -> Result<String, QuestionError> {
///     let Party { guests } = client.elicit("For how many?").await?;
///     Ok(format!("{day}, for {guests}"))
/// }
///
/// #[actix_web::test]
/// async fn a_table_is_booked_for_as_many_as_the_user_says() {
///     paused();
///     let server = Server::new("tables", "1.0.0").tool(book);
///     let mut client = Pipe::connect(&server, "2025-11-25").await;
///     client.call(1, "book", json!({ "day": "Friday" })).await;
///     let asked = client.message("elicitation/create").await;
///     client.answer(&asked["id"], json!({ "action": "accept", "content": { "guests": 4 } })).await;
///     let answer = client.answer_to(1).await;
///     assert_eq!(answer["result"]["content"][0]["text"], "Friday, for 4");
/// }
///
/// #[actix_web::test]
/// async fn no_table_is_booked_where_nobody_can_be_asked() {
///     let client = Client::from_call(&TestCall::new().call()).await.unwrap();
///     let booked = book("Friday".to_owned(), client).await;
///     assert!(matches!(booked, Err(QuestionError::Unsupported(_))), "{booked:?}");
/// }
/// # fn main() {
/// #     a_table_is_booked_for_as_many_as_the_user_says();
/// #     no_table_is_booked_where_nobody_can_be_asked();
/// # }
/// ```
#[cfg(feature = "testing")]
pub use actix_mcp_transports::testing;
pub use actix_mcp_transports::{
    server::Server,
    stdio,
    streamable_http::{self, SocketOptions, http_server, listener, on_connect},
};

/// What is made of a function with [`#[tool]`](macro@crate::tool), and the errors of registering it.
pub mod tool {
    pub use actix_mcp_router::tool::*;
}

/// What the macros' code names. Not for use by hand; it may change in any release.
#[doc(hidden)]
pub use actix_mcp_router::__private;

/// What a server needs, in one `use`. It has no name that `actix::prelude` has.
pub mod prelude {
    pub use actix_web::{App, web};

    pub use crate::{
        Args, Cancelled, Client, Content, FromCall, FromMiddleware, Handle, Http, Json, Level, Log, McpError,
        Meta, Principal, Progress, Prompt, PromptMessage, Resource, ResourceTemplate, Server, Session, Tool,
        ToolResult, Uri, tool,
    };
}
