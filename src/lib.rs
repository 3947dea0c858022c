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
//! - `testing`: the test kit, with the feature of that name
//!
//! How a request is served is told by the crates below this one: `actix_mcp_transports`, `actix_mcp_session` and
//! `actix_mcp_router`, in this order.

pub use actix_mcp_router::{
    call::Call,
    cancelled::Cancelled,
    client::Client,
    completion,
    content::{self, Content},
    definition, elicit, era,
    error::{ErrorCode, McpError},
    extract::{self, Args, FromCall, FromMiddleware, Http, Meta, Session},
    handle::Handle,
    id,
    jsonrpc::ReadLimits,
    link,
    log::{Level, Log},
    offer::{self, AddError},
    peer::{ClientCapability, Principal},
    progress::{self, Progress},
    prompt::{self, Prompt, PromptMessage},
    resource::{self, Resource, Uri},
    resource_template::ResourceTemplate,
    result::{self, Json, ToolResult},
    roots,
    router::Capability,
    sample, tool,
    tool::Tool,
};
pub use actix_mcp_session::{limits, stats};
#[cfg(feature = "testing")]
pub use actix_mcp_transports::testing;
pub use actix_mcp_transports::{
    server::Server,
    stdio,
    streamable_http::{self, http_server, listener, on_connect},
};

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
