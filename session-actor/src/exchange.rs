//! One self-contained request: Streamable HTTP from 2026-07-28 on.
//!
//! There is nothing to route: ids of different exchanges never meet, no stream is resumed, and a message has one
//! place to go. So there is no actor here. The future that waits for the head of the response polls the handler; once
//! the response is a stream, a task does.
//!
//! **Invariant:** dropping the exchange, or the reader of its events, cancels the request: its handler is dropped
//! (after its grace period, if it listens for its cancellation), and nothing more is sent.
//!
//! Read next: `reply_to` (the head), `queue` (the stream), `listen` (`subscriptions/listen`).

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use actix_mcp_router::{
    Cancelled, Peer, QuestionError, RequestId,
    internal::{
        Asked, CallContext, Link, Permit, Question, Reply, Request, Router, Target, TransportContext,
        cancelled,
    },
};
use bytes::Bytes;
use futures_util::{
    future::{BoxFuture, FutureExt, LocalBoxFuture},
    task::AtomicWaker,
};
use tokio::{
    sync::oneshot,
    task::coop::{Unconstrained, unconstrained},
    time::{Sleep, sleep, timeout},
};
use tracing::Instrument;

use crate::{
    budget::{ByteBudget, no_room},
    hub::{Full, ShutdownStage},
    limits::SessionLimits,
    listen::{self, ListenPermit},
    queue::{Backlog, Frame, Sink, queue},
    reply_to::{Accepts, Disposition, ResponseHead, error_reply, event},
    session::{SessionHub, stopped},
    sessions::Sessions,
    stats::{Counted, Counter, Stats},
};

/// A first byte: browsers and proxies show a response once it has a body.
const HELLO: Bytes = Bytes::from_static(b":\n\n");

/// A self-contained request that is being served.
pub struct Exchange {
    handler: CallFuture,
    output: Arc<Output>,
    accepts: Accepts,
    hub: Arc<SessionHub>,
    sse_after: Duration,
    stall: Duration,
    cut: Cut,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("accepts", &self.accepts).finish_non_exhaustive()
    }
}

/// The outcome of polling the handler.
enum Step {
    Answer(Reply),
    /// It has sent a message, or was silent for so long that the client should see that it is alive.
    Stream,
    /// The server's shutdown no longer waits for it.
    Closed,
}

impl Exchange {
    /// Starts to serve a request of this peer; it runs while its [`head`](Self::head) is awaited.
    ///
    /// # Errors
    ///
    /// [`Full`] at the limit of self-contained requests, or of subscriptions for `subscriptions/listen`; the client
    /// sees it.
    pub fn new(
        sessions: &Sessions,
        router: &Arc<Router>,
        limits: &SessionLimits,
        request: Request,
        peer: Arc<Peer>,
        accepts: Accepts,
        context: TransportContext,
    ) -> Result<Self, Full> {
        let hub = sessions.hub();
        let listens = ListenPermit::of(hub, limits, &request, &peer)?;
        let stats = hub.stats();
        let output = Arc::new(Output::new(limits, stats.clone(), accepts.events()));
        let cancelled = Cancelled::default();
        let cut = Cut { id: request.id.clone(), target: Target::of(&request) };
        let context = CallContext {
            peer,
            link: output.clone(),
            cancelled: cancelled.clone(),
            principal: context.principal,
            http: context.http,
        };
        // `subscriptions/listen` runs no handler, and its permit is counted instead
        let counted = match &listens {
            Some(_) => None,
            None => Some((hub.count_exchange()?, stats.count(Counter::InFlight))),
        };
        let future = match listens {
            // a smaller future than the others: thousands may be open
            Some(permit) => listen::serve(permit, router, request, context),
            None => router.dispatch(request, context).boxed_local(),
        };
        let handler = CallFuture {
            future: Some(future),
            cancelled,
            output: output.clone(),
            hub: hub.clone(),
            grace: limits.grace,
            counted,
        };
        let (sse_after, stall) = (limits.sse_after, limits.stall);
        Ok(Self { handler, output, accepts, hub: hub.clone(), sse_after, stall, cut })
    }

    /// Waits until it is known how the exchange is answered. From then on a stream is written by its own task.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the request.
    pub async fn head(mut self) -> ResponseHead {
        let reply = match self.step().await {
            Step::Stream => return self.stream(None),
            Step::Closed => self.cut.reply(),
            Step::Answer(reply) => reply,
        };
        if self.output.waits() {
            return self.stream(Some(reply));
        }
        ResponseHead::Json { json: reply.json, disposition: Disposition::Answered(reply.code) }
    }

    /// Polls the handler until it is known how to answer.
    async fn step(&mut self) -> Step {
        let streams = self.accepts.events();
        let (handler, output) = (&mut self.handler, &self.output);
        // a handler that never waits needs no timer
        let first = poll_fn(|cx| Poll::Ready(poll_step(handler, output, streams, cx))).await;
        if let Poll::Ready(step) = first {
            return step;
        }
        // unconstrained: polled after the handler, which may have used up the task's cooperative budget
        let mut silence: Option<Pin<Box<Unconstrained<Sleep>>>> =
            streams.then(|| Box::pin(unconstrained(sleep(self.sse_after))));
        let mut closed = Box::pin(unconstrained(self.hub.reached(ShutdownStage::Closed)));
        poll_fn(|cx| {
            if let Poll::Ready(step) = poll_step(handler, output, streams, cx) {
                return Poll::Ready(step);
            }
            if silence.as_mut().is_some_and(|silence| silence.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(Step::Stream);
            }
            closed.as_mut().poll(cx).map(|()| Step::Closed)
        })
        .await
    }

    /// Answers with a stream: the messages that wait, those that the handler sends from now on, and its answer.
    fn stream(self, answered: Option<Reply>) -> ResponseHead {
        let (sink, source) = queue(self.output.budget().clone());
        self.output.stream_to(&sink);
        let open = self.hub.stats().count(Counter::Streams);
        let Self { handler, hub, stall, cut, .. } = self;
        let writer = Writer { handler, sink, hub, stall, cut, _open: open };
        actix_rt::spawn(writer.run(answered).in_current_span());
        ResponseHead::Events(source)
    }
}

fn poll_step(handler: &mut CallFuture, output: &Output, streams: bool, cx: &mut Context<'_>) -> Poll<Step> {
    output.waker.register(cx.waker());
    match handler.poll(cx) {
        Poll::Ready(reply) => Poll::Ready(Step::Answer(reply)),
        Poll::Pending if streams && output.waits() => Poll::Ready(Step::Stream),
        Poll::Pending => Poll::Pending,
    }
}

/// The answer if the server's shutdown no longer waits for the request.
struct Cut {
    id: RequestId,
    target: Target,
}

impl Cut {
    fn reply(&self) -> Reply {
        log::warn!(request:% = self.id; "the server is shutting down: stopped {}", self.target);
        error_reply(&self.id, &stopped())
    }
}

/// Writes the stream of one exchange.
struct Writer {
    handler: CallFuture,
    sink: Sink,
    hub: Arc<SessionHub>,
    stall: Duration,
    cut: Cut,
    /// Counts the stream as open.
    _open: Counted,
}

impl Writer {
    async fn run(mut self, answered: Option<Reply>) {
        let (sink, stall) = (self.sink.clone(), self.stall);
        // unconstrained: a handler that never waits for long must not outlive its reader, or the server
        let mut broken = std::pin::pin!(unconstrained(async {
            tokio::select! {
                () = sink.gone() => {}
                () = stands_still(&sink, stall) => {
                    log::warn!("closing a stalled stream (the limit is {stall:?})");
                }
            }
        }));
        let reply = match answered {
            Some(reply) => Some(reply),
            None => tokio::select! {
                biased;
                reply = poll_fn(|cx| self.handler.poll(cx)) => Some(reply),
                () = broken.as_mut() => None,
                () = unconstrained(self.hub.reached(ShutdownStage::Closed)) => Some(self.cut.reply()),
            },
        };
        drop(self.handler);
        if let Some(reply) = reply {
            self.sink.push(Frame::kept(event(&reply.json)));
            self.sink.finish();
            // until the client has read everything, or has disconnected or stalled
            broken.await;
        }
        self.sink.cut();
    }
}

/// Waits until the stream has been stalled for this long.
async fn stands_still(sink: &Sink, stall: Duration) {
    loop {
        match sink.stalls_in(stall) {
            Some(Duration::ZERO) => return,
            rest => sleep(rest.unwrap_or(stall)).await,
        }
    }
}

/// The handler's future. Dropping it before its end cancels it.
struct CallFuture {
    future: Option<LocalBoxFuture<'static, Reply>>,
    cancelled: Cancelled,
    output: Arc<Output>,
    hub: Arc<SessionHub>,
    grace: Duration,
    /// Held until the handler has ended, including its grace period.
    counted: Option<(Counted, Counted)>,
}

impl CallFuture {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let Some(future) = &mut self.future else { return Poll::Pending };
        let reply = std::task::ready!(future.as_mut().poll(cx));
        self.future = None;
        self.counted = None;
        Poll::Ready(reply)
    }
}

impl Drop for CallFuture {
    fn drop(&mut self) {
        // parts of the handler that run elsewhere send nothing from here on
        self.output.end();
        let Some(future) = self.future.take() else { return };
        cancelled::fire(&self.cancelled, None);
        if !cancelled::is_listening(&self.cancelled) {
            return;
        }
        let Some(permit) = self.hub.grace() else { return };
        let (counted, grace) = (self.counted.take(), self.grace);
        let clean_up = async move {
            if timeout(grace, future).await.is_err() {
                log::debug!("a cancelled call used up its grace period of {grace:?}");
            }
            drop((counted, permit));
        };
        actix_rt::spawn(clean_up.in_current_span());
    }
}

/// The handler's messages: kept until it is known whether there is a stream, and then put into it.
#[derive(Debug)]
struct Output {
    state: Mutex<State>,
    /// The stream's byte budget, created when first needed.
    budget: OnceLock<Arc<ByteBudget>>,
    bytes: usize,
    stall_timeout: Duration,
    /// Counts dropped messages.
    stats: Stats,
    /// Whether the client accepts an event stream.
    takes: bool,
    /// Wakes the task that polls the handler: a part of the handler that runs elsewhere may send a message.
    waker: AtomicWaker,
}

#[derive(Debug)]
enum State {
    Waiting(Backlog),
    Streaming(Sink),
    Ended,
}

impl Output {
    fn new(limits: &SessionLimits, stats: Stats, takes: bool) -> Self {
        Self {
            state: Mutex::new(State::Waiting(Backlog::default())),
            budget: OnceLock::new(),
            bytes: limits.queue_bytes,
            stall_timeout: limits.stall,
            stats,
            takes,
            waker: AtomicWaker::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn budget(&self) -> &Arc<ByteBudget> {
        self.budget.get_or_init(|| {
            ByteBudget::with_stall_timeout(self.bytes, self.stall_timeout, self.stats.clone())
        })
    }

    /// Whether messages wait for a stream.
    fn waits(&self) -> bool {
        matches!(&*self.lock(), State::Waiting(backlog) if !backlog.is_empty())
    }

    /// Moves the waiting messages to the stream, to which later ones go directly.
    fn stream_to(&self, sink: &Sink) {
        let mut state = self.lock();
        let State::Waiting(backlog) = &mut *state else { return };
        if backlog.is_empty() {
            sink.push(Frame::kept(HELLO));
        }
        for frame in backlog.take() {
            sink.push(Frame { bytes: event(&frame.bytes), ..frame });
        }
        *state = State::Streaming(sink.clone());
    }

    fn put(&self, json: Bytes, room: Permit, droppable: bool) {
        let mut state = self.lock();
        match &mut *state {
            State::Waiting(_) if !self.takes => {
                self.budget().count_dropped();
                log::debug!("dropped a message: the client does not accept text/event-stream");
            }
            State::Waiting(backlog) => {
                let gone = backlog.push(Frame { bytes: json, room, droppable }, self.budget());
                drop(state);
                drop(gone);
                self.waker.wake();
            }
            State::Streaming(sink) => sink.push(Frame { bytes: event(&json), room, droppable }),
            State::Ended => {}
        }
    }

    /// From now on nothing is sent.
    fn end(&self) {
        let before = std::mem::replace(&mut *self.lock(), State::Ended);
        // gives the room back, outside the lock
        drop(before);
    }
}

impl Link for Output {
    fn reserve(&self, bytes: usize) -> BoxFuture<'static, Permit> {
        if !self.is_live() {
            return no_room().boxed();
        }
        self.budget().clone().reserve(bytes).boxed()
    }

    fn try_reserve(&self, bytes: usize) -> Permit {
        self.budget().try_reserve(bytes)
    }

    fn emit(&self, json: Bytes, room: Permit) {
        self.put(json, room, true);
    }

    fn deliver(&self, json: Bytes, room: Permit) {
        self.put(json, room, false);
    }

    /// Sends no server-initiated request: a handler's questions are part of its result.
    fn ask(&self, _: Question, _: Permit) -> Asked {
        let (reply, answer) = oneshot::channel();
        // cannot fail: the receiver is still here
        drop(reply.send(Err(QuestionError::Gone)));
        Asked { answer, withdraw: Box::new(|| ()) }
    }

    /// No stream can be resumed.
    fn close_stream(&self) {}

    fn is_live(&self) -> bool {
        !matches!(&*self.lock(), State::Ended)
    }
}
