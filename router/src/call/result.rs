//! What a tool can return, and how it is converted.
//!
//! A tool ends in one of three ways: a result; a result with `isError`, which the model reads; a protocol error
//! ([`McpError`]).

use std::{any::Any, error::Error, fmt};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    call::{Call, failure},
    schema::{self, Checked, SchemaError},
    wire::{content::Content, error::McpError, tool_result::ToolResult},
};

/// The schema of a tool's structured content, derived from its result type.
#[derive(Clone, Debug)]
pub struct OutputSchema(pub(crate) Result<Checked, SchemaError>);

impl OutputSchema {
    /// The schema of `T` as it is serialized.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        Self(schema::derived_output::<T>())
    }
}

/// A type that a tool can return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a result of a tool",
    note = "return `Json(value)` (`actix_mcp::Json`, not `web::Json`), if it is a `Vec`, an `Option`, a map, or a type of your own that derives `serde::Serialize` and `schemars::JsonSchema`",
    note = "or return text, a number, `bool`, `()`, `Content`, `Vec<Content>`, `ToolResult`, or a `Result` of one of them"
)]
pub trait IntoToolResult {
    /// The schema of the structured content, if every result has some.
    fn output_schema() -> Option<OutputSchema> {
        None
    }

    /// Converts the value that the tool returned for this call.
    ///
    /// # Errors
    ///
    /// A protocol error: the request failed, rather than the tool.
    fn into_tool_result(self, call: &Call) -> Result<ToolResult, McpError>;

    /// The log text of a handler that failed, that is, returned an `Err`. Not for direct use.
    #[doc(hidden)]
    fn failure(&self) -> Option<String> {
        None
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
        Ok(self)
    }
}

/// No content.
impl IntoToolResult for () {
    fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
        Ok(ToolResult::new())
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
        Ok(ToolResult::new().content(self))
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
        Ok(ToolResult { content: self, ..ToolResult::new() })
    }
}

macro_rules! as_text {
    ($($kind:ty)*) => {$(
        /// As text.
        impl IntoToolResult for $kind {
            fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
                Ok(ToolResult::text(self.to_string()))
            }
        }
    )*};
}

as_text! { &'static str bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 }

impl IntoToolResult for String {
    fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
        Ok(ToolResult::text(self))
    }
}

/// A result for programs: structured content, described by the schema of `T`, and the same JSON as text.
///
/// Up to 2025-11-25, structured content must be an object: for any other `T`, only the text is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A type that can be a tool's structured content: `Serialize` and `JsonSchema`. Implemented for every type that is
/// both.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the structured content of a tool: it needs both `Serialize` and `JsonSchema`",
    label = "lacks `Serialize` or `JsonSchema`",
    note = "add `#[derive(serde::Serialize, schemars::JsonSchema)]` to your type: `{Self}`, or what is in it"
)]
pub trait Structured: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Structured for T {}

impl<T: Structured> IntoToolResult for Json<T> {
    fn output_schema() -> Option<OutputSchema> {
        Some(OutputSchema::of::<T>())
    }

    fn into_tool_result(self, _: &Call) -> Result<ToolResult, McpError> {
        Ok(ToolResult::new().structured(&self.0).unwrap_or_else(|error| {
            log::error!("a tool's result cannot be serialized as JSON: {error}");
            unusable()
        }))
    }
}

/// What the model reads if the tool's result is invalid, which is a bug in the server.
pub(crate) fn unusable() -> ToolResult {
    ToolResult::error("the tool's result does not match its output schema")
}

impl<T: IntoToolResult, E: ToolError> IntoToolResult for Result<T, E> {
    fn output_schema() -> Option<OutputSchema> {
        T::output_schema()
    }

    fn into_tool_result(self, call: &Call) -> Result<ToolResult, McpError> {
        match self {
            Ok(value) => value.into_tool_result(call),
            Err(error) => error.into_tool_error(),
        }
    }

    fn failure(&self) -> Option<String> {
        match self {
            Ok(value) => value.failure(),
            Err(error) => Some(error.log_text()),
        }
    }
}

/// A type that a tool can fail with: every type that is `Display + 'static`.
///
/// An [`McpError`] (itself, or directly in a `Box<dyn Error>` or an `anyhow::Error`, under any `context`) is a protocol
/// error. An [`McpError`] among an error's sources is not: it may be what *the client* answered to a question.
///
/// The model reads only the outermost text. Every failed tool is one line in the server's log, at level `warn`, with
/// all causes: line breaks are escaped, the line is cut after 2 000 bytes, and what a client said instead of an answer
/// is omitted. Everything else in an error is logged, so it must hold no secrets. With `#[tool]`, the causes of your
/// own error types are found; `Tool::new` sees only their `Display`, so return an `anyhow::Error` or a `Box<dyn
/// Error>`, whose causes are always found. Invalid arguments are the client's fault and are not logged, nor is a
/// [`ToolResult::error`], which is a result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's error",
    label = "does not implement `Display`",
    note = "derive `thiserror::Error` for `{Self}`, or implement `Display`; or use `String`, `anyhow::Error` or `McpError`"
)]
pub trait ToolError: 'static {
    /// The result that the model reads: the error's `Display`, which for an `anyhow::Error` is the outermost text.
    ///
    /// # Errors
    ///
    /// The [`McpError`], if the error is one.
    fn into_tool_error(self) -> Result<ToolResult, McpError>;

    /// The error's text for the log, in one line; by default, the name of its type.
    fn log_text(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl<E: fmt::Display + 'static> ToolError for E {
    fn into_tool_error(self) -> Result<ToolResult, McpError> {
        match within::<McpError>(&self) {
            Some(error) => Err(error.clone()),
            None => Ok(ToolResult::error(self.to_string())),
        }
    }

    fn log_text(&self) -> String {
        failure::chain(self)
    }
}

/// The `T` that an error is, itself or directly in a box or an `anyhow::Error`.
///
/// The error's type is known at compile time, so this costs nothing for most types.
pub(crate) fn within<T: Error + Send + Sync + 'static>(error: &dyn Any) -> Option<&T> {
    fn boxed<E: ?Sized + 'static>(error: &dyn Any) -> Option<&E> {
        error.downcast_ref::<Box<E>>().map(|boxed| &**boxed)
    }
    #[cfg(feature = "anyhow")]
    if let Some(error) = error.downcast_ref::<anyhow::Error>() {
        return error.downcast_ref();
    }
    error
        .downcast_ref()
        .or_else(|| boxed::<dyn Error>(error)?.downcast_ref())
        .or_else(|| boxed::<dyn Error + Send>(error)?.downcast_ref())
        .or_else(|| boxed::<dyn Error + Send + Sync>(error)?.downcast_ref())
}
