//! Ten thousand races of a cancel with the call that it names. Case C28; `tests/wire/cancel.rs` has them on a pipe.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::{spawn, time::sleep};
use serde_json::{Value, json};

use crate::{
    client::Request,
    fixture::builder,
    kept::Kept,
    served::{Client, Served, call},
    turns::{Round, linger, turns},
};

/// One session's connections, which are kept.
struct Racer {
    client: Client,
    calls: Kept,
    cancels: Kept,
    others: Kept,
    cancel: Request,
    again: Request,
}

impl Racer {
    async fn new(served: &Served) -> Self {
        let client = Client::open(served, "2025-11-25").await;
        let [calls, cancels, others] = [(); 3].map(|()| Kept::new(served.connect()));
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        let again = call(1, "echo", json!({ "text": "B" }));
        let (cancel, again) = (client.request(&cancel), client.request(&again));
        Self { client, calls, cancels, others, cancel, again }
    }

    /// Whether the call was answered before it was cancelled.
    async fn run(&mut self, round: Round) -> bool {
        let linger = call(1, "linger", json!({ "ms": round.ms, "turns": round.lag }));
        let pending = self.calls.start(&self.client.request(&linger)).await;
        if round.wait > 0 {
            sleep(Duration::from_millis(round.wait)).await;
        }
        turns(round.before).await;
        let cancelled = self.cancels.start(&self.cancel).await;
        turns(round.after).await;
        let accepted = cancelled.response().await.expect(202).await;
        assert!(self.cancels.read(accepted).await.is_empty(), "{round:?}");
        // the same id again is served, and told apart by its result
        assert_answers(&self.others.ask(&self.again, 200).await, "B", round);
        let response = pending.response().await.expect(200).await;
        let answered = response.header("content-type") == Some("application/json");
        let body = self.calls.read(response).await;
        if answered {
            assert_answers(&body, "A", round);
        } else {
            assert!(body.is_empty(), "{round:?}");
        }
        answered
    }
}

fn assert_answers(body: &[u8], text: &str, round: Round) {
    let answer: Value = serde_json::from_slice(body).unwrap();
    let given = &answer["result"]["content"][0]["text"];
    assert_eq!((given, &answer["id"]), (&json!(text), &json!(1)), "{round:?}");
}

#[actix_web::test]
async fn at_any_moment_a_cancel_leaves_at_most_one_answer_and_a_free_id() {
    paused();
    let server = builder().tool(linger).build();
    let served = Served::new(&server).await;
    let mut racer = Racer::new(&served).await;
    // spawned, so that it takes its turns with what it races
    let answered = spawn(async move {
        let mut answered = Vec::new();
        for round in Round::all() {
            answered.push((racer.run(round).await, round));
        }
        answered
    });
    let answered = answered.await.unwrap();
    Round::assert_raced(&answered);
    settle().await;
    assert_eq!(server.stats().in_flight, 0);
}
