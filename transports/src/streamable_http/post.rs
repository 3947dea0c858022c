//! POST: a message comes in.

use actix::Addr;
use actix_mcp_router::{
    McpError, RequestId,
    internal::{Feature, Incoming, Malformed, Method, Payload, Request, Response, era, jsonrpc},
};
use actix_mcp_session::internal::{
    Accepts, Answered, Batch, Close, Disposition, HttpReply, Notified, OpenError, Refuse, ReplyTo,
    ResponseHead, SessionActor, SessionHandle, serve as serve_request,
};
use actix_web::{HttpRequest, HttpResponse, http::header::HeaderValue, web::Bytes};
use tokio::sync::oneshot;

use super::{
    Endpoint, headers, modern,
    refusal::{Refusal, Refused},
    shutdown,
};

impl Endpoint {
    /// Reads the message, finds its session, and waits for its answer.
    pub(super) async fn post(
        &self,
        request: &HttpRequest,
        accepts: Accepts,
        body: Bytes,
    ) -> Result<HttpResponse, Refused> {
        let payload = jsonrpc::read(body, self.server.router.limits()).map_err(|malformed| {
            self.refuse_answers(request, &malformed.answers, &malformed.error);
            Refusal::malformed(malformed.error, malformed.id)
        })?;
        let answers = payload.answers();
        let response = self.post_payload(request, accepts, payload).await;
        if let Err(refused) = &response {
            self.refuse_answers(request, &answers, refused.error());
        }
        response
    }

    /// Resolves the session's questions whose answers are refused with an error: no other answer will come.
    fn refuse_answers(&self, request: &HttpRequest, answers: &[RequestId], error: &McpError) {
        if answers.is_empty() {
            return;
        }
        let id = headers::single(request, &headers::SESSION_ID).ok().flatten();
        let principal = self.principal(request);
        let session = id.and_then(|id| self.server.sessions.get(id, principal.as_ref()));
        let Some(session) = session else { return };
        for id in answers {
            let response = Response { id: id.clone(), result: Err(jsonrpc::unanswered(error)) };
            session.addr.do_send(Answered { response });
        }
    }

    async fn post_payload(
        &self,
        request: &HttpRequest,
        accepts: Accepts,
        payload: Payload,
    ) -> Result<HttpResponse, Refused> {
        let id = match &payload {
            Payload::One(Incoming::Request(message)) => Some(&message.id),
            Payload::One(_) | Payload::Batch(_) => None,
        };
        self.check_data(request).map_err(|refused| Box::new(refused.of(id)))?;
        match payload {
            Payload::One(message) if self.is_modern(request, &message) => {
                self.post_modern(request, accepts, message).await
            }
            Payload::One(Incoming::Request(message)) if is_initialize(&message) => {
                self.initialize(request, accepts, message).await
            }
            Payload::One(message) => {
                let id = match &message {
                    Incoming::Request(request) => Some(request.id.clone()),
                    Incoming::Notification(_) | Incoming::Response(_) => None,
                };
                let session = self.session(request).map_err(|refused| Box::new(refused.of(id.as_ref())))?;
                Ok(self.deliver(&session, request, accepts, message).await)
            }
            Payload::Batch(messages) => {
                modern::refuse_batch(&self.server.router, request)?;
                let session = self.session(request)?;
                self.deliver_batch(&session, request, accepts, messages).await
            }
        }
    }

    /// The session that a request belongs to, if its principal opened it.
    // MCP 2025-11-25 basic/transports, Session Management 2 and 3
    pub(super) fn session(&self, request: &HttpRequest) -> Result<SessionHandle, Refused> {
        let id = headers::single(request, &headers::SESSION_ID)?
            .ok_or_else(|| Refusal::bad("`Mcp-Session-Id` is missing: send `initialize` first"))?;
        let principal = self.principal(request);
        let session = self.server.sessions.get(id, principal.as_ref()).ok_or_else(Refusal::no_session)?;
        headers::protocol_version(request)?;
        Ok(session)
    }

    async fn deliver(
        &self,
        session: &SessionHandle,
        request: &HttpRequest,
        accepts: Accepts,
        message: Incoming,
    ) -> HttpResponse {
        match message {
            Incoming::Request(message) => {
                let id = message.id.clone();
                let head = self.serve_request(&session.addr, request, accepts, message);
                self.answer(head.await.ok(), accepts, Some(&id)).await
            }
            Incoming::Notification(notification) => {
                session.addr.do_send(Notified { notification });
                HttpResponse::Accepted().finish()
            }
            Incoming::Response(response) => {
                session.addr.do_send(Answered { response });
                HttpResponse::Accepted().finish()
            }
        }
    }

    /// Starts the task of a request, on this worker.
    fn serve_request(
        &self,
        session: &Addr<SessionActor>,
        request: &HttpRequest,
        accepts: Accepts,
        message: Request,
    ) -> oneshot::Receiver<ResponseHead> {
        let (send, head) = oneshot::channel();
        let reply_to = ReplyTo::Http(HttpReply { head: send, accepts });
        self.start(session, request, message, reply_to);
        head
    }

    fn start(
        &self,
        session: &Addr<SessionActor>,
        request: &HttpRequest,
        message: Request,
        reply_to: ReplyTo,
    ) {
        let (router, sessions) = (&self.server.router, &self.server.sessions);
        serve_request(session, router, sessions, message, reply_to, self.context(request));
    }

    /// Opens a session, or refuses a second `initialize` in an open one.
    ///
    /// An id that names no session of this principal is ignored: clients keep the id of a session that has ended, and
    /// need a new one. This deviates from the letter of Session Management 3.
    async fn initialize(
        &self,
        request: &HttpRequest,
        accepts: Accepts,
        message: Request,
    ) -> Result<HttpResponse, Refused> {
        let principal = self.principal(request);
        let id = headers::single(request, &headers::SESSION_ID)?;
        if let Some(session) = id.and_then(|id| self.server.sessions.get(id, principal.as_ref())) {
            return Ok(self.deliver(&session, request, accepts, Incoming::Request(message)).await);
        }
        if shutdown::is_draining(&self.server) {
            return Err(Refusal::shutting_down().of(Some(&message.id)).into());
        }
        let opening = self.server.opening(principal, None);
        let (session, id) = SessionActor::open(opening).map_err(|error| match error {
            OpenError::Full(full) => Refusal::full(full).of(Some(&message.id)),
            other @ (OpenError::NoRandom(_) | _) => {
                log::error!("could not open a session: {other}");
                Refusal::internal().of(Some(&message.id))
            }
        })?;
        // ends the session unless its client gets its id
        let closing = CloseOnDrop(Some(session.clone()));
        let request_id = message.id.clone();
        let head = self.serve_request(&session, request, accepts, message).await.ok();
        let opened =
            matches!(head, Some(ResponseHead::Json { disposition: Disposition::Answered(None), .. }));
        let mut response = self.answer(head, accepts, Some(&request_id)).await;
        if opened && let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(headers::SESSION_ID, id);
            closing.keep();
        }
        Ok(response)
    }

    /// Serves the members of a batch; their answers are one array.
    async fn deliver_batch(
        &self,
        session: &SessionHandle,
        request: &HttpRequest,
        accepts: Accepts,
        messages: Vec<Result<Incoming, Malformed>>,
    ) -> Result<HttpResponse, Refused> {
        if !session.peer.revision.has(Feature::Batching) {
            return Err(Refusal::malformed(era::no_batch(), None).into());
        }
        let (send, head) = oneshot::channel();
        let batch = Batch::in_response(send);
        let mut refused = None;
        for message in messages {
            match message {
                Ok(Incoming::Request(message)) => {
                    match modern::refuse_member(&self.server.router, &message) {
                        Some(malformed) => {
                            session.addr.do_send(Refuse { malformed, batch: Some(batch.clone()) });
                        }
                        None => self.start(&session.addr, request, message, ReplyTo::Batch(batch.clone())),
                    }
                }
                Ok(Incoming::Notification(notification)) => session.addr.do_send(Notified { notification }),
                Ok(Incoming::Response(response)) => session.addr.do_send(Answered { response }),
                Err(malformed) if malformed.wants_answer() => {
                    session.addr.do_send(Refuse { malformed, batch: Some(batch.clone()) });
                }
                Err(malformed) => {
                    self.refuse_answers(request, &malformed.answers, &malformed.error);
                    refused.get_or_insert(malformed.error);
                }
            }
        }
        drop(batch);
        match head.await.ok() {
            // only notifications and answers, or all its requests were cancelled
            None | Some(ResponseHead::Cancelled) => {
                // or the session has ended
                self.session(request)?;
                match refused {
                    // MCP 2025-03-26 basic/transports, Sending Messages 4: an error status where not all can be
                    // accepted
                    Some(error) => Err(Refusal::malformed(error, None).into()),
                    None => Ok(HttpResponse::Accepted().finish()),
                }
            }
            head => Ok(self.answer(head, accepts, None).await),
        }
    }
}

fn is_initialize(message: &Request) -> bool {
    Method::of(&message.method) == Some(Method::Initialize)
}

/// Ends a session whose client does not have its id yet.
struct CloseOnDrop(Option<Addr<SessionActor>>);

impl CloseOnDrop {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(session) = &self.0 {
            session.do_send(Close);
        }
    }
}
