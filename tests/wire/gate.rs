//! Tools that hold a thread until the test lets it go: their own worker's, or one of the pool for what blocks.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use actix_mcp::prelude::*;
use tokio::{sync::mpsc as events, time::timeout};

/// A test that waits longer for anything has failed, as has a tool that is not let go.
pub(crate) const GUARD: Duration = Duration::from_secs(120);

#[derive(Debug, PartialEq, Eq)]
enum Event {
    Entered,
    Left,
}

/// The tools' end.
pub(crate) struct Gate {
    events: events::UnboundedSender<Event>,
    open: Mutex<mpsc::Receiver<()>>,
}

impl Gate {
    /// Blocks the thread. If the test has failed, its end is gone and the thread is free.
    fn hold(&self, inside: impl FnOnce()) {
        self.events.send(Event::Entered).ok();
        inside();
        self.open.lock().unwrap().recv_timeout(GUARD).ok();
        self.events.send(Event::Left).ok();
    }
}

/// What an author must not do.
#[tool]
async fn block(gate: web::Data<Gate>) -> &'static str {
    gate.hold(|| ());
    "let go"
}

/// What an author does.
#[tool]
async fn offload(gate: web::Data<Gate>, progress: Progress) -> Result<&'static str, String> {
    let work = move || gate.hold(|| progress.try_report(1).expect("the call runs"));
    web::block(work).await.map_err(|err| err.to_string())?;
    Ok("let go")
}

/// The test's end.
pub(crate) struct Held {
    events: events::UnboundedReceiver<Event>,
    open: mpsc::Sender<()>,
}

impl Held {
    /// Adds `block` and `offload` to a server.
    pub(crate) fn on(server: ServerBuilder) -> (Server, Self) {
        let (events_in, events) = events::unbounded_channel();
        let (open, opened) = mpsc::channel();
        let gate = Arc::new(Gate { events: events_in, open: Mutex::new(opened) });
        (server.tool(block).tool(offload).data_arc(gate).build(), Self { events, open })
    }

    async fn event(&mut self) -> Event {
        timeout(GUARD, self.events.recv()).await.expect("nothing happens").expect("the tools are there")
    }

    /// Waits until one more tool holds its thread.
    pub(crate) async fn entered(&mut self) {
        assert_eq!(self.event().await, Event::Entered);
    }

    /// Asserts that all still hold their threads, and none more.
    pub(crate) fn assert_held(&mut self) {
        assert_eq!(self.events.try_recv(), Err(events::error::TryRecvError::Empty));
    }

    /// Lets so many go, and waits until they have left.
    pub(crate) async fn let_go(&mut self, tools: usize) {
        for _ in 0..tools {
            self.open.send(()).unwrap();
        }
        for _ in 0..tools {
            assert_eq!(self.event().await, Event::Left);
        }
    }
}
