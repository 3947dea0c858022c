#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! - [`prelude`]: what a server needs, in one `use`
//! - [`Server`], [`ServerBuilder`], [`Limits`]: what a server is; [`Handle`]: what it offers, while it runs
//! - [`tool`](macro@tool), [`Tool`], [`Prompt`], [`Resource`], [`ResourceTemplate`]: what can be offered
//! - [`extract`]: what a handler can take; the rest of it ([`Args`], [`Client`], [`Progress`], [`Log`], [`Cancelled`],
//!   [`Principal`] ..) is at the root
//! - [`result`]: what a handler can return; [`content`]: of which blocks it is made
//! - [`question`]: what a handler can ask its client, by [`Client`] or by hand
//! - [`error`]: [`McpError`], and the mistakes that registration finds
//! - [`client`]: what is known of the client; [`protocol`]: ids, revisions, definitions
//! - [`limits`], [`stats`]: for those who operate a server; [`bus`]: for several nodes
//! - [`http_server`], [`on_connect`], [`listener`], [`SocketOptions`]: actix-web's own server, set up for streams
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

mod builder;
pub mod limits;
mod server;
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
/// let server = Server::builder("calculator", "1.0.0").tool(add).build();
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
    AddError, Args, Cache, CacheScope, Call, Cancelled, Capability, Client, Content, Eras, FromCall,
    FromMiddleware, Handle, Http, InputRequired, InputResponses, Json, Level, Log, McpError, Meta, Outcome,
    Principal, Progress, Prompt, PromptMessage, QuestionError, Resource, ResourceTemplate, Session, StateKey,
    Tool, ToolResult, TraceContext, Uri,
};
pub use actix_mcp_transports::{SocketOptions, http_server, listener, on_connect};

pub use crate::{builder::ServerBuilder, limits::Limits, server::Server};

/// What a handler can take, and how to make more of it.
pub mod extract {
    pub use actix_mcp_router::{
        Args, Arguments, Call, Cancelled, Client, CompletionRequest, FromCall, FromMiddleware, Handle,
        Handler, HandlerSpec, Http, InputResponses, Log, Meta, Principal, Progress, Session, TraceContext,
        Uri,
    };
}

/// What a handler can return, and how to make more of it.
pub mod result {
    pub use actix_mcp_router::{
        Completer, Completion, Contents, IntoCompletion, IntoContents, IntoPromptResult, IntoTool,
        IntoToolResult, Json, Outcome, OutputSchema, PromptHandler, PromptMessage, PromptResult, Reader,
        Structured, ToolError, ToolHandler, ToolResult,
    };
}

/// Of what results, prompts and resources are made.
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

/// Asking the client: forms for its user, its model, its roots.
pub mod question {
    pub use actix_mcp_router::{
        Client, Elicit, ElicitUrl, IncludeContext, InputRequired, InputResponses, ModelHint,
        ModelPreferences, Outcome, QuestionError, Root, Roots, Sample, SampledToolResult, SamplingContent,
        SamplingMessage, SamplingRequest, SamplingResult, ToolChoice, ToolUse,
    };
}

/// What goes wrong: in a request, in a question, and in what is registered.
pub mod error {
    pub use actix_mcp_router::{
        AddError, ErrorCode, InvalidExtension, InvalidTemplate, InvalidTool, McpError, ProgressError,
        QuestionError, SchemaError,
    };
    pub use actix_mcp_transports::NotAllowable;
}

/// What is known of the client behind a call.
pub mod client {
    pub use actix_mcp_router::{ClientCapabilities, ClientCapability, Implementation, Peer, Principal};
}

/// Words of the protocol: revisions, ids, definitions.
pub mod protocol {
    pub use actix_mcp_router::{
        Cache, CacheScope, Capability, Eras, Level, ProgressToken, PromptArgument, PromptDefinition,
        RequestId, ResourceDefinition, Revision, TemplateDefinition, ToolAnnotations, ToolDefinition,
    };
}

/// What a server is doing at this moment.
pub mod stats {
    pub use actix_mcp_session::Snapshot;
}

/// Several nodes of one server: how a change on one reaches the clients of the others.
pub mod bus {
    pub use actix_mcp_router::Change;
    pub use actix_mcp_session::{Bus, Node};
}

/// What the macros' code names. Not for use by hand; it may change in any release.
#[doc(hidden)]
pub use actix_mcp_router::__private;

/// What a server needs, in one `use`. It has no name that `actix::prelude` has.
pub mod prelude {
    pub use actix_web::{App, web};

    pub use crate::{
        Args, Cancelled, Client, Content, FromCall, FromMiddleware, Handle, Http, Json, Level, Log, McpError,
        Meta, Principal, Progress, Prompt, PromptMessage, Resource, ResourceTemplate, Server, ServerBuilder,
        Session, Tool, ToolResult, Uri, tool,
    };
}
