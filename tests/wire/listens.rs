//! `subscriptions/listen` on a pipe. Cases C71 to C73, and what they share with other requests there.

use std::{collections::HashMap, time::Duration};

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, settle},
};
use actix_web::rt::{spawn, time::sleep};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    checks::{assert_idle, text},
    fixture::{builder, limited, server},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

async fn listen(pipe: &mut Pipe, id: impl Into<Value>, notifications: Value) {
    let params = json!({ "_meta": meta(), "notifications": notifications });
    pipe.request(id, "subscriptions/listen", params).await;
}

/// Asks to listen, and reads the acknowledgement: what is honoured.
async fn listening(pipe: &mut Pipe, id: impl Into<Value>, notifications: Value) -> Value {
    let id: Value = id.into();
    listen(pipe, id.clone(), notifications).await;
    let acknowledged = pipe.next().await;
    assert_eq!(acknowledged["method"], ACKNOWLEDGED);
    assert_eq!(acknowledged["params"]["_meta"], json!({ SUBSCRIPTION: id }));
    acknowledged["params"]["notifications"].clone()
}

/// Of which subscription a message is.
fn subscription(message: &Value) -> &Value {
    &message["params"]["_meta"][SUBSCRIPTION]
}

#[actix_web::test]
async fn each_subscription_is_told_what_it_asked_for_under_its_own_id_and_blocks_nothing() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    let all = json!({ "toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": ["mem://a", "mem://nope"] });
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": ["mem://a"] });
    assert_eq!(listening(&mut pipe, 7, all).await, honoured);
    let uri = json!({ "resourceSubscriptions": ["mem://item/1"] });
    assert_eq!(listening(&mut pipe, "7", uri.clone()).await, uri);
    assert_eq!(
        listening(&mut pipe, 8, json!({ "promptsListChanged": true })).await["promptsListChanged"],
        true
    );
    assert_eq!(server.stats().listens, 3);

    let params = json!({ "name": "touch", "arguments": { "uri": "mem://a", "count": 100 }, "_meta": meta() });
    pipe.request(1, "tools/call", params).await;
    assert_eq!(text(&pipe.answer_to(1).await), "touched");
    server.handle().resource_updated("mem://item/1");
    server.handle().resource_updated("mem://nope");
    assert!(server.handle().remove_tool("none"));
    sleep(Duration::from_millis(50)).await;
    let mut told = pipe.until_silence().await;
    told.sort_by_key(|message| (message["method"].to_string(), subscription(message).to_string()));
    let notice =
        |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    let expected = [
        notice(UPDATED, json!({ "_meta": { SUBSCRIPTION: "7" }, "uri": "mem://item/1" })),
        notice(UPDATED, json!({ "_meta": { SUBSCRIPTION: 7 }, "uri": "mem://a" })),
        notice(TOOLS, json!({ "_meta": { SUBSCRIPTION: 7 } })),
    ];
    assert_eq!(told, expected);
    sleep(Duration::from_secs(60)).await;
    pipe.silence().await;
}

#[actix_web::test]
async fn a_burst_is_one_notice_and_a_lasting_change_one_every_fifty_milliseconds_with_the_last() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    listening(&mut pipe, 1, json!({ "toolsListChanged": true })).await;
    for (arguments, least) in [(json!({ "times": 1000 }), 1), (json!({ "times": 1001, "ms": 1 }), 10)] {
        let start = Instant::now();
        let params = json!({ "name": "toggle", "arguments": arguments, "_meta": meta() });
        pipe.request("t", "tools/call", params).await;
        let mut told = 0;
        while pipe.next().await["id"] != "t" {
            told += 1;
        }
        let most = start.elapsed().as_millis() / 50 + 1;
        let last = pipe.until_silence().await.len();
        assert_eq!(last, 1, "the last change is told after it happened");
        told += last;
        assert!((least..=most as usize).contains(&told), "{told} notices, {most} at most, of {arguments}");
    }
}

#[actix_web::test]
async fn a_cancelled_subscription_says_nothing_more_and_its_id_is_free() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    for id in [json!(1), json!("1")] {
        listening(&mut pipe, id.clone(), json!({ "toolsListChanged": true })).await;
    }
    // changed, and cancelled while the notice waits for others
    assert!(server.handle().remove_tool("none"));
    sleep(Duration::from_millis(10)).await;
    pipe.cancel(1).await;
    sleep(Duration::from_millis(50)).await;
    let told = pipe.until_silence().await;
    assert_eq!(told.iter().map(subscription).collect::<Vec<_>>(), [&json!("1")]);
    let stats = server.stats();
    assert_eq!((stats.listens, stats.in_flight), (1, 0));
    assert_eq!(listening(&mut pipe, 1, json!({})).await, json!({}));
    pipe.cancel(1).await;
    pipe.cancel("1").await;
    let (rest, ended) = pipe.finish().await;
    ended.expect("it ends well");
    assert_eq!(rest, Vec::<Value>::new());
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_live_id_is_refused_to_a_subscription_and_by_one() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    listening(&mut pipe, 1, json!({ "toolsListChanged": true })).await;
    listen(&mut pipe, 1, json!({ "resourceSubscriptions": ["mem://a"] })).await;
    pipe.request(1, "tools/call", json!({ "name": "none", "_meta": meta() })).await;
    for _ in 0..2 {
        let refused = pipe.next().await;
        assert_eq!((&refused["error"]["code"], refused.get("id")), (&json!(-32600), None));
    }
    assert!(server.handle().remove_tool("none"));
    server.handle().resource_updated("mem://a");
    assert_eq!(pipe.next().await["method"], TOOLS);
    pipe.silence().await;
}

#[actix_web::test]
async fn a_client_that_closes_its_end_is_given_the_results_at_once() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    listening(&mut pipe, 7, json!({ "toolsListChanged": true })).await;
    listening(&mut pipe, "s", json!({})).await;
    let start = Instant::now();
    // what has changed before the end is told before it
    assert!(server.handle().remove_tool("none"));
    let (rest, ended) = pipe.finish().await;
    ended.expect("it ends well");
    assert_eq!(start.elapsed(), Duration::ZERO, "the drain waited for it");
    let of = |id: Value| {
        let is_of = |message: &&Value| {
            [&message["id"], subscription(message), &message["params"]["requestId"]].contains(&&id)
        };
        rest.iter().filter(is_of).cloned().collect::<Vec<_>>()
    };
    for (id, notices) in [(json!(7), 1), (json!("s"), 0)] {
        let messages = of(id.clone());
        assert_eq!(messages.len(), notices + 2, "{messages:?}");
        let [.., result, cancelled] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(result["id"], id);
        assert_eq!(result["result"]["resultType"], "complete");
        assert_eq!(result["result"]["_meta"][SUBSCRIPTION], id);
        assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fixture");
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], id);
    }
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_shutdown_ends_the_subscriptions_of_a_pipe_and_admits_no_more() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    listening(&mut pipe, 1, json!({})).await;
    let start = Instant::now();
    server.shutdown().await;
    assert_eq!(pipe.answer_to(1).await["result"]["resultType"], "complete");
    assert_eq!(pipe.next().await["method"], "notifications/cancelled");
    assert_eq!(pipe.try_next().await, None);
    assert_eq!(start.elapsed(), Duration::ZERO);
    let mut late = Pipe::open(&server);
    listen(&mut late, 2, json!({})).await;
    assert_eq!(late.answer_to(2).await["error"]["message"], "the server is shutting down");
    drop(late.finish().await);
    assert_idle(&server).await;
}

// C72
#[actix_web::test]
async fn no_change_overtakes_the_acknowledgement_of_any_of_five_hundred_subscriptions() {
    paused();
    let server = server();
    let handle = server.handle();
    let changes = spawn(async move {
        loop {
            for _ in 0..20 {
                handle.add_tool(Tool::new("extra", async || "")).expect("it is not there");
                assert!(handle.remove_tool("extra"));
                handle.resource_updated("mem://a");
                tokio::task::yield_now().await;
            }
            sleep(Duration::from_millis(1)).await;
        }
    });
    let mut pipe = Pipe::open(&server);
    let mut told = HashMap::<String, Vec<String>>::new();
    for id in 0..500 {
        let uris = if id % 2 == 0 { json!(["mem://a"]) } else { json!([]) };
        listen(&mut pipe, id, json!({ "toolsListChanged": id % 3 == 0, "resourceSubscriptions": uris }))
            .await;
        // all that came so far, and the acknowledgement of this one
        loop {
            let message = pipe.next().await;
            let id_of = subscription(&message).to_string();
            told.entry(id_of.clone()).or_default().push(message["method"].to_string());
            if message["method"] == ACKNOWLEDGED {
                assert_eq!(id_of, id.to_string());
                break;
            }
        }
        sleep(Duration::from_millis(1)).await;
    }
    changes.abort();
    sleep(Duration::from_millis(60)).await;
    loop {
        let messages = pipe.until_silence().await;
        if messages.is_empty() {
            break;
        }
        for message in messages {
            told.entry(subscription(&message).to_string()).or_default().push(message["method"].to_string());
        }
    }
    assert_eq!(told.len(), 500);
    let mut notices = 0;
    for (id, methods) in &told {
        let id: usize = id.parse().expect("a number");
        let (tools, updates) = (id.is_multiple_of(3), id.is_multiple_of(2));
        assert!(methods[0].contains(ACKNOWLEDGED), "{id}: {methods:?}");
        for method in &methods[1..] {
            notices += 1;
            let wanted = (method.contains(TOOLS) && tools) || (method.contains(UPDATED) && updates);
            assert!(wanted, "{id}: {method}");
        }
        let least = usize::from(tools) + usize::from(updates);
        assert!(methods.len() > least, "{id}: the last change was lost: {methods:?}");
    }
    assert!(notices >= 2_000, "only {notices} notices, and nothing to overtake");
}

#[actix_web::test]
async fn a_reader_that_stands_still_is_owed_a_bounded_number_of_notices_and_the_last() {
    paused();
    let server = server();
    let mut pipe = Pipe::with_buffer(&server, 256);
    listening(&mut pipe, 1, json!({ "resourceSubscriptions": ["mem://a", "mem://item/1"] })).await;
    for _ in 0..10_000 {
        server.handle().resource_updated("mem://a");
        sleep(Duration::from_millis(100)).await;
    }
    server.handle().resource_updated("mem://item/1");
    sleep(Duration::from_millis(60)).await;
    let mut told = Vec::new();
    for _ in 0..40 {
        told.extend(pipe.until_silence().await);
        sleep(Duration::from_millis(60)).await;
    }
    // the queue, the writer's buffer and the pipe
    let line = format!("{}\n", told[0]).len();
    assert!(told.len() <= 256 + 32 * 1024 / line + 256 / line + 3, "{} notices were kept", told.len());
    assert_eq!(told.last().expect("some")["params"]["uri"], "mem://item/1");
}

#[actix_web::test]
async fn a_notice_never_goes_to_make_room_for_what_may_be_lost() {
    paused();
    let server = server();
    let mut pipe = Pipe::with_buffer(&server, 256);
    pipe.initialize("2025-11-25", json!({})).await;
    listening(&mut pipe, 1, json!({ "resourceSubscriptions": ["mem://a"] })).await;
    // fills what lies between the queue and the reader
    pipe.call("fill", "big", json!({ "bytes": 40_000 })).await;
    sleep(Duration::from_millis(1)).await;
    server.handle().resource_updated("mem://a");
    sleep(Duration::from_millis(60)).await;
    pipe.call("logs", "log", json!({ "level": "error", "n": 2000 })).await;
    sleep(Duration::from_millis(60)).await;
    let came = pipe.until_silence().await;
    let of = |method: &str| came.iter().filter(|message| message["method"] == method).count();
    assert!(of("notifications/message") < 2000, "nothing was lost, and nothing shown");
    assert_eq!(of(UPDATED), 1);
}

#[actix_web::test]
async fn a_session_with_a_handshake_on_the_same_pipe_is_told_for_itself_and_has_no_such_method() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.request(1, "subscriptions/listen", json!({ "notifications": {} })).await;
    assert_eq!(pipe.answer_to(1).await["error"]["code"], -32601);
    listening(&mut pipe, 1, json!({ "toolsListChanged": true })).await;
    pipe.request(2, "resources/subscribe", json!({ "uri": "mem://a" })).await;
    pipe.answer_to(2).await;
    assert!(server.handle().remove_tool("none"));
    server.handle().resource_updated("mem://a");
    sleep(Duration::from_millis(60)).await;
    let told = pipe.until_silence().await;
    let mut told = told.iter().map(|told| (told["method"].as_str(), subscription(told))).collect::<Vec<_>>();
    told.sort_by_key(|(method, id)| (*method, id.to_string()));
    assert_eq!(told, [(Some(UPDATED), &Value::Null), (Some(TOOLS), &json!(1)), (Some(TOOLS), &Value::Null)]);
}

#[actix_web::test]
async fn a_filter_that_is_none_is_refused_and_leaves_nothing() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    pipe.request(1, "subscriptions/listen", json!({ "_meta": meta() })).await;
    let refused = pipe.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32602)));
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("`notifications`")));
    let uris = (0..1025).map(|n| format!("mem://item/{n}")).collect::<Vec<_>>();
    listen(&mut pipe, 1, json!({ "resourceSubscriptions": uris })).await;
    let refused = pipe.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32602)));
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("more than 1024 resources"))
    );
    settle().await;
    pipe.silence().await;
    assert_eq!((server.stats().listens, server.stats().in_flight), (0, 0));
    let honoured = listening(&mut pipe, 1, json!({ "resourceSubscriptions": uris[1..] })).await;
    assert_eq!(honoured["resourceSubscriptions"].as_array().map(Vec::len), Some(1024));
}

#[actix_web::test]
async fn the_limits_hold_on_both_sides_and_are_named() {
    paused();
    let server = builder().limits(limited(|limits| limits.process.listens = 2)).build();
    let (mut pipe, mut other) = (Pipe::open(&server), Pipe::open(&server));
    listening(&mut pipe, 1, json!({})).await;
    listening(&mut other, 1, json!({})).await;
    listen(&mut pipe, 2, json!({})).await;
    let refused = pipe.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32603)));
    let message = "too many subscriptions are open (the limit is 2)";
    assert_eq!(refused["error"]["message"], message);
    other.cancel(1).await;
    settle().await;
    listening(&mut pipe, 2, json!({})).await;
    assert_eq!(server.stats().listens, 2);

    // a subscription is one of those in flight
    let server = crate::fixture::server();
    let mut pipe = Pipe::open(&server);
    for id in 0..1024 {
        listening(&mut pipe, id, json!({})).await;
    }
    pipe.request("full", "tools/call", json!({ "name": "none", "_meta": meta() })).await;
    let refused = pipe.next().await;
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("the limit is 1024")),
        "{refused}"
    );
    pipe.cancel(0).await;
    pipe.request("free", "tools/call", json!({ "name": "none", "_meta": meta() })).await;
    assert!(pipe.next().await.get("result").is_some());
}

// C63
#[actix_web::test]
async fn a_request_that_names_its_version_is_refused_in_a_batch() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-03-26").await;
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "_meta": meta(), "notifications": {} } });
    pipe.send(&json!([listen, { "jsonrpc": "2.0", "id": 2, "method": "ping" }])).await;
    let answers = pipe.next().await;
    assert_eq!(answers[0]["error"]["code"], -32600, "{answers}");
    assert_eq!(answers[1]["result"], json!({}));
    assert_eq!(server.stats().listens, 0);
    // one that names none of ours is refused in its place as well
    let odd = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "v999" } });
    let odd = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": odd });
    pipe.send(&json!([odd, { "jsonrpc": "2.0", "id": 2, "method": "ping" }])).await;
    let answers = pipe.next().await;
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!(1), &json!(-32022)), "{answers}");
    assert_eq!(answers[1]["result"], json!({}));
    pipe.silence().await;
}
