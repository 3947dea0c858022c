//! The method table: which function serves a request.
//!
//! The session serves its own methods (the handshake, the log level, subscriptions). [`Router::dispatch`] serves all
//! others, on the worker that accepted the request.
//!
//! **Invariant:** every dispatched request has one [`Reply`], whatever its handler does.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::FutureExt;

use crate::{
    call::{CallContext, catch_panic::discard, failure},
    catalog::{Catalog, Entry},
    serve::{calls::Serving, router::Router},
    wire::{
        era::{self, Revision},
        error::{ErrorCode, McpError, Shown},
        id::ErrorId,
        jsonrpc::{Parameters, Request, encode_error, encode_raw_result},
        level::Level,
        method::Method,
        params::Members,
        result_meta::ResultType,
    },
};

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The whole JSON-RPC response, the id included.
    pub json: Bytes,
    /// The error code, if the answer is an error.
    pub code: Option<ErrorCode>,
}

impl Router {
    /// The method of this name, if the revision has it and its capability is declared.
    ///
    /// # Errors
    ///
    /// -32601 otherwise.
    pub fn method(&self, name: &str, revision: Revision) -> Result<Method, McpError> {
        Method::of(name)
            .filter(|method| method.feature().is_none_or(|feature| revision.has(feature)))
            .filter(|method| method.needs().is_none_or(|capability| self.declares(capability)))
            .ok_or_else(|| McpError::method_not_found(name))
    }

    /// The level that `logging/setLevel` asks for.
    ///
    /// # Errors
    ///
    /// -32602 that names `level`.
    pub fn parse_level(params: &Parameters) -> Result<Level, McpError> {
        let params = params.members()?;
        // as a string first: serde accepts `{"debug":null}` for the same variant
        let level = params.text("level", usize::MAX)?;
        Level::read(&level).ok_or_else(|| params.mistyped("level", "a log level"))
    }

    /// The URI that a request names.
    ///
    /// # Errors
    ///
    /// -32602 that names `uri`.
    pub fn parse_uri(&self, params: &Parameters) -> Result<ByteString, McpError> {
        params.members()?.string("uri", self.limits().name_bytes).map(ByteString::from)
    }

    /// The URI that `resources/subscribe` asks for. One that matches a template counts as existing: only
    /// the reader could tell.
    ///
    /// # Errors
    ///
    /// -32602 that names `uri`; -32002 for a URI that names no resource and matches no template.
    pub fn subscribable(&self, params: &Parameters) -> Result<ByteString, McpError> {
        let uri = self.parse_uri(params)?;
        if !self.has_resource(&uri) {
            return Err(era::resource_not_found(&uri, Revision::LATEST_HANDSHAKE));
        }
        Ok(uri)
    }

    /// Serves a request, other than the session's own methods.
    ///
    /// The future never panics. It stays on the worker that polls it: handlers need not be `Send`.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the handler, and there is no answer.
    pub fn dispatch(
        self: &Arc<Self>,
        request: Request,
        context: CallContext,
    ) -> impl Future<Output = Reply> + use<> + 'static {
        let id = request.id.clone();
        let serving = Serving { router: Arc::clone(self), request, context };
        // Handlers are contained where they are called; this is for our own bugs. No `async` block: it would hold
        // the future twice, and every request's task with it.
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
    let Serving { router, request, context } = &serving;
    let revision = context.peer.revision;
    let served = match router.method(&request.method, revision)? {
        // lists are kept encoded
        Method::ListTools => router.list(&router.tools, request, revision),
        Method::ListPrompts => router.list(&router.prompts, request, revision),
        Method::ListResources => router.list(&router.resources, request, revision),
        Method::ListTemplates => router.list(&router.templates, request, revision),
        // these run a handler; the rarer ones are boxed, so that a tool call does not pay for their size
        Method::CallTool => serving.call_tool().await,
        Method::GetPrompt => Box::pin(serving.get_prompt()).await,
        Method::ReadResource => Box::pin(serving.read_resource()).await,
        Method::Complete => Box::pin(serving.completion()).await,
        Method::Discover => router.discover(&request.id, revision),
        // these are served before dispatch
        Method::Initialize
        | Method::Ping
        | Method::SetLevel
        | Method::Subscribe
        | Method::Unsubscribe
        | Method::Listen => Err(McpError::method_not_found(&request.method)),
    };
    served.map_err(|error| defined(error, &serving))
}

/// The error that is sent. A handler's error with a reserved code becomes -32603 and is logged.
fn defined(mut error: McpError, serving: &Serving) -> McpError {
    let code = error.code.0;
    if era::error(&mut error, serving.context.peer.revision) {
        return error;
    }
    let Request { method, params, .. } = &serving.request;
    let target = ["name", "uri"].into_iter().find_map(|member| params.text(member, usize::MAX).ok());
    let (method, target) = (Shown(method), target.as_deref().unwrap_or_default());
    let why = failure::text(&error.message);
    log::error!(
        "the handler of {method} {} returned the reserved error code {code}; the client gets -32603: {why}",
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
        let [kind, meta] = self.result_meta().prefix(ResultType::Complete, None, revision);
        Ok(encode_raw_result(&request.id, &[kind, meta, self.result_meta().list_hints(revision)], &page))
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
