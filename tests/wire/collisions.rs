//! A cancel, the end of the input, a shutdown and the end of the handler meet on one running call on a pipe, in every order.
//!
//! Each step is taken when the one before has had all its effects; what the handler noted shows that. A second call under
//! the same id starts as soon as the id is free, and runs on beside what is left of the first. Over HTTP:
//! `tests/http/collisions.rs`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, settle},
};
use actix_web::rt::{task::JoinHandle, time::sleep};
use serde_json::json;

use crate::{
    checks::assert_idle,
    collided::{
        Event::{self, Cancel, Cut, Disconnect, Finish, Shutdown},
        Model, Note, Outcome, Rules, Stage, all_orders, answers, shut_down, staged,
    },
    fixture,
};

/// The id of both calls.
const ID: &str = "one id";

const LISTENING: Rules = Rules { by_notice: true, by_going: false, half: true, grace: true };

/// In both eras, with and without a grace.
const PIPES: [Form; 4] = [
    Form { modern: false, rules: LISTENING },
    Form { modern: true, rules: LISTENING },
    Form { modern: false, rules: Rules { grace: false, ..LISTENING } },
    Form { modern: true, rules: Rules { grace: false, ..LISTENING } },
];

/// How a call is served.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Whether it says itself which version it speaks, as from 2026-07-28 on, on a pipe without a handshake.
    modern: bool,
    rules: Rules,
}

/// A server with one client, the call `first` that runs there, and perhaps the call `second` under the same id.
struct Collision {
    form: Form,
    server: Server,
    stage: Stage,
    pipe: Pipe,
    second: bool,
    shutdown: Option<JoinHandle<Duration>>,
}

impl Collision {
    async fn new(form: Form) -> Self {
        let (server, stage) = staged(fixture::builder());
        let pipe = if form.modern { Pipe::open(&server) } else { Pipe::connect(&server, "2025-11-25").await };
        let mut collision = Self { form, server, stage, pipe, second: false, shutdown: None };
        collision.start("first").await;
        collision
    }

    async fn start(&mut self, name: &str) {
        let mut meta = json!({ "progressToken": name });
        if self.form.modern {
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let arguments = json!({ "name": name, "talks": true });
        let params = json!({ "name": self.form.rules.tool(), "arguments": arguments, "_meta": meta });
        self.pipe.request(ID, "tools/call", params).await;
        settle().await;
        assert_eq!(self.stage.notes(name), [Note::Started]);
    }

    /// Takes one step and asserts that it had its effects.
    async fn step(&mut self, event: Event, model: &mut Model, what: &str) {
        self.stage.note("first", Note::Test(event));
        match event {
            Cancel => {
                let params = json!({ "requestId": ID });
                let message =
                    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                // a server that was shut down reads no more
                self.pipe.try_write(format!("{message}\n").as_bytes()).await.ok();
            }
            Disconnect => self.pipe.close().await,
            Shutdown => self.shutdown = Some(shut_down(&self.server)),
            Cut => sleep(Duration::from_millis(5001)).await,
            Finish => self.stage.finish("first"),
        }
        settle().await;
        model.happens(event);
        assert_eq!(self.stage.notes("first"), model.notes, "{what} after {event:?}");
        let running = usize::from(model.running) + usize::from(self.second);
        assert_eq!(self.server.stats().in_flight, running, "{what} after {event:?}");
    }

    /// Lets the second call return, if there is one; whether there is.
    async fn finish_second(&mut self, what: &str) {
        if std::mem::take(&mut self.second) {
            self.stage.finish("second");
            settle().await;
            assert_eq!(self.stage.notes("second"), [Note::Started, Note::Finished], "{what}");
        }
    }

    /// What became of the first call's answer; afterwards the server has nothing left.
    async fn end(mut self, what: &str) -> (Outcome, u64) {
        self.finish_second(what).await;
        let drained = match self.shutdown.take() {
            // a grace begins some milliseconds before the shutdown that waits for it
            Some(shutdown) => (shutdown.await.unwrap() + Duration::from_millis(100)).as_secs(),
            None => 0,
        };
        sleep(Duration::from_secs(3)).await;
        let (rest, ended) = self.pipe.finish().await;
        ended.unwrap();
        let text = rest.iter().map(|message| format!("{message}\n")).collect::<String>();
        // each call reports at its beginning, and at its end if it was not cancelled by then
        for message in rest.iter().filter(|message| message["method"] == "notifications/progress") {
            let token = message["params"]["progressToken"].as_str().unwrap();
            assert!(["first", "second"].contains(&token), "{what}: {message}");
        }
        let second = usize::from(!self.stage.notes("second").is_empty());
        assert_eq!(answers(&text, "second").0, second, "{what}: {text}");
        let outcome = match answers(&text, "first") {
            (1, 0) => Outcome::Answered,
            (0, 1) => Outcome::Stopped,
            (0, 0) => Outcome::Never,
            more => panic!("{what}: {more:?} answers: {text}"),
        };
        let answered = second + usize::from(outcome != Outcome::Never);
        assert_eq!(rest.iter().filter(|message| message["id"] == ID).count(), answered, "{what}: {text}");
        assert_idle(&self.server).await;
        (outcome, drained)
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
        // a cancel that is to come would name the second call
        let is_free = !model.live && !model.draining && !order[nth + 1..].contains(&Cancel);
        if is_free && collision.stage.notes("second").is_empty() {
            collision.start("second").await;
            collision.second = true;
        }
    }
    let stage = collision.stage.clone();
    let (outcome, drained) = collision.end(&what).await;
    model.rests();
    assert_eq!(stage.notes("first"), model.notes, "{what}");
    assert_eq!(outcome, model.outcome(), "{what}");
    if order.contains(&Shutdown) {
        assert_eq!(drained, model.drain, "{what}: the shutdown took another time");
    }
    outcome
}

#[actix_web::test]
async fn the_late_report_of_a_cancelled_call_leaves_the_next_one_under_its_id_alone() {
    paused();
    let unaware = PIPES[2];
    let mut collision = Collision::new(unaware).await;
    let arguments = json!({ "name": "second", "talks": false });
    let params = json!({ "name": unaware.rules.tool(), "arguments": arguments });
    let second = json!({ "jsonrpc": "2.0", "id": ID, "method": "tools/call", "params": params });
    let params = json!({ "requestId": ID });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    // in one go: the second has the id, and the slot, before the task of the first is dropped and reports its end
    let stage = collision.stage.clone();
    collision.pipe.write(format!("{cancel}\n{second}\n").as_bytes()).await;
    settle().await;
    let order = [("first", Note::Started), ("second", Note::Started), ("first", Note::Dropped)];
    assert_eq!(stage.all(), order.map(|(name, note)| (name.to_owned(), note)));
    assert_eq!(collision.server.stats().in_flight, 1, "the report took the second");
    collision.second = true;
    assert_eq!(collision.end("a late report").await.0, Outcome::Never);
}

/// Makes a test of each order: it is taken in all forms, and this becomes of the answer.
macro_rules! orders {
    ($($name:ident: $order:expr => $outcome:expr;)*) => {
        $(
            #[actix_web::test]
            async fn $name() {
                paused();
                for form in PIPES {
                    assert_eq!(in_order(form, &$order).await, $outcome, "{form:?}");
                }
            }
        )*
    };
}

orders! {
    a_call_that_returns_after_its_cancel_is_not_answered: [Cancel, Finish] => Outcome::Never;
    a_cancel_after_the_answer_changes_nothing: [Finish, Cancel] => Outcome::Answered;
    the_end_of_the_input_waits_for_the_grace_of_a_cancelled_call: [Cancel, Disconnect] => Outcome::Never;
    a_call_that_returns_after_the_end_of_the_input_is_answered: [Disconnect, Finish] => Outcome::Answered;
    a_call_that_returns_before_the_end_of_the_input_is_answered: [Finish, Disconnect] => Outcome::Answered;
    a_shutdown_waits_for_the_grace_of_a_cancelled_call: [Cancel, Shutdown] => Outcome::Never;
    a_cancel_during_a_shutdown_leaves_only_the_grace_to_wait_for: [Shutdown, Cancel] => Outcome::Never;
    a_call_that_returns_during_a_shutdown_has_its_own_answer_and_ends_it: [Shutdown, Finish] => Outcome::Answered;
    a_call_that_returns_before_a_shutdown_has_its_own_answer: [Finish, Shutdown] => Outcome::Answered;
    a_shutdown_after_the_end_of_the_input_stops_a_call_once: [Disconnect, Shutdown] => Outcome::Stopped;
    the_end_of_the_input_during_a_shutdown_stops_a_call_once: [Shutdown, Disconnect] => Outcome::Stopped;
    a_call_that_returns_after_it_was_stopped_is_not_answered_twice: [Shutdown, Cut, Finish] => Outcome::Stopped;
    a_cancel_after_a_call_was_stopped_changes_nothing: [Shutdown, Cut, Cancel] => Outcome::Stopped;
}

#[actix_web::test]
async fn in_every_order_of_all_four_the_rules_hold() {
    paused();
    let at = |order: &[Event], event| order.iter().position(|other| *other == event);
    let mut count = 0;
    for order in all_orders() {
        // behind the end of the input nothing can be said
        let silent =
            at(&order, Disconnect).is_some_and(|end| at(&order, Cancel).is_some_and(|said| said > end));
        if !silent && order != [Disconnect] {
            for form in PIPES {
                in_order(form, &order).await;
                count += 1;
            }
        }
    }
    assert!(count > 300, "{count}");
}
