//! stdio: one session over any byte stream, one message per line.
//!
//! **Invariants:** nothing but protocol messages is ever written; a malformed line does not affect later ones; a client
//! that closes its end, or a signal, ends the server within the drain time, plus half a second for the last answers.
//!
//! Read next: `lines` (input), `writer` (output), `process` (this process's own stdin and stdout).

mod lines;
mod process;
mod writer;

use std::{cell::Cell, convert::Infallible, fmt, future::Future, io, rc::Rc, sync::Arc, time::Duration};

use actix::Addr;
use actix_mcp_router::{
    Eras, ErrorCode, McpError, Peer,
    internal::{
        Incoming, Malformed, Payload, Request, RequestMeta, Response, TransportContext, era, jsonrpc,
    },
};
use actix_mcp_session::internal::{
    Answered, Batch, Batching, ByteBudget, Close, Drain, Notified, Refuse, ReplyTo, SessionActor, Sink, Stop,
    queue, serve as serve_request,
};
use bytes::Bytes;
use log::Level;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
    time::{Instant, timeout},
};

use self::{
    lines::{Line, Lines, begins_like_json},
    writer::{Output, Stream, write_lines},
};
use crate::{backend::Backend, stop};

/// While this much waits to be read by the client, no further input is read.
const UNREAD_BYTES: usize = 8 * 1024 * 1024;
const UNREAD_FRAMES: usize = 4096;
/// When the drain time is over, the last answers have this long to be written.
const LAST_WRITES: Duration = Duration::from_millis(500);
/// After this many lines, the reader yields to the tasks that they started.
const LINES_A_TURN: usize = 16;

impl Backend {
    /// Serves one client over this process's stdin and stdout, until it closes its end or a signal arrives.
    ///
    /// # Errors
    ///
    /// An I/O error of the streams, a session that could not be opened, or missing `web::Data` that a handler needs. A
    /// client that disconnects is not an error.
    pub async fn stdio(self) -> io::Result<()> {
        let (input, output) = (process::stdin()?, process::stdout()?);
        self.serve(input, output, stop::signal()?).await
    }

    /// Serves one client over any byte stream, as [`stdio`](Self::stdio) does over this process's own.
    ///
    /// # Errors
    ///
    /// As [`stdio`](Self::stdio).
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the session without a drain.
    pub async fn serve_stream(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + 'static,
    ) -> io::Result<()> {
        self.serve(input, Stream(output), std::future::pending()).await
    }

    async fn serve(
        self,
        input: impl AsyncRead + Unpin,
        output: impl Output + 'static,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        self.check_data()?;
        let limits = self.limits.clone();
        let (pipe, source) = queue(ByteBudget::new(limits.queue_bytes, self.sessions.stats().clone()));
        let opening = self.opening(None, Some(pipe.clone()));
        let (session, _) = SessionActor::open(opening).map_err(io::Error::other)?;
        let session = CloseOnDrop(session);
        let more = Rc::new(Cell::new(false));
        let mut writer = actix_rt::spawn(write_lines(source, output, more.clone()));
        let reader = Reader { server: &self, session: &session.0, pipe: &pipe, more, skipped: Cell::new(0) };

        let mut stop = std::pin::pin!(stop);
        let mut signalled = false;
        let read = tokio::select! {
            read = reader.run(input) => read,
            () = stop.as_mut() => {
                log::info!("stopping on a signal");
                signalled = true;
                Ok(())
            }
            written = &mut writer => return client_gone(written),
        };
        // a signal that comes after the input has ended is the first one, and the next must still end the process
        let signals = async {
            if !signalled {
                stop.await;
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            ended = drain(&session.0, limits.drain, writer, read.or_else(gone)) => ended,
            never = signals => match never {},
        }
    }
}

/// Waits for running calls to end and for the answers to be written.
async fn drain(
    session: &Addr<SessionActor>,
    time: Duration,
    mut writer: actix_rt::task::JoinHandle<io::Result<()>>,
    read: io::Result<()>,
) -> io::Result<()> {
    let start = Instant::now();
    let (done, drained) = oneshot::channel();
    session.do_send(Drain { done, input_closed: true });
    tokio::select! {
        drained = timeout(time, drained) => if drained.is_err() {
            log::warn!("calls still running after the drain time of {time:?} are stopped");
        },
        written = &mut writer => return client_gone(written),
    }
    session.do_send(Stop);
    // the answers are written, unless the client does not read them
    match timeout(time.saturating_sub(start.elapsed()).max(LAST_WRITES), &mut writer).await {
        Ok(written) => client_gone(written).and(read),
        Err(_) => {
            log::warn!("the client does not read its last answers");
            writer.abort();
            read
        }
    }
}

/// A client that has closed its end of the output has disconnected, which is not an error.
fn client_gone(written: Result<io::Result<()>, actix_rt::task::JoinError>) -> io::Result<()> {
    written.map_err(io::Error::other)?.or_else(gone)
}

/// Treats the errors of a stream whose other end is closed as its end. A client that is killed with unread bytes
/// resets its sockets, and some clients give a server sockets as its stdin and stdout.
fn gone(error: io::Error) -> io::Result<()> {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};

    if !matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted) {
        return Err(error);
    }
    log::info!("the client has disconnected");
    Ok(())
}

/// Ends the session even if the future that serves it is dropped.
struct CloseOnDrop(Addr<SessionActor>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.do_send(Close);
    }
}

/// Reads lines and hands what they hold to the session.
struct Reader<'a> {
    server: &'a Backend,
    session: &'a Addr<SessionActor>,
    pipe: &'a Sink,
    /// Set while lines are waiting, whose answers may share a write.
    more: Rc<Cell<bool>>,
    /// Lines that were skipped so far.
    skipped: Cell<u64>,
}

impl Reader<'_> {
    async fn run(self, input: impl AsyncRead + Unpin) -> io::Result<()> {
        let mut lines = Lines::new(input, self.server.router.limits().line_bytes);
        let mut turn = 0;
        loop {
            self.more.set(lines.has_line());
            let Some(line) = lines.next().await? else { return Ok(()) };
            match line {
                Line::Text(text) => self.read(text).await,
                Line::TooLong { json } => self.refuse_long(json),
            }
            self.pipe.below(UNREAD_BYTES, UNREAD_FRAMES).await;
            turn += 1;
            if turn % LINES_A_TURN == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    async fn read(&self, text: Bytes) {
        if !begins_like_json(&text) {
            // a program that logs into the pipe must not get an error per line
            if !text.trim_ascii().is_empty() {
                self.skip(format_args!("a line of {} bytes that is not a JSON-RPC message", text.len()));
            }
            return;
        }
        match jsonrpc::read(text, self.server.router.limits()) {
            Ok(Payload::One(message)) => self.deliver(message, None),
            Ok(Payload::Batch(messages)) => self.deliver_batch(messages).await,
            Err(malformed) => self.refuse(malformed, None),
        }
    }

    fn deliver(&self, message: Incoming, batch: Option<&Arc<Batch>>) {
        match message {
            Incoming::Request(request) => {
                let peer = match self.peer(&request) {
                    Ok(peer) => peer,
                    Err(error) => {
                        return self.refuse(Malformed::request(request.id, error), batch.cloned());
                    }
                };
                let context = TransportContext { peer, ..TransportContext::default() };
                let (router, sessions) = (&self.server.router, &self.server.sessions);
                let reply_to = batch.map_or(ReplyTo::Pipe, |batch| ReplyTo::Batch(batch.clone()));
                serve_request(self.session, router, sessions, request, reply_to, context);
            }
            Incoming::Notification(notification) => self.session.do_send(Notified { notification }),
            Incoming::Response(response) => self.session.do_send(Answered { response }),
        }
    }

    /// The sender of a self-contained request; `None` for a request of the session.
    fn peer(&self, request: &Request) -> Result<Option<Arc<Peer>>, McpError> {
        let router = &self.server.router;
        let claim = match router.eras() {
            Eras::Legacy => None,
            Eras::Both => RequestMeta::of(&request.params),
            Eras::Modern => Some(RequestMeta::required(request, router)?),
        };
        claim.map(|claim| claim.peer(router).map(Arc::new)).transpose()
    }

    /// Delivers the members of a batch; their answers come back as one array.
    // MCP 2025-03-26 basic, Batching: MUST support receiving; gone from 2025-06-18 on
    async fn deliver_batch(&self, messages: Vec<Result<Incoming, Malformed>>) {
        // a session that has just ended serves no batch
        if !self.session.send(Batching).await.unwrap_or(false) {
            let error = era::no_batch();
            let answers = Payload::Batch(messages).answers();
            return self.refuse(Malformed { answers, ..Malformed::unknown(error) }, None);
        }
        let batch = Batch::on_pipe(self.pipe.clone());
        for message in messages {
            match message {
                Ok(message) => self.deliver(message, Some(&batch)),
                Err(malformed) => self.refuse(malformed, Some(batch.clone())),
            }
        }
    }

    fn refuse(&self, malformed: Malformed, batch: Option<Arc<Batch>>) {
        for id in &malformed.answers {
            let response = Response { id: id.clone(), result: Err(malformed.why_unanswered()) };
            self.session.do_send(Answered { response });
        }
        if malformed.wants_answer() {
            self.session.do_send(Refuse { malformed, batch });
        } else {
            log::debug!("ignored a malformed message that expects no answer: {}", malformed.error.message);
        }
    }

    /// Logs a skipped line: as a warning at the 1st, 10th, 100th and so on, since a program that writes one such line
    /// may write thousands.
    fn skip(&self, what: fmt::Arguments<'_>) {
        let count = self.skipped.get() + 1;
        self.skipped.set(count);
        let level = if 10_u64.pow(count.ilog10()) == count { Level::Warn } else { Level::Debug };
        log::log!(level, "skipped {what} ({count} so far)");
    }

    fn refuse_long(&self, json: bool) {
        let limit = self.server.router.limits().line_bytes;
        self.skip(format_args!("a line of more than {limit} bytes"));
        if json {
            let message = format!("the message is too long (the limit is {limit} bytes)");
            let error = McpError::new(ErrorCode::INVALID_REQUEST, message);
            self.refuse(Malformed::unknown(error), None);
        }
    }
}
