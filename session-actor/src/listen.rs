//! `subscriptions/listen`: a request that is answered by what changes, for as long as its client likes.

use std::{sync::Arc, time::Duration};

use actix_mcp_router::{
    call::Origin,
    dispatch::Reply,
    error::McpError,
    jsonrpc::{ErrorId, Request, encode_error},
    router::Router,
};

use crate::sessions::Sessions;

/// Serves one subscription.
pub(crate) async fn serve(
    _sessions: Sessions,
    _router: Arc<Router>,
    _coalesce: Duration,
    request: Request,
    _origin: Origin,
) -> Reply {
    let error = McpError::method_not_found(&request.method);
    Reply { json: encode_error(ErrorId::Given(&request.id), &error), code: Some(error.code) }
}
