//! What many tests look at in the end.

use actix_mcp::{prelude::*, stats::Snapshot, testing::settle};
use serde_json::Value;

/// Asserts that the server has forgotten everything: sessions, calls, streams, subscriptions.
pub(crate) async fn assert_idle(server: &Server) {
    settle().await;
    assert_eq!(server.stats(), Snapshot::default());
}

/// Asserts that no handler is running.
pub(crate) async fn assert_no_calls(server: &Server) {
    settle().await;
    assert_eq!(server.stats().in_flight, 0);
}

/// The text of a tool's result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}
