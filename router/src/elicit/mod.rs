//! Asking the user to fill in a form.

mod choice;
mod field;
mod form;
mod url;

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::FutureExt;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use self::{
    field::Unfit,
    form::{Form, Stands},
};
use crate::{
    error::McpError,
    lazy::Lazy,
    link::AskError,
    peer::ClientCapability,
    question::{self, Asker, Misfit},
};

pub use self::url::ElicitUrl;

/// Why there is no answer to an elicitation.
///
/// Declining and cancelling are what a user may do, not failures: a tool says what it did instead.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ElicitError {
    /// The user said no.
    #[error("the user declined")]
    Declined,
    /// The user closed the question without a choice.
    #[error("the user cancelled")]
    Cancelled,
    /// The client did not declare the capability, or the session's revision lacks it or a part of the form. Nothing was sent.
    #[error("the client does not support {0}")]
    Unsupported(ClientCapability),
    /// The form holds what no elicitation can ask for, in any revision. Nothing was sent: a mistake of the server's author.
    // MCP 2025-11-25 client/elicitation, Requested Schema: flat objects with primitive properties only
    #[error("an elicitation cannot ask for `{property}`: {reason}")]
    Schema {
        /// The property at fault; `requestedSchema` for the form as a whole.
        property: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The URL is none. Nothing was sent: a mistake of the server's author.
    #[error("an elicitation's url must be an absolute URI")]
    Url,
    /// The client's answer does not fit the form.
    #[error("the answer does not fit: `{field}`: {reason}")]
    Invalid {
        /// The field of the form at fault; `content` or `action` for the answer as a whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answered in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The client answered with an error.
    #[error("the client answered with an error: {0}")]
    Refused(#[source] McpError),
    /// The session has as many open requests to its client as its limit allows. Nothing was sent.
    #[error("too many requests to the client are open (the limit is {limit})")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The call that asked has ended.
    #[error("the call has ended")]
    Gone,
}

impl From<AskError> for ElicitError {
    fn from(err: AskError) -> Self {
        match err {
            AskError::Unsupported(capability) => Self::Unsupported(capability),
            AskError::TimedOut => Self::TimedOut,
            AskError::Refused(err) => Self::Refused(err),
            AskError::TooMany { limit } => Self::TooMany { limit },
            AskError::Gone => Self::Gone,
        }
    }
}

impl From<Misfit> for ElicitError {
    fn from(Misfit { field, reason }: Misfit) -> Self {
        Self::Invalid { field, reason }
    }
}

impl From<Unfit> for ElicitError {
    fn from(Unfit { property, reason }: Unfit) -> Self {
        Self::Schema { property, reason }
    }
}

impl From<ElicitError> for String {
    fn from(err: ElicitError) -> Self {
        err.to_string()
    }
}

/// What a client's user did, and what they filled in.
#[derive(Deserialize)]
pub(crate) struct Answer {
    action: Action,
    #[serde(default)]
    content: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Answer {
    /// The content of an answer that was accepted.
    pub(crate) fn accepted(json: &str) -> Result<Option<Value>, ElicitError> {
        let answer: Self = question::read(json, "action")?;
        match answer.action {
            Action::Accept => Ok(answer.content),
            Action::Decline => Err(ElicitError::Declined),
            Action::Cancel => Err(ElicitError::Cancelled),
        }
    }
}

/// A form on its way to the user: complete it, then await it. Nothing is sent before it is first polled.
#[must_use = "a question is asked when it is awaited"]
pub struct Elicit<T> {
    state: Lazy<Parts, Result<T, ElicitError>>,
    answer: PhantomData<fn() -> T>,
}

struct Parts {
    asker: Asker,
    message: String,
    schema: Source,
    timeout: Option<Duration>,
}

/// Where the form comes from.
enum Source {
    /// From a type, whose schema is made when the question is asked.
    Derived(fn() -> Value),
    /// From the author, sent as it is.
    Written(Result<Box<RawValue>, String>),
}

fn derive<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

impl<T: DeserializeOwned> Elicit<T> {
    pub(crate) fn derived(asker: Asker, message: String) -> Self
    where
        T: JsonSchema,
    {
        Self::new(asker, message, Source::Derived(derive::<T>))
    }

    pub(crate) fn written(asker: Asker, message: String, schema: &impl Serialize) -> Self {
        let schema = to_raw_value(schema).map_err(|err| err.to_string());
        Self::new(asker, message, Source::Written(schema))
    }

    fn new(asker: Asker, message: String, schema: Source) -> Self {
        let parts = Parts { asker, message, schema, timeout: None };
        Self { state: Lazy::Idle(parts), answer: PhantomData }
    }

    /// How long to wait for the answer: the session's own limit (60 s by default) otherwise, 10 minutes at most.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.timeout = Some(timeout);
        }
        self
    }

    /// Asks with this schema instead of `T`'s own, sent as it is written. The answer still has to parse into `T`.
    pub fn schema(mut self, schema: impl Serialize) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.schema = Source::Written(to_raw_value(&schema).map_err(|err| err.to_string()));
        }
        self
    }
}

impl<T: DeserializeOwned + 'static> Future for Elicit<T> {
    type Output = Result<T, ElicitError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.state.poll(cx, |parts| parts.ask().boxed())
    }
}

impl<T> fmt::Debug for Elicit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elicit").finish_non_exhaustive()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    // `mode` is left out: form is the default, and 2025-06-18 does not know the member
    message: &'a str,
    requested_schema: &'a RawValue,
}

const NEEDS: &[ClientCapability] = &[ClientCapability::ElicitationForm];

impl Parts {
    async fn ask<T: DeserializeOwned>(self) -> Result<T, ElicitError> {
        self.asker.require(NEEDS)?;
        let (form, schema) = self.form()?;
        let params = Params { message: &self.message, requested_schema: &schema };
        let params =
            question::encode(&params).map_err(|err| Unfit::new("requestedSchema", err.to_string()))?;
        let answer = self.asker.ask("elicitation/create", params, NEEDS, self.timeout).await?;
        let content = Answer::accepted(&answer)?;
        Ok(form.read(&schema, content)?)
    }

    /// The form, and the schema that asks for it in this session.
    fn form(&self) -> Result<(Form, Box<RawValue>), ElicitError> {
        let revision = self.asker.peer.revision;
        let unsupported = ElicitError::Unsupported(ClientCapability::ElicitationForm);
        match &self.schema {
            Source::Derived(derive) => {
                let form = Form::derived(derive())?;
                let schema = form.encode(revision)?.ok_or(unsupported)?;
                Ok((form, schema))
            }
            Source::Written(schema) => {
                let schema = schema.clone().map_err(|reason| Unfit::new("requestedSchema", reason))?;
                let form = Form::written(&schema)?;
                match form.stands(revision) {
                    Stands::AsWritten => Ok((form, schema)),
                    Stands::WithoutDefaults => {
                        let schema = form.encode(revision)?.ok_or(unsupported)?;
                        Ok((form, schema))
                    }
                    Stands::Never => Err(unsupported),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
