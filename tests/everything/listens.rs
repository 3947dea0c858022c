//! `subscriptions/listen`: what is told of changes to those who listen, how they are counted, and how it ends.

use serde_json::{Value, json};

use crate::{
    caller::spoken,
    client::Response,
    peer::{Http, everything},
    program::{PATIENCE, Program},
    served::{modern, modern_call, modern_with},
};

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// What can be listened for.
fn all() -> Value {
    json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["mem://item/1"] })
}

/// The triggers, and what each makes the server say.
fn triggers() -> [(&'static str, Value, &'static str); 4] {
    [
        ("test_trigger_tool_change", json!({}), TOOLS),
        ("test_trigger_prompt_change", json!({}), PROMPTS),
        ("toggle", json!({}), TOOLS),
        ("touch", json!({ "uri": "mem://item/1" }), UPDATED),
    ]
}

async fn listening(server: &Http, id: &str, notifications: Value) -> Response {
    let params = json!({ "notifications": notifications });
    let mut stream = server.send(&modern(id, "subscriptions/listen", params)).await.expect(200).await;
    heard(&mut stream, id, ACKNOWLEDGED).await;
    stream
}

/// Reads this notification, of this subscription.
async fn heard(stream: &mut Response, id: &str, method: &str) -> Value {
    let said = tokio::time::timeout(PATIENCE, stream.message()).await.expect("nothing is said");
    is_of(said.expect("it goes on"), id, method)
}

fn is_of(message: Value, id: &str, method: &str) -> Value {
    assert_eq!(message["method"], method, "{message}");
    assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    message
}

async fn trigger(server: &Http, tool: &str, arguments: Value) {
    server.send(&modern_call(1, tool, arguments)).await.expect(200).await.answer().await;
}

#[actix_web::test]
async fn each_listener_is_told_what_it_asked_for() {
    let server = Http::start(&[]);
    let mut everyone = listening(&server, "all", all()).await;
    let mut prompts = listening(&server, "prompts", json!({ "promptsListChanged": true })).await;
    for (tool, arguments, method) in triggers() {
        trigger(&server, tool, arguments).await;
        let message = heard(&mut everyone, "all", method).await;
        if method == UPDATED {
            assert_eq!(message["params"]["uri"], "mem://item/1");
        }
    }
    trigger(&server, "touch", json!({ "uri": "mem://item/2" })).await;
    trigger(&server, "test_trigger_prompt_change", json!({})).await;
    heard(&mut everyone, "all", PROMPTS).await;
    // once for each of the two, and nothing else
    heard(&mut prompts, "prompts", PROMPTS).await;
    heard(&mut prompts, "prompts", PROMPTS).await;

    let mut program = Program::start(everything(&["--stdio"]));
    let params = json!({ "notifications": all() });
    program.send(&spoken("all", "subscriptions/listen", params, json!({})));
    is_of(program.next(), "all", ACKNOWLEDGED);
    for (tool, arguments, method) in triggers() {
        let params = json!({ "name": tool, "arguments": arguments });
        program.send(&spoken(1, "tools/call", params, json!({})));
        // in any order
        let (answers, notices): (Vec<_>, Vec<_>) =
            [program.next(), program.next()].into_iter().partition(|message| message["id"] == 1);
        assert_eq!((answers.len(), notices.len()), (1, 1), "{answers:?} {notices:?}");
        for notice in notices {
            is_of(notice, "all", method);
        }
    }
    program.stdin.take();
    let rest = program.ended().well();
    let first: Value = serde_json::from_str(rest.first().expect("a result")).expect("a message");
    let ends = (&first["id"], &first["result"]["resultType"]);
    assert_eq!(ends, (&json!("all"), &json!("complete")), "{rest:?}");
}

#[actix_web::test]
async fn stats_count_calls_without_a_session_and_those_who_listen() {
    let server = Http::start(&[]);
    let listener = listening(&server, "a", all()).await;
    let other = listening(&server, "b", json!({ "toolsListChanged": true })).await;
    let listens = json!({ "sessions": 0, "in_flight": 0, "streams": 2, "subscriptions": 2, "calls": 0 });
    assert_eq!(server.stats().await, listens);
    // with a token its head comes when it has turned into a stream
    let params = json!({ "name": "progress", "arguments": { "n": 2, "ms": 3_600_000 }, "_meta": { "progressToken": 1 } });
    let mut call = server.send(&modern(1, "tools/call", params)).await.expect(200).await;
    call.message().await.expect("progress");
    let running = json!({ "sessions": 0, "in_flight": 1, "streams": 3, "subscriptions": 2, "calls": 1 });
    assert_eq!(server.stats().await, running);
    drop((listener, call));
    server.until("in_flight", 0).await;
    server.until("subscriptions", 1).await;
    server.until("streams", 1).await;
    drop(other);
    server.until("subscriptions", 0).await;
    server.until("streams", 0).await;
    // a call that ends with a question has started as well, and a request that is refused has not
    let ask = modern_with(1, "tools/call", json!({ "name": "ask" }), json!({ "elicitation": {} }));
    server.send(&ask).await.expect(200).await;
    server.send(&modern_call(1, "ghost", json!({}))).await.expect(200).await;
    let nothing = json!({ "sessions": 0, "in_flight": 0, "streams": 0, "subscriptions": 0, "calls": 2 });
    assert_eq!(server.stats().await, nothing);
}

#[actix_web::test]
async fn told_to_stop_it_gives_its_listeners_their_result_and_ends_well() {
    for signal in ["TERM", "INT"] {
        let mut server = Http::start(&[]);
        let streams = [listening(&server, "a", all()).await, listening(&server, "b", json!({})).await];
        server.signal(signal);
        for (stream, id) in streams.into_iter().zip(["a", "b"]) {
            let last = stream.messages().await.pop().expect("a result");
            assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(id), &json!("complete")));
            assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        }
        // nothing is left to drain: it need not wait for those who listened
        let start = std::time::Instant::now();
        assert_eq!(server.process.wait().expect("it can be waited for").code(), Some(0));
        assert!(start.elapsed() < std::time::Duration::from_secs(8), "{:?}", start.elapsed());
    }
}
