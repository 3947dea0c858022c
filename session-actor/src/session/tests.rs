//! What only the inside of a session can show: that it leaves nothing behind when it panics.

use std::{sync::Arc, time::Duration};

use actix::{Addr, Context, Handler, Message};
use actix_mcp_router::{
    Cancelled, ErrorCode, QuestionError, Tool,
    internal::{Incoming, Link, Payload, Question, Request, Router, TransportContext, read},
};
use bytes::Bytes;
use tokio::sync::oneshot;

use super::{Opening, SessionActor};
use crate::{
    limits::SessionLimits,
    link::{CallEnd, CallLink, StreamRoom},
    queue::Source,
    reply_to::{Accepts, Disposition, HttpReply, ReplyTo, ResponseHead},
    session::{Admit, Notified, OpenStream, Running},
    sessions::Sessions,
    stats::Snapshot,
    task,
    token::Token,
};

/// Makes the actor panic: a bug in the actor itself, which nothing is known to cause.
#[derive(Message)]
#[rtype(result = "()")]
struct Panic;

impl Handler<Panic> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Panic, _: &mut Context<Self>) {
        panic!("a test made the session panic");
    }
}

async fn forever() {
    std::future::pending().await
}

/// Has a grace of a thousand years.
async fn listens(cancelled: Cancelled) {
    cancelled.wait().await;
    std::future::pending().await
}

struct Client {
    session: Addr<SessionActor>,
    sessions: Sessions,
    router: Arc<Router>,
    id: Arc<str>,
}

impl Client {
    async fn connect() -> Self {
        let mut router = Router::new("test", "1");
        router.tool(Tool::new("forever", forever));
        router.tool(Tool::new("listens", listens));
        let (router, sessions) = (Arc::new(router), Sessions::default());
        let opening = Opening {
            router: router.clone(),
            sessions: sessions.clone(),
            limits: Arc::default(),
            principal: None,
            pipe: None,
        };
        let (session, id) = SessionActor::open(opening).unwrap();
        let client = Self { session, sessions, router, id };
        let params =
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
        let head = client.request(0, "initialize", params).await;
        assert!(matches!(head, Ok(ResponseHead::Json { .. })));
        client
    }

    fn read(&self, id: u32, method: &str, params: &str) -> Request {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let Ok(Payload::One(Incoming::Request(request))) = read(Bytes::from(text), self.router.limits())
        else {
            panic!("no request");
        };
        request
    }

    fn request(&self, id: u32, method: &str, params: &str) -> oneshot::Receiver<ResponseHead> {
        let request = self.read(id, method, params);
        let (send, head) = oneshot::channel();
        let reply_to = ReplyTo::Http(HttpReply { head: send, accepts: Accepts::Both });
        task::serve(
            &self.session,
            &self.router,
            &self.sessions,
            request,
            reply_to,
            TransportContext::default(),
        );
        head
    }

    fn call(&self, id: u32, tool: &str) -> oneshot::Receiver<ResponseHead> {
        self.request(id, "tools/call", &format!(r#"{{"name":"{tool}"}}"#))
    }

    fn notify(&self, text: &'static str) {
        let read = read(Bytes::from_static(text.as_bytes()), self.router.limits());
        let Ok(Payload::One(Incoming::Notification(notification))) = read else { panic!("no notification") };
        self.session.do_send(Notified { notification });
    }
}

async fn rest(mut source: Source) -> usize {
    let mut events = 0;
    while source.next().await.is_some() {
        events += 1;
    }
    events
}

#[actix_rt::test]
async fn a_session_that_panics_leaves_no_entry_no_handler_and_no_stream() {
    tokio::time::pause();
    let client = Client::connect().await;
    let standalone = client.session.send(OpenStream).await.unwrap().unwrap();
    let pending = client.call(1, "forever");
    let streaming = client.call(2, "forever");
    let Ok(ResponseHead::Events(stream)) = streaming.await else { panic!("silence makes it a stream") };
    drop(pending);
    let late = client.call(3, "forever");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(client.sessions.stats().snapshot().in_flight, 3);
    assert!(client.sessions.get(&client.id, None).is_some());

    client.session.do_send(Panic);
    assert!(late.await.is_err(), "its head is dropped");
    assert_eq!((rest(stream).await, rest(standalone).await), (1, 1), "they end after what was written");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(client.sessions.get(&client.id, None).is_none());
    assert_eq!(client.sessions.stats().snapshot(), Snapshot::default());
}

#[actix_rt::test]
async fn a_handler_that_listens_has_its_grace_and_no_more_also_when_its_session_ends() {
    tokio::time::pause();
    let client = Client::connect().await;
    let in_flight = || client.sessions.stats().snapshot().in_flight;
    drop(client.call(1, "listens"));
    drop(client.call(2, "forever"));
    drop(client.call(3, "listens"));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(in_flight(), 3);
    client.notify(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(in_flight(), 3, "it has its grace");
    client.session.do_send(super::Close);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(in_flight(), 2, "who does not listen is dropped at once");
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(in_flight(), 1, "the first one's grace is over");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(in_flight(), 0);
    assert_eq!(client.sessions.stats().snapshot(), Snapshot::default());
}

#[actix_rt::test]
async fn a_request_whose_task_has_gone_with_its_worker_is_answered_and_its_id_is_free() {
    tokio::time::pause();
    let client = Client::connect().await;
    for _ in 0..2 {
        let (send, head) = oneshot::channel();
        let (admitted, admission) = oneshot::channel();
        drop(admission);
        let running = Running {
            abort: actix_rt::spawn(async {}).abort_handle(),
            cancelled: Cancelled::default(),
            span: tracing::Span::none(),
        };
        let reply_to = ReplyTo::Http(HttpReply { head: send, accepts: Accepts::Both });
        let request = client.read(7, "tools/call", r#"{"name":"forever"}"#);
        client.session.do_send(Admit { request, peer: None, running, reply_to, admitted });
        let answer = tokio::time::timeout(Duration::from_secs(3600), head).await;
        let Ok(Ok(ResponseHead::Json { disposition, .. })) = answer else { panic!("no answer: {answer:?}") };
        assert_eq!(disposition, Disposition::Answered(Some(ErrorCode::INTERNAL_ERROR)));
    }
}

#[actix_rt::test]
async fn the_link_of_a_call_that_was_taken_takes_nothing_and_says_so() {
    let client = Client::connect().await;
    let room = StreamRoom::of_call(&SessionLimits::default(), client.sessions.stats().clone());
    // of a session that lives: it is the call that has gone
    let link = Arc::new(CallLink::new(Token::spent(1), client.session.downgrade(), room));
    let say = || {
        link.emit(Bytes::from_static(b"1"), link.try_reserve(1));
        link.deliver(Bytes::from_static(b"2"), link.try_reserve(1));
    };
    say();
    assert!(link.is_live() && link.reserve(1).await.0.is_some());
    assert_eq!(link.take().count(), 2);

    say();
    drop(CallEnd(link.clone()));
    assert!(!link.is_live());
    assert_eq!(link.take().count(), 0, "what still waited is dropped");
    say();
    assert_eq!(link.take().count(), 0);
    assert!(link.reserve(1).await.0.is_none());
    let question =
        Question { method: "roots/list", params: Bytes::from_static(b"{}"), needs: &[], timeout: None };
    let mut asked = link.ask(question, link.try_reserve(2));
    // at once: the session is not asked
    assert!(matches!(asked.answer.try_recv(), Ok(Err(QuestionError::Gone))));
}

#[actix_rt::test]
async fn a_session_is_silent_once_the_grace_of_its_cancelled_call_is_over() {
    tokio::time::pause();
    let client = Client::connect().await;
    drop(client.call(1, "listens"));
    tokio::time::sleep(Duration::from_millis(1)).await;
    client.notify(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let (done, mut drained) = oneshot::channel();
    client.session.do_send(super::Drain { done, input_closed: false });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(drained.try_recv().is_err(), "it has its grace");
    // long before it ends for being idle
    tokio::time::timeout(Duration::from_secs(10), drained).await.expect("it falls silent").expect("it lives");
}
