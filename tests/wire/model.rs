//! Two sessions of one server against a model of them: whatever their clients and handlers do, in whatever order, every
//! message goes to the request that caused it, and every request is taken exactly once.
//!
//! The model says what the client of each call must have been sent; the system is the real session actor on paused time.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{future::Future, pin::Pin, time::Duration};

use actix_mcp::{
    Server,
    stats::Snapshot,
    testing::{Disposition, Posts, ResponseHead, Stream},
};
use futures_util::FutureExt;
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, RngSeed},
};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::LocalSet};

use crate::puppet::{Act, Puppet, Puppets, server_with};

/// Wire ids: few, so that they collide.
const IDS: i64 = 3;
const REPLAY: Duration = Duration::from_secs(86_400 * 365);

#[derive(Clone, Debug)]
enum Step {
    Admit { session: usize, id: i64 },
    Report { call: usize },
    Ask { call: usize },
    Answer { call: usize, by: By },
    Cancel { session: usize, id: i64 },
    Finish { call: usize },
    Panic { call: usize },
    ClosesStream { call: usize },
    Break { call: usize },
    Resume { call: usize },
    Wait(Duration),
    Delete { session: usize },
    Open { session: usize },
}

/// Who answers a question, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    TheClient,
    TheOtherSession,
    AWrongId,
}

/// What the client of a call is sent.
#[derive(Clone, Debug, PartialEq)]
enum Sent {
    Report(u32),
    Question,
    QuestionOff,
    Answer,
    Error,
}

#[derive(Clone, Debug)]
struct Call {
    session: usize,
    /// Which of the sessions that stood in this place.
    age: usize,
    id: i64,
    live: bool,
    /// It waits for the answer to its question.
    asks: bool,
    /// The client has seen that question, and can answer it.
    knows: bool,
    /// The client has a connection, be it without a head.
    reads: bool,
    /// The call has a stream to come back to.
    committed: bool,
    /// The client has seen no event of that stream.
    lost: bool,
    reports: u32,
    sent: Vec<Sent>,
}

#[derive(Clone, Debug, Default)]
struct Model {
    open: [bool; 2],
    age: [usize; 2],
    calls: Vec<Call>,
    admitted: u64,
    waits: usize,
    /// What the last step's request was to be told, if it was one.
    refused: Option<bool>,
}

impl Model {
    fn owner(&self, session: usize, id: i64) -> Option<usize> {
        self.calls.iter().position(|call| call.live && call.session == session && call.id == id)
    }

    fn live(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.live)
    }

    fn end_session(&mut self, session: usize) {
        self.open[session] = false;
        for call in self.calls.iter_mut().filter(|call| call.session == session) {
            call.live = false;
            call.asks = false;
        }
    }
}

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { open: [true; 2], ..Self::default() }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        let any_session = (0..2_usize, 0..IDS);
        let mut steps = vec![
            (6, any_session.clone().prop_map(|(session, id)| Step::Admit { session, id }).boxed()),
            (2, any_session.prop_map(|(session, id)| Step::Cancel { session, id }).boxed()),
            (1, select(vec![61, 1801]).prop_map(|secs| Step::Wait(Duration::from_secs(secs))).boxed()),
            (1, (0..2_usize).prop_map(|session| Step::Delete { session }).boxed()),
            (2, (0..2_usize).prop_map(|session| Step::Open { session }).boxed()),
        ];
        if !model.calls.is_empty() {
            let call = 0..model.calls.len();
            let by = select(vec![By::TheClient, By::TheClient, By::TheOtherSession, By::AWrongId]);
            steps.extend([
                (8, call.clone().prop_map(|call| Step::Report { call }).boxed()),
                (4, call.clone().prop_map(|call| Step::Ask { call }).boxed()),
                (6, (call.clone(), by).prop_map(|(call, by)| Step::Answer { call, by }).boxed()),
                (5, call.clone().prop_map(|call| Step::Finish { call }).boxed()),
                (1, call.clone().prop_map(|call| Step::Panic { call }).boxed()),
                (2, call.clone().prop_map(|call| Step::ClosesStream { call }).boxed()),
                (4, call.clone().prop_map(|call| Step::Break { call }).boxed()),
                (6, call.prop_map(|call| Step::Resume { call }).boxed()),
            ]);
        }
        prop::strategy::Union::new_weighted(steps).boxed()
    }

    fn preconditions(model: &Self, step: &Step) -> bool {
        let call = |call: usize| model.calls.get(call);
        match *step {
            Step::Admit { session, .. } | Step::Cancel { session, .. } | Step::Delete { session } => {
                model.open[session]
            }
            Step::Open { session } => !model.open[session],
            // what is given to a handler that waits or has ended would be done at another time than the model thinks
            Step::Report { call: at }
            | Step::Ask { call: at }
            | Step::Finish { call: at }
            | Step::Panic { call: at }
            | Step::ClosesStream { call: at } => call(at).is_some_and(|call| call.live && !call.asks),
            Step::Answer { call: at, .. } => {
                call(at).is_some_and(|call| call.live && call.asks && call.knows)
            }
            Step::Break { call: at } => call(at).is_some(),
            Step::Resume { call: at } => {
                call(at).is_some_and(|call| model.open[call.session] && model.age[call.session] == call.age)
            }
            // short of what together would be the idle time
            Step::Wait(_) => model.waits < 20,
        }
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        model.refused = None;
        match *step {
            Step::Admit { session, id } => {
                let refused = model.owner(session, id).is_some();
                model.refused = Some(refused);
                if !refused {
                    let age = model.age[session];
                    model.admitted += 1;
                    model.calls.push(Call {
                        session,
                        age,
                        id,
                        live: true,
                        asks: false,
                        knows: false,
                        reads: true,
                        committed: false,
                        lost: false,
                        reports: 0,
                        sent: Vec::new(),
                    });
                }
            }
            Step::Report { call } => {
                let call = &mut model.calls[call];
                call.committed = true;
                call.reports += 1;
                call.sent.push(Sent::Report(call.reports));
            }
            Step::Ask { call } => {
                let call = &mut model.calls[call];
                call.committed = true;
                call.asks = true;
                call.knows = call.reads;
                call.sent.push(Sent::Question);
            }
            Step::Answer { call, by } => model.calls[call].asks = by != By::TheClient,
            Step::Cancel { session, id } => {
                if let Some(call) = model.owner(session, id) {
                    let call = &mut model.calls[call];
                    call.live = false;
                    if std::mem::take(&mut call.asks) {
                        call.sent.push(Sent::QuestionOff);
                    }
                }
            }
            Step::Finish { call } | Step::Panic { call } => {
                model.calls[call].live = false;
                let answer = if matches!(step, Step::Finish { .. }) { Sent::Answer } else { Sent::Error };
                model.calls[call].sent.push(answer);
            }
            Step::Wait(time) => {
                model.waits += 1;
                for call in &mut model.calls {
                    call.committed |= call.live;
                    if std::mem::take(&mut call.asks) {
                        call.sent.push(Sent::QuestionOff);
                    }
                }
                for session in 0..2 {
                    let busy = model.live().any(|call| call.session == session);
                    if time >= Duration::from_secs(1800) && !busy {
                        model.end_session(session);
                    }
                }
            }
            Step::Delete { session } => model.end_session(session),
            Step::Open { session } => {
                model.open[session] = true;
                model.age[session] += 1;
            }
            Step::ClosesStream { call } => {
                model.calls[call].committed = true;
                model.calls[call].reads = false;
            }
            Step::Break { call } => {
                let call = &mut model.calls[call];
                call.lost |= !call.committed;
                call.reads = false;
            }
            Step::Resume { call } => {
                let call = &mut model.calls[call];
                call.reads |= call.committed && !call.lost;
                call.knows |= call.reads && call.asks;
            }
        }
        model
    }
}

/// The client's side of one call.
struct Client {
    puppet: Puppet,
    /// The wire id, which is the progress token, too.
    id: i64,
    reading: Reading,
    /// The event it has seen last: stream and place.
    last: Option<(u64, u64)>,
    /// The wire id of its last question.
    question: Value,
    received: Vec<Sent>,
}

enum Reading {
    Head(Pin<Box<dyn Future<Output = Option<ResponseHead>>>>),
    Stream(Stream),
    /// Disconnected: what it misses may be fetched.
    Broken,
    /// Disconnected before it saw an event, so that there is nothing to come back to.
    Lost,
    Ended,
}

impl Client {
    /// Takes all there is to take now, and looks at each piece.
    fn read(&mut self) {
        if let Reading::Head(head) = &mut self.reading
            && let Some(head) = head.as_mut().now_or_never()
        {
            self.reading = match head.expect("a head that is dropped is told") {
                ResponseHead::Events(events) => Reading::Stream(events.into()),
                ResponseHead::Json { json, disposition } => {
                    assert_ne!(disposition, Disposition::Duplicate);
                    self.receive(&serde_json::from_slice(&json).unwrap());
                    Reading::Ended
                }
                ResponseHead::Cancelled | ResponseHead::Ended => Reading::Ended,
            };
        }
        while let Reading::Stream(stream) = &mut self.reading {
            let Some(event) = stream.next().now_or_never() else { break };
            let Some(event) = event else {
                self.reading = Reading::Broken;
                break;
            };
            let id = event.id.expect("an event has an id");
            let (stream, place) = id.split_once('-').unwrap();
            let id = (stream.parse().unwrap(), place.parse().unwrap());
            if event.message.is_null() && self.last == Some(id) {
                // a resumed stream begins with where it was resumed from
                continue;
            }
            let expected = self.last.map_or((id.0, 0), |(stream, place)| (stream, place + 1));
            assert_eq!(id, expected, "events are numbered on their own stream, without gaps");
            self.last = Some(id);
            if !event.message.is_null() {
                self.receive(&event.message);
            }
        }
    }

    /// Notes a message, if it is this call's.
    fn receive(&mut self, message: &Value) {
        let key = self.puppet.key.to_string();
        let sent = match message["method"].as_str() {
            Some("notifications/progress") => {
                assert_eq!(message["params"]["progressToken"], self.puppet.key, "foreign progress");
                Sent::Report(message["params"]["progress"].as_u64().unwrap().try_into().unwrap())
            }
            Some("elicitation/create") => {
                assert_eq!(message["params"]["message"], key, "a foreign question");
                self.question = message["id"].clone();
                Sent::Question
            }
            Some("notifications/cancelled") => {
                assert_eq!(message["params"]["requestId"], self.question, "the end of a foreign question");
                Sent::QuestionOff
            }
            Some(other) => panic!("{other} was not expected"),
            None => {
                assert_eq!(message["id"], self.id, "a foreign answer");
                if message.get("error").is_some() {
                    assert_eq!(message["error"]["code"], -32603);
                    Sent::Error
                } else {
                    assert_eq!(message["result"]["content"][0]["text"], key, "a foreign answer");
                    Sent::Answer
                }
            }
        };
        self.received.push(sent);
    }
}

struct System {
    sessions: [Posts; 2],
    clients: Vec<Client>,
    server: Server,
    puppets: Puppets,
    // dropped last: what is above belongs to it
    local: LocalSet,
    runtime: Runtime,
}

impl System {
    fn step(&mut self, model: &Model, step: &Step) {
        match *step {
            Step::Admit { session, id } => {
                let puppet = self.puppets.make();
                let params = json!({
                    "name": "puppet", "arguments": puppet.arguments(), "_meta": { "progressToken": puppet.key },
                });
                let request = async { self.sessions[session].request(id, "tools/call", params) };
                let exchange = self.local.block_on(&self.runtime, request);
                let mut reading = Reading::Head(Box::pin(exchange.head()));
                if model.refused == Some(true) {
                    self.settle();
                    let Reading::Head(head) = &mut reading else { unreachable!() };
                    let head = head.as_mut().now_or_never().expect("a duplicate is refused at once");
                    assert!(
                        matches!(head, Some(ResponseHead::Json { disposition: Disposition::Duplicate, .. })),
                        "{head:?}"
                    );
                    assert!(!puppet.started(), "a duplicate ran");
                    return;
                }
                let (last, question, received) = (None, Value::Null, Vec::new());
                self.clients.push(Client { puppet, id, reading, last, question, received });
            }
            Step::Report { call } => self.clients[call].puppet.act(Act::Report(model.calls[call].reports)),
            Step::Ask { call } => self.clients[call].puppet.act(Act::Ask),
            Step::Finish { call } => self.clients[call].puppet.act(Act::Finish),
            Step::Panic { call } => self.clients[call].puppet.act(Act::Panic),
            Step::ClosesStream { call } => self.clients[call].puppet.act(Act::CloseStream),
            Step::Answer { call, by } => {
                let id = self.clients[call].question.clone();
                let session = model.calls[call].session;
                let result = json!({ "action": "accept", "content": { "x": "yes" } });
                match by {
                    By::TheClient => self.sessions[session].answer(&id, result),
                    By::AWrongId => self.sessions[session].answer(&json!(1_000_000), result),
                    // an id of that other session may be open there, too, and then it is its own
                    By::TheOtherSession if self.is_asked(model, 1 - session, &id) => {}
                    By::TheOtherSession => self.sessions[1 - session].answer(&id, result),
                }
            }
            Step::Cancel { session, id } => self.sessions[session].cancel(id),
            Step::Break { call } => {
                let client = &mut self.clients[call];
                client.reading = match (&client.reading, client.last) {
                    (Reading::Ended, _) => Reading::Ended,
                    (_, None) => Reading::Lost,
                    (_, Some(_)) => Reading::Broken,
                };
            }
            Step::Resume { call } => self.resume(model, call),
            Step::Wait(time) => {
                // read on in between, or the streams would stand still
                let turn = Duration::from_secs(20);
                let mut left = time;
                while left > Duration::ZERO {
                    let part = left.min(turn);
                    self.local.block_on(&self.runtime, async { tokio::time::sleep(part).await });
                    self.read();
                    left -= part;
                }
            }
            Step::Delete { session } => self.sessions[session].close(),
            Step::Open { session } => {
                let opened = Posts::connect(&self.server, "2025-11-25");
                self.sessions[session] = self.local.block_on(&self.runtime, opened);
            }
        }
    }

    fn is_asked(&self, model: &Model, session: usize, id: &Value) -> bool {
        let asked = model.calls.iter().zip(&self.clients);
        asked
            .into_iter()
            .any(|(call, client)| call.session == session && call.live && call.asks && client.question == *id)
    }

    fn resume(&mut self, model: &Model, call: usize) {
        let (expected, client) = (&model.calls[call], &mut self.clients[call]);
        let Some((stream, place)) = client.last else { return };
        let last = format!("{stream}-{place}");
        let resumed = self.local.block_on(&self.runtime, self.sessions[expected.session].resume(&last));
        let missed = expected.sent.len() > client.received.len();
        assert_eq!(resumed.is_some(), expected.live || missed, "resume after {last}");
        if let Some(stream) = resumed {
            client.reading = Reading::Stream(stream);
        }
    }

    /// Lets every client read what there is for it; on the clock of the runtime.
    fn read(&mut self) {
        let read = async { self.clients.iter_mut().for_each(Client::read) };
        self.local.block_on(&self.runtime, read);
    }

    /// Lets everything run that can.
    fn settle(&self) {
        self.local.block_on(&self.runtime, actix_mcp::testing::settle());
    }
}

impl StateMachineTest for System {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(_: &Model) -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let local = LocalSet::new();
        let (server, puppets) = server_with(|limits| limits.session.replay.life = REPLAY);
        let connect = async {
            [Posts::connect(&server, "2025-11-25").await, Posts::connect(&server, "2025-11-25").await]
        };
        let sessions = local.block_on(&runtime, connect);
        Self { sessions, clients: Vec::new(), server, puppets, local, runtime }
    }

    fn apply(mut system: Self, model: &Model, step: Step) -> Self {
        system.step(model, &step);
        system.settle();
        system.read();
        system.settle();
        system
    }

    fn check_invariants(system: &Self, model: &Model) {
        assert_eq!(system.clients.len(), model.calls.len());
        let mut streams = 0;
        for (client, call) in system.clients.iter().zip(&model.calls) {
            assert!(client.puppet.started(), "every admitted request runs");
            assert_eq!(client.puppet.gone(), !call.live, "it runs until it is taken, and no longer");
            match client.reading {
                Reading::Stream(_) => {
                    streams += 1;
                    assert!(call.live, "a stream ends with its call");
                    assert_eq!(client.received, call.sent);
                }
                Reading::Head(_) => {
                    assert!(call.live, "a request that was taken has a head");
                    assert_eq!((client.received.len(), call.sent.len()), (0, 0), "what is said commits");
                }
                Reading::Ended | Reading::Broken | Reading::Lost => {
                    assert!(call.sent.starts_with(&client.received), "{:?}", client.received);
                }
            }
        }
        let open = model.open.iter().filter(|open| **open).count();
        let mut expected = Snapshot::default();
        (expected.sessions, expected.in_flight, expected.streams) = (open, model.live().count(), streams);
        assert_eq!(system.server.stats(), expected);
        assert_eq!(
            system.server.calls(),
            model.admitted,
            "nothing runs that was not admitted, and nothing twice"
        );
    }

    fn teardown(mut system: Self, model: Model) {
        // whoever lost its stream fetches the rest, once and whole
        for call in 0..model.calls.len() {
            let has_rest = matches!(system.clients[call].reading, Reading::Broken);
            if has_rest && Model::preconditions(&model, &Step::Resume { call }) {
                system.resume(&model, call);
                system.settle();
                system.read();
                assert_eq!(system.clients[call].received, model.calls[call].sent);
            }
        }
        system.sessions.iter().for_each(Posts::close);
        system.settle();
        system.read();
        system.settle();
        assert_eq!(system.server.stats(), Snapshot::default(), "nothing is left");
    }
}

prop_state_machine! {
    #![proptest_config(Config {
        cases: 96,
        // the same cases everywhere; nothing is written into the tree
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        max_shrink_iters: 256,
        ..Config::default()
    })]

    #[test]
    fn every_message_goes_to_the_request_that_caused_it_and_every_request_is_taken_exactly_once(
        sequential 1..60 => System
    );
}
