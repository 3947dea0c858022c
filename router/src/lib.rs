//! Messages, era rules, method table, handlers and extractors of actix-mcp.
//!
//! Knows no actor, no socket, and no clock but the one that says whether a sealed state has expired; of actix-web only
//! `HttpRequest` and `web::Data`.

mod authored;
pub mod call;
mod calls;
pub mod cancelled;
mod catalog;
pub mod change;
pub mod client;
pub mod completion;
mod contain;
pub mod content;
mod converse;
mod cursor;
pub mod data;
pub mod definition;
mod discover;
pub mod dispatch;
pub mod elicit;
pub mod era;
mod erased;
pub mod error;
pub mod extension;
pub mod extract;
mod failure;
pub mod handle;
pub mod handler;
pub mod id;
pub mod initialize;
pub mod jsonrpc;
mod lazy;
pub mod link;
pub mod listen;
pub mod log;
pub mod metadata;
pub mod mirror;
mod number;
pub mod offer;
mod params;
pub mod peer;
pub mod progress;
pub mod prompt;
mod question;
pub mod resource;
pub mod resource_template;
pub mod result;
pub mod roots;
pub mod round;
pub mod router;
pub mod sample;
mod schema;
pub mod seal;
pub mod stamp;
pub mod tool;
pub mod uri;
mod uri_template;

#[cfg(test)]
pub(crate) mod fake;

pub use schema::SchemaError;
pub use uri_template::InvalidTemplate;

/// What the macros' code names. Not for use by hand; it may change in any release.
#[doc(hidden)]
pub mod __private {
    /// Apart from the module of the same name, so that the facade can document it.
    pub mod attribute {
        pub use actix_mcp_macros::tool;
    }

    pub use crate::failure::{Probe, WithCauses, WithoutCauses};
    pub use crate::tool::{
        Tool,
        annotated::{
            Argument, Arguments, Extractor, Param, Params, RequestParam, Taken, ToolCall, ToolFn, ToolParam,
            extractor, param, request_param,
        },
    };
}

pub use actix_mcp_macros::tool;
