//! Messages, era rules, method table, handlers and extractors of actix-mcp.
//!
//! Knows no actor, no socket, and no clock but the one that says whether a sealed state has expired; of actix-web only
//! `HttpRequest` and `web::Data`.

mod ask;
pub mod call;
mod catalog;
mod schema;
mod serve;
mod wire;

#[cfg(test)]
pub(crate) mod fake;

pub use ask::{client, elicit, roots, rounds as round, sample, seal};
pub use call::{cancelled, data, extract, handler, link, log, progress, result};
pub use catalog::{
    completion, prompt, register as offer, resource, resource_template, tool, uri_template::InvalidTemplate,
};
pub use schema::SchemaError;
pub use serve::{dispatch, extension, handle, initialize, listen, metadata, param_headers as mirror, router};
pub use wire::{change, content, definition, era, error, id, jsonrpc, peer, result_meta as stamp, uri};

/// What the macros' code names. Not for use by hand; it may change in any release.
#[doc(hidden)]
pub mod __private {
    /// Apart from the module of the same name, so that the facade can document it.
    pub mod attribute {
        pub use actix_mcp_macros::tool;
    }

    pub use crate::call::failure::{Probe, WithCauses, WithoutCauses};
    pub use crate::catalog::tool::{
        Tool,
        annotated::{
            Argument, Arguments, Extractor, Param, Params, RequestParam, Taken, ToolCall, ToolFn, ToolParam,
            extractor, param, request_param,
        },
    };
}

pub use actix_mcp_macros::tool;
