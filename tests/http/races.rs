//! Races over real sockets, with two workers and connections spread over both.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    collections::HashSet,
    rc::Rc,
    sync::{Arc, Mutex},
    thread::{ThreadId, current},
};

use actix_mcp::prelude::*;
use actix_web::{HttpMessage as _, rt::spawn};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Semaphore};

use crate::{
    client::{Connection, Response},
    served::{Client, call, call_with_progress},
    workers::{Accepted, Local, PerWorker, Seen, Workers},
};

const ROUNDS: usize = 50;
const POSTS: usize = 200;

/// Lets the test say when the winner's tool may end, and what the tool saw when it began.
struct Gate {
    open: Semaphore,
    seen: Mutex<Option<Seen>>,
    /// Of each round: requests that had come in, and losers that had been refused, when the tool began.
    began: Mutex<Vec<(usize, usize)>>,
}

#[tool]
async fn race(gate: web::Data<Gate>, progress: Progress) -> String {
    let round = gate.seen.lock().unwrap().as_ref().unwrap().round();
    gate.began.lock().unwrap().push(round);
    progress.report(1).await.unwrap();
    gate.open.acquire().await.unwrap().forget();
    progress.report(2).await.unwrap();
    "won".to_owned()
}

#[actix_web::test]
async fn of_two_hundred_posts_with_one_id_exactly_one_runs_and_keeps_its_stream() {
    let gate = Arc::new(Gate { open: Semaphore::new(0), seen: Mutex::default(), began: Mutex::default() });
    let server = Server::builder("race", "1").tool(race).data_arc(gate.clone()).build();
    let workers = Workers::start(&server);
    *gate.seen.lock().unwrap() = Some(workers.seen.clone());
    let client = Client::open(workers.addr, "2025-11-25").await;
    let mut connections = Vec::new();
    for _ in 0..POSTS {
        connections.push(Connection::tcp(workers.addr).await);
    }
    workers.seen.clear();

    for round in 0..ROUNDS {
        workers.seen.new_round();
        let responses = release_at_once(&client, std::mem::take(&mut connections)).await;
        // every loser has been answered, and the winner still runs
        let (winners, losers): (Vec<_>, Vec<_>) =
            responses.into_iter().partition(|(_, response)| response.status == 200);
        assert_eq!((winners.len(), losers.len()), (1, POSTS - 1), "round {round}");
        for (_, mut loser) in losers {
            assert_eq!(loser.status, 409);
            assert_eq!(loser.header("content-type"), Some("application/json"));
            let refusal: Value = serde_json::from_slice(&loser.bytes().await).unwrap();
            assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(7), &json!(-32600)), "{refusal}");
            connections.push(loser.into_connection());
        }
        let (token, mut winner) = winners.into_iter().next().unwrap();
        gate.open.add_permits(1);
        for step in [1, 2] {
            let progress = winner.message().await.unwrap();
            let params = &progress["params"];
            assert_eq!((&params["progressToken"], &params["progress"]), (&json!(token), &json!(step)));
        }
        let answer = winner.message().await.unwrap();
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("won")));
        assert_eq!(winner.message().await, None);
        connections.push(winner.into_connection());
        assert_eq!(server.calls(), round as u64 + 1, "more than one tool ran");
    }

    let by_worker = workers.seen.by_worker();
    assert_eq!((by_worker.len(), by_worker.iter().sum::<usize>()), (2, ROUNDS * POSTS), "{by_worker:?}");
    let began = gate.began.lock().unwrap();
    let arrived = began.iter().filter(|(arrived, _)| *arrived > 1).count();
    let refused = began.iter().filter(|(_, refused)| *refused > 0).count();
    println!(
        "of {ROUNDS} rounds, in {arrived} a loser had arrived before the winner's tool began, in {refused} one had been refused"
    );
    assert!(arrived > 0, "no loser ever arrived before the winner's tool began: this was no race");
}

/// Posts the call on all connections at the same moment; the heads of the responses, with the progress token of each.
async fn release_at_once(client: &Client, connections: Vec<Connection>) -> Vec<(usize, Response)> {
    let barrier = Rc::new(Barrier::new(connections.len()));
    let tasks: Vec<_> = connections
        .into_iter()
        .enumerate()
        .map(|(token, mut connection)| {
            let request = client.request(&call_with_progress(7, "race", json!({}), token));
            let barrier = barrier.clone();
            spawn(async move {
                barrier.wait().await;
                connection.send(&request).await;
                (token, connection.response().await)
            })
        })
        .collect();
    let mut responses = Vec::new();
    for task in tasks {
        responses.push(task.await.unwrap());
    }
    responses
}

/// Who serves the call: the thread, and what each extractor says.
#[tool]
async fn whereabouts(http: Http, data: web::Data<PerWorker>, seen: web::Data<Whereabouts>) -> String {
    let local = http.request().app_data::<Rc<Local>>().unwrap().0;
    let accepted = http.request().extensions().get::<Accepted>().unwrap().0;
    seen.0.lock().unwrap().push([current().id(), data.0, local, accepted]);
    http.peer_addr().unwrap().to_string()
}

#[derive(Default)]
struct Whereabouts(Mutex<Vec<[ThreadId; 4]>>);

#[actix_web::test]
async fn what_a_handler_extracts_is_of_the_worker_that_accepted_the_request() {
    let seen = Arc::new(Whereabouts::default());
    let server = Server::builder("two workers", "1").tool(whereabouts).data_arc(seen.clone()).build();
    let workers = Workers::start(&server);
    let client = Client::open(workers.addr, "2025-11-25").await;
    let mut peers = HashSet::new();
    for id in 0..16 {
        // each call has a connection of its own, and they go round the workers
        let answer = client.post(&call(id, "whereabouts", json!({}))).await.expect(200).await.answer().await;
        peers.insert(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(peers.len(), 16, "`Http` is that of another call");
    let seen = seen.0.lock().unwrap();
    for [thread, data, local, accepted] in &*seen {
        assert_eq!([thread; 3], [data, local, accepted]);
    }
    let workers: HashSet<_> = seen.iter().map(|[thread, ..]| thread).collect();
    assert_eq!(workers.len(), 2, "one worker took all calls of the session");
}
