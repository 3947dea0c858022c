//! A call whose session is the test, which records what the handler sends and answers it.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};

use crate::{
    call::{
        Call, CallContext,
        data::DataMap,
        link::{Asked, Link, Permit, Question},
        question_error::QuestionError,
    },
    wire::{
        era::Revision,
        id::{ProgressToken, RequestId},
        peer::{ClientCapabilities, ClientCapability, Implementation, Peer},
    },
};

/// A client that declared everything.
pub(crate) const ALL: ClientCapabilities = ClientCapabilities {
    elicitation_form: true,
    elicitation_url: true,
    sampling: true,
    sampling_tools: true,
    sampling_context: true,
    roots: true,
};

/// The session's end of a call.
#[derive(Debug)]
pub(crate) struct Fake {
    peer: Arc<Peer>,
    live: AtomicBool,
    /// One permit per message; messages keep theirs.
    room: Arc<Semaphore>,
    sent: Mutex<Vec<String>>,
    asked: Mutex<Vec<Asking>>,
    answers: Mutex<VecDeque<Result<String, QuestionError>>>,
    withdrawn: Arc<AtomicUsize>,
    closed: AtomicUsize,
}

/// A question that was asked.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) text: String,
    pub(crate) needs: &'static [ClientCapability],
    pub(crate) timeout: Option<Duration>,
    /// Kept if the test gave no answer.
    open: Option<oneshot::Sender<Result<ByteString, QuestionError>>>,
}

impl Fake {
    pub(crate) fn new(revision: Revision, capabilities: ClientCapabilities) -> Arc<Self> {
        Self::with_room(revision, capabilities, 1_000)
    }

    pub(crate) fn with_room(
        revision: Revision,
        capabilities: ClientCapabilities,
        messages: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            peer: Arc::new(Peer::new(revision, capabilities, Implementation::default(), None)),
            live: AtomicBool::new(true),
            room: Arc::new(Semaphore::new(messages)),
            sent: Mutex::default(),
            asked: Mutex::default(),
            answers: Mutex::default(),
            withdrawn: Arc::default(),
            closed: AtomicUsize::new(0),
        })
    }

    pub(crate) fn call(self: &Arc<Self>, token: Option<RequestId>) -> Call {
        let context = CallContext {
            peer: self.peer.clone(),
            link: self.clone(),
            cancelled: Default::default(),
            principal: None,
            http: None,
        };
        let token = token.map(ProgressToken);
        context.into_call(Arc::new(DataMap::default()), "test".into(), None, None, token)
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The notifications so far, as text.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    /// The notifications so far, as values.
    pub(crate) fn notes(&self) -> Vec<Value> {
        self.sent().iter().map(|json| serde_json::from_str(json).unwrap()).collect()
    }

    /// Sets the answer to the next question; without one, the question stays open.
    pub(crate) fn will_answer(&self, result: impl ToString) {
        self.answers.lock().unwrap().push_back(Ok(result.to_string()));
    }

    pub(crate) fn will_fail(&self, error: QuestionError) {
        self.answers.lock().unwrap().push_back(Err(error));
    }

    pub(crate) fn asked(&self) -> std::sync::MutexGuard<'_, Vec<Asking>> {
        self.asked.lock().unwrap()
    }

    pub(crate) fn withdrawn(&self) -> usize {
        self.withdrawn.load(Ordering::SeqCst)
    }

    pub(crate) fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn add_room(&self, messages: usize) {
        self.room.add_permits(messages);
    }

    /// Ends the call: like the session, drops the senders of open questions.
    pub(crate) fn end(&self) {
        self.live.store(false, Ordering::SeqCst);
        for asking in self.asked().iter_mut() {
            asking.open = None;
        }
    }
}

impl Link for Fake {
    fn reserve(&self, _bytes: usize) -> BoxFuture<'static, Permit> {
        let room = self.room.clone();
        async move { Permit(room.acquire_owned().await.ok()) }.boxed()
    }

    fn try_reserve(&self, _bytes: usize) -> Permit {
        Permit(self.room.clone().try_acquire_owned().ok())
    }

    fn emit(&self, json: Bytes, room: Permit) {
        if let Some(permit) = room.0 {
            permit.forget();
        }
        self.sent.lock().unwrap().push(String::from_utf8(json.to_vec()).unwrap());
    }

    fn ask(&self, question: Question, room: Permit) -> Asked {
        drop(room);
        let (sender, answer) = oneshot::channel();
        let open = match self.answers.lock().unwrap().pop_front() {
            Some(result) => {
                sender.send(result.map(ByteString::from)).unwrap();
                None
            }
            None => Some(sender),
        };
        let text = String::from_utf8(question.params.to_vec()).unwrap();
        self.asked().push(Asking {
            method: question.method,
            params: serde_json::from_str(&text).unwrap(),
            text,
            needs: question.needs,
            timeout: question.timeout,
            open,
        });
        let withdrawn = self.withdrawn.clone();
        let withdraw = Box::new(move || {
            withdrawn.fetch_add(1, Ordering::SeqCst);
        });
        Asked { answer, withdraw }
    }

    fn close_stream(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn is_live(&self) -> bool {
        self.live.load(Ordering::SeqCst)
    }
}
