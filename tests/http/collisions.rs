//! A cancel, a disconnect, a shutdown and the end of the handler meet on one running call, in every order.
//!
//! Each step is taken when the one before has had all its effects; what the handler noted shows that. A second call under
//! the same id starts as soon as the id is free, and runs on beside what is left of the first. In `in_between` the second
//! step comes while the first still has its effects. `tests/wire/collisions.rs` has the same on a pipe.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::{
    Server,
    testing::{paused, settle},
};
use actix_web::rt::{spawn, task::JoinHandle, time::sleep};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Connection, Request},
    collided::{
        Event::{self, Cancel, Cut, Disconnect, Finish, Shutdown},
        Model, Note, Outcome, Rules, Stage, all_orders, answers, own, shut_down, staged,
    },
    fixture,
    served::{Client, Served, message, modern},
    turns::turns,
};

/// The id of both calls.
const ID: &str = "one id";

/// How a call is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    rules: Rules,
    /// Whether it has a stream from its beginning; otherwise its answer is awaited as JSON.
    streams: bool,
}

const SESSION: [Form; 4] = forms(true);
const EXCHANGE: [Form; 4] = forms(false);

const fn forms(by_notice: bool) -> [Form; 4] {
    let listening = Rules { by_notice, by_going: !by_notice, half: false, grace: true };
    let unaware = Rules { grace: false, ..listening };
    [
        Form { rules: listening, streams: true },
        Form { rules: listening, streams: false },
        Form { rules: unaware, streams: true },
        Form { rules: unaware, streams: false },
    ]
}

impl Form {
    /// Whether the call is one of a session; otherwise it is an exchange of its own, as from 2026-07-28 on.
    fn in_session(self) -> bool {
        self.rules.by_notice
    }
}

/// A server, the call `first` that runs there, and perhaps the call `second` under the same id.
struct Collision {
    form: Form,
    server: Server,
    stage: Stage,
    served: Served,
    client: Client,
    first: Option<Connection>,
    second: Option<Connection>,
    /// What the client of the first call has read.
    text: String,
    shutdown: Option<JoinHandle<Duration>>,
}

impl Collision {
    async fn new(form: Form) -> Self {
        let (server, stage) = staged(fixture::builder());
        let served = Served::new(&server).await;
        let client = Client::open(&served, "2025-11-25").await;
        let mut collision = Self {
            form,
            server,
            stage,
            served,
            client,
            first: None,
            second: None,
            text: String::new(),
            shutdown: None,
        };
        collision.first = Some(collision.start("first").await);
        settle().await;
        assert_eq!(collision.stage.notes("first"), [Note::Started]);
        collision
    }

    fn request(&self, name: &str) -> Request {
        let arguments = json!({ "name": name, "talks": self.form.streams });
        let params = json!({ "name": self.form.rules.tool(), "arguments": arguments, "_meta": { "progressToken": name } });
        let request = if self.form.in_session() {
            self.client.request(&message(ID, "tools/call", params))
        } else {
            modern(ID, "tools/call", params)
        };
        if self.form.streams { request } else { request.set("Accept", "application/json") }
    }

    async fn start(&self, name: &str) -> Connection {
        let mut connection = self.served.connect();
        connection.send(&self.request(name)).await;
        connection
    }

    /// Does it, and waits for nothing.
    async fn act(&mut self, event: Event) {
        match event {
            Cancel => {
                let params = json!({ "requestId": ID });
                let message =
                    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                let request = if self.form.in_session() {
                    self.client.request(&message)
                } else {
                    Request::post(message).header("MCP-Protocol-Version", "2026-07-28")
                };
                let mut connection = self.served.connect();
                connection.send(&request).await;
                // dropped once the server has read it, without waiting for that here
                spawn(async move { drop(connection.response().await) });
            }
            Disconnect => self.first.as_mut().unwrap().finish().await,
            Shutdown => self.shutdown = Some(shut_down(&self.server)),
            Cut => sleep(Duration::from_millis(5001)).await,
            Finish => self.stage.finish("first"),
        }
    }

    /// Closes the client's end, and reads what was sent until the server closes its own, which it does at once.
    async fn hang_up(&mut self) {
        let Some(mut first) = self.first.take() else { return };
        let start = Instant::now();
        // the client may have closed it before
        first.finish().await;
        self.text += &String::from_utf8(first.closed().await).unwrap();
        assert!(start.elapsed() < Duration::from_millis(5), "noticed only after {:?}", start.elapsed());
    }

    /// Takes one step and asserts that it had its effects.
    async fn step(&mut self, event: Event, model: &mut Model, what: &str) {
        self.stage.note("first", Note::Test(event));
        self.act(event).await;
        settle().await;
        if event == Disconnect {
            self.hang_up().await;
        }
        model.happens(event);
        assert_eq!(self.stage.notes("first"), model.notes, "{what} after {event:?}");
        let reads = usize::from(self.form.streams && model.live && model.connected);
        let (second, second_reads) = match &self.second {
            Some(_) => (1, usize::from(self.form.streams)),
            None => (0, 0),
        };
        let stats = self.server.stats();
        let expected = (usize::from(model.running) + second, reads + second_reads);
        assert_eq!((stats.in_flight, stats.streams), expected, "{what} after {event:?}");
    }

    /// Starts the second call, if the rules say that its id is free, and has it refused otherwise.
    async fn start_second(&mut self, model: &Model, to_come: &[Event], what: &str) {
        let session = self.form.in_session();
        // a cancel that is to come would name the second call
        let spoiled = session && !model.live && to_come.contains(&Cancel);
        if self.second.is_some() || model.draining || spoiled {
            return;
        }
        let connection = self.start("second").await;
        if session && model.live {
            let refused = connection.response().await.expect(409).await.json().await;
            assert_eq!(refused["id"], ID, "{what}");
            return;
        }
        settle().await;
        assert_eq!(self.stage.notes("second"), [Note::Started], "{what}");
        self.second = Some(connection);
    }

    /// Lets the second call return: its client gets its own answer, and nothing of the first.
    async fn finish_second(&mut self, what: &str) {
        let Some(mut second) = self.second.take() else { return };
        self.stage.finish("second");
        settle().await;
        assert_eq!(self.stage.notes("second"), [Note::Started, Note::Finished], "{what}");
        second.finish().await;
        let text = String::from_utf8(second.closed().await).unwrap();
        assert_eq!((answers(&text, "second"), text.matches(ID).count()), ((1, 0), 1), "{what}: {text}");
        assert!(!text.contains("first"), "{what}: {text}");
    }

    /// What became of the first call's answer; afterwards the server has nothing left.
    async fn end(&mut self, what: &str) -> (Outcome, u64) {
        self.finish_second(what).await;
        let drained = match self.shutdown.take() {
            // a grace begins some milliseconds before the shutdown that waits for it
            Some(shutdown) => (shutdown.await.unwrap() + Duration::from_millis(100)).as_secs(),
            None => 0,
        };
        sleep(Duration::from_secs(3)).await;
        let gone = self.first.is_none();
        self.hang_up().await;
        let text = std::mem::take(&mut self.text);
        assert!(!text.contains("second"), "{what}: {text}");
        let mut outcome = match (answers(&text, "first"), gone) {
            ((1, 0), _) => Outcome::Answered,
            ((0, 1), _) => Outcome::Stopped,
            ((0, 0), _) => Outcome::Never,
            (more, _) => panic!("{what}: {more:?} answers: {text}"),
        };
        let answered = usize::from(outcome != Outcome::Never);
        assert_eq!(text.matches(ID).count(), answered, "{what}: {text}");
        if let Some(messages) = self.come_back(&text, what).await {
            let rest = messages.iter().map(Value::to_string).collect::<String>();
            assert_eq!((answered, answers(&rest, "first")), (0, (1, 0)), "{what}: {rest}");
            assert!(messages.last().is_some_and(|last| last["id"] == ID), "{what}: {rest}");
            outcome = Outcome::Kept;
        }
        if !self.server_is_down() {
            self.start_third(what).await;
            self.client.delete().await.expect(204).await;
        }
        settle().await;
        assert_eq!(self.server.stats(), Default::default(), "{what}");
        (outcome, drained)
    }

    fn server_is_down(&self) -> bool {
        self.stage.notes("first").contains(&Note::Test(Shutdown))
    }

    /// The client comes back to the first call's stream, where it had one; `None` if there is nothing more.
    async fn come_back(&self, text: &str, what: &str) -> Option<Vec<Value>> {
        let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back()?;
        let response = self.client.resume(last).await;
        if response.status != 200 {
            let expected = if self.server_is_down() { 404 } else { 400 };
            assert_eq!(response.status, expected, "{what}");
            return None;
        }
        Some(response.messages().await)
    }

    /// Whatever has happened, the id is free in the end.
    async fn start_third(&self, what: &str) {
        let third = self.start("third").await;
        settle().await;
        self.stage.finish("third");
        let answer = third.response().await.expect(200).await.answer().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(ID), &json!(own("third"))),
            "{what}"
        );
    }
}

/// Takes the steps one after the other, and asserts everything that the model says; what became of the answer.
async fn in_order(form: Form, order: &[Event]) -> Outcome {
    let what = format!("{order:?} in {form:?}");
    let mut collision = Collision::new(form).await;
    let mut model = Model::new(form.rules);
    for (nth, event) in order.iter().enumerate() {
        if *event == Cut {
            collision.finish_second(&what).await;
        }
        collision.step(*event, &mut model, &what).await;
        collision.start_second(&model, &order[nth + 1..], &what).await;
    }
    model.rests();
    let (outcome, drained) = collision.end(&what).await;
    assert_eq!(collision.stage.notes("first"), model.notes, "{what}");
    assert_eq!(outcome, expected(form, &model), "{what}");
    if model.draining {
        assert_eq!(drained, model.drain, "{what}: the shutdown took another time");
    }
    outcome
}

fn by_the_rules(form: Form, order: &[Event]) -> Outcome {
    let mut model = Model::new(form.rules);
    order.iter().for_each(|event| model.happens(*event));
    model.rests();
    expected(form, &model)
}

/// What the client can see of what the model says.
fn expected(form: Form, model: &Model) -> Outcome {
    match model.outcome() {
        Outcome::Kept if form.streams => Outcome::Kept,
        Outcome::Kept | Outcome::Lost => Outcome::Never,
        outcome @ (Outcome::Answered | Outcome::Stopped | Outcome::Never) => outcome,
    }
}

/// Makes a test of each order: it is taken in these forms, and this becomes of the answer.
macro_rules! orders {
    ($($name:ident: $forms:expr, $order:expr => $outcome:expr;)*) => {
        $(
            #[actix_web::test]
            async fn $name() {
                paused();
                for form in $forms {
                    let kept = $outcome == Outcome::Kept && !form.streams;
                    let outcome = if kept { Outcome::Never } else { $outcome };
                    assert_eq!(in_order(form, &$order).await, outcome, "{form:?}");
                }
            }
        )*
    };
}

// 2025-11-25: a disconnect stops nothing, and what was not read of a stream waits for a client that comes back to it
orders! {
    a_call_that_returns_after_its_cancel_is_not_answered:
        SESSION, [Cancel, Finish] => Outcome::Never;
    a_cancel_after_the_answer_changes_nothing:
        SESSION, [Finish, Cancel] => Outcome::Answered;
    a_client_that_cancels_and_goes_leaves_nothing:
        SESSION, [Cancel, Disconnect] => Outcome::Never;
    a_client_that_has_gone_can_still_cancel:
        SESSION, [Disconnect, Cancel] => Outcome::Never;
    a_shutdown_waits_for_the_grace_of_a_cancelled_call:
        SESSION, [Cancel, Shutdown] => Outcome::Never;
    a_cancel_during_a_shutdown_leaves_only_the_grace_to_wait_for:
        SESSION, [Shutdown, Cancel] => Outcome::Never;
    an_answer_to_a_client_that_has_gone_waits_for_it:
        SESSION, [Disconnect, Finish] => Outcome::Kept;
    a_client_that_goes_after_the_answer_has_read_it:
        SESSION, [Finish, Disconnect] => Outcome::Answered;
    a_call_whose_client_has_gone_is_stopped_by_a_shutdown:
        SESSION, [Disconnect, Shutdown] => Outcome::Never;
    a_client_that_goes_during_a_shutdown_does_not_shorten_it:
        SESSION, [Shutdown, Disconnect] => Outcome::Never;
    a_call_that_returns_before_a_shutdown_has_its_own_answer:
        SESSION, [Finish, Shutdown] => Outcome::Answered;
    a_call_that_returns_during_a_shutdown_has_its_own_answer_and_ends_it:
        SESSION, [Shutdown, Finish] => Outcome::Answered;
    a_call_that_returns_after_it_was_stopped_is_not_answered_twice:
        SESSION, [Shutdown, Cut, Finish] => Outcome::Stopped;
    a_cancel_after_a_call_was_stopped_changes_nothing:
        SESSION, [Shutdown, Cut, Cancel] => Outcome::Stopped;
    a_client_that_goes_after_its_call_was_stopped_has_read_why:
        SESSION, [Shutdown, Cut, Disconnect] => Outcome::Stopped;
    a_call_that_returns_during_a_shutdown_after_its_client_has_gone_answers_nobody:
        SESSION, [Disconnect, Shutdown, Finish] => Outcome::Never;
}

// 2026-07-28: a client cancels by going, and a notification cancels nothing
orders! {
    a_call_of_its_own_that_returns_after_its_client_has_gone_answers_nobody:
        EXCHANGE, [Disconnect, Finish] => Outcome::Never;
    a_client_that_goes_after_the_answer_to_a_call_of_its_own_has_read_it:
        EXCHANGE, [Finish, Disconnect] => Outcome::Answered;
    a_shutdown_waits_for_the_grace_of_a_call_of_its_own_whose_client_has_gone:
        EXCHANGE, [Disconnect, Shutdown] => Outcome::Never;
    a_client_of_a_call_of_its_own_that_goes_during_a_shutdown_leaves_only_the_grace_to_wait_for:
        EXCHANGE, [Shutdown, Disconnect] => Outcome::Never;
    a_call_of_its_own_that_returns_before_a_shutdown_has_its_own_answer:
        EXCHANGE, [Finish, Shutdown] => Outcome::Answered;
    a_call_of_its_own_that_returns_during_a_shutdown_has_its_own_answer_and_ends_it:
        EXCHANGE, [Shutdown, Finish] => Outcome::Answered;
    a_call_of_its_own_that_returns_after_it_was_stopped_is_not_answered_twice:
        EXCHANGE, [Shutdown, Cut, Finish] => Outcome::Stopped;
    a_client_that_goes_after_its_call_of_its_own_was_stopped_has_read_why:
        EXCHANGE, [Shutdown, Cut, Disconnect] => Outcome::Stopped;
    a_notification_cancels_no_call_of_its_own:
        EXCHANGE, [Cancel, Finish] => Outcome::Answered;
    a_notification_after_the_answer_to_a_call_of_its_own_changes_nothing:
        EXCHANGE, [Finish, Cancel] => Outcome::Answered;
    a_notification_leaves_a_call_of_its_own_to_a_shutdown:
        EXCHANGE, [Cancel, Shutdown] => Outcome::Stopped;
    a_notification_during_a_shutdown_stops_no_call_of_its_own:
        EXCHANGE, [Shutdown, Cancel, Finish] => Outcome::Answered;
}

#[actix_web::test]
async fn in_every_order_of_all_four_the_rules_hold() {
    paused();
    let mut count = 0;
    for form in [SESSION, EXCHANGE].concat() {
        for order in all_orders().iter().filter(|order| ends(form, order)) {
            in_order(form, order).await;
            count += 1;
        }
    }
    println!("{count} orders");
    assert!(count > 400, "{count}");
}

/// Whether the call ends by what happens in this order.
fn ends(form: Form, order: &[Event]) -> bool {
    let mut model = Model::new(form.rules);
    order.iter().for_each(|event| model.happens(*event));
    !model.live || model.draining
}

/// Takes the second step so many turns of the executor after the first, whatever that has done by then. What became of the
/// answer, and whether the handler had seen by then what the first step does to it, if that is anything.
async fn in_between(form: Form, [one, two]: [Event; 2], between: u32) -> (Outcome, Option<bool>) {
    let what = format!("{two:?} {between} turns after {one:?} in {form:?}");
    let mut model = Model::new(form.rules);
    model.happens(one);
    let sees = model.notes.get(2).copied();
    let mut collision = Collision::new(form).await;
    collision.act(one).await;
    turns(between).await;
    let seen = sees.map(|sees| collision.stage.notes("first").contains(&sees));
    collision.act(two).await;
    settle().await;
    if [one, two].contains(&Disconnect) {
        collision.hang_up().await;
    }
    collision.stage.note("first", Note::Test(two));
    model.happens(two);
    collision.start_second(&model, &[], &what).await;
    if [one, two].contains(&Shutdown) {
        collision.stage.note("first", Note::Test(Shutdown));
    }
    let (outcome, _) = collision.end(&what).await;
    let notes = collision.stage.notes("first");
    // whatever comes first, the handler ends once, and learns of it once at most
    let count = |note| notes.iter().filter(|noted| **noted == note).count();
    assert_eq!(count(Note::Finished) + count(Note::Dropped), 1, "{what}: {notes:?}");
    assert!(count(Note::Told) <= 1, "{what}: {notes:?}");
    (outcome, seen)
}

#[actix_web::test]
async fn whenever_a_step_comes_while_another_has_its_effects_the_outcome_is_that_of_one_of_their_orders() {
    paused();
    // spawned, so that it takes its turns with what it races
    let raced = spawn(async {
        let mut overtaken = 0;
        for form in [SESSION, EXCHANGE].concat() {
            let pairs = all_orders().into_iter().filter(|order| ends(form, order));
            for pair in pairs.filter_map(|order| <[Event; 2]>::try_from(order).ok()) {
                let [forth, back] = [pair, [pair[1], pair[0]]].map(|order| by_the_rules(form, &order));
                let mut all_seen = Vec::new();
                for between in 0..TURNS {
                    let (outcome, seen) = in_between(form, pair, between).await;
                    let what = format!("{outcome:?} {between} turns between {pair:?} in {form:?}");
                    assert!([forth, back].contains(&outcome), "{what}");
                    assert!(outcome == forth || between < TURNS - 1, "the first was not over: {what}");
                    overtaken += usize::from(outcome != forth);
                    all_seen.extend(seen);
                }
                let ends = [all_seen.first(), all_seen.last()].map(Option::<&bool>::copied);
                let met = [[None, None], [Some(false), Some(true)]].contains(&ends);
                assert!(met, "{pair:?} in {form:?} did not meet: {all_seen:?}");
            }
        }
        overtaken
    });
    assert!(raced.await.unwrap() > 0, "no step ever overtook another");
}

/// By then, every step has had its effects.
const TURNS: u32 = 10;
