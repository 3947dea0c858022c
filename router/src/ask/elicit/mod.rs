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

use bytes::Bytes;
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
    ask::question::{self, Asker, NewQuestion},
    call::{
        lazy::{Lazy, Start},
        question_error::QuestionError,
        round::Misfit,
    },
    wire::{era::Revision, jsonrpc, peer::ClientCapability},
};

pub use self::url::ElicitUrl;
pub(crate) use self::url::{NEEDS as NEEDS_URL, fresh_id, params as url_params};

impl From<Unfit> for QuestionError {
    fn from(Unfit { property, reason }: Unfit) -> Self {
        Self::Malformed { field: property, reason }
    }
}

/// What the user did, and what they filled in.
#[derive(Deserialize)]
pub(crate) struct Answer {
    action: Action,
    /// As text, so that a `Value` in a form keeps its numbers as they were written.
    #[serde(default)]
    content: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Answer {
    pub(crate) fn read(json: &str) -> Result<Self, Misfit> {
        question::read(json, "action")
    }

    /// The content of an answer that was accepted.
    pub(crate) fn accepted(self) -> Result<Option<Box<RawValue>>, QuestionError> {
        match self.action {
            Action::Accept => Ok(self.content),
            Action::Decline => Err(QuestionError::Declined),
            Action::Cancel => Err(QuestionError::Cancelled),
        }
    }
}

/// A form for the user: complete it, then await it. Nothing is sent before the first poll.
#[must_use = "a question is asked when it is awaited"]
pub struct Elicit<T> {
    state: Lazy<Parts, Result<T, QuestionError>>,
    answer: PhantomData<fn() -> T>,
}

struct Parts {
    asker: Asker,
    message: String,
    schema: Source,
    timeout: Option<Duration>,
    key: Option<String>,
}

/// Where the form comes from.
pub(crate) enum Source {
    /// From a type, whose schema is generated when the question is asked.
    Derived(fn() -> Value),
    /// Handwritten, sent as written.
    Written(Result<Box<RawValue>, String>),
}

/// A form, and its schema for a revision.
pub(crate) struct Ready {
    form: Form,
    schema: Box<RawValue>,
}

impl Ready {
    /// The parameters of the question.
    pub(crate) fn params(&self, message: &str) -> Result<Bytes, QuestionError> {
        let params = Params { message, requested_schema: &self.schema };
        Ok(jsonrpc::to_json(&params).map_err(|error| Unfit::new("requestedSchema", error.to_string()))?)
    }

    /// Reads an answer and validates it against the form that was sent. If it matches the form but not `T`, the handler
    /// gets the error.
    pub(crate) fn read<T: DeserializeOwned>(&self, json: &str) -> Result<Result<T, QuestionError>, Misfit> {
        let content = match Answer::read(json)?.accepted() {
            Ok(content) => content,
            Err(error) => return Ok(Err(error)),
        };
        // an accept without content counts as an empty form, so that the error names what is required
        let content = content.as_deref().map_or("{}", RawValue::get);
        self.form.check(&self.schema, content)?;
        Ok(self.form.parse(content).map_err(QuestionError::from))
    }
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
        Self::new(asker, message, Source::derived::<T>())
    }

    pub(crate) fn written(asker: Asker, message: String, schema: &impl Serialize) -> Self {
        Self::new(asker, message, Source::written(schema))
    }

    fn new(asker: Asker, message: String, schema: Source) -> Self {
        let parts = Parts { asker, message, schema, timeout: None, key: None };
        Self { state: Lazy::Idle(parts), answer: PhantomData }
    }

    /// How long to wait for the answer, 10 minutes at most; the session's limit if not set (60 s by default). Has no
    /// effect from 2026-07-28 on.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.timeout = Some(timeout);
        }
        self
    }

    /// Asks with this schema instead of `T`'s own, sent as written. The answer must still deserialize into `T`.
    pub fn schema(mut self, schema: impl Serialize) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.schema = Source::written(&schema);
        }
        self
    }

    /// Sets the key under which the client gets the question and answers it, instead of one made from its content. Has
    /// no effect before 2026-07-28.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.key = Some(key.into());
        }
        self
    }
}

impl<T: DeserializeOwned + 'static> Future for Elicit<T> {
    type Output = Result<T, QuestionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.state.poll(cx, |parts| Start::Work(parts.ask().boxed()))
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
    // `mode` is omitted: form is the default, and 2025-06-18 does not have the member
    message: &'a str,
    requested_schema: &'a RawValue,
}

pub(crate) const NEEDS: &[ClientCapability] = &[ClientCapability::ElicitationForm];

impl Parts {
    async fn ask<T: DeserializeOwned>(self) -> Result<T, QuestionError> {
        let Self { asker, message, schema, timeout, key } = self;
        asker.require(NEEDS)?;
        let form = schema.form(asker.peer.revision);
        let (params, form) =
            form.and_then(|form| Ok((form.params(&message)?, form))).inspect_err(|error| {
                // a bug in the server: logged, whatever the handler does with the error
                if matches!(error, QuestionError::Malformed { .. }) {
                    log::error!("elicitation: {error}");
                }
            })?;
        let question = NewQuestion {
            method: "elicitation/create",
            params,
            needs: NEEDS,
            timeout,
            key: key.as_deref(),
            about: &message,
        };
        let answer = asker.ask(question).await?;
        let misfit = match form.read(&answer.json) {
            Ok(read) => return read,
            Err(misfit) => misfit,
        };
        Err(asker.misfit(&answer, misfit).await)
    }
}

impl Source {
    pub(crate) fn derived<T: JsonSchema>() -> Self {
        Self::Derived(derive::<T>)
    }

    pub(crate) fn written(schema: &impl Serialize) -> Self {
        Self::Written(to_raw_value(schema).map_err(|error| error.to_string()))
    }

    /// The form, and its schema for a revision.
    pub(crate) fn form(&self, revision: Revision) -> Result<Ready, QuestionError> {
        let unsupported = QuestionError::Unsupported(ClientCapability::ElicitationForm);
        match self {
            Self::Derived(derive) => {
                let form = Form::derived(derive())?;
                let schema = form.encode(revision)?.ok_or(unsupported)?;
                Ok(Ready { form, schema })
            }
            Self::Written(schema) => {
                let schema = schema.clone().map_err(|reason| Unfit::new("requestedSchema", reason))?;
                let form = Form::written(&schema)?;
                match form.stands(revision) {
                    Stands::AsWritten => Ok(Ready { form, schema }),
                    Stands::WithoutDefaults => {
                        let schema = form.encode(revision)?.ok_or(unsupported)?;
                        Ok(Ready { form, schema })
                    }
                    Stands::Never => Err(unsupported),
                }
            }
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

#[cfg(test)]
mod tests;
