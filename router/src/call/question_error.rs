//! Why a question to the client has no answer.

use crate::wire::{
    error::McpError,
    peer::{ClientCapability, missing_capabilities},
};

/// Why a question to the client (an elicitation, a sampling request, a request for its roots) has no answer.
///
/// Declining and cancelling are choices of the user, not failures: have your tool say what it did instead. If a tool
/// returns this error, the model reads its text. If a prompt or a resource reader returns it,
/// [`Unsupported`](Self::Unsupported) becomes the error of [`Client::require`](crate::ask::client::Client::require),
/// [`Malformed`](Self::Malformed) is logged and becomes -32603, and all others become -32600 with the text of this
/// error.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The user declined an elicitation.
    #[error("the user declined")]
    Declined,
    /// The user closed an elicitation without choosing.
    #[error("the user cancelled")]
    Cancelled,
    /// The client did not declare the capability, or the revision lacks it or a part of the question. Nothing was sent.
    #[error("the client does not support {0}")]
    Unsupported(ClientCapability),
    /// The question is invalid at every revision: a bug in your server. Nothing was sent.
    // MCP 2025-11-25 client/elicitation, Requested Schema: flat objects with primitive properties only
    #[error("the question cannot be sent: `{field}`: {reason}")]
    Malformed {
        /// The invalid property of the form, or the invalid member of the request; `requestedSchema` for a form as a
        /// whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The client's answer does not match the question.
    #[error("the client's answer is invalid: `{field}`: {reason}")]
    Invalid {
        /// The invalid field of the form, or the invalid member of the answer; `content` or `action` for an
        /// elicitation's answer as a whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The client did not answer in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The client answered with an error. Code -1 means that the user rejected a sampling request.
    // MCP 2025-11-25 client/sampling, Error Handling
    #[error("the client answered with an error: {0}")]
    Refused(McpError),
    /// The session has as many open requests to its client as its limit allows. Nothing was sent.
    #[error("too many requests to the client are open (the limit is {limit})")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The call that asked has ended or was cancelled.
    #[error("the call has ended")]
    Gone,
}

impl QuestionError {
    /// The protocol error for the client: a capability it lacks, or what it or its user did. `None` for a bug in the
    /// server.
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
