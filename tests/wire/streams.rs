//! A request's own stream, at the session's side of HTTP: what goes there, and what happens when it breaks.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::testing::{Accepts, Disposition, Posts, ResponseHead, Stream, paused, settle};
use serde_json::{Value, json};

use crate::puppet::{Act, Puppet, server};

const NEWEST: &str = "2025-11-25";

async fn wait(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Starts a call and brings it to where it has a stream, of which the first report was read.
async fn streaming(posts: &Posts, id: i64, puppet: &Puppet) -> Stream {
    let exchange = posts.call(id, "puppet", puppet.arguments());
    puppet.act(Act::Report(1));
    let mut stream = exchange.stream().await;
    assert_eq!(stream.message().await.unwrap()["params"], json!({ "progressToken": id, "progress": 1 }));
    stream
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[actix_web::test]
async fn a_second_request_is_refused_before_a_stream_or_a_handler_exists_and_the_first_keeps_everything() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (first, second) = (puppets.make(), puppets.make());
    let mut stream = streaming(&posts, 7, &first).await;

    let (disposition, refusal) = posts.call(7, "puppet", second.arguments()).json().await;
    assert_eq!(disposition, Disposition::Duplicate);
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(7), &json!(-32600)));
    assert_eq!(refusal["error"]["message"], "request id 7 is already in flight");
    settle().await;
    assert!(!second.started());
    assert_eq!((server.calls(), server.stats().in_flight, server.stats().streams), (1, 1, 1));

    first.act(Act::Report(2));
    assert_eq!(stream.message().await.unwrap()["params"]["progress"], 2);
    first.act(Act::Ask);
    let question = stream.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    posts.answer(&question["id"], json!({ "action": "accept", "content": { "x": "yes" } }));
    settle().await;
    assert_eq!(first.answers(), ["yes"]);
    first.act(Act::Finish);
    let rest = stream.rest().await;
    assert_eq!((rest.len(), &rest[0]["id"], text(&rest[0])), (1, &json!(7), "1"));
}

#[actix_web::test]
async fn after_a_refused_duplicate_the_first_can_still_be_cancelled() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (first, second) = (puppets.make(), puppets.make());
    let stream = streaming(&posts, 7, &first).await;
    posts.call(7, "puppet", second.arguments()).json().await;
    posts.cancel(7);
    assert_eq!(stream.rest().await, Vec::<Value>::new(), "it ends without a response");
    settle().await;
    assert!(first.gone());
    assert_eq!((server.stats().in_flight, server.stats().streams), (0, 0));
}

#[actix_web::test]
async fn of_two_hundred_racing_requests_exactly_one_runs() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let all = (0..200).map(|_| puppets.make()).collect::<Vec<_>>();
    let exchanges = all.iter().map(|puppet| posts.call(7, "puppet", puppet.arguments())).collect::<Vec<_>>();
    settle().await;
    let running = all.iter().filter(|puppet| puppet.started()).collect::<Vec<_>>();
    assert_eq!((running.len(), server.calls()), (1, 1));
    running[0].act(Act::Finish);
    let mut dispositions = Vec::new();
    for exchange in exchanges {
        dispositions.push(exchange.json().await.0);
    }
    assert_eq!(
        dispositions.iter().filter(|disposition| **disposition == Disposition::Duplicate).count(),
        199
    );
    assert_eq!(
        dispositions.iter().filter(|disposition| **disposition == Disposition::Answered(None)).count(),
        1
    );
}

#[actix_web::test]
async fn a_new_request_under_the_id_during_a_slow_final_write_never_reaches_the_old_stream() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (old, new) = (puppets.make(), puppets.make());
    let old_stream = streaming(&posts, 7, &old).await;
    old.act(Act::Finish);
    settle().await;
    assert_eq!(server.stats().streams, 1, "the answer was handed over, but nobody has read it");

    let mut new_stream = streaming(&posts, 7, &new).await;
    new.act(Act::Report(2));
    assert_eq!(new_stream.message().await.unwrap()["params"]["progress"], 2);
    let old_rest = old_stream.rest().await;
    assert_eq!((old_rest.len(), text(&old_rest[0])), (1, "1"));
    new.act(Act::Finish);
    let new_rest = new_stream.rest().await;
    assert_eq!((new_rest.len(), text(&new_rest[0])), (1, "2"));
}

#[actix_web::test]
async fn an_id_is_taken_until_a_cancel_takes_effect_and_free_from_then_on() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (first, second, third) = (puppets.make(), puppets.make(), puppets.make());
    let cancelled = posts.call(7, "puppet", first.arguments());
    let refused = posts.call(7, "puppet", second.arguments());
    posts.cancel(7);
    let served = posts.call(7, "puppet", third.arguments());
    third.act(Act::Finish);
    assert_eq!(refused.json().await.0, Disposition::Duplicate);
    assert_eq!(text(&served.json().await.1), "3");
    assert!(matches!(cancelled.head().await, Some(ResponseHead::Cancelled)));
    settle().await;
    assert!(!first.started(), "it was cancelled between its admission and its start");
}

#[actix_web::test]
async fn finishing_one_call_leaves_the_stream_of_another_alone() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (one, two) = (puppets.make(), puppets.make());
    let one_stream = streaming(&posts, 1, &one).await;
    let mut two_stream = streaming(&posts, 2, &two).await;
    one.act(Act::Finish);
    assert_eq!(one_stream.rest().await.len(), 1);
    two.act(Act::Report(2));
    assert_eq!(two_stream.message().await.unwrap()["params"]["progress"], 2);
    two_stream.silence().await;
}

#[actix_web::test]
async fn a_stale_close_leaves_the_newer_stream_open() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let exchange = posts.call(7, "puppet", puppet.arguments());
    puppet.act(Act::Report(1));
    let mut old = exchange.stream().await;
    let last = old.next().await.unwrap().id.unwrap();
    // the resume is in the session's mailbox before the report about the old reader, whose slot it takes
    drop(old);
    let mut new = posts.resume(&last).await.unwrap();
    settle().await;
    assert_eq!(server.stats().streams, 1);
    puppet.act(Act::Report(2));
    assert_eq!(new.message().await.unwrap()["params"]["progress"], 1, "what it had not read");
    assert_eq!(new.message().await.unwrap()["params"]["progress"], 2);
}

#[actix_web::test]
async fn a_broken_stream_costs_only_itself_and_its_answer_waits_for_a_resume() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (broken, other) = (puppets.make(), puppets.make());
    let exchange = posts.call(1, "puppet", broken.arguments());
    broken.act(Act::Report(1));
    let mut stream = exchange.stream().await;
    stream.message().await.unwrap();
    let last = "2-1";
    let mut other_stream = streaming(&posts, 2, &other).await;
    drop(stream);
    settle().await;
    assert!(posts.is_open());
    assert_eq!((server.stats().in_flight, server.stats().streams), (2, 1));

    other.act(Act::Report(2));
    assert_eq!(other_stream.message().await.unwrap()["params"]["progress"], 2);
    broken.act(Act::Report(2));
    broken.act(Act::Finish);
    settle().await;
    let mut resumed = posts.resume(last).await.unwrap();
    let event = resumed.next().await.unwrap();
    assert_eq!((event.id.as_deref(), &event.message), (Some(last), &json!(null)), "C109");
    let event = resumed.next().await.unwrap();
    assert_eq!((event.id.as_deref(), &event.message["params"]["progress"]), (Some("2-2"), &json!(2)));
    let event = resumed.next().await.unwrap();
    assert_eq!((event.id.as_deref(), text(&event.message)), (Some("2-3"), "1"));
    assert_eq!(resumed.next().await, None);
    assert!(posts.resume("2-3").await.is_none(), "there is nothing after the answer");
    for unknown in ["2-4", "9-0", "2-18446744073709551615", "no-such-event"] {
        assert!(posts.resume(unknown).await.is_none(), "{unknown}");
    }
    assert!(posts.is_open());
}

#[actix_web::test]
async fn nobody_resumes_the_stream_of_another_session() {
    paused();
    let (server, puppets) = server();
    let (ours, theirs) = (Posts::connect(&server, NEWEST).await, Posts::connect(&server, NEWEST).await);
    let puppet = puppets.make();
    let exchange = ours.call(1, "puppet", puppet.arguments());
    puppet.act(Act::Report(1));
    let mut events = exchange.stream().await;
    let last = events.next().await.unwrap().id.unwrap();
    assert!(theirs.resume(&last).await.is_none());
    theirs.cancel(1);
    settle().await;
    assert_eq!(server.stats().in_flight, 1);
    assert!(ours.resume(&last).await.is_some());
}

#[actix_web::test]
async fn a_reader_that_is_replaced_ends_and_gives_its_room_to_the_new_one() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let exchange = posts.call(7, "puppet", puppet.arguments());
    puppet.act(Act::Report(1));
    let mut old = exchange.stream().await;
    let last = old.next().await.unwrap().id.unwrap();
    for value in 2..=256 {
        puppet.act(Act::Report(value));
    }
    settle().await;
    let start = tokio::time::Instant::now();
    let mut new = posts.resume(&last).await.unwrap();
    assert_eq!(old.next().await, None);
    puppet.act(Act::Report(257));
    for value in 1..=257 {
        assert_eq!(new.message().await.unwrap()["params"]["progress"], value);
    }
    assert!(start.elapsed() < Duration::from_millis(100), "no report waited for room: {:?}", start.elapsed());
}

#[actix_web::test]
async fn a_stream_that_stands_still_is_closed_after_thirty_seconds_and_costs_only_itself() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let (still, other) = (puppets.make(), puppets.make());
    let mut stalled = streaming(&posts, 1, &still).await;
    let _other_stream = streaming(&posts, 2, &other).await;
    wait(Duration::from_secs(60)).await;
    assert_eq!(server.stats().streams, 2, "nothing waits to be read");
    still.act(Act::Report(2));
    wait(Duration::from_millis(29_900)).await;
    assert_eq!(server.stats().streams, 2);
    wait(Duration::from_millis(200)).await;
    assert_eq!((server.stats().streams, server.stats().in_flight), (1, 2));
    assert_eq!(stalled.next().await, None);

    still.act(Act::Finish);
    settle().await;
    let rest = posts.resume("2-1").await.unwrap().rest().await;
    assert_eq!((rest.len(), &rest[0]["params"]["progress"], text(&rest[1])), (2, &json!(2), "1"));
}

#[actix_web::test]
async fn an_answer_that_nobody_reads_is_given_up_after_thirty_seconds() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let mut stream = streaming(&posts, 1, &puppet).await;
    puppet.act(Act::Finish);
    wait(Duration::from_millis(29_900)).await;
    assert_eq!(server.stats().streams, 1);
    wait(Duration::from_millis(200)).await;
    assert_eq!(server.stats().streams, 0);
    assert_eq!(stream.next().await, None);
    assert_eq!(posts.resume("2-1").await.unwrap().rest().await.len(), 1);
}

#[actix_web::test]
async fn streams_begin_with_an_event_to_come_back_to_from_2025_11_25_on_and_never_before() {
    paused();
    for (revision, primed) in [("2025-11-25", true), ("2025-06-18", false), ("2025-03-26", false)] {
        let (server, puppets) = server();
        let posts = Posts::connect(&server, revision).await;
        let puppet = puppets.make();
        let exchange = posts.call(1, "puppet", puppet.arguments());
        // silence commits it to a stream
        let mut stream = exchange.stream().await;
        puppet.act(Act::Report(1));
        let first = stream.next().await.unwrap();
        assert_eq!(first.message.is_null(), primed, "{revision}");
        assert_eq!(first.id.as_deref(), Some("2-0"), "{revision}");

        puppet.act(Act::CloseStream);
        if primed {
            assert_eq!(stream.rest().await.len(), 1, "what was written is read to the end");
            let mut again = posts.resume("2-1").await.unwrap();
            puppet.act(Act::Finish);
            assert_eq!(text(&again.message().await.unwrap()), "1");
        } else {
            stream.silence().await;
        }
    }
}

#[actix_web::test]
async fn a_client_that_reads_only_json_gets_no_notifications_and_is_asked_on_a_standalone_stream() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let json_call = |id: i64, puppet: &Puppet| {
        let params =
            json!({ "name": "puppet", "arguments": puppet.arguments(), "_meta": { "progressToken": id } });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        posts.send(&message, Accepts::Json)
    };
    let lonely = puppets.make();
    let exchange = json_call(1, &lonely);
    for act in [Act::Report(1), Act::Ask, Act::Finish] {
        lonely.act(act);
    }
    assert_eq!(text(&exchange.json().await.1), "1");
    assert_eq!(lonely.answers(), ["the client does not support elicitation"]);

    let mut standalone = posts.stream().await;
    let asking = puppets.make();
    let exchange = json_call(2, &asking);
    for act in [Act::Report(1), Act::Ask, Act::Finish] {
        asking.act(act);
    }
    let question = standalone.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    posts.answer(&question["id"], json!({ "action": "accept", "content": { "x": "yes" } }));
    assert_eq!(text(&exchange.json().await.1), "2");
    assert_eq!(asking.answers(), ["yes"]);
    standalone.silence().await;
}

#[actix_web::test]
async fn a_client_that_reads_slowly_is_sent_every_report_in_order() {
    paused();
    let (server, puppets) = server();
    let posts = Posts::connect(&server, NEWEST).await;
    let puppet = puppets.make();
    let exchange = posts.call(1, "puppet", puppet.arguments());
    for value in 1..=2_000 {
        puppet.act(Act::Report(value));
    }
    puppet.act(Act::Finish);
    let mut stream = exchange.stream().await;
    for value in 1..=2_000 {
        if value % 100 == 0 {
            // slow, and just not still
            wait(Duration::from_secs(29)).await;
        }
        assert_eq!(stream.message().await.unwrap()["params"]["progress"], value);
    }
    assert_eq!(text(&stream.message().await.unwrap()), "1");
    assert_eq!(stream.message().await, None);
}
