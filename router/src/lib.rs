//! Messages, era rules, method table, handlers and extractors of actix-mcp.
//!
//! Six rooms, each of which uses only those before it:
//!
//! - `wire`: JSON-RPC messages, the types of the specification, and what differs between its revisions
//! - `schema`: JSON schemas of arguments and results
//! - `call`: one call, what handlers take from it and give back
//! - `ask`: questions to the client
//! - `catalog`: tools, prompts, resources, templates, and their lists
//! - `serve`: the router, its method table, and the handlers of the methods
//!
//! It knows no actor and no socket. Of actix-web it takes the head of a request (`HttpRequest`) and `web::Data` from
//! what the transport hands it, and of clocks only the one that says whether a sealed state has expired.
//!
//! The crate `actix_mcp` lists what authors use; [`internal`] is for the crates below it.

mod ask;
mod call;
mod catalog;
mod schema;
mod serve;
mod wire;

#[cfg(test)]
pub(crate) mod fake;

pub use actix_mcp_macros::tool;

pub use ask::{
    client::Client,
    elicit::{Elicit, ElicitUrl},
    input_required::{InputRequired, Outcome},
    responses::InputResponses,
    roots::{Root, Roots},
    sample::{
        IncludeContext, ModelHint, ModelPreferences, Sample, SampledToolResult, SamplingContent,
        SamplingMessage, SamplingRequest, SamplingResult, ToolChoice, ToolUse,
    },
};
pub use call::{
    Call,
    cancelled::Cancelled,
    extract::{Args, Arguments, FromCall, FromMiddleware, HandlerSpec, Http, Meta, Session, TraceContext},
    handler::Handler,
    log::Log,
    progress::{Amount, Progress, ProgressError, Report},
    question_error::QuestionError,
    result::{IntoToolResult, Json, OutputSchema, Structured, ToolError},
};
pub use catalog::{
    add_error::AddError,
    completion::{Completer, Completion, CompletionRequest, IntoCompletion},
    prompt::{IntoPromptResult, Prompt, PromptHandler, PromptMessage, PromptResult},
    resource::{Contents, IntoContents, Reader, Resource, Uri},
    resource_template::ResourceTemplate,
    tool::{IntoTool, InvalidTool, Tool, ToolHandler},
    uri_template::InvalidTemplate,
};
pub use schema::SchemaError;
pub use serve::{extension::InvalidExtension, handle::Handle};
pub use wire::{
    capability::Capability,
    change::Change,
    content::{
        Annotations, Base64, Content, EmbeddedResource, Icon, MediaContent, MetaMap, ResourceBody,
        ResourceContents, ResourceLink, Role, TextContent,
    },
    definition::{
        PromptArgument, PromptDefinition, ResourceDefinition, TemplateDefinition, ToolAnnotations,
        ToolDefinition,
    },
    era::{Eras, Revision},
    error::{ErrorCode, McpError},
    id::{ProgressToken, RequestId},
    jsonrpc::ReadLimits,
    level::Level,
    peer::{ClientCapabilities, ClientCapability, Implementation, Peer},
    principal::Principal,
    result_meta::{Cache, CacheScope},
    seal::{StateKey, StateLimits},
    tool_result::ToolResult,
};

/// What the other crates of the framework need of this one. It may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        ask::question::MAX_CLIENT_REQUEST_TIMEOUT,
        call::{
            CallContext, TransportContext,
            cancelled::{self, Cancellation},
            data::DataMap,
            link::{Asked, Link, NoLink, Permit, Question},
        },
        catalog::{completion::ErasedCompleter, resource::ErasedReader},
        serve::{
            dispatch::Reply,
            initialize::{self, InitializeResult, Opening},
            listen::{self, Filter, acknowledged, notice, torn_down},
            metadata::RequestMeta,
            param_headers::{self, Field, check_version},
            router::Router,
            settings::Settings,
        },
        wire::{
            change::ChangeListener,
            definition::ServerInfo,
            era::{self, Feature, negotiate, resource_not_found, unreadable_id},
            id::ErrorId,
            jsonrpc::{
                self, Incoming, Looks, Malformed, Notification, Parameters, Payload, Request, Response,
                Target, encode_error, encode_notification, encode_request, encode_result, read, unanswered,
            },
            method::Method,
            peer::set_level,
            seal::Seal,
            uri::{self, normal, normal_of, same},
        },
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
            Annotated, Argument, Arguments, Extractor, Param, Params, RequestParam, Taken, ToolCall, ToolFn,
            ToolParam, extractor, param, request_param,
        },
    };
}
