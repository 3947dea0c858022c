//! `server/discover`: the description of the server for clients without a handshake.

use bytes::Bytes;
use serde::Serialize;

use crate::{
    serve::{initialize::ServerCapabilities, router::Router},
    wire::{
        era::Revision, error::McpError, id::RequestId, jsonrpc::try_encode_result, result_meta::ResultType,
    },
};

/// The result of `server/discover`, without the members that every result has.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult<'a> {
    supported_versions: Vec<&'static str>,
    capabilities: ServerCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl Router {
    /// The answer to `server/discover`.
    // MCP 2026-07-28 server/discover
    pub(crate) fn discover(&self, id: &RequestId, revision: Revision) -> Result<Bytes, McpError> {
        let result = DiscoverResult {
            // including those with a handshake: a client may support no other
            supported_versions: self.eras().versions().collect(),
            capabilities: self.capabilities(revision),
            instructions: self.settings().instructions.as_deref(),
        };
        let [kind, meta] = self.result_meta().prefix(ResultType::Complete, None, revision);
        try_encode_result(id, &[kind, meta, self.result_meta().list_hints(revision)], &result).map_err(
            |error| {
                log::error!("the server's description does not serialize: {error}");
                McpError::internal()
            },
        )
    }
}
