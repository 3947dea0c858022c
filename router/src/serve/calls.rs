//! The four methods that run handlers: each reads its parameters, finds its handler, runs it with panics caught, and
//! encodes the result for the revision of the request.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::LocalBoxFuture;
use serde::Serialize;

use crate::{
    call::{
        Call, CallContext,
        catch_panic::{Contained, catch_panic},
        handler::Run,
        round::{Ended, RunningRound},
    },
    catalog::{
        completion::{Completion, CompletionRequest},
        prompt::Prompt,
        resource::Contents,
        tool::Tool,
    },
    serve::{rounds::Served, router::Router},
    wire::{
        content::ResourceContents,
        era::{self, Revision},
        error::{ErrorCode, McpError, Shown},
        id::{ProgressToken, RequestId},
        jsonrpc::{Parameters, Request, try_encode_result},
        params::{Members, Params},
        peer::{ClientCapability, missing_capabilities},
        result_meta::{Cache, ResultType},
        tool_result::ToolResult,
        uri,
    },
};

/// A request that is being served.
pub(crate) struct Serving {
    pub(crate) router: Arc<Router>,
    pub(crate) request: Request,
    pub(crate) context: CallContext,
}

impl Serving {
    /// `tools/call`.
    // MCP 2025-11-25 server/tools, Error Handling: an unknown tool is a protocol error. `task` is ignored, since tasks
    // are not supported
    pub(crate) async fn call_tool(&self) -> Result<Bytes, McpError> {
        let (tool, call) = self.tool_call()?;
        let start = |call| {
            self.router.count_call();
            tool.call(call)
        };
        // `run_rounds`, without its own future: see `the_future_of_a_request_is_small`
        let mut result = match RunningRound::new("tools/call", call.clone(), start(call)).await? {
            Ended::Complete(result) => result,
            Ended::Interrupted(interrupted) => {
                match Box::pin(self.interrupted("tools/call", *interrupted, &start)).await? {
                    Served::Complete(result) => result,
                    Served::InputRequired(response) => return Ok(response),
                    Served::Failed(why) => ToolResult::error(why),
                }
            }
        };
        era::tool_result(&mut result, self.revision());
        let head =
            self.router.result_meta().prefix(ResultType::Complete, result.meta.as_mut(), self.revision());
        self.encode(&head, &result)
    }

    fn tool_call(&self) -> Result<(Arc<Tool>, Call), McpError> {
        let params = self.request.params.members()?;
        let name = params.text("name", self.name_limit())?;
        let tool = self.router.tools.get(&name).ok_or_else(|| unknown("tool", "name", &name))?;
        if let Some(missing) = self.missing(tool.client_needs()) {
            return Err(missing);
        }
        // the tool refuses arguments that are not an object
        let arguments = params.optional("arguments").map(|json| params.slice(json));
        Ok((tool, self.round("tools/call", kept(params, name), arguments)?))
    }

    /// `prompts/get`.
    pub(crate) async fn get_prompt(&self) -> Result<Bytes, McpError> {
        let params = self.request.params.members()?;
        let name = params.text("name", self.name_limit())?;
        let prompt = self.router.prompts.get(&name).ok_or_else(|| unknown("prompt", "name", &name))?;
        let arguments = params.optional_object("arguments")?;
        prompt.check(arguments.unwrap_or("{}"))?;
        let arguments = arguments.map(|json| params.slice(json));
        let call = self.round("prompts/get", kept(params, name), arguments)?;
        let start = |call| prompt.run(call);
        let mut result = match self.run_rounds("prompts/get", call, start).await? {
            Served::Complete(result) => result,
            Served::InputRequired(response) => return Ok(response),
            Served::Failed(why) => return Err(McpError::new(ErrorCode::INTERNAL_ERROR, why)),
        };
        if result.description.is_none() {
            result.description.clone_from(&prompt.definition().description);
        }
        result.messages.iter_mut().for_each(|message| era::content(&mut message.content, self.revision()));
        self.encode(&self.complete(), &result)
    }

    /// `resources/read`: the resource with this URI, or else the first template that matches it.
    pub(crate) async fn read_resource(&self) -> Result<Bytes, McpError> {
        #[derive(Serialize)]
        struct ReadResult {
            contents: Vec<ResourceContents>,
        }
        let params = self.request.params.members()?;
        let uri = kept(params, params.text("uri", self.name_limit())?);
        let (reader, arguments, mime_type, cache) =
            self.reader(&uri).ok_or_else(|| era::resource_not_found(&uri, self.revision()))?;
        let call = self.round("resources/read", uri.clone(), arguments)?;
        // MCP 2026-07-28 server/utilities/caching: what a retry reads depends on its answers
        let cache = if call.is_retry() { Cache::default() } else { cache };
        let contents = match self.run_rounds("resources/read", call, |call| reader.clone().run(call)).await {
            Ok(Served::Complete(contents)) => contents.filter(|contents| !contents.is_empty()),
            Ok(Served::InputRequired(response)) => return Ok(response),
            Ok(Served::Failed(why)) => return Err(McpError::new(ErrorCode::INTERNAL_ERROR, why)),
            Err(error) if error.code == ErrorCode::RESOURCE_NOT_FOUND => None,
            Err(error) => return Err(error),
        };
        // MCP 2025-11-25 server/resources, Error Handling: a missing resource is an error, not an empty result
        let mut contents = contents.ok_or_else(|| era::resource_not_found(&uri, self.revision()))?;
        for part in &mut contents {
            if part.mime_type.is_none() && uri::same(&part.uri, &uri) {
                part.mime_type.clone_from(&mime_type);
            }
            era::contents(part, self.revision());
        }
        let [kind, meta] = self.complete();
        self.encode(&[kind, meta, cache.hints(self.revision()).as_bytes()], &ReadResult { contents })
    }

    /// `completion/complete`.
    pub(crate) async fn completion(&self) -> Result<Bytes, McpError> {
        #[derive(Serialize)]
        struct CompleteResult {
            completion: Completion,
        }
        let params = self.request.params.members()?;
        let argument = Params::read(Some(params.object("argument")?), "argument.", ["name", "value"])?;
        let typed = CompletionRequest {
            argument: argument.string("name", self.name_limit())?,
            value: argument.string("value", usize::MAX)?,
            context: context(params.optional_object("context")?)?,
        };
        let (target, completer) = self.completer(params.object("ref")?, &typed.argument)?;
        let completion = match completer {
            Some(completer) => {
                let asked = serde_json::to_string(&typed).map_err(|_| McpError::internal())?;
                let call = self.call(target, Some(asked.into()))?;
                self.run("completion/complete", call.target().clone(), completer.run(call)).await?
            }
            None => Completion::default(),
        };
        self.encode(&self.complete(), &CompleteResult { completion: completion.cut() })
    }

    /// The first members of a result without its own `_meta`.
    fn complete(&self) -> [&[u8]; 2] {
        self.router.result_meta().prefix(ResultType::Complete, None, self.revision())
    }

    /// The reader of a URI, its variables, the default MIME type of its contents, and how long they may be cached.
    #[expect(clippy::type_complexity, reason = "four parts that the caller destructures at once")]
    fn reader(
        &self,
        uri: &str,
    ) -> Option<(Arc<dyn Run<Contents>>, Option<ByteString>, Option<String>, Cache)> {
        if let Some(resource) = self.router.resources.get(uri) {
            return Some((
                Arc::clone(&resource.reader().run),
                None,
                resource.definition().mime_type.clone(),
                resource.hints(),
            ));
        }
        self.router.templates.snapshot().iter().find_map(|template| {
            let arguments = template.arguments(uri)?;
            Some((
                Arc::clone(&template.reader().run),
                Some(arguments),
                template.definition().mime_type.clone(),
                template.hints(),
            ))
        })
    }

    /// The target of a `ref`, and the completer of its argument, if it has one.
    #[expect(clippy::type_complexity, reason = "two parts that the caller destructures at once")]
    fn completer(
        &self,
        reference: &str,
        argument: &str,
    ) -> Result<(ByteString, Option<Arc<dyn Run<Completion>>>), McpError> {
        let reference = Params::read(Some(reference), "ref.", ["type", "name", "uri"])?;
        let kind = reference.text("type", self.name_limit())?;
        match &*kind {
            "ref/prompt" => {
                let name = ByteString::from(reference.string("name", self.name_limit())?);
                let prompt: Arc<Prompt> =
                    self.router.prompts.get(&name).ok_or_else(|| unknown("prompt", "ref.name", &name))?;
                Ok((name, prompt.completers().of(argument)))
            }
            // a template, the URI of a resource (nothing to complete), or a URI that matches a template
            "ref/resource" => {
                let uri = ByteString::from(reference.string("uri", self.name_limit())?);
                let templates = self.router.templates.snapshot();
                let described = || templates.iter().find(|template| template.matches(&uri));
                if let Some(template) = templates.get(&uri) {
                    Ok((uri, template.completers().of(argument)))
                } else if self.router.resources.get(&uri).is_some() {
                    Ok((uri, None))
                } else if let Some(template) = described() {
                    Ok((uri, template.completers().of(argument)))
                } else {
                    Err(unknown("resource template", "ref.uri", &uri))
                }
            }
            _ => Err(McpError::invalid_params("`ref.type` is neither \"ref/prompt\" nor \"ref/resource\"")),
        }
    }

    /// The error for a client that lacks capabilities which the handler requires.
    fn missing(&self, needs: &[ClientCapability]) -> Option<McpError> {
        let peer = &self.context.peer;
        let lacks = needs.iter().copied().filter(|need| !peer.capabilities.has(*need)).collect::<Vec<_>>();
        (!lacks.is_empty()).then(|| missing_capabilities(&lacks))
    }

    /// The limit for a name or a URI, in bytes.
    fn name_limit(&self) -> usize {
        self.router.limits().name_bytes
    }

    fn revision(&self) -> Revision {
        self.context.peer.revision
    }

    /// The call that the handler's extractors read.
    pub(crate) fn call(&self, target: ByteString, arguments: Option<ByteString>) -> Result<Call, McpError> {
        let params = &self.request.params;
        let meta = params.optional("_meta");
        let progress = meta.map(progress_token).transpose()?.flatten();
        let meta = meta.map(|json| params.slice(json));
        let data = Arc::clone(self.router.data());
        let call = self.context.clone().into_call(data, target, arguments, meta, progress);
        Ok(call.served_by(self.router.clone()))
    }

    /// Runs a handler. A panic becomes an error; its payload is dropped.
    async fn run<T>(
        &self,
        method: &'static str,
        target: ByteString,
        handler: LocalBoxFuture<'static, Result<T, McpError>>,
    ) -> Result<T, McpError> {
        Contained::new(method, target, handler).await?
    }

    pub(crate) fn encode(&self, head: &[&[u8]], result: &impl Serialize) -> Result<Bytes, McpError> {
        let encoded =
            catch_panic("the encoding of a result", || try_encode_result(&self.request.id, head, result))?;
        encoded.map_err(|error| {
            log::error!("a result does not serialize: {error}");
            McpError::internal()
        })
    }
}

/// The progress token of a request.
// MCP 2025-11-25 basic/utilities/progress, Progress Flow: MUST be a string or integer value
pub(crate) fn progress_token(meta: &str) -> Result<Option<ProgressToken>, McpError> {
    // fast path: a name may be written with escapes, but without a backslash it must appear as it is
    if meta.starts_with('{') && !meta.contains("progressToken") && !meta.contains('\\') {
        return Ok(None);
    }
    let meta = Params::read(Some(meta), "_meta.", ["progressToken"])?;
    let Some(token) = meta.raw("progressToken") else { return Ok(None) };
    let token = RequestId::read(token).map(ProgressToken);
    token.map(Some).ok_or_else(|| meta.mistyped("progressToken", "a string or an integer"))
}

/// The other arguments, which already have values.
fn context(context: Option<&str>) -> Result<HashMap<String, String>, McpError> {
    let context = Params::read(context, "context.", ["arguments"])?;
    match context.optional("arguments") {
        None => Ok(HashMap::new()),
        Some(json) => {
            serde_json::from_str(json).map_err(|_| context.mistyped("arguments", "an object of strings"))
        }
    }
}

/// A part of the parameters, to be kept. Only text with escapes is copied.
fn kept(params: &Parameters, text: Cow<'_, str>) -> ByteString {
    match text {
        Cow::Borrowed(part) => params.slice(part),
        Cow::Owned(text) => text.into(),
    }
}

fn unknown(kind: &str, member: &str, name: &str) -> McpError {
    McpError::invalid_params(format!("unknown {kind}: `{member}` is {}", Shown(name)))
}
