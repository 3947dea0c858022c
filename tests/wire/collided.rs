//! One running call on which a cancel, a disconnect, a shutdown and its own end meet: the tools that it may be of, what
//! they and the test note, and what the rules say of each order.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    collections::HashMap,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use actix_mcp::prelude::*;
use actix_web::rt::{spawn, task::JoinHandle};
use tokio::{sync::oneshot, time::Instant};

/// What can happen to a call that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The client sends `notifications/cancelled`.
    Cancel,
    /// The client's connection ends.
    Disconnect,
    /// The server begins to shut down.
    Shutdown,
    /// The drain time of the shutdown is over.
    Cut,
    /// The handler returns.
    Finish,
}

use Event::{Cancel, Cut, Disconnect, Finish, Shutdown};

/// What becomes of the call's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client has the handler's own answer.
    Answered,
    /// The client has the error that says that the server shuts down.
    Stopped,
    /// There is no answer: the call was cancelled.
    Never,
    /// The answer waits for a client that comes back to its stream; one that has no stream never sees it.
    Kept,
    /// The answer is for nobody: the client has gone, and so has its session.
    Lost,
}

/// All orders of one or more of the four events, with and without the end of the drain time.
pub(crate) fn all_orders() -> Vec<Vec<Event>> {
    fn grow(order: &mut Vec<Event>, all: &mut Vec<Vec<Event>>) {
        for event in [Cancel, Disconnect, Shutdown, Cut, Finish] {
            if !order.contains(&event) && (event != Cut || order.contains(&Shutdown)) {
                order.push(event);
                all.push(order.clone());
                grow(order, all);
                order.pop();
            }
        }
    }
    let mut all = Vec::new();
    grow(&mut Vec::new(), &mut all);
    all
}

/// What differs by where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Whether `notifications/cancelled` cancels it.
    pub(crate) by_notice: bool,
    /// Whether its client cancels it by disconnecting.
    pub(crate) by_going: bool,
    /// Whether a disconnect ends the client's input alone: the client still reads, and the server ends when nothing runs.
    pub(crate) half: bool,
    /// Whether its handler listens to a cancellation, and so has a grace.
    pub(crate) grace: bool,
}

impl Rules {
    /// The tool that such a call is of.
    pub(crate) fn tool(self) -> &'static str {
        if self.grace { "collided" } else { "collided_unaware" }
    }
}

/// The rules, as a model of one call. Nothing of the server is in here.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    rules: Rules,
    /// It has not been answered, cancelled or stopped: its id is taken.
    pub(crate) live: bool,
    /// Its handler runs, if only for its grace.
    pub(crate) running: bool,
    pub(crate) connected: bool,
    pub(crate) draining: bool,
    /// What the client got, once the call is no longer live.
    taken: Outcome,
    /// What is to be noted, in order.
    pub(crate) notes: Vec<Note>,
    /// How long a shutdown takes, in seconds.
    pub(crate) drain: u64,
}

impl Model {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            live: true,
            running: true,
            connected: true,
            draining: false,
            taken: Outcome::Never,
            notes: vec![Note::Started],
            drain: 0,
        }
    }

    pub(crate) fn happens(&mut self, event: Event) {
        self.notes.push(Note::Test(event));
        match event {
            Cancel if self.rules.by_notice => self.stop(Outcome::Never),
            Cancel => {}
            Disconnect => {
                self.connected = self.rules.half;
                self.draining |= self.rules.half;
                if self.rules.by_going {
                    self.stop(Outcome::Never);
                }
            }
            Shutdown => self.draining = true,
            Cut => {
                self.drain = if self.live { 5 } else { self.drain };
                // it is longer than a grace, which began before it
                if self.live { self.stop(self.reached(Outcome::Stopped)) } else { self.rests() }
            }
            Finish if self.running => {
                if !self.live {
                    self.notes.push(Note::Unheard);
                }
                self.notes.push(Note::Finished);
                self.running = false;
                if self.live {
                    (self.live, self.taken) = (false, self.reached(Outcome::Answered));
                }
            }
            Finish => {}
        }
    }

    /// What comes if nothing else happens.
    pub(crate) fn rests(&mut self) {
        if self.live && self.draining {
            self.drain = 5;
            self.stop(self.reached(Outcome::Stopped));
        } else if self.running && self.draining {
            self.drain = self.drain.max(2);
        }
        if self.running {
            self.notes.push(Note::Dropped);
            self.running = false;
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        // the session ends with a shutdown, and what it kept
        if self.taken == Outcome::Kept && self.draining { Outcome::Lost } else { self.taken }
    }

    /// The call is taken without its own answer; its handler has its grace, or is dropped.
    fn stop(&mut self, outcome: Outcome) {
        if self.live {
            (self.live, self.taken, self.running) = (false, outcome, self.rules.grace);
            self.notes.push(if self.running { Note::Told } else { Note::Dropped });
        }
    }

    fn reached(&self, outcome: Outcome) -> Outcome {
        if self.connected { outcome } else { Outcome::Kept }
    }
}

/// What the test does and what a handler sees, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The handler runs.
    Started,
    /// It learns that its call was cancelled.
    Told,
    /// What it reports before it returns is for nobody.
    Unheard,
    /// It returns.
    Finished,
    /// It was dropped before it returned.
    Dropped,
    /// The test is about to do this.
    Test(Event),
}

/// The calls of one server, by their names: how to let each return, and what was noted.
#[derive(Clone, Default)]
pub(crate) struct Stage(Arc<Mutex<Scenes>>);

#[derive(Default)]
struct Scenes {
    open: HashMap<String, oneshot::Sender<()>>,
    notes: Vec<(String, Note)>,
}

impl Stage {
    pub(crate) fn note(&self, name: &str, note: Note) {
        self.0.lock().unwrap().notes.push((name.to_owned(), note));
    }

    /// What was noted of all calls, with their names.
    pub(crate) fn all(&self) -> Vec<(String, Note)> {
        self.0.lock().unwrap().notes.clone()
    }

    /// What was noted of this call.
    pub(crate) fn notes(&self, name: &str) -> Vec<Note> {
        self.all().into_iter().filter(|(of, _)| of == name).map(|(_, note)| note).collect()
    }

    /// Lets the call of this name return; one that was dropped does not.
    pub(crate) fn finish(&self, name: &str) {
        let open = self.0.lock().unwrap().open.remove(name);
        drop(open.unwrap_or_else(|| panic!("{name} was not started")));
    }

    fn enter(&self, name: &str) -> oneshot::Receiver<()> {
        let (open, opened) = oneshot::channel();
        let before = self.0.lock().unwrap().open.insert(name.to_owned(), open);
        assert!(before.is_none(), "{name} runs twice");
        self.note(name, Note::Started);
        opened
    }
}

/// Notes that a handler was dropped before it returned.
struct Leaving<'a> {
    stage: &'a Stage,
    name: &'a str,
    finished: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.stage.note(self.name, if self.finished { Note::Finished } else { Note::Dropped });
    }
}

/// Runs until the test lets it return, also when it was cancelled.
#[tool]
async fn collided(
    name: String,
    talks: bool,
    stage: web::Data<Stage>,
    progress: Progress,
    cancelled: Cancelled,
) -> String {
    let told = async {
        cancelled.wait().await;
        stage.note(&name, Note::Told);
        pending().await
    };
    play(&name, talks, &stage, &progress, told).await
}

/// The same, but for the cancel, of which it does not hear: it is dropped then.
#[tool]
async fn collided_unaware(name: String, talks: bool, stage: web::Data<Stage>, progress: Progress) -> String {
    play(&name, talks, &stage, &progress, pending()).await
}

/// Reports at its end, and at its beginning if it talks, which gives it a stream; answers with its name.
async fn play(
    name: &str,
    talks: bool,
    stage: &Stage,
    progress: &Progress,
    told: impl Future<Output = ()>,
) -> String {
    let mut leaving = Leaving { stage, name, finished: false };
    let mut opened = stage.enter(name);
    if talks {
        progress.report(1).await.ok();
    }
    tokio::select! {
        // a call that is cancelled and let go in one turn notes both
        biased;
        () = told => {}
        _ = &mut opened => {}
    }
    if progress.report(2).await.is_err() {
        stage.note(name, Note::Unheard);
    }
    leaving.finished = true;
    own(name)
}

/// The text that the call of this name answers with.
pub(crate) fn own(name: &str) -> String {
    format!("answer of {name}")
}

/// Adds the tools to a server.
pub(crate) fn staged(server: ServerBuilder) -> (Server, Stage) {
    let stage = Stage::default();
    (server.tool(collided).tool(collided_unaware).data(stage.clone()).build(), stage)
}

/// Begins to shut the server down; how long that took.
pub(crate) fn shut_down(server: &Server) -> JoinHandle<Duration> {
    let server = server.clone();
    spawn(async move {
        let start = Instant::now();
        server.shutdown().await;
        start.elapsed()
    })
}

/// How often each kind of answer is in what a client has read: the call's own, and the error of a shutdown.
pub(crate) fn answers(text: &str, name: &str) -> (usize, usize) {
    (
        text.matches(&own(name)).count(),
        text.matches("the server is shutting down; the call was stopped").count(),
    )
}
