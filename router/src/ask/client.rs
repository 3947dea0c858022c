//! What a handler can request from the client: the user's input, a completion, the client's roots.

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

/// The client of this call, for questions to it.
///
/// A question goes to the call's own stream, and only the client's answer to that question completes it. A question
/// ends with its call: if it outlives the call, it fails with `Gone`. `Send` and cheap to clone.
///
/// # From 2026-07-28 on
///
/// There, the server asks in its result, and the client repeats the request with the answers. You write the handler as
/// usual: a question without an answer stays pending, **the handler is dropped, and it runs again from its beginning**
/// when the answers arrive; the same question is then ready at once. So:
///
/// - Code before a question runs once in each round. It must be safe to repeat; if it is not, [`once`](Self::once)
///   keeps its result.
/// - Questions that are joined (`try_join`) are asked in one round. A question whose future is dropped is not asked,
///   and a handler that has a result does not wait for its questions. Everything else that the handler is waiting for
///   is dropped at the end of the round.
/// - On the wire the result is `"resultType":"input_required"` with the questions in `inputRequests`, each under a key,
///   and `requestState`. The retry is the same request with the same headers, that `requestState`, and `inputResponses`
///   with an answer under each key, such as `{"action":"accept","content":{..}}` for a form. `examples/interview.rs`
///   shows this with curl.
/// - Questions are matched by content. One whose text changes every time (say, it contains the time) is asked again in
///   each round, until the call fails after 16 rounds; give it a `.key(..)`.
/// - Answers travel in `requestState`, which is sealed for this request and this principal and expires, by default
///   after ten minutes ([`StateLimits`](crate::wire::seal::StateLimits)). A client can send the same state twice. If
///   something may happen only once, your handler must ensure that.
/// - A part of the handler that runs elsewhere (a task, an actor) may ask. It then gets `Gone`, since its call has
///   ended, and the retry starts it again.
/// - Only tools, prompts and resource readers can ask. In a completer, every capability is unsupported.
/// - If the client did not declare a capability that a question needs, the question is not sent and fails with
///   `Unsupported`. If the handler then fails, with any error, the client gets the protocol's error: -32021 with
///   `data.requiredCapabilities`, over HTTP with status 400. If the handler returns a result instead, the client gets
///   that.
/// - An answer that does not match its form is refused before the handler sees it. Timeouts have no effect.
#[derive(Clone)]
pub struct Client(pub(crate) Asker);

impl Client {
    pub(crate) fn new(call: &Call) -> Self {
        Self(Asker::new(call))
    }

    /// Asks the user to fill in a form. The form is `T`'s schema; the answer is validated against it and parsed.
    ///
    /// `T` is a flat struct of strings, numbers, booleans and enums without data; from 2025-11-25 on also of lists of
    /// such enums. `()` asks only for consent. Do not ask for secrets: use [`elicit_url`](Self::elicit_url) for those.
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
    /// Awaiting the question fails with a [`QuestionError`] if there is no valid answer.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws the question; in a session, the client is notified.
    pub fn elicit<T: DeserializeOwned + JsonSchema>(&self, message: impl Into<String>) -> Elicit<T> {
        Elicit::derived(self.0.clone(), message.into())
    }

    /// Asks the user to fill in a form with this schema, which is sent as written, except that defaults are omitted for
    /// revisions that lack them.
    ///
    /// # Errors
    ///
    /// Awaiting the question fails with a [`QuestionError`]; `Malformed` names a property that a form cannot hold.
    pub fn elicit_with<T: DeserializeOwned>(
        &self,
        message: impl Into<String>,
        schema: impl Serialize,
    ) -> Elicit<T> {
        Elicit::written(self.0.clone(), message.into(), &schema)
    }

    /// Sends the user to a URL, for anything that must not pass through the client: credentials, payments, consent to a
    /// third party. Ready when the user has agreed to open the URL, which does not mean that they have finished there.
    ///
    /// # Errors
    ///
    /// Awaiting the question fails with a [`QuestionError`]; always with `Unsupported` before 2025-11-25.
    // MCP 2025-11-25 client/elicitation, URL Mode Elicitation Requests
    pub fn elicit_url(&self, message: impl Into<String>, url: impl Into<String>) -> ElicitUrl {
        ElicitUrl::new(self.0.clone(), message.into(), url.into())
    }

    /// Notifies the client that the user has finished at the URL of an elicitation. Does nothing from 2026-07-28 on,
    /// which has no such notification.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the client has no URL elicitation, `Gone` if this call has ended.
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

    /// Asks the client's model for a completion.
    ///
    /// # Errors
    ///
    /// Awaiting the question fails with a [`QuestionError`] if there is no valid answer.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws the question; in a session, the client is notified.
    pub fn sample(&self, request: SamplingRequest) -> Sample {
        Sample::new(self.0.clone(), request)
    }

    /// Asks for the client's roots: the directories it wants the server to work in.
    ///
    /// # Errors
    ///
    /// Awaiting the question fails with a [`QuestionError`] if there is no valid answer.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws the question; in a session, the client is notified.
    pub fn roots(&self) -> Roots {
        Roots::new(self.0.clone())
    }

    /// Runs a step that must not be repeated, and returns its result. If the handler runs again because it asked a
    /// question after the step, the result comes from `requestState` and the step is skipped.
    ///
    /// `key` names the step: two steps with the same key are one step. The result is sealed, and travels with the
    /// client until the call is done; it counts towards [`StateLimits::sent`](crate::wire::seal::StateLimits::sent).
    /// The result is not kept if the step fails or if a concurrent question interrupts it. In a session the step simply
    /// runs.
    ///
    /// This does not protect against a client that sends a retry twice: if something may happen only once, enforce that
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

    /// Fails unless the client supports this capability. Call it first, so that a call that needs it fails early.
    ///
    /// # Errors
    ///
    /// A protocol error, so return it as an [`McpError`]: -32021 with `data.requiredCapabilities` from 2026-07-28 on;
    /// before, where that code is not defined, -32600 with the same `data`.
    // MCP 2026-07-28 basic, Error Codes
    pub fn require(&self, capability: ClientCapability) -> Result<(), McpError> {
        self.0.require(&[capability]).map_err(|_| missing_capabilities(&[capability]))
    }

    /// Whether the client can be asked: it declared the capability, the revision has it, and this call may ask.
    #[must_use]
    pub fn supports(&self, capability: ClientCapability) -> bool {
        self.0.supports(capability)
    }

    /// Closes this call's stream so that the client polls for the rest. Only over HTTP in a session of 2025-11-25;
    /// otherwise does nothing.
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
