//! What a handler can ask the client for: the user's input, a completion, the client's roots.

use std::{
    fmt,
    future::{Future, ready},
};

use serde::{Serialize, de::DeserializeOwned};

use schemars::JsonSchema;

use crate::{
    ask::{
        elicit::{Elicit, ElicitUrl},
        question::Asker,
        roots::Roots,
        sample::{Sample, SamplingRequest},
    },
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
        question_error::QuestionError,
    },
    wire::{
        era::Feature,
        error::McpError,
        jsonrpc::encode_notification,
        peer::{ClientCapability, missing_capabilities},
    },
};

/// The client of this call.
///
/// What it is asked goes on the call's own stream, and only its own answer to that very question comes back. A question
/// ends with its call: one that outlives it gets `Gone`. `Send` and cheap to clone.
///
/// # From 2026-07-28 on
///
/// A server asks by its result there, and the client sends the request again with the answers. The handler is written as
/// ever: a question that has no answer yet stays pending, **the handler is dropped, and runs again from its beginning** when
/// the answers are here; then the same question is ready at once. So:
///
/// - What stands before a question is done once for each round. It must be safe to repeat; [`once`](Self::once) keeps the
///   result of what is not.
/// - Questions that are joined (`try_join`) are asked in one round. One whose future is dropped is not asked, and a handler
///   that has a result does not wait for its questions. What else a handler waits for beside a question ends with the round.
/// - On the wire the result is `"resultType":"input_required"` with the questions in `inputRequests`, each under a key, and
///   `requestState`. The retry is the same request with the same headers, that `requestState` and `inputResponses`, which
///   has an answer under each key: `{"action":"accept","content":{..}}` to a form. `examples/interview.rs` has lines of curl.
/// - A question is known again by what it asks. One that reads differently each time (it names the hour) is asked for ever,
///   which ends after 16 rounds with an error; give it a `.key(..)`.
/// - Answers travel in `requestState`, sealed for this request, this principal and ten minutes
///   ([`StateLimits`](crate::wire::seal::StateLimits)). A client can send one state twice. What may happen only once is the
///   author's to see to.
/// - A part of the handler that runs elsewhere (a task, an actor) may ask; it then gets `Gone`, as its call has ended, and
///   the retry starts it anew.
/// - Only tools, prompts and readers of resources can ask. In a completer every capability is unsupported.
/// - A client that did not declare what a question needs is not asked: the question's result is `Unsupported`. If the handler
///   then fails, with whatever error, the client gets the protocol's own error: -32021 with `data.requiredCapabilities`, over
///   HTTP with status 400. A handler that looks at the error and has a result keeps it.
/// - An answer that does not fit its form is refused before the handler sees it. Timeouts do not count.
#[derive(Clone)]
pub struct Client(pub(crate) Asker);

impl Client {
    pub(crate) fn new(call: &Call) -> Self {
        Self(Asker::new(call))
    }

    /// NewQuestion the user to fill in a form; the form is `T`'s schema, the answer is checked against it and parsed.
    ///
    /// `T` is a flat struct of strings, numbers, booleans and enums without data; from 2025-11-25 on also of lists of such
    /// enums. `()` asks for nothing but consent. Never for secrets: those go by [`elicit_url`](Self::elicit_url).
    ///
    /// ```
    /// # mod actix_mcp { pub use actix_mcp_router::*; }
    /// use actix_mcp::{Client, QuestionError};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Booking {
    ///     /// Under which name?
    ///     name: String,
    ///     guests: u8,
    /// }
    ///
    /// async fn book(client: Client) -> Result<String, QuestionError> {
    ///     let booking: Booking = client.elicit("a table for whom?").await?;
    ///     Ok(format!("a table for {}, {} guests", booking.name, booking.guests))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The question's result is an [`QuestionError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back: the client is told.
    pub fn elicit<T: DeserializeOwned + JsonSchema>(&self, message: impl Into<String>) -> Elicit<T> {
        Elicit::derived(self.0.clone(), message.into())
    }

    /// NewQuestion the user to fill in a form of this schema, sent as it is written.
    ///
    /// # Errors
    ///
    /// The question's result is an [`QuestionError`]; `Schema` names what no form can hold.
    pub fn elicit_with<T: DeserializeOwned>(
        &self,
        message: impl Into<String>,
        schema: impl Serialize,
    ) -> Elicit<T> {
        Elicit::written(self.0.clone(), message.into(), &schema)
    }

    /// Sends the user to a URL, for what must not pass through the client: credentials, payments, consent of a third
    /// party. Ready when the user has agreed to open it, which does not mean that they are done there.
    ///
    /// # Errors
    ///
    /// The question's result is an [`QuestionError`]; `Unsupported` before 2025-11-25.
    // MCP 2025-11-25 client/elicitation, URL Mode Elicitation Requests
    pub fn elicit_url(&self, message: impl Into<String>, url: impl Into<String>) -> ElicitUrl {
        ElicitUrl::new(self.0.clone(), message.into(), url.into())
    }

    /// Tells the client that what a URL elicitation led to is done. Does nothing from 2026-07-28 on, which has no such
    /// notice.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the client has no URL elicitation, `Gone` when this call has ended.
    // MCP 2025-11-25 client/elicitation: MUST only send the notification to the client that initiated the request
    pub async fn elicitation_complete(&self, elicitation_id: &str) -> Result<(), QuestionError> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            elicitation_id: &'a str,
        }

        self.0.require(&[ClientCapability::ElicitationUrl])?;
        if !self.0.peer.revision.has(Feature::UrlElicitationId) {
            return Ok(());
        }
        let json = encode_notification("notifications/elicitation/complete", &Params { elicitation_id });
        let room = self.0.link.reserve(json.len()).await;
        if !self.0.link.is_live() {
            return Err(QuestionError::Gone);
        }
        self.0.link.emit(json, room);
        Ok(())
    }

    /// NewQuestion the client's model for a completion.
    ///
    /// # Errors
    ///
    /// The question's result is a [`QuestionError`](crate::call::question_error::QuestionError).
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back: the client is told.
    pub fn sample(&self, request: SamplingRequest) -> Sample {
        Sample::new(self.0.clone(), request)
    }

    /// NewQuestion for the client's roots: the directories it wants the server to work in.
    ///
    /// # Errors
    ///
    /// The question's result is a [`QuestionError`](crate::call::question_error::QuestionError).
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back.
    pub fn roots(&self) -> Roots {
        Roots::new(self.0.clone())
    }

    /// Takes a step that is not to be taken again, and gives its result. Where the handler is run again because it asked
    /// something after the step, the result comes out of `requestState` and the step is not taken.
    ///
    /// `key` names the step: two of one name are one step. The result is sealed, and travels with the client until the call
    /// is done; it counts against [`StateLimits::sent`](crate::wire::seal::StateLimits::sent). A step that fails is not kept, nor is
    /// one that is interrupted by a question beside it. In a session the step is simply taken.
    ///
    /// This is no protection against a client that sends one retry twice: where something may happen once only, see to that
    /// where it happens.
    ///
    /// ```
    /// # use actix_mcp_router::{Client, QuestionError};
    /// # async fn reserve() -> Result<u32, QuestionError> { Ok(7) }
    /// async fn book(client: Client) -> Result<String, QuestionError> {
    ///     let table = client.once("reserve", reserve).await?;
    ///     client.elicit::<()>(format!("table {table}?")).await?;
    ///     Ok(format!("table {table} is yours"))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the step.
    pub async fn once<T, E>(&self, key: &str, step: impl AsyncFnOnce() -> Result<T, E>) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
    {
        if let Some(result) = self.0.round.step(key) {
            return Ok(result);
        }
        let result = step().await?;
        self.0.round.keep_step(key, &result);
        Ok(result)
    }

    /// Fails unless the client can be asked for this, so that a call without it ends before it begins.
    ///
    /// # Errors
    ///
    /// An error of the protocol, so return it as an [`McpError`]: -32021 with `data.requiredCapabilities` from 2026-07-28 on;
    /// -32600 with the same `data` before, where that code is not defined.
    // MCP 2026-07-28 basic, Error Codes
    pub fn require(&self, capability: ClientCapability) -> Result<(), McpError> {
        self.0.require(&[capability]).map_err(|_| missing_capabilities(&[capability]))
    }

    /// Whether the client can be asked: it declared the capability, the revision has it, and this call may ask.
    #[must_use]
    pub fn supports(&self, capability: ClientCapability) -> bool {
        self.0.supports(capability)
    }

    /// Closes this call's stream so that the client polls for the rest. Does nothing over stdio and before 2025-11-25.
    pub fn close_stream(&self) {
        self.0.link.close_stream();
    }
}

impl FromCall for Client {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self::new(call)))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("capabilities", &self.0.peer.capabilities).finish_non_exhaustive()
    }
}
