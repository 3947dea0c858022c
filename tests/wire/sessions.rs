//! A session as a whole: who finds it, when it ends, and what ends with it.

use std::time::Duration;

use actix_mcp::{
    Principal, Server, Tool,
    stats::Snapshot,
    testing::{Disposition, Posts, ResponseHead, paused, settle},
};
use serde_json::json;

use crate::puppet::{Act, server, server_with};

const NEWEST: &str = "2025-11-25";
const IDLE: Duration = Duration::from_secs(1800);

async fn wait(duration: Duration) {
    tokio::time::sleep(duration).await;
}

#[actix_web::test]
async fn a_session_is_found_by_the_principal_that_opened_it_and_by_nobody_else() {
    paused();
    let (server, _) = server();
    let (alice, bob) = (Principal::new("alice"), Principal::new("bob"));
    let posts = Posts::try_open(&server, Some(alice.clone())).unwrap();
    assert!(!posts.is_found_by(Some(&alice)), "not before it is initialized");
    posts.initialize(NEWEST).await;
    assert!(posts.is_found_by(Some(&alice)));
    assert!(posts.is_found_by(Some(&Principal::new("alice"))), "a refreshed token is the same principal");
    assert!(posts.is_found_by(Some(&Principal::new("alice").scopes(["more"]))), "scopes are the request's");
    assert!(!posts.is_found_by(Some(&Principal::new("alice").with_client("other"))), "another client's user");
    assert!(!posts.is_found_by(Some(&bob)));
    assert!(!posts.is_found_by(None));
    posts.close();
    settle().await;
    assert!(!posts.is_found_by(Some(&alice)));

    let open = Posts::connect(&server, NEWEST).await;
    assert!(open.is_found_by(None));
    assert!(!open.is_found_by(Some(&bob)));
}

#[actix_web::test]
async fn the_limit_of_sessions_holds_on_both_sides() {
    paused();
    let (server, _) = server_with(|limits| limits.process.sessions = 2);
    let one = Posts::connect(&server, NEWEST).await;
    let two = Posts::connect(&server, NEWEST).await;
    let refused = Posts::try_open(&server, None).unwrap_err().to_string();
    assert_eq!(refused, "too many sessions are open (the limit is 2)");
    assert!(one.is_open() && two.is_open(), "a session in use is never evicted");
    one.close();
    settle().await;
    assert!(Posts::try_open(&server, None).is_ok());
}

#[actix_web::test]
async fn a_session_expires_when_it_was_idle_for_thirty_minutes_and_not_before() {
    paused();
    let (server, _) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    wait(IDLE - Duration::from_secs(1)).await;
    posts.request("ping", "ping", json!({})).json().await;
    wait(IDLE - Duration::from_secs(1)).await;
    assert!(posts.is_open(), "a ping winds the clock");
    wait(Duration::from_secs(2)).await;
    assert!(!posts.is_open() && !posts.is_found_by(None));
    assert_eq!(server.stats(), Snapshot::default());
    assert!(posts.request(1, "ping", json!({})).head().await.is_none());
}

#[actix_web::test]
async fn an_open_stream_a_call_and_a_question_keep_a_session_alive() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let mut stream = posts.stream().await;
    assert!(stream.next().await.unwrap().message.is_null());
    wait(IDLE * 3).await;
    assert!(posts.is_open(), "a stream is open");
    drop(stream);
    let puppet = puppets.make();
    let mut stream = posts.call(1, "puppet", puppet.arguments()).stream().await;
    assert!(stream.next().await.unwrap().message.is_null());
    wait(IDLE * 3).await;
    assert!(posts.is_open(), "a call is in flight");
    puppet.act(Act::Finish);
    stream.rest().await;
    wait(IDLE - Duration::from_secs(1)).await;
    assert!(posts.is_open());
    wait(Duration::from_secs(2)).await;
    assert!(!posts.is_open());
}

#[actix_web::test]
async fn a_session_that_is_closed_ends_every_call_and_every_stream() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (pending, streaming) = (puppets.make(), puppets.make());
    let standalone = posts.stream().await;
    let exchange = posts.call(1, "puppet", pending.arguments());
    let stream = posts.call(2, "puppet", streaming.arguments());
    streaming.act(Act::Ask);
    let stream = stream.stream().await;
    posts.close();
    assert!(matches!(exchange.head().await, Some(ResponseHead::Ended)));
    assert_eq!(stream.rest().await.len(), 1, "the question, and no answer");
    assert_eq!(standalone.rest().await.len(), 0);
    settle().await;
    assert!(pending.gone() && streaming.gone());
    assert!(!posts.is_open());
    assert_eq!(server.stats(), Snapshot::default());
    assert!(posts.request(3, "ping", json!({})).head().await.is_none());
}

#[actix_web::test]
async fn a_session_that_drains_admits_nothing_and_lets_what_runs_end() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (running, late) = (puppets.make(), puppets.make());
    let standalone = posts.stream().await;
    let exchange = posts.call(1, "puppet", running.arguments());
    let drained = posts.clone();
    let drained = actix_web::rt::spawn(async move { drained.drain(false).await });
    settle().await;
    assert!(!drained.is_finished());
    assert_eq!(standalone.rest().await.len(), 0);
    let (disposition, refusal) = posts.call(2, "puppet", late.arguments()).json().await;
    assert_eq!((disposition, &refusal["error"]["code"]), (Disposition::Draining, &json!(-32603)));
    running.act(Act::Finish);
    assert_eq!(exchange.json().await.0, Disposition::Answered(None));
    drained.await.unwrap();
    assert!(!late.started());
}

#[actix_web::test]
async fn a_client_that_can_answer_nothing_any_more_leaves_no_question_open() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let exchange = posts.call(1, "puppet", puppet.arguments());
    for act in [Act::Ask, Act::Ask, Act::Finish] {
        puppet.act(act);
    }
    let stream = exchange.stream().await;
    posts.drain(true).await;
    assert_eq!(stream.rest().await.len(), 2, "the first question and the answer");
    assert_eq!(puppet.answers(), ["the call has ended"; 2]);
}

#[actix_web::test]
async fn a_second_initialize_evicts_nothing_even_under_a_live_id() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let exchange = posts.call(7, "puppet", puppet.arguments());
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let (disposition, refusal) = posts.request(7, "initialize", params).json().await;
    assert_eq!(disposition, Disposition::Refused);
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(7), &json!(-32600)));
    assert_eq!(refusal["error"]["message"], "the session is already initialized");
    posts.cancel(7);
    assert!(matches!(exchange.head().await, Some(ResponseHead::Cancelled)));
    settle().await;
    assert!(puppet.gone());
}

#[actix_web::test]
async fn only_the_session_that_was_asked_answers() {
    paused();
    let (server, puppets) = server();
    let (ours, theirs) = (Posts::connect(&server, NEWEST).await, Posts::connect(&server, NEWEST).await);
    let (our_puppet, their_puppet) = (puppets.make(), puppets.make());
    let exchanges =
        (ours.call(1, "puppet", our_puppet.arguments()), theirs.call(1, "puppet", their_puppet.arguments()));
    our_puppet.act(Act::Ask);
    let question = exchanges.0.stream().await.message().await.unwrap();
    let yes = || json!({ "action": "accept", "content": { "x": "yes" } });
    theirs.answer(&question["id"], yes());
    ours.answer(&json!(question["id"].to_string()), yes());
    ours.answer(&json!(99), yes());
    settle().await;
    assert_eq!(our_puppet.answers(), Vec::<String>::new());
    ours.answer(&question["id"], yes());
    ours.answer(&question["id"], json!({ "action": "decline" }));
    settle().await;
    assert_eq!(our_puppet.answers(), ["yes"]);
}

#[actix_web::test]
async fn a_question_that_is_not_answered_in_time_is_taken_back_and_many_do_not_add_up() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppets = [puppets.make(), puppets.make()];
    let mut streams = Vec::new();
    for (id, puppet) in puppets.iter().enumerate() {
        let exchange = posts.call(id as i64, "puppet", puppet.arguments());
        puppet.act(Act::Ask);
        let mut stream = exchange.stream().await;
        let question = stream.message().await.unwrap();
        streams.push((stream, question));
        wait(Duration::from_secs(20)).await;
    }
    wait(Duration::from_millis(39_900)).await;
    assert_eq!([puppets[0].answers(), puppets[1].answers()], [vec!["timed out".to_owned()], vec![]]);
    wait(Duration::from_secs(1)).await;
    assert_eq!(puppets[1].answers(), ["timed out"]);
    for (stream, question) in &mut streams {
        let off = stream.message().await.unwrap();
        assert_eq!(off["method"], "notifications/cancelled");
        assert_eq!(off["params"]["requestId"], question["id"]);
    }
}

#[actix_web::test]
async fn limits_without_an_end_are_limits() {
    paused();
    let never = Duration::MAX;
    let (server, puppets) = server_with(|limits| {
        let session = &mut limits.session;
        (session.idle, session.stall, session.grace) = (never, never, never);
    });
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let exchange = posts.call(1, "puppet", puppet.arguments());
    puppet.act(Act::Report(1));
    let stream = exchange.stream().await;
    wait(IDLE * 100).await;
    puppet.act(Act::Finish);
    assert_eq!(stream.rest().await.len(), 2);
    assert!(posts.is_open());
}

#[actix_web::test]
async fn a_session_that_a_shutdown_overtakes_before_its_initialize_does_not_open() {
    paused();
    let (server, _) = server();
    let posts = Posts::try_open(&server, None).unwrap();
    server.shutdown().await;
    let params = json!({ "protocolVersion": NEWEST, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let (disposition, refusal) = posts.request(0, "initialize", params).json().await;
    assert_eq!(
        (disposition, &refusal["error"]["message"]),
        (Disposition::Draining, &json!("the server is shutting down"))
    );
}

#[actix_web::test]
#[should_panic(expected = "states its version, so it has no session: use `Pipe::open`")]
async fn a_client_of_one_session_says_that_a_request_which_names_its_version_is_not_for_it() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    drop(Posts::open(&server().0).request(1, "tools/list", json!({ "_meta": meta })));
}

#[actix_web::test]
async fn the_calls_of_a_session_act_for_the_principal_that_opened_it() {
    paused();
    let who = async |who: Option<Principal>| who.map_or("nobody".to_owned(), |who| who.name().to_owned());
    let server = Server::builder("who", "1").tool(Tool::new("who", who)).build();
    for (principal, name) in [(Some(Principal::new("ada")), "ada"), (None, "nobody")] {
        let posts = Posts::try_open(&server, principal).unwrap();
        posts.initialize(NEWEST).await;
        let (_, answer) = posts.call(1, "who", json!({})).json().await;
        assert_eq!(answer["result"]["content"][0]["text"], name);
    }
}
