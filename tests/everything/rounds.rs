//! What asks where there is no session: a result with questions, and the same request again with the answers.

use serde_json::{Value, json};

use crate::{caller::Caller, peer::Http, served::modern_with};

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn completion(text: &str) -> Value {
    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": text } })
}

/// The request again, with these answers to the result that asked.
fn retry(params: &Value, asked: &Value, answers: Value) -> Value {
    let mut params = params.clone();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = answers;
    params
}

/// Asks, and answers what is asked, round by round: each must ask for just the keys of its answers, under a state of its own.
async fn talk(caller: &mut Caller, method: &str, params: &Value, rounds: &[Value]) -> Value {
    let mut result = caller.result(method, params.clone()).await;
    let mut states = Vec::new();
    for answers in rounds {
        assert_eq!(result["resultType"], "input_required", "{result}");
        let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&result["inputRequests"]), keys(answers));
        let state = result["requestState"].as_str().expect("a state").to_owned();
        assert!(!states.contains(&state), "{states:?}");
        states.push(state);
        result = caller.result(method, retry(params, &result, answers.clone())).await;
    }
    assert_eq!(result["resultType"], "complete", "{result}");
    result
}

#[actix_web::test]
async fn ask_asks_under_its_key_until_it_is_answered() {
    let schema = json!({ "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] });
    for mut caller in Caller::both(&[]) {
        let params = json!({ "name": "ask", "arguments": { "target": "it" } });
        let asked = caller.result("tools/call", params.clone()).await;
        let question = json!({ "message": "input wanted for it", "requestedSchema": schema });
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(
            asked["inputRequests"],
            json!({ "k": { "method": "elicitation/create", "params": question } })
        );
        for (answers, text) in [
            (json!({ "k": accept(json!({ "x": "yes" })) }), "accept:yes:it"),
            (json!({ "k": accept(json!({ "x": "yes" })), "j": accept(json!({})) }), "accept:yes:it"),
            (json!({ "k": { "action": "decline" } }), "declined"),
            (json!({ "k": { "action": "cancel" } }), "cancelled"),
        ] {
            let result = caller.result("tools/call", retry(&params, &asked, answers)).await;
            assert_eq!(result["content"][0]["text"], text);
        }
        for answers in [json!({}), json!({ "j": accept(json!({ "x": "yes" })) })] {
            let again = caller.result("tools/call", retry(&params, &asked, answers)).await;
            assert_eq!(again["inputRequests"], asked["inputRequests"]);
        }
        // C79
        for wrong in [json!("yes"), json!({ "action": "accept" }), accept(json!({ "x": 1 })), json!(12345)] {
            let params = retry(&params, &asked, json!({ "k": wrong }));
            assert_eq!(caller.refusal("tools/call", params).await, -32602);
        }
        // C78
        let state = asked["requestState"].as_str().expect("a state");
        for wrong in ["", "x", &state[..state.len() - 1], &format!("{state}-TAMPERED"), &"A".repeat(1 << 20)]
        {
            let mut params = retry(&params, &asked, json!({ "k": accept(json!({ "x": "yes" })) }));
            params["requestState"] = wrong.into();
            assert_eq!(caller.refusal("tools/call", params).await, -32602);
        }
        // another target is another request
        let other = json!({ "name": "ask", "arguments": { "target": "that" } });
        let params = retry(&other, &asked, json!({ "k": { "action": "decline" } }));
        assert_eq!(caller.refusal("tools/call", params).await, -32602);
    }
}

#[actix_web::test]
async fn a_web_page_and_the_model_are_asked_in_rounds_as_well() {
    for mut caller in Caller::both(&[]) {
        let params = json!({ "name": "ask", "arguments": { "mode": "url" } });
        let asked = caller.result("tools/call", params.clone()).await;
        let question = json!({ "mode": "url", "message": "input wanted", "url": "https://example.com/auth" });
        assert_eq!(asked["inputRequests"]["k"]["params"], question);
        for (answer, text) in [("accept", "accept:"), ("decline", "declined"), ("cancel", "cancelled")] {
            let answers = json!({ "k": { "action": answer } });
            let result = talk(&mut caller, "tools/call", &params, &[answers]).await;
            assert_eq!(result["content"][0]["text"], text);
        }

        let params = json!({ "name": "sample", "arguments": {} });
        let asked = caller.result("tools/call", params.clone()).await;
        let hello = json!({ "role": "user", "content": { "type": "text", "text": "hello" } });
        let question = &asked["inputRequests"]["k"];
        assert_eq!(question["method"], "sampling/createMessage");
        assert_eq!(question["params"]["messages"], json!([hello]));
        assert_eq!(question["params"]["maxTokens"], 10);
        let result = talk(&mut caller, "tools/call", &params, &[json!({ "k": completion("hi") })]).await;
        assert_eq!(result["content"][0]["text"], "hi");
    }
}

#[actix_web::test]
async fn the_fixtures_of_the_suite_ask_for_what_it_answers() {
    let name = || accept(json!({ "name": "Alice" }));
    let ok = || json!({ "confirm": accept(json!({ "ok": true })) });
    let roots = || json!({ "roots": [{ "uri": "file:///test/root" }] });
    let several = json!({ "user_name": name(), "greeting": completion("Welcome"), "client_roots": roots() });
    let fixtures = [
        ("elicitation", vec![json!({ "user_name": name() })], "Hello, Alice!"),
        ("sampling", vec![json!({ "capital_question": completion("Paris") })], "Paris"),
        ("list_roots", vec![json!({ "client_roots": roots() })], "Roots: file:///test/root"),
        ("request_state", vec![ok()], "state-ok: true"),
        ("tampered_state", vec![ok()], "confirmed: true"),
        ("multiple_inputs", vec![several], "Alice: Welcome (1 roots)"),
        (
            "multi_round",
            vec![json!({ "step1": name() }), json!({ "step2": accept(json!({ "color": "blue" })) })],
            "Alice likes blue",
        ),
        ("capabilities", vec![json!({ "user_name": name() })], "Alice"),
    ];
    for mut caller in Caller::both(&[]) {
        for (fixture, rounds, text) in &fixtures {
            let params = json!({ "name": format!("test_input_required_result_{fixture}") });
            let result = talk(&mut caller, "tools/call", &params, rounds).await;
            assert_eq!(result["content"][0]["text"], *text);
        }
        let params = json!({ "name": "test_input_required_result_prompt" });
        let answers = json!({ "user_context": accept(json!({ "context": "tea" })) });
        let result = talk(&mut caller, "prompts/get", &params, &[answers]).await;
        assert_eq!(result["messages"][0]["content"]["text"], "Tell me about tea.");

        caller.capabilities = json!({ "sampling": {} });
        let params = json!({ "name": "test_input_required_result_capabilities" });
        let answers = [json!({ "capital_question": completion("Paris") })];
        let result = talk(&mut caller, "tools/call", &params, &answers).await;
        assert_eq!(result["content"][0]["text"], "Paris");
    }
}

// C77
#[actix_web::test]
async fn a_capability_that_is_missing_is_named_before_anything_streams() {
    let server = Http::start(&[]);
    let needed = [
        ("ask", json!({}), json!({ "elicitation": {} })),
        ("ask", json!({ "mode": "url" }), json!({ "elicitation": { "url": {} } })),
        ("sample", json!({}), json!({ "sampling": {} })),
        ("test_missing_capability", json!({}), json!({ "sampling": {} })),
    ];
    let mut stdio = Caller::stdio(&[]);
    stdio.capabilities = json!({});
    for (tool, arguments, needed) in needed {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = modern_with("q1", "tools/call", params.clone(), json!({}));
        // `json` asserts that it is no stream
        let answer = server.send(&request).await.expect(400).await.json().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("q1"), &json!(-32021)));
        assert_eq!(answer["error"]["data"], json!({ "requiredCapabilities": needed }));
        let answer = stdio.request("tools/call", params).await;
        assert_eq!(answer["error"]["data"], json!({ "requiredCapabilities": needed }));
    }
    // what comes before it, and after it
    let bare = |method: &str, params: Value| modern_with("q1", method, params, json!({}));
    for (request, status, code) in [
        (bare("no/such", json!({ "name": "ask" })), 404, -32601),
        (bare("tools/call", json!({ "name": "ask" })).set("Mcp-Method", "no/such"), 400, -32020),
        (bare("tools/call", json!({ "name": "ask" })).set("Mcp-Name", "sample"), 400, -32020),
        (bare("tools/call", json!({ "name": "ghost" })), 200, -32602),
        (bare("resources/read", json!({})), 200, -32602),
        (bare("tools/call", json!({ "name": "ask", "requestState": "x" })), 200, -32602),
    ] {
        let answer = server.send(&request).await.expect(status).await.json().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    server.until("in_flight", 0).await;
    let params = json!({ "name": "test_missing_capability" });
    let request = modern_with("q1", "tools/call", params, json!({ "sampling": {} }));
    let answer = server.send(&request).await.expect(200).await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "The client's model can be asked");
}

#[actix_web::test]
async fn processes_with_one_state_key_serve_the_rounds_of_one_call() {
    let key = "0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdef0123";
    let other = "f".repeat(64);
    let params = json!({ "name": "ask", "arguments": { "target": "it" } });
    let answers = || json!({ "k": accept(json!({ "x": "yes" })) });
    // what one transport has sealed, the other opens
    let [mut http, mut stdio] = Caller::both(&["--state-key", key]);
    let mut second = Caller::http(&["--state-key", &other, "--state-key", key]);
    let here = http.result("tools/call", params.clone()).await;
    for there in [&mut stdio, &mut second, &mut http] {
        let result = there.result("tools/call", retry(&params, &here, answers())).await;
        assert_eq!(result["content"][0]["text"], "accept:yes:it");
    }
    let there = stdio.result("tools/call", params.clone()).await;
    let result = http.result("tools/call", retry(&params, &there, answers())).await;
    assert_eq!(result["content"][0]["text"], "accept:yes:it");
    // the first key seals, and the others do not have it
    let theirs = second.result("tools/call", params.clone()).await;
    assert_eq!(http.refusal("tools/call", retry(&params, &theirs, answers())).await, -32602);
    // by default, every process has a key of its own
    for mut stranger in Caller::both(&[]) {
        assert_eq!(stranger.refusal("tools/call", retry(&params, &here, answers())).await, -32602);
    }
}

#[actix_web::test]
async fn what_is_sealed_for_one_bearer_is_no_use_to_another() {
    let server = Http::start(&["--bearer", "ann=one", "--bearer", "ann=two", "--bearer", "bob=three"]);
    let capabilities = json!({ "elicitation": {} });
    let request = |params: Value, token: &str| {
        let request = modern_with(1, "tools/call", params, capabilities.clone());
        request.header("Authorization", &format!("Bearer {token}"))
    };
    let params = json!({ "name": "ask", "arguments": {} });
    let asked = server.send(&request(params.clone(), "one")).await.expect(200).await.answer().await;
    let again = retry(&params, &asked["result"], json!({ "k": accept(json!({ "x": "yes" })) }));
    for (token, status, good) in
        [("one", 200, true), ("two", 200, true), ("three", 200, false), ("four", 401, false)]
    {
        let response = server.send(&request(again.clone(), token)).await.expect(status).await;
        match (status, good) {
            (200, true) => assert_eq!(response.answer().await["result"]["content"][0]["text"], "accept:yes"),
            (200, false) => assert_eq!(response.json().await["error"]["code"], -32602),
            _ => assert_eq!(response.header("www-authenticate"), Some("Bearer")),
        }
    }
}
