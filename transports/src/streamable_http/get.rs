//! GET: a client opens a standalone stream, or resumes a stream that broke.

use actix_mcp_session::internal::{EventId, NoStream, NotResumed, OpenStream, Resume};
use actix_web::{HttpRequest, HttpResponse};

use super::{
    Endpoint, headers,
    refusal::{Refusal, Refused},
};

impl Endpoint {
    pub(super) async fn get(&self, request: &HttpRequest) -> Result<HttpResponse, Refused> {
        let session = self.session(request)?;
        // an empty id means none (WHATWG HTML, 9.2.4)
        let last = headers::single(request, &headers::LAST_EVENT_ID)?.map(str::trim);
        let source = match last.filter(|last| !last.is_empty()) {
            None => {
                let opened = session.addr.send(OpenStream).await.map_err(|_| Refusal::no_session())?;
                opened.map_err(|refused| match refused {
                    NoStream::Draining => Refusal::shutting_down(),
                    other @ (NoStream::Full { .. } | _) => Refusal::too_many_streams(other.to_string()),
                })?
            }
            Some(last) => {
                // 404 would make the client give up its session
                let no_id = |_| Refusal::bad("`Last-Event-ID` is not an event id of this server");
                let last: EventId = last.parse().map_err(no_id)?;
                let resumed = session.addr.send(Resume { last }).await.map_err(|_| Refusal::no_session())?;
                resumed.map_err(|error| match error {
                    NotResumed::TooMuch { .. } => Refusal::too_many_streams(error.to_string()),
                    other @ (NotResumed::Unservable { .. } | _) => {
                        Refusal::bad(format!("`Last-Event-ID`: {other}"))
                    }
                })?
            }
        };
        Ok(self.events(source).await)
    }
}
