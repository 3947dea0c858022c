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

pub use ask::{client, elicit, roots, sample};
pub use call::{cancelled, data, extract, handler, progress, question_error::QuestionError};
pub use catalog::{
    add_error as offer, completion, prompt, resource, resource_template, tool, uri_template::InvalidTemplate,
};
pub use schema::SchemaError;
pub use serve::{extension, handle, initialize, listen, metadata, param_headers as mirror};
pub use wire::{change, content, definition, era, error, id, jsonrpc, result_meta as stamp, seal, uri};

/// The method table.
pub mod dispatch {
    pub use crate::{serve::dispatch::*, wire::method::Method};
}

/// The way from a call back to its session.
pub mod link {
    pub use crate::call::{link::*, question_error::QuestionError as AskError};
}

/// Asking by the result.
pub mod round {
    pub use crate::ask::{input_required::*, responses::*};
}

/// What a call may know of the client behind it, and who it acts for.
pub mod peer {
    pub use crate::wire::{peer::*, principal::Principal};
}

/// Log messages for the client.
pub mod log {
    pub use crate::{call::log::*, wire::level::Level};
}

/// What a tool returns.
pub mod result {
    pub use crate::{call::result::*, wire::tool_result::ToolResult};
}

/// Everything a server offers.
pub mod router {
    pub use crate::{
        serve::{router::*, settings::Settings},
        wire::capability::Capability,
    };
}

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
