//! `ask` and `sample`: what the client says, and what becomes of it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    peer::{Http, Peer, failure, text},
    served::{Client, initialize_with},
};

/// Calls a tool and replies to its one question; gives the question's method and params, and the tool's result.
async fn asked(peer: &mut Peer, tool: &str, arguments: Value, reply: Value) -> (Value, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    let mut heard = peer.exchange("tools/call", params, |_| reply.clone()).await;
    assert_eq!(heard.len(), 2, "{heard:?}");
    let result = heard.remove(1)["result"].take();
    let mut question = heard.remove(0);
    let question = json!({ "method": question["method"].take(), "params": question["params"].take() });
    (question, result)
}

#[actix_web::test]
async fn ask_gives_what_the_user_did() {
    let accept = json!({ "result": { "action": "accept", "content": { "x": "yes" } } });
    for mut peer in Peer::both(&[]).await {
        for (arguments, reply, answer) in [
            (json!({}), accept.clone(), "accept:yes"),
            (json!({ "mode": "form", "target": "it" }), accept.clone(), "accept:yes:it"),
            (json!({ "target": "it" }), json!({ "result": { "action": "decline" } }), "declined"),
            (json!({}), json!({ "result": { "action": "cancel" } }), "cancelled"),
            (json!({ "mode": "url" }), json!({ "result": { "action": "accept" } }), "accept:"),
            (
                json!({ "mode": "url", "target": "it" }),
                json!({ "result": { "action": "accept" } }),
                "accept::it",
            ),
            (json!({ "mode": "url" }), json!({ "result": { "action": "decline" } }), "declined"),
        ] {
            assert_eq!(asked(&mut peer, "ask", arguments, reply).await.1, text(answer));
        }
        for reply in [
            json!({ "error": { "code": -1, "message": "no" } }),
            json!({ "result": { "action": "accept", "content": { "x": 1 } } }),
            json!({ "result": { "action": "accept" } }),
            json!({ "result": "yes" }),
        ] {
            let (_, result) = asked(&mut peer, "ask", json!({}), reply).await;
            assert!(failure(&result).starts_with("ask failed"), "{result}");
        }
    }
}

#[actix_web::test]
async fn the_questions_are_as_described() {
    for mut peer in Peer::both(&[]).await {
        let reply = json!({ "result": { "action": "cancel" } });
        let (question, _) = asked(&mut peer, "ask", json!({ "target": "it" }), reply.clone()).await;
        let schema =
            json!({ "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] });
        let params = json!({ "message": "input wanted for it", "requestedSchema": schema });
        assert_eq!(question, json!({ "method": "elicitation/create", "params": params }));

        let (question, _) = asked(&mut peer, "ask", json!({ "mode": "url" }), reply).await;
        let params = &question["params"];
        assert_eq!(params["mode"], "url");
        assert_eq!(params["message"], "input wanted");
        assert_eq!(params["url"], "https://example.com/auth");
        assert!(params["elicitationId"].as_str().is_some_and(|id| !id.is_empty()), "{params}");

        let content = json!({ "type": "text", "text": "hi" });
        let reply = json!({ "result": { "role": "assistant", "model": "m", "content": content } });
        let (question, result) = asked(&mut peer, "sample", json!({}), reply).await;
        let hello = json!({ "role": "user", "content": { "type": "text", "text": "hello" } });
        assert_eq!(question["method"], "sampling/createMessage");
        assert_eq!(question["params"]["messages"], json!([hello]));
        assert_eq!(question["params"]["maxTokens"], 10);
        assert_eq!(result, text("hi"));

        let reply = json!({ "error": { "code": -1, "message": "no" } });
        let (_, result) = asked(&mut peer, "sample", json!({}), reply).await;
        assert!(failure(&result).starts_with("ask failed"), "{result}");
    }
}

#[actix_web::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    let server = Http::start(&[]);
    let client = Client::open_with(server.addr, initialize_with("2025-11-25", json!({})), &[]).await;
    for (tool, arguments) in [("ask", json!({})), ("ask", json!({ "mode": "url" })), ("sample", json!({}))] {
        let answer = client.call(1, tool, arguments).await.expect(200).await.json().await;
        assert!(failure(&answer["result"]).starts_with("ask failed"), "{answer}");
    }
}

#[actix_web::test]
async fn a_client_that_does_not_answer_in_time_is_not_waited_for() {
    let server = Http::start(&["--request-timeout", "0.05"]);
    let client = server.client().await;
    for tool in ["ask", "sample"] {
        let heard = async { client.call(1, tool, json!({})).await.expect(200).await.messages().await };
        // by default it waits for a minute
        let heard = tokio::time::timeout(Duration::from_secs(30), heard).await.expect("it gives up in time");
        let methods: Vec<_> = heard.iter().map(|message| &message["method"]).collect();
        assert_eq!(methods[1..], [&json!("notifications/cancelled"), &Value::Null], "{heard:?}");
        assert_eq!(heard[1]["params"]["requestId"], heard[0]["id"]);
        assert!(failure(&heard[2]["result"]).starts_with("ask failed"), "{heard:?}");
    }
}
