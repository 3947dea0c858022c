//! The method table: who serves a request, and what its answer is.
//!
//! The session serves what concerns itself (the handshake, its log level, its subscriptions); everything else comes to
//! [`Router::dispatch`], on the worker that accepted the request.
//!
//! **Invariant:** every dispatched request has one [`Reply`], whatever its handler does.

use std::{future::Future, sync::Arc};

use bytes::Bytes;
use bytestring::ByteString;

use crate::{
    call::Origin,
    error::{ErrorCode, McpError},
    jsonrpc::{ErrorId, Request, encode_error},
    log::Level,
    params::Params,
    router::{Offers, Router},
};

/// A request a client can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// `initialize`
    Initialize,
    /// `ping`
    Ping,
    /// `logging/setLevel`
    SetLevel,
    /// `resources/subscribe`
    Subscribe,
    /// `resources/unsubscribe`
    Unsubscribe,
    /// `tools/list`
    ListTools,
    /// `tools/call`
    CallTool,
    /// `prompts/list`
    ListPrompts,
    /// `prompts/get`
    GetPrompt,
    /// `resources/list`
    ListResources,
    /// `resources/templates/list`
    ListTemplates,
    /// `resources/read`
    ReadResource,
    /// `completion/complete`
    Complete,
}

impl Method {
    /// The method of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            // the session's own
            "initialize" => Self::Initialize,
            "ping" => Self::Ping,
            "logging/setLevel" => Self::SetLevel,
            "resources/subscribe" => Self::Subscribe,
            "resources/unsubscribe" => Self::Unsubscribe,
            // lists, kept encoded
            "tools/list" => Self::ListTools,
            "prompts/list" => Self::ListPrompts,
            "resources/list" => Self::ListResources,
            "resources/templates/list" => Self::ListTemplates,
            // these run a handler
            "tools/call" => Self::CallTool,
            "prompts/get" => Self::GetPrompt,
            "resources/read" => Self::ReadResource,
            "completion/complete" => Self::Complete,
            _ => return None,
        })
    }

    /// Whether the session serves it itself, without [`Router::dispatch`].
    #[must_use]
    pub fn is_of_session(self) -> bool {
        matches!(self, Self::Initialize | Self::Ping | Self::SetLevel | Self::Subscribe | Self::Unsubscribe)
    }

    /// Whether something is registered that offers it.
    fn offered(self, offers: Offers) -> bool {
        match self {
            Self::Initialize | Self::Ping | Self::SetLevel => true,
            Self::ListTools | Self::CallTool => offers.tools,
            Self::ListPrompts | Self::GetPrompt => offers.prompts,
            Self::ListResources
            | Self::ListTemplates
            | Self::ReadResource
            | Self::Subscribe
            | Self::Unsubscribe => offers.resources,
            Self::Complete => offers.completions,
        }
    }
}

/// The answer of one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The whole JSON-RPC response, the id included.
    pub json: Bytes,
    /// The error's code, where it is one.
    pub code: Option<ErrorCode>,
}

impl Router {
    /// The method of this name, if something offers it.
    ///
    /// # Errors
    ///
    /// -32601 otherwise.
    pub fn method(&self, name: &str) -> Result<Method, McpError> {
        Method::of(name)
            .filter(|method| method.offered(self.offers()))
            .ok_or_else(|| McpError::method_not_found(name))
    }

    /// The level that `logging/setLevel` asks for.
    ///
    /// # Errors
    ///
    /// -32602 that names `level`.
    pub fn parse_level(params: Option<&str>) -> Result<Level, McpError> {
        let params = Params::read(params, "", ["level"])?;
        let level = params.raw("level").ok_or_else(|| params.missing("level"))?;
        serde_json::from_str(level.get()).map_err(|_| params.mistyped("level", "a log level"))
    }

    /// The URI that `resources/subscribe` and `resources/unsubscribe` ask for.
    ///
    /// # Errors
    ///
    /// -32602 that names `uri`; -32002 for a URI that names no resource and fits no template.
    pub fn subscribable(&self, params: Option<&str>) -> Result<ByteString, McpError> {
        let params = Params::read(params, "", ["uri"])?;
        params.string("uri", self.limits().name_bytes)
    }

    /// Serves a request that is none of the session's.
    ///
    /// The future never panics. It stays on the worker that polls it: handlers need not be `Send`.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the handler. Nothing is answered then.
    pub fn dispatch(
        self: &Arc<Self>,
        request: Request,
        origin: Origin,
    ) -> impl Future<Output = Reply> + use<> + 'static {
        let _router = Arc::clone(self);
        async move {
            drop(origin);
            let error = McpError::method_not_found(&request.method);
            Reply { json: encode_error(ErrorId::Given(&request.id), &error), code: Some(error.code) }
        }
    }
}
