//! Why a question to the client has no answer.

use crate::wire::{
    error::McpError,
    peer::{ClientCapability, missing_capabilities},
};

/// Why a question to the client (an elicitation, a sampling request, a request for its roots) has no answer.
///
/// Declining and cancelling are choices of the user, not failures: a tool says what it did instead. As a tool's error the text
/// is for the model to read. A prompt and a resource reader have no such text: from there, [`Unsupported`](Self::Unsupported)
/// becomes the error of [`Client::require`](crate::ask::client::Client::require), [`Malformed`](Self::Malformed) becomes -32603,
/// and all others become -32600 with the text of this error.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The user declined an elicitation.
    #[error("the user declined")]
    Declined,
    /// The user closed an elicitation without a choice.
    #[error("the user cancelled")]
    Cancelled,
    /// The client did not declare the capability, or the session's revision lacks it or a part of the question. Nothing was
    /// sent.
    #[error("the client does not support {0}")]
    Unsupported(ClientCapability),
    /// No client can be asked this, in any revision. Nothing was sent: a mistake of the server's author.
    // MCP 2025-11-25 client/elicitation, Requested Schema: flat objects with primitive properties only
    #[error("the question cannot be sent: `{field}`: {reason}")]
    Malformed {
        /// The property of the form, or the member of the request, at fault; `requestedSchema` for a form as a whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The client's answer does not fit the question.
    #[error("the client's answer does not fit: `{field}`: {reason}")]
    Invalid {
        /// The field of the form, or the member of the answer, at fault; `content` or `action` for an elicitation's answer as
        /// a whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The client did not answer in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The client answered with an error; a user who rejects a sampling request is code -1.
    // MCP 2025-11-25 client/sampling, Error Handling
    #[error("the client answered with an error: {0}")]
    Refused(McpError),
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

impl QuestionError {
    /// The protocol error for the client, where there has to be one: what the client lacks, or what it or its user did.
    /// `None` for a mistake of the author.
    pub(crate) fn to_client_error(&self) -> Option<McpError> {
        match self {
            Self::Unsupported(capability) => Some(missing_capabilities(&[*capability])),
            Self::Malformed { .. } => None,
            Self::Declined
            | Self::Cancelled
            | Self::Invalid { .. }
            | Self::TimedOut
            | Self::Refused(_)
            | Self::TooMany { .. }
            | Self::Gone => Some(McpError::invalid_request(self.to_string())),
        }
    }
}

impl From<QuestionError> for String {
    fn from(error: QuestionError) -> Self {
        error.to_string()
    }
}
