use std::{
    mem::size_of_val,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use actix_mcp_router::{
    Cancelled, QuestionError, Tool,
    internal::{Asked, ChangeListener, Incoming, Payload, Question, RequestMeta, read},
};
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot};

use super::*;
use crate::sessions::Sessions;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A stream with room for so many notices.
struct Stream {
    sent: Mutex<Vec<Value>>,
    room: Arc<Semaphore>,
    live: AtomicBool,
    /// Done when the first message is handed over.
    first: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Stream {
    fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            sent: Mutex::default(),
            room: Arc::new(Semaphore::new(room)),
            live: AtomicBool::new(true),
            first: Mutex::default(),
        })
    }

    fn methods(&self) -> Vec<String> {
        let method = |message: &Value| {
            message["method"].as_str().unwrap().rsplit_once("notifications/").unwrap().1.to_owned()
        };
        self.sent.lock().unwrap().iter().map(method).collect()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Link for Stream {
    fn reserve(&self, _: usize) -> BoxFuture<'static, Permit> {
        let (room, live) = (self.room.clone(), self.live.load(Ordering::Relaxed));
        async move { Permit(if live { room.acquire_owned().await.ok() } else { None }) }.boxed()
    }

    fn try_reserve(&self, _: usize) -> Permit {
        Permit(self.room.clone().try_acquire_owned().ok())
    }

    fn emit(&self, json: Bytes, _: Permit) {
        panic!("{json:?} may be dropped");
    }

    fn deliver(&self, json: Bytes, room: Permit) {
        if let Some(permit) = room.0 {
            permit.forget();
        }
        let message: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(message["params"]["_meta"][SUBSCRIPTION], 7);
        self.sent.lock().unwrap().push(message);
        if let Some(then) = self.first.lock().unwrap().take() {
            then();
        }
    }

    fn ask(&self, _: Question, _: Permit) -> Asked {
        let (reply, answer) = oneshot::channel();
        reply.send(Err(QuestionError::Gone)).unwrap();
        Asked { answer, withdraw: Box::new(|| ()) }
    }

    fn close_stream(&self) {}

    fn is_live(&self) -> bool {
        self.live.load(Ordering::Relaxed)
    }
}

fn router() -> Arc<Router> {
    let mut router = Router::new("test", "1");
    router.tool(Tool::new("t", async || ""));
    router.declare(actix_mcp_router::Capability::Prompts);
    Arc::new(router)
}

/// Begins to listen for tools and prompts.
fn listening(sessions: &Sessions, stream: &Arc<Stream>) -> LocalBoxFuture<'static, Reply> {
    let router = router();
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {
        "notifications": { "toolsListChanged": true, "promptsListChanged": true },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    let Ok(Payload::One(Incoming::Request(request))) = read(message.to_string().into(), router.limits())
    else {
        panic!("no request")
    };
    let claim = RequestMeta::of(&request.params).unwrap();
    let peer = Arc::new(claim.peer(&router).unwrap());
    let permit =
        ListenPermit::of(sessions.hub(), &SessionLimits::default(), &request, &peer).unwrap().unwrap();
    let context = CallContext {
        peer,
        link: stream.clone(),
        cancelled: Cancelled::default(),
        principal: None,
        http: None,
    };
    serve(permit, &router, request, context)
}

#[actix_rt::test]
async fn a_change_while_the_acknowledgement_is_sent_is_told_after_it() {
    tokio::time::pause();
    let (sessions, stream) = (Sessions::default(), Stream::new(10));
    let announced = sessions.clone();
    *stream.first.lock().unwrap() = Some(Box::new(move || announced.announce(Change::Tools)));
    let task = actix_rt::spawn(listening(&sessions, &stream));
    tokio::time::sleep(Duration::from_millis(51)).await;
    assert_eq!(stream.methods(), ["subscriptions/acknowledged", "tools/list_changed"]);
    task.abort();
}

#[actix_rt::test]
async fn without_room_one_notice_of_each_kind_waits() {
    tokio::time::pause();
    let (sessions, stream) = (Sessions::default(), Stream::new(2));
    let task = actix_rt::spawn(listening(&sessions, &stream));
    for _ in 0..1_000 {
        sessions.announce(Change::Tools);
        sessions.announce(Change::Prompts);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stream.methods(), ["subscriptions/acknowledged", "tools/list_changed"]);
    stream.room.add_permits(2);
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(stream.methods()[2..], ["prompts/list_changed", "tools/list_changed"], "each is owed once");
    stream.room.add_permits(2);
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(stream.methods().len(), 4);
    task.abort();
}

#[actix_rt::test]
async fn what_there_is_no_room_for_does_not_hold_the_end_up() {
    tokio::time::pause();
    for room in [1, 2] {
        let (sessions, stream) = (Sessions::default(), Stream::new(room));
        let task = actix_rt::spawn(listening(&sessions, &stream));
        tokio::time::sleep(Duration::from_millis(1)).await;
        sessions.announce(Change::Tools);
        sessions.announce(Change::Prompts);
        // the notices wait for others to join them
        tokio::time::sleep(Duration::from_millis(1)).await;
        let start = tokio::time::Instant::now();
        sessions.hub().listeners().end();
        let reply: Value = serde_json::from_slice(&task.await.unwrap().json).unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(reply["result"]["_meta"][SUBSCRIPTION], 7);
        assert_eq!(stream.methods().len(), room);
        assert!(sessions.hub().listeners().is_empty());
    }
}

#[actix_rt::test]
async fn a_subscription_without_a_reader_ends_by_itself() {
    tokio::time::pause();
    let (sessions, stream) = (Sessions::default(), Stream::new(1));
    let task = actix_rt::spawn(listening(&sessions, &stream));
    tokio::time::sleep(Duration::from_millis(1)).await;
    stream.live.store(false, Ordering::Relaxed);
    sessions.announce(Change::Tools);
    task.await.unwrap();
    assert_eq!(stream.methods(), ["subscriptions/acknowledged"]);
}

#[actix_rt::test]
async fn a_dropped_subscription_leaves_nothing_and_an_idle_one_is_small() {
    let (sessions, stream) = (Sessions::default(), Stream::new(1));
    let mut listens = listening(&sessions, &stream);
    assert!((&mut listens).now_or_never().is_none());
    assert_eq!(sessions.stats().snapshot().listens, 1);
    // thousands may be open
    assert!(size_of_val(&*listens) <= 512, "{} bytes", size_of_val(&*listens));
    drop(listens);
    assert!(sessions.hub().listeners().is_empty());
    assert_eq!(sessions.stats().snapshot().listens, 0);
}
