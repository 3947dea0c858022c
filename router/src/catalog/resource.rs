//! Resources, which a client can read by URI.

use std::{borrow::Cow, fmt, future::Future, future::ready, ops::Deref, sync::Arc};

use bytes::Bytes;
use bytestring::ByteString;

use crate::{
    ask::input_required::Outcome,
    call::{
        Call,
        erased::erase,
        extract::{FromCall, HandlerSpec, Requirements, Takes},
        failure::failed,
        handler::{Handler, Run},
    },
    catalog::{
        Entry, definition_json,
        setters::{definition_setters, reader_setters},
    },
    schema::SchemaError,
    wire::{
        content::ResourceContents,
        definition::ResourceDefinition,
        era::{self, Revision},
        error::McpError,
        result_meta::Cache,
        uri,
    },
};

/// The result of a reader; `None` if the resource does not exist.
pub type Contents = Option<Vec<ResourceContents>>;

/// The URI that is read: an extractor for readers. In other handlers it is the target of the
/// call, such as the name of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri(pub ByteString);

impl Deref for Uri {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromCall for Uri {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self(call.target().clone())))
    }
}

/// A type that a reader can return.
#[diagnostic::on_unimplemented(
    message = "a resource's reader cannot return `{Self}`",
    label = "not contents of a resource",
    note = "return `String`, `Vec<u8>`, `ResourceContents`, `Vec<ResourceContents>`, or an `Option` or `Result` of one of them"
)]
pub trait IntoContents {
    /// Converts what the reader returned.
    ///
    /// # Errors
    ///
    /// The error for the client.
    fn into_contents(self, call: &Call) -> Result<Contents, McpError>;
}

/// Several contents, such as the files of a folder. An empty `Vec` means that the resource does not exist.
impl IntoContents for Vec<ResourceContents> {
    fn into_contents(self, _: &Call) -> Result<Contents, McpError> {
        Ok(Some(self))
    }
}

impl IntoContents for ResourceContents {
    fn into_contents(self, _: &Call) -> Result<Contents, McpError> {
        Ok(Some(vec![self]))
    }
}

/// The required input, or the contents.
impl<T: IntoContents> IntoContents for Outcome<T> {
    fn into_contents(self, call: &Call) -> Result<Contents, McpError> {
        match self {
            Self::Complete(value) => value.into_contents(call),
            Self::InputRequired(input) => {
                input.end_round(call);
                Ok(None)
            }
        }
    }
}

/// Text.
impl IntoContents for String {
    fn into_contents(self, call: &Call) -> Result<Contents, McpError> {
        ResourceContents::text(&**call.target(), self).into_contents(call)
    }
}

/// Text.
impl IntoContents for &'static str {
    fn into_contents(self, call: &Call) -> Result<Contents, McpError> {
        self.to_owned().into_contents(call)
    }
}

/// Bytes, sent as base64.
impl IntoContents for Vec<u8> {
    fn into_contents(self, call: &Call) -> Result<Contents, McpError> {
        ResourceContents::blob(&**call.target(), self).into_contents(call)
    }
}

/// `None` means that the resource does not exist.
impl<T: IntoContents> IntoContents for Option<T> {
    fn into_contents(self, call: &Call) -> Result<Contents, McpError> {
        self.map_or(Ok(None), |value| value.into_contents(call))
    }
}

/// An error that is neither an [`McpError`] nor a question's (as
/// [`QuestionError`](crate::call::question_error::QuestionError)) is answered with -32603 and goes to the log.
impl<T: IntoContents, E: fmt::Display + 'static> IntoContents for Result<T, E> {
    fn into_contents(self, call: &Call) -> Result<Contents, McpError> {
        match self {
            Ok(value) => value.into_contents(call),
            Err(error) => Err(failed(call, &error)),
        }
    }
}

/// A handler that can read a resource: its parameters are extractors, and it returns contents.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async function whose parameters are all extractors",
    label = "not a handler",
    note = "a handler is an `async fn` of at most 12 parameters, or a closure that returns a future"
)]
pub trait Reader<Args>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_reader(self) -> ErasedReader;
}

impl<F, A> Reader<A> for F
where
    F: Handler<A>,
    F::Output: IntoContents,
    A: FromCall,
{
    fn into_reader(self) -> ErasedReader {
        let (takes, needs) = HandlerSpec::of::<A>().takes();
        ErasedReader { takes, needs, run: erase(self, F::Output::into_contents) }
    }
}

/// A type-erased reader.
#[derive(Clone)]
#[doc(hidden)]
pub struct ErasedReader {
    /// The arguments that its template must supply, or the error that registration reports.
    pub(crate) takes: Result<Option<Takes>, SchemaError>,
    pub(crate) needs: Requirements,
    pub(crate) run: Arc<dyn Run<Contents>>,
}

impl ErasedReader {
    pub(crate) fn takes(&self) -> Result<Option<&Takes>, &SchemaError> {
        self.takes.as_ref().map(Option::as_ref)
    }
}

impl fmt::Debug for ErasedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedReader")
    }
}

/// A resource: a URI, a name, and an async function of extractors that reads it.
///
/// It returns a `String`, a `Vec<u8>`, [`ResourceContents`] or a `Vec` of them; `None` for a resource that does not
/// exist; or a `Result` of one of these. An error is logged and answered with -32603, unless it is an
/// `McpError` or a [`QuestionError`](crate::call::question_error::QuestionError).
#[derive(Clone, Debug)]
pub struct Resource {
    definition: ResourceDefinition,
    reader: ErasedReader,
    cache: Cache,
}

impl Resource {
    /// The resource at this absolute URI (RFC 3986), which is checked at registration.
    #[must_use]
    pub fn new<F, A>(uri: impl Into<String>, name: impl Into<String>, reader: F) -> Self
    where
        F: Reader<A>,
        A: 'static,
    {
        let definition = ResourceDefinition {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
        };
        Self { definition, reader: reader.into_reader(), cache: Cache::default() }
    }

    definition_setters!(ResourceDefinition, "resource", "What it is, for the model.");
    reader_setters!(
        "Its MIME type, which is also the default for its contents.",
        "Hints on how it is to be used."
    );

    /// Its size in bytes, before base64.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }
}

impl Entry for Resource {
    const LIST: &'static str = "resources";

    fn key(&self) -> &str {
        &self.definition.uri
    }

    fn normal(key: &str) -> Cow<'_, str> {
        uri::normal(key)
    }

    fn definition_json(&self, revision: Revision) -> serde_json::Result<Bytes> {
        definition_json(&self.definition, era::resource, revision)
    }
}
