//! What every refusal has: its status, JSON-RPC in JSON, the code, the id that was read, and the name of what is wrong.

use actix_mcp::{Server, stats::Snapshot, testing::settle};
use serde_json::{Value, json};

use crate::client::Response;

/// What a refusal must be.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: i64,
    /// `$absent` for none.
    pub(crate) id: Value,
    /// What its message must name.
    pub(crate) names: &'static str,
}

impl Refusal {
    /// A refusal that echoes no id.
    pub(crate) fn new(status: u16, code: i64, names: &'static str) -> Self {
        Self { status, code, id: json!("$absent"), names }
    }

    pub(crate) fn of(self, id: impl Into<Value>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// Asserts that this is what came.
    pub(crate) async fn check(&self, response: Response, what: &str) {
        assert_eq!(response.status, self.status, "{what}");
        assert_eq!(response.header("allow").is_some(), self.status == 405, "{what}");
        assert_eq!(response.header("retry-after").is_some(), matches!(self.status, 429 | 503), "{what}");
        assert_eq!(response.header("mcp-session-id"), None, "{what}");
        let body = response.json().await;
        let expected =
            json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code }, "result": "$absent" });
        if let Err(error) = actix_mcp::testing::contains(&body, &expected) {
            panic!("{what}: {error}\nin {body}");
        }
        let message = body["error"]["message"].as_str().expect("an error has a message");
        assert!(message.contains(self.names), "{what}: {message:?} does not name {:?}", self.names);
    }
}

/// Asserts that nothing runs and nothing is registered.
pub(crate) async fn assert_idle(server: &Server) {
    settle().await;
    assert_eq!(server.stats(), Snapshot::default());
}
