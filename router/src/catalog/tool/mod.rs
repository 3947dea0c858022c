//! A tool: its definition, its requirements, and its type-erased handler.
//!
//! **Invariant:** the schemas of a registered tool are checked ([`Tool::check`]), and its results conform to its output
//! schema.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use serde_json::value::RawValue;

use crate::{
    call::{
        Call,
        extract::{HandlerSpec, Requirements, bad, client_error, cut},
        result::{OutputSchema, unusable},
    },
    catalog::{Entry, definition_json, setters::definition_setters},
    schema::{self, Checked, SchemaError, headers::ParamHeader},
    wire::{
        definition::{ToolAnnotations, ToolDefinition},
        era::{self, Revision},
        error::{ErrorCode, McpError},
        jsonrpc::in_one_line,
        peer::ClientCapability,
        tool_result::ToolResult,
    },
};

pub(crate) mod annotated;
mod handler;

use handler::Invoke;
pub use handler::ToolHandler;

/// The longest name of a tool, in bytes.
const NAME_BYTES: usize = 8 * 1024;

/// A tool: an async function of extractors with a name, or with `#[tool]` on it.
///
/// It returns text, a number, a `bool`, `()`, [`Content`](crate::wire::content::Content) or a `Vec` of it,
/// [`Json`](crate::call::result::Json) or a [`ToolResult`], or a `Result` of one of these with any error
/// that implements `Display`, which the model reads. An [`McpError`] is a protocol error.
///
/// Run long computations and blocking calls in `web::block(..).await`; otherwise they block everything else on the
/// handler's thread, including pings and the call's own cancellation. See "Handlers that compute or block" in the
/// documentation of the facade crate.
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_router::*; }
/// use actix_mcp::{Args, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// async fn add(Args(Add { a, b }): Args<Add>) -> i64 {
///     a + b
/// }
///
/// let tool = Tool::new("add", add).description("Adds two integers.").read_only(true);
/// assert!(tool.check().is_ok());
/// ```
///
/// For proxies that route by an argument, clients repeat it in the HTTP header `Mcp-Param-Region` if its schema has
/// `"x-mcp-header": "Region"`: `#[schemars(extend("x-mcp-header" = "Region"))]` on a field, or `#[header("Region")]` on
/// a parameter under `#[tool]`. It must be a string, an integer or a `bool`, at the root or in members of objects, and
/// not a secret. Over HTTP, from 2026-07-28 on, a call whose header is missing or differs from the argument gets status
/// 400 and -32020, and does not run; calls of older revisions are not checked.
#[derive(Clone)]
pub struct Tool {
    definition: ToolDefinition,
    /// The checked input schema, or the error that [`Tool::check`] reports unless another schema replaces it.
    input: Result<Checked, SchemaError>,
    /// The same for the output schema, if there is one.
    output: Option<Result<Checked, SchemaError>>,
    /// The arguments that clients repeat in headers, as the listed schema marks them; an error as in `input`.
    param_headers: Result<Vec<ParamHeader>, SchemaError>,
    needs: Requirements,
    /// The capabilities that a client must have declared.
    client_needs: Vec<ClientCapability>,
    run: Arc<dyn Invoke>,
}

/// A tool that cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTool {
    /// The name is empty.
    #[error("a tool has no name")]
    NoName,
    /// The name is longer than 8 KiB.
    #[error("a tool has a name of {0} bytes (the limit is 8192)")]
    LongName(usize),
    /// The schema of the arguments is invalid.
    #[error("tool {tool:?}, schema of its arguments: {why}")]
    Input {
        /// The tool's name.
        tool: String,
        /// What is wrong.
        why: SchemaError,
    },
    /// The schema of the structured content is invalid.
    #[error("tool {tool:?}, schema of its output: {why}")]
    Output {
        /// The tool's name.
        tool: String,
        /// What is wrong.
        why: SchemaError,
    },
}

impl Tool {
    /// A tool of this name.
    ///
    /// The handler's arguments, if it takes an [`Args<T>`](crate::call::extract::Args), are described by the schema of
    /// `T`; its structured content, if it returns a [`Json<T>`](crate::call::result::Json), by that of its `T`.
    /// Registration reports an error in them.
    #[must_use]
    pub fn new<F, A>(name: impl Into<String>, handler: F) -> Self
    where
        F: ToolHandler<A>,
        A: 'static,
    {
        F::into_tool(handler, name.into())
    }

    /// `spec` and `output` are derived from the handler's types.
    fn of(name: String, spec: HandlerSpec, output: Option<OutputSchema>, run: Arc<dyn Invoke>) -> Self {
        let is_closed = spec.is_closed();
        let (schema, needs) = spec.finish();
        let definition = ToolDefinition {
            name,
            title: None,
            description: None,
            input_schema: RawValue::NULL.to_owned(),
            output_schema: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
        };
        let input = schema.and_then(|schema| schema::derived_input(schema, is_closed));
        let output = output.map(|output| output.0);
        let client_needs = Vec::new();
        Self { definition, input, output, param_headers: Ok(Vec::new()), needs, client_needs, run }.listed()
    }

    /// Puts the schemas into the definition.
    fn listed(mut self) -> Self {
        if let Ok(input) = &self.input {
            self.definition.input_schema = input.listed.clone();
            self.param_headers = schema::headers::param_headers(input.listed.get());
        }
        if let Some(Ok(output)) = &self.output {
            self.definition.output_schema = Some(output.listed.clone());
        }
        self
    }

    /// Refuses calls of clients that did not declare this capability, before the handler runs;
    /// [`Client::require`](crate::ask::client::Client::require) does the same from within. May be called several times.
    ///
    /// [`IntoTool`] turns a function with `#[tool]` into a `Tool`:
    ///
    /// ```
    /// # mod actix_mcp { pub use actix_mcp_router::*; pub use actix_mcp_router as client; pub use actix_mcp_router as result; }
    /// use actix_mcp::{Client, QuestionError, client::ClientCapability, result::IntoTool, tool};
    ///
    /// # #[tool(crate = "actix_mcp_router")] /*
    /// #[tool]
    /// # */
    /// async fn trip(client: Client) -> Result<&'static str, QuestionError> {
    ///     client.elicit::<()>("Shall we?").await?;
    ///     Ok("booked")
    /// }
    ///
    /// let trip = trip.into_tool().requires(ClientCapability::ElicitationForm);
    /// # assert_eq!(trip.name(), "trip");
    /// ```
    #[must_use]
    pub fn requires(mut self, capability: ClientCapability) -> Self {
        self.client_needs.push(capability);
        self
    }

    pub(crate) fn client_needs(&self) -> &[ClientCapability] {
        &self.client_needs
    }

    definition_setters!(ToolDefinition, "tool", "What it does, for the model.");

    /// All hints at once.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// The hint that it changes nothing.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.hints().read_only_hint = Some(hint);
        self
    }

    /// The hint that it may destroy something. Clients assume so by default.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.hints().destructive_hint = Some(hint);
        self
    }

    /// The hint that calling it twice has the same effect as calling it once.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.hints().idempotent_hint = Some(hint);
        self
    }

    /// The hint that it interacts with the outside world. Clients assume so by default.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.hints().open_world_hint = Some(hint);
        self
    }

    fn hints(&mut self) -> &mut ToolAnnotations {
        self.definition.annotations.get_or_insert_default()
    }

    /// Sets a schema of the arguments, as JSON text, in place of the derived one.
    ///
    /// It is listed byte for byte, except that line breaks become spaces. Arguments must fit both the handler's
    /// types and this schema.
    ///
    /// It is read as JSON Schema 2020-12 unless its `$schema` names another dialect: draft 4, 6 or 7, 2019-09 or
    /// 2020-12. Any other is refused at registration, as is a schema with a `$ref` that does
    /// not resolve within it, or a `pattern` that is not a regular expression. Nothing is ever fetched.
    // MCP 2025-11-25 basic, Schema Dialect: SHOULD document
    #[must_use]
    pub fn input_schema(mut self, json: impl AsRef<str>) -> Self {
        self.input = schema::written_input(json.as_ref());
        self.listed()
    }

    /// Sets a schema of the structured content, as JSON text; it is listed as [`Tool::input_schema`] says.
    ///
    /// Every result that is not an error must then have structured content that matches it.
    #[must_use]
    pub fn output_schema(mut self, json: impl AsRef<str>) -> Self {
        self.output = Some(schema::written(json.as_ref()));
        self.listed()
    }

    /// Lists the derived schemas without `$ref`, for clients that do not resolve it: definitions replace the references
    /// to them. A recursive type keeps its reference. Schemas that you wrote by hand are not changed.
    #[must_use]
    pub fn inline_refs(mut self) -> Self {
        let schemas = [Some(&mut self.input), self.output.as_mut()];
        schemas.into_iter().flatten().flatten().for_each(Checked::inline);
        self.listed()
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The requirements of the tool's handler.
    pub(crate) fn needs(&self) -> &Requirements {
        &self.needs
    }

    /// Whether the tool can be registered; called at registration.
    ///
    /// # Errors
    ///
    /// The first error found.
    // a name that is not 1 to 128 of A-Za-z0-9_-. (a SHOULD) only gets a warning in the log at registration
    pub fn check(&self) -> Result<(), InvalidTool> {
        let name = self.name();
        if name.is_empty() {
            return Err(InvalidTool::NoName);
        }
        if name.len() > NAME_BYTES {
            return Err(InvalidTool::LongName(name.len()));
        }
        if let Err(why) = self.input.as_ref().map(|_| ()).and(self.param_headers.as_ref().map(|_| ())) {
            return Err(InvalidTool::Input { tool: name.to_owned(), why: why.clone() });
        }
        if let Some(Err(why)) = &self.output {
            return Err(InvalidTool::Output { tool: name.to_owned(), why: why.clone() });
        }
        Ok(())
    }

    /// The arguments that clients repeat in headers.
    pub(crate) fn param_headers(&self) -> &[ParamHeader] {
        self.param_headers.as_deref().unwrap_or_default()
    }

    /// Calls the tool: checks and extracts its arguments, runs the handler, checks what it returned.
    ///
    /// Invalid arguments give a result with `isError` that names the argument, at every revision.
    ///
    /// # Errors
    ///
    /// In the future: -32602 if the arguments are not an object, -32603 if the application lacks what the tool needs,
    /// and whatever [`McpError`] the handler returns.
    ///
    /// # Panics
    ///
    /// The future panics if the handler does, or the `Display` of its error.
    #[must_use]
    pub fn call(self: &Arc<Self>, call: Call) -> LocalBoxFuture<'static, Result<ToolResult, McpError>> {
        Arc::clone(&self.run).invoke(Arc::clone(self), call)
    }

    /// Checks the arguments against the schema, if it is stricter than their types.
    fn check_arguments(&self, call: &Call) -> Result<(), McpError> {
        let Ok(Checked { validator: Some(validator), .. }) = &self.input else { return Ok(()) };
        validator.check(call.arguments()).map_err(|wrong| bad(&wrong.path, &cut(&wrong.what)))
    }

    /// Makes the result conform to the definition: an error result has no structured content, and any other result that
    /// does not match the output schema is replaced by our own error.
    // MCP 2025-11-25 server/tools, Output Schema: servers MUST provide structured results that conform
    fn finish(&self, mut result: ToolResult) -> ToolResult {
        if result.is_error {
            // it would not match the schema, and clients that check it would hide the message
            result.structured = None;
            return result;
        }
        if let Some(Ok(Checked { validator: Some(validator), .. })) = &self.output {
            let wrong = match &result.structured {
                Some(structured) => validator.check(structured.get()).err(),
                None => Some(schema::Mismatch { path: String::new(), what: "is missing".to_owned() }),
            };
            if let Some(schema::Mismatch { path, what }) = wrong {
                log::error!(
                    "the result of `{}` does not match its output schema: {path:?} {what}",
                    self.name()
                );
                return unusable();
            }
        }
        if let Some(structured) = &result.structured {
            let line = in_one_line(structured.get());
            if result.content.is_empty() {
                result.content.push(line.as_ref().into());
            }
            if let std::borrow::Cow::Owned(line) = line {
                result.structured = RawValue::from_string(line).ok();
            }
        }
        result
    }
}

impl Entry for Tool {
    const LIST: &'static str = "tools";

    fn key(&self) -> &str {
        self.name()
    }

    fn definition_json(&self, revision: Revision) -> serde_json::Result<Bytes> {
        definition_json(self.definition(), era::tool, revision)
    }
}

/// The outcome of a call that an extractor refused.
///
/// Wrong arguments are reported to the model, which can correct them, rather than to the client.
// MCP 2025-11-25 server/tools, Error Handling: input validation errors are tool execution errors
fn refusal(call: &Call, error: McpError) -> Result<ToolResult, McpError> {
    if error.code == ErrorCode::INVALID_PARAMS {
        return Ok(ToolResult::error(error.message));
    }
    Err(client_error(call, error))
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

/// A type that can be registered as a tool: a [`Tool`], or a function with `#[tool]` on it.
///
/// The compiler infers `Marker`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "put `#[tool]` on the function, or name it: `Tool::new(\"name\", function)`"
)]
pub trait IntoTool<Marker> {
    /// The tool.
    fn into_tool(self) -> Tool;
}

impl IntoTool<()> for Tool {
    fn into_tool(self) -> Tool {
        self
    }
}
