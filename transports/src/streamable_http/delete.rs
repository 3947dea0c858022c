//! DELETE: a client ends its session.

use actix_web::{HttpRequest, HttpResponse};

use super::{
    Endpoint, headers,
    refusal::{Refusal, Refused},
};

impl Endpoint {
    /// Ends the session: it can no longer be found, running calls are cancelled, and its streams end.
    // MCP 2025-11-25 basic/transports, Session Management 5
    pub(super) fn delete(&self, request: &HttpRequest) -> Result<HttpResponse, Refused> {
        self.session(request)?;
        let id = headers::single(request, &headers::SESSION_ID)?.unwrap_or_default();
        // of two concurrent DELETEs, one ends it
        if self.server.sessions.close(id, self.principal(request).as_ref()) {
            Ok(HttpResponse::NoContent().finish())
        } else {
            Err(Refusal::no_session().into())
        }
    }
}
