//! The method table: who serves a request, and what its answer is.
//!
//! The session serves what concerns itself (the handshake, its log level, its subscriptions); everything else comes to
//! [`Router::dispatch`], on the worker that accepted the request.
//!
//! **Invariant:** every dispatched request has one [`Reply`], whatever its handler does.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::FutureExt;
use serde::{Deserialize, de::IntoDeserializer};

use crate::{
    call::{Origin, catch_panic::discard, failure, log::Level},
    catalog::{Catalog, Entry},
    serve::{
        calls::Serving,
        router::{Capability, Router},
    },
    wire::{
        era::{self, Feature, Revision},
        error::{ErrorCode, McpError, Shown},
        jsonrpc::{ErrorId, Parameters, Request, encode_error, encode_raw_result},
        params::Members,
        result_meta::ResultType,
    },
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
    /// `server/discover`
    Discover,
    /// `subscriptions/listen`
    Listen,
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
            // where there is no session
            "server/discover" => Self::Discover,
            "subscriptions/listen" => Self::Listen,
            _ => return None,
        })
    }

    /// Whether the session serves it itself, without [`Router::dispatch`].
    #[must_use]
    pub fn is_of_session(self) -> bool {
        matches!(self, Self::Initialize | Self::Ping | Self::SetLevel | Self::Subscribe | Self::Unsubscribe)
    }

    /// What a revision must have for it to exist there, where not all have it.
    fn feature(self) -> Option<Feature> {
        match self {
            Self::Initialize | Self::Ping | Self::SetLevel | Self::Subscribe | Self::Unsubscribe => {
                Some(Feature::Handshake)
            }
            Self::Discover | Self::Listen => Some(Feature::Stateless),
            Self::ListTools
            | Self::CallTool
            | Self::ListPrompts
            | Self::GetPrompt
            | Self::ListResources
            | Self::ListTemplates
            | Self::ReadResource
            | Self::Complete => None,
        }
    }

    /// The capability without which it is unknown, where there is one.
    fn needs(self) -> Option<Capability> {
        match self {
            Self::Initialize | Self::Ping | Self::Discover | Self::Listen => None,
            Self::SetLevel => Some(Capability::Logging),
            Self::ListTools | Self::CallTool => Some(Capability::Tools),
            Self::ListPrompts | Self::GetPrompt => Some(Capability::Prompts),
            Self::ListResources
            | Self::ListTemplates
            | Self::ReadResource
            | Self::Subscribe
            | Self::Unsubscribe => Some(Capability::Resources),
            Self::Complete => Some(Capability::Completions),
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
    /// The method of this name, if the revision has it and something offers it.
    ///
    /// # Errors
    ///
    /// -32601 otherwise.
    pub fn method(&self, name: &str, revision: Revision) -> Result<Method, McpError> {
        Method::of(name)
            .filter(|method| method.feature().is_none_or(|feature| revision.has(feature)))
            .filter(|method| method.needs().is_none_or(|capability| self.offers(capability)))
            .ok_or_else(|| McpError::method_not_found(name))
    }

    /// The level that `logging/setLevel` asks for.
    ///
    /// # Errors
    ///
    /// -32602 that names `level`.
    pub fn parse_level(params: &Parameters) -> Result<Level, McpError> {
        let params = params.members()?;
        // as a string first: serde takes `{"debug":null}` for the same variant
        let level = params.text("level", usize::MAX)?;
        Level::deserialize((*level).into_deserializer())
            .map_err(|_: serde::de::value::Error| params.mistyped("level", "a log level"))
    }

    /// The URI that a request names.
    ///
    /// # Errors
    ///
    /// -32602 that names `uri`.
    pub fn parse_uri(&self, params: &Parameters) -> Result<ByteString, McpError> {
        params.members()?.string("uri", self.limits().name_bytes).map(ByteString::from)
    }

    /// The URI that `resources/subscribe` asks for. One that fits a template counts as existing: only its reader knows.
    ///
    /// # Errors
    ///
    /// -32602 that names `uri`; -32002 for a URI that names no resource and fits no template.
    pub fn subscribable(&self, params: &Parameters) -> Result<ByteString, McpError> {
        let uri = self.parse_uri(params)?;
        if !self.has_resource(&uri) {
            return Err(era::resource_not_found(&uri, Revision::LATEST_HANDSHAKE));
        }
        Ok(uri)
    }

    /// Serves a request that is none of the session's own.
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
        let id = request.id.clone();
        let serving = Serving { router: Arc::clone(self), request, origin };
        // Handlers are contained where they are called; this is for mistakes of ours. No `async` block: it would hold the
        // future twice, and every request's task with it.
        AssertUnwindSafe(serve(serving)).catch_unwind().map(move |served| {
            let served = served.unwrap_or_else(|payload| {
                log::error!("dispatch panicked; this is a bug of the framework");
                discard(payload);
                Err(McpError::internal())
            });
            match served {
                Ok(json) => Reply { json, code: None },
                Err(error) => {
                    Reply { json: encode_error(ErrorId::Given(&id), &error), code: Some(error.code) }
                }
            }
        })
    }
}

/// The whole response, or why there is none.
async fn serve(serving: Serving) -> Result<Bytes, McpError> {
    let Serving { router, request, origin } = &serving;
    let revision = origin.peer.revision;
    let served = match router.method(&request.method, revision)? {
        // lists are kept encoded
        Method::ListTools => router.list(&router.tools, request, revision),
        Method::ListPrompts => router.list(&router.prompts, request, revision),
        Method::ListResources => router.list(&router.resources, request, revision),
        Method::ListTemplates => router.list(&router.templates, request, revision),
        // these run a handler; the rarer ones are boxed, so that a call of a tool does not carry their size
        Method::CallTool => serving.call_tool().await,
        Method::GetPrompt => Box::pin(serving.get_prompt()).await,
        Method::ReadResource => Box::pin(serving.read_resource()).await,
        Method::Complete => Box::pin(serving.completion()).await,
        Method::Discover => router.discover(&request.id, revision),
        // the session's own never come here, nor does what lasts as long as its client likes
        Method::Initialize
        | Method::Ping
        | Method::SetLevel
        | Method::Subscribe
        | Method::Unsubscribe
        | Method::Listen => Err(McpError::method_not_found(&request.method)),
    };
    served.map_err(|error| defined(error, &serving))
}

/// An error as it may leave: one whose code is not its author's to give is ours, and logged.
fn defined(mut error: McpError, serving: &Serving) -> McpError {
    let code = error.code.0;
    if era::error(&mut error, serving.origin.peer.revision) {
        return error;
    }
    let Request { method, params, .. } = &serving.request;
    let target = ["name", "uri"].into_iter().find_map(|member| params.text(member, usize::MAX).ok());
    let (method, target) = (Shown(method), target.as_deref().unwrap_or_default());
    let why = failure::text(&error.message);
    log::error!(
        "the handler of {method} {} gave the error code {code}, which the protocol reserves; its client gets -32603: {why}",
        Shown(target)
    );
    McpError::internal()
}

impl Router {
    fn list<T: Entry>(
        &self,
        catalog: &Catalog<T>,
        request: &Request,
        revision: Revision,
    ) -> Result<Bytes, McpError> {
        let cursor = request.params.members()?.optional_text("cursor", usize::MAX)?;
        let page = catalog.page(revision, cursor.as_deref())?;
        let [kind, meta] = self.head(ResultType::Complete, None, revision);
        Ok(encode_raw_result(&request.id, &[kind, meta, self.list_hints(revision)], &page))
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
