//! What a handler can ask the client for: the user's input, a completion, the client's roots.

use std::{
    fmt,
    future::{Future, ready},
};

use serde::{Serialize, de::DeserializeOwned};

use schemars::JsonSchema;

use crate::{
    call::Call,
    elicit::{Elicit, ElicitError, ElicitUrl},
    error::McpError,
    extract::FromCall,
    jsonrpc::encode_notification,
    peer::ClientCapability,
    question::Asker,
    roots::{self, Root, RootsError},
    sample::{Sample, SamplingRequest},
};

/// The client of this call.
///
/// What it is asked goes on the call's own stream, and only its own answer to that very question comes back. A question
/// ends with its call: one that outlives it gets `Gone`. `Send` and cheap to clone.
#[derive(Clone)]
pub struct Client(pub(crate) Asker);

impl Client {
    pub(crate) fn new(call: &Call) -> Self {
        Self(Asker { link: call.link().clone(), peer: call.peer().clone() })
    }

    /// Asks the user to fill in a form; the form is `T`'s schema, the answer is checked against it and parsed.
    ///
    /// `T` is a flat struct of strings, numbers, booleans and enums without data; from 2025-11-25 on also of lists of such
    /// enums. `()` asks for nothing but consent. Never for secrets: those go by [`elicit_url`](Self::elicit_url).
    ///
    /// ```
    /// # mod actix_mcp { pub use actix_mcp_router::{client::Client, elicit}; }
    /// use actix_mcp::{Client, elicit::ElicitError};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Booking {
    ///     /// Under which name?
    ///     name: String,
    ///     guests: u8,
    /// }
    ///
    /// async fn book(client: Client) -> Result<String, ElicitError> {
    ///     let booking: Booking = client.elicit("a table for whom?").await?;
    ///     Ok(format!("a table for {}, {} guests", booking.name, booking.guests))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The question's result is an [`ElicitError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back: the client is told.
    pub fn elicit<T: DeserializeOwned + JsonSchema>(&self, message: impl Into<String>) -> Elicit<T> {
        Elicit::derived(self.0.clone(), message.into())
    }

    /// Asks the user to fill in a form of this schema, sent as it is written.
    ///
    /// # Errors
    ///
    /// The question's result is an [`ElicitError`]; `Schema` names what no form can hold.
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
    /// The question's result is an [`ElicitError`]; `Unsupported` before 2025-11-25.
    // MCP 2025-11-25 client/elicitation, URL Mode Elicitation Requests
    pub fn elicit_url(&self, message: impl Into<String>, url: impl Into<String>) -> ElicitUrl {
        ElicitUrl::new(self.0.clone(), message.into(), url.into())
    }

    /// Tells the client that what a URL elicitation led to is done.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the client has no URL elicitation, `Gone` when this call has ended.
    // MCP 2025-11-25 client/elicitation: MUST only send the notification to the client that initiated the request
    pub async fn elicitation_complete(&self, elicitation_id: &str) -> Result<(), ElicitError> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            elicitation_id: &'a str,
        }

        self.0.require(&[ClientCapability::ElicitationUrl])?;
        let json = encode_notification("notifications/elicitation/complete", &Params { elicitation_id });
        let room = self.0.link.room(json.len()).await;
        if !self.0.link.is_live() {
            return Err(ElicitError::Gone);
        }
        self.0.link.emit(json, room);
        Ok(())
    }

    /// Asks the client's model for a completion.
    ///
    /// # Errors
    ///
    /// The question's result is a [`SampleError`](crate::sample::SampleError).
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back: the client is told.
    pub fn sample(&self, request: SamplingRequest) -> Sample {
        Sample::new(self.0.clone(), request)
    }

    /// Asks for the client's roots: the directories it wants the server to work in.
    ///
    /// # Errors
    ///
    /// See [`RootsError`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back.
    pub async fn roots(&self) -> Result<Vec<Root>, RootsError> {
        roots::list(&self.0).await
    }

    /// Whether the client can be asked: it declared the capability, and the session's revision has it.
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
    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self::new(call)))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("capabilities", &self.0.peer.capabilities).finish_non_exhaustive()
    }
}
