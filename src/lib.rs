#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! - [`prelude`]: everything most servers need, in one `use`
//! - [`Server`], [`ServerBuilder`], [`Limits`]: building a server; [`Handle`]: changing it while it runs
//! - [`tool`](macro@tool), [`Tool`], [`Prompt`], [`Resource`], [`ResourceTemplate`]: what you register
//! - [`extract`]: handler parameters; the common ones ([`Args`], [`Client`], [`Progress`], [`Log`], [`Cancelled`],
//!   [`Principal`] ..) are also at the root
//! - [`result`]: handler results; [`content`]: the blocks they are made of
//! - [`question`]: questions to the client, through [`Client`] or by hand
//! - [`error`]: [`McpError`], and the errors of registration
//! - [`client`]: information about the client; [`protocol`]: ids, revisions, definitions
//! - [`limits`], [`stats`]: operating a server; [`bus`]: running several nodes
//! - [`http_server`], [`on_connect`], [`listener`], [`SocketOptions`]: actix-web's own server, configured for streams
//! - `testing`: the test kit, with the feature of that name
//!
//! # Handlers that compute or block
//!
//! A handler shares its thread with everything else that is served there: over HTTP it runs on the worker that received
//! the request, over stdio on the thread that reads the pipe. Between two of its `await`s nothing else runs on that
//! thread. So over HTTP a handler that blocks stalls every request on the worker's connections, and every session that
//! was opened on that worker, whichever worker receives its requests. Over stdio it stalls the whole session: a
//! cancellation is not read until the call that it names has ended. Sessions and connections of other workers are not
//! affected.
//!
//! Use `web::block` to run long computations and blocking code (files, `std::sync`, a client that is not async) on
//! actix's pool of blocking threads. Meanwhile pings, cancellations, progress and all other calls get through at once:
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
//! A cancellation ends the call, but a closure on the pool keeps running. Let it check [`Cancelled::is_cancelled`], so
//! that it stops early and does not delay the end of the process. The pool is bounded
//! (`HttpServer::worker_max_blocking_threads`); further closures wait for a thread. All this applies to prompts,
//! resources and completions too.
//!
//! To see how a request is served, read the crates below this one: `actix_mcp_transports`, `actix_mcp_session` and
//! `actix_mcp_router`, in this order.

mod builder;
pub mod limits;
mod server;
/// Testing a server, in one process and without a network. Enable the crate's feature `testing`:
///
/// ```toml
/// [dev-dependencies]
/// # the same source as in `[dependencies]`, path or git
/// actix-mcp = { path = "../actix-mcp", features = ["testing"] }
/// serde_json = "1"
/// ```
///
/// One test connects a client that calls the tool and answers its question; the other, a unit test, calls the function:
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
///     let server = Server::builder("tables", "1.0.0").tool(book).build();
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
pub mod testing;

/// Turns an async function into a tool.
///
/// The function's name becomes the tool's name, its doc comment the description, and its parameters the arguments,
/// described by their own doc comments. Extractors (`Progress`, `web::Data<T>`, `Args(x): Args<T>`, your own) are not
/// arguments. A parameter of type `Option` is an optional argument.
///
/// ```
/// use actix_mcp::prelude::*;
///
/// /// Adds two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// The first integer.
///     a: i64,
///     /// The second integer; 1 if absent.
///     b: Option<i64>,
/// ) -> i64 {
///     a + b.unwrap_or(1)
/// }
///
/// let server = Server::builder("calculator", "1.0.0").tool(add).build();
/// ```
///
/// Run long computations and blocking code in `web::block(..).await`; otherwise it blocks everything else on its
/// thread, including pings and its own cancellation. See "Handlers that compute or block" in the documentation of this
/// crate.
///
/// `#[header("Region")]` on an argument asks clients to repeat it in the HTTP header `Mcp-Param-Region`, for proxies
/// that route by it (from 2026-07-28 on). The argument must be a string, an integer or a `bool`, and must not be a
/// secret. If a 2026-07-28 call has the argument but the header is missing or has a different value, the call is
/// refused with status 400 and -32020 and does not run. Calls of older revisions are never checked.
///
/// The function itself is unchanged: call `add(1, None).await` in a unit test, register it with `.tool(add)`. It may
/// also be an associated function without `self`: `.tool(Calculator::add)`. `#[doc = include_str!("add.md")]` works
/// like a doc comment. For an argument with a default or a constraint (`#[serde(..)]`, `#[schemars(..)]`), take a
/// struct as `Args<T>`.
///
/// Options: `name`, `title`, `description` (strings); `read_only`, `destructive`, `idempotent`, `open_world` (alone, or
/// `= false`).
pub use actix_mcp_router::__private::attribute::tool;
pub use actix_mcp_router::{
    AddError, Args, Cache, CacheScope, Call, Cancelled, Capability, Client, Content, Eras, FromCall,
    FromMiddleware, Handle, Http, InputRequired, InputResponses, Json, Level, Log, McpError, Meta, Outcome,
    Principal, Progress, Prompt, PromptMessage, QuestionError, Resource, ResourceTemplate, Session, StateKey,
    Tool, ToolResult, TraceContext, Uri,
};
pub use actix_mcp_transports::{SocketOptions, http_server, listener, on_connect};

pub use crate::{builder::ServerBuilder, limits::Limits, server::Server};

/// Handler parameters, and the traits to write your own.
pub mod extract {
    pub use actix_mcp_router::{
        Args, Arguments, Call, Cancelled, Client, CompletionRequest, FromCall, FromMiddleware, Handle,
        Handler, HandlerSpec, Http, InputResponses, Log, Meta, Principal, Progress, Session, TraceContext,
        Uri,
    };
}

/// Handler results, and the traits to write your own.
pub mod result {
    pub use actix_mcp_router::{
        Completer, Completion, Contents, IntoCompletion, IntoContents, IntoPromptResult, IntoTool,
        IntoToolResult, Json, Outcome, OutputSchema, PromptHandler, PromptMessage, PromptResult, Reader,
        Structured, ToolError, ToolHandler, ToolResult,
    };
}

/// The building blocks of results, prompts and resources.
pub mod content {
    pub use actix_mcp_router::{
        Annotations, Base64, Content, EmbeddedResource, Icon, MediaContent, MetaMap, ResourceBody,
        ResourceContents, ResourceLink, Role, TextContent,
    };
}

/// Reporting progress.
pub mod progress {
    pub use actix_mcp_router::{Amount, Progress, ProgressError, Report};
}

/// Questions to the client: forms and URLs for its user, sampling from its model, its roots.
pub mod question {
    pub use actix_mcp_router::{
        Client, Elicit, ElicitUrl, IncludeContext, InputRequired, InputResponses, ModelHint,
        ModelPreferences, Outcome, QuestionError, Root, Roots, Sample, SampledToolResult, SamplingContent,
        SamplingMessage, SamplingRequest, SamplingResult, ToolChoice, ToolUse,
    };
}

/// The errors of requests, questions and registration.
pub mod error {
    pub use actix_mcp_router::{
        AddError, ErrorCode, InvalidExtension, InvalidTemplate, InvalidTool, McpError, ProgressError,
        QuestionError, SchemaError,
    };
    pub use actix_mcp_transports::NotAllowable;
}

/// Information about the client behind a call.
pub mod client {
    pub use actix_mcp_router::{ClientCapabilities, ClientCapability, Implementation, Peer, Principal};
}

/// Types of the protocol: revisions, ids, definitions.
pub mod protocol {
    pub use actix_mcp_router::{
        Cache, CacheScope, Capability, Eras, Level, ProgressToken, PromptArgument, PromptDefinition,
        RequestId, ResourceDefinition, Revision, TemplateDefinition, ToolAnnotations, ToolDefinition,
    };
}

/// Counters of a running server.
pub mod stats {
    pub use actix_mcp_session::Snapshot;
}

/// Several nodes of one server: a change on one node reaches the clients of the others.
pub mod bus {
    pub use actix_mcp_router::Change;
    pub use actix_mcp_session::{Bus, Node};
}

/// Used by the code that the macros generate. Not for direct use; it may change in any release.
#[doc(hidden)]
pub use actix_mcp_router::__private;

/// Everything most servers need, in one `use`. None of its names is in `actix::prelude`.
pub mod prelude {
    pub use actix_web::{App, web};

    pub use crate::{
        Args, Cancelled, Client, Content, FromCall, FromMiddleware, Handle, Http, Json, Level, Log, McpError,
        Meta, Principal, Progress, Prompt, PromptMessage, Resource, ResourceTemplate, Server, ServerBuilder,
        Session, Tool, ToolResult, Uri, tool,
    };
}
