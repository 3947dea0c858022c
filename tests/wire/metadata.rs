//! What a request without a session says of itself, in `params._meta`.

use serde_json::Value;

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// These parameters with the metadata of revision 2026-07-28. What `_meta` holds besides is kept.
pub(crate) fn stateless(mut params: Value, capabilities: Value) -> Value {
    params["_meta"][VERSION] = "2026-07-28".into();
    params["_meta"][CAPABILITIES] = capabilities;
    params
}
