//! What a POST may look like: `Accept`, `Content-Type`, the body, and what each wrong one is told.

use actix_mcp::{Server, testing::paused, tool};
use serde_json::{Value, json};

use crate::{
    client::Request,
    fixture::{builder, server},
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, initialize, message, modern, modern_call},
};

// C39
#[actix_web::test]
async fn accept_takes_ranges_and_no_header_is_anything() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    for (accept, kind) in [
        (None, "application/json"),
        (Some("*/*"), "application/json"),
        (Some("application/*, text/*"), "application/json"),
        (Some("text/event-stream, application/json"), "application/json"),
        (Some("application/json;q=0.9, text/event-stream;q=0.5"), "application/json"),
        (Some("APPLICATION/JSON"), "application/json"),
        (Some("application/json"), "application/json"),
        (Some("*/*, application/json;q=0"), "text/event-stream"),
        (Some("text/event-stream"), "text/event-stream"),
    ] {
        let request = initialize("2025-11-25").without("Accept");
        let request = accept.iter().fold(request, |request, accept| request.header("Accept", accept));
        let response = served.send(&request).await.expect(200).await;
        assert_eq!(response.header("content-type"), Some(kind), "{accept:?}");
        assert!(response.header("mcp-session-id").is_some());
        assert_eq!(response.answer().await["result"]["protocolVersion"], "2025-11-25");
    }
    let sessions = server.stats().sessions;
    for accept in ["text/html", "application/json;q=0", "text/event-stream;q=0.0, text/html", ""] {
        let request = initialize("2025-11-25").set("Accept", accept);
        Refusal::new(406, -32600, "`Accept`").check(served.send(&request).await, accept).await;
    }
    assert_eq!(server.stats().sessions, sessions);
    let client = Client::open(&served, "2025-11-25").await;
    for accept in ["*/*", "text/*"] {
        let request = client.dress(Request::get().set("Accept", accept));
        assert_eq!(
            client.send(&request).await.expect(200).await.header("content-type"),
            Some("text/event-stream")
        );
    }
    let request = client.dress(Request::get().without("Accept"));
    client.send(&request).await.expect(200).await;
}

// C39
#[actix_web::test]
async fn a_slow_call_is_answered_in_the_one_type_its_client_reads() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let call = crate::served::call_with_progress(1, "progress", json!({ "n": 3, "ms": 500 }), "p");
    let response =
        client.send(&client.request(&call).set("Accept", "application/json")).await.expect(200).await;
    assert_eq!(response.json().await["result"]["content"][0]["text"], "done");
    let response =
        client.send(&client.request(&call).set("Accept", "text/event-stream")).await.expect(200).await;
    assert_eq!(response.messages().await.len(), 4);
}

// C40
#[actix_web::test]
async fn a_body_must_be_announced_as_json_in_utf_8() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "application/json+x",
        "garbage",
        "",
    ] {
        let request = initialize("2025-11-25").set("Content-Type", kind);
        Refusal::new(415, -32600, "`Content-Type`").check(served.send(&request).await, kind).await;
    }
    let request = initialize("2025-11-25").without("Content-Type");
    Refusal::new(415, -32600, "`Content-Type`").check(served.send(&request).await, "none").await;
    assert_idle(&server).await;
    for kind in [
        "application/json; charset=utf-8",
        "Application/JSON",
        r#"application/json;charset="UTF-8""#,
        "application/json",
    ] {
        let request = initialize("2025-11-25").set("Content-Type", kind);
        served.send(&request).await.expect(200).await;
    }
}

// C31, C41, C42
#[actix_web::test]
async fn a_body_that_is_no_message_is_400_with_the_id_that_was_readable() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let absent = || json!("$absent");
    let cases: Vec<(&[u8], i64, Value)> = vec![
        (b"", -32700, absent()),
        (b"{", -32700, absent()),
        (b"[1", -32700, absent()),
        (b"hello", -32700, absent()),
        (b"\"x\"", -32600, absent()),
        (b"42", -32600, absent()),
        (b"null", -32600, absent()),
        (b"{}", -32600, absent()),
        (b"[]", -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":4}"#, -32600, json!(4)),
        (br#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, -32600, json!(4)),
        (br#"{"id":4,"method":"ping"}"#, -32600, json!(4)),
        (br#"{"jsonrpc":"2.0","id":4,"method":7}"#, -32600, json!(4)),
        (br#"{"jsonrpc":"2.0","id":"q1","method":"tools/list","params":[]}"#, -32602, json!("q1")),
        (br#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":"x"}"#, -32602, json!(4)),
        (br#"{"jsonrpc":"2.0","id":4,"id":5,"method":"ping"}"#, -32600, absent()),
        (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\",\"x\":\"\xff\"}", -32700, absent()),
        (br#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#, -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":[],"method":"tools/list"}"#, -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"tools/list"}"#, -32600, absent()),
        (br#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo"}}"#, -32600, absent()),
    ];
    for (body, code, id) in &cases {
        let refusal = Refusal::new(400, *code, "").of(id.clone());
        // with a session and without, in either era, since the message is looked at first
        let plain = Request::post("").body(*body);
        let own = plain.clone().header("MCP-Protocol-Version", "2026-07-28");
        for request in [plain.clone(), client.dress(plain), own] {
            refusal.check(served.send(&request).await, &String::from_utf8_lossy(body)).await;
        }
    }
    assert_eq!(server.calls(), 0);
    // before 2025-11-25 the schema has no error without an id
    let older = Client::open(&served, "2025-06-18").await;
    for (body, code, id) in &cases {
        let id = if *id == "$absent" { Value::Null } else { id.clone() };
        let response = older.send(&older.dress(Request::post("").body(*body))).await;
        Refusal::new(400, *code, "").of(id).check(response, &String::from_utf8_lossy(body)).await;
    }
    client.call(2, "echo", json!({ "text": "alive" })).await.expect(200).await;
    older.call(2, "echo", json!({ "text": "alive" })).await.expect(200).await;
}

// C30
#[actix_web::test]
async fn an_id_comes_back_with_its_type_and_value() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    for id in [
        "0",
        "-1",
        "2147483648",
        "1774232524389",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        r#""""#,
        r#""a\u0000b""#,
        r#""1.0""#,
        r#""1""#,
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        // written by hand: the client's own numbers are no better
        let own = modern("ID", "tools/list", json!({}));
        let own = own.clone().body(own.text().replace(r#""ID""#, id));
        for request in [client.dress(Request::post(body)), own] {
            let mut response = client.send(&request).await.expect(200).await;
            let text = String::from_utf8(response.bytes().await).unwrap();
            assert!(text.contains(&format!(r#""id":{id},"#)), "{id}: {text}");
        }
    }
}

// C33
#[actix_web::test]
async fn notifications_and_answers_are_202_without_a_body() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    for body in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/unknown" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": null } }),
        json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "echo" } }),
        json!({ "jsonrpc": "2.0", "id": "srv-1", "result": {} }),
        json!({ "jsonrpc": "2.0", "id": "srv-1", "error": { "code": 1, "message": "x" } }),
    ] {
        for accept in ["application/json, text/event-stream", "application/json", "text/event-stream"] {
            let response = client.send(&client.request(&body).set("Accept", accept)).await.expect(202).await;
            assert_eq!(response.header("content-type"), None, "{body}");
            response.empty().await;
        }
    }
    assert_eq!(server.calls(), 0);
}

// C63
#[actix_web::test]
async fn batches_are_served_at_2025_03_26_only() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let two = json!([message(1, "ping", json!({})), message(2, "ping", json!({}))]);
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let client = Client::open(&served, revision).await;
        let no_id = if revision == "2025-11-25" { json!("$absent") } else { Value::Null };
        Refusal::new(400, -32600, "must not be a batch")
            .of(no_id)
            .check(client.post(&two).await, revision)
            .await;
    }
    let client = Client::open(&served, "2025-03-26").await;
    let answers = client.post(&two).await.expect(200).await.json().await;
    assert_eq!(answers.as_array().unwrap().len(), 2);
    let answers = client
        .post(&json!([
            1,
            message(2, "ping", json!({})),
            { "jsonrpc": "2.0", "method": "notifications/x" },
            // neither waits for an answer, however it is wrong
            { "jsonrpc": "1.0", "method": "notifications/x" },
            { "jsonrpc": "1.0", "id": 3, "result": {} },
        ]))
        .await
        .expect(200)
        .await
        .json()
        .await;
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(answers[0]["id"], Value::Null);
    assert_eq!(answers[1]["id"], 2);
    assert_eq!(answers.as_array().unwrap().len(), 2);
    Refusal::new(400, -32600, "at least one")
        .of(Value::Null)
        .check(client.post(&json!([])).await, "[]")
        .await;
    let notifications = json!([{ "jsonrpc": "2.0", "method": "notifications/x" }, { "jsonrpc": "2.0", "id": 9, "result": {} }]);
    client.post(&notifications).await.expect(202).await.empty().await;
    let again = json!([message(1, "initialize", json!({})), message(2, "ping", json!({}))]);
    let answers = client.post(&again).await.expect(200).await.json().await;
    let refused = answers.as_array().unwrap().iter().find(|answer| answer["id"] == 1).unwrap();
    assert_eq!(refused["error"]["code"], -32600);
    // the same id twice in one batch: the second is refused
    let slow = |tag| crate::served::call(5, "slow", json!({ "ms": 10, "tag": tag }));
    let answers = client.post(&json!([slow("a"), slow("b")])).await.expect(200).await.json().await;
    assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": null, "error": answers[0]["error"] }));
    assert_eq!(answers[0]["error"]["message"], "request id 5 is already in flight");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "a");
    // a member that cannot be read, under an id that is live: an error with it would fail the one that owns it
    let malformed = json!({ "jsonrpc": "2.0", "id": 5, "method": 7 });
    let answers = client.post(&json!([slow("a"), malformed])).await.expect(200).await.json().await;
    assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": null, "error": answers[0]["error"] }));
    assert_eq!(answers[1]["result"]["content"][0]["text"], "a");
}

#[actix_web::test]
async fn a_server_that_prefers_json_sends_a_stream_only_to_clients_that_read_nothing_else() {
    paused();
    let server = builder().json_response().build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let call =
        client.request(&crate::served::call_with_progress(1, "progress", json!({ "n": 3, "ms": 500 }), "p"));
    let answer = client.send(&call).await.expect(200).await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    assert_eq!(server.dropped(), 3, "what the call said before is not counted as lost");
    let events = client.send(&call.set("Accept", "text/event-stream")).await.expect(200).await;
    assert_eq!(events.messages().await.len(), 4);
    assert_eq!(server.dropped(), 3);
    // a question has no stream of its own then: the standalone one takes it
    let mut get = client.get().await.expect(200).await;
    let asking = client.start(&client.request(&crate::served::call(2, "ask", json!({})))).await;
    let question = get.message().await.expect("the stream has ended");
    assert_eq!(question["method"], "elicitation/create");
    client.answer(&question["id"], json!({ "action": "decline" })).await;
    let answer = asking.response().await.expect(200).await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "declined");
    drop(get);
    actix_mcp::testing::settle().await;
    let answer = client.post(&crate::served::call(3, "ask", json!({}))).await.expect(200).await.json().await;
    assert_eq!(answer["result"]["isError"], true);
}

#[actix_web::test]
async fn what_is_in_a_string_is_not_parsed_again_whatever_its_member_is_called() {
    /// Takes anything.
    #[tool]
    async fn any(#[header("Region")] region: Option<String>, value: Value) -> String {
        format!("{region:?} {value}")
    }
    paused();
    let server = Server::builder("test", "1").tool(any).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    // each level doubles the escapes of the one below it, and would nest past every limit
    let mut nested = "[]".to_owned();
    for _ in 0..6 {
        nested = json!({ "$serde_json::private::RawValue": nested }).to_string();
    }
    let value = serde_json::Map::from_iter([("$serde_json::private::RawValue".to_owned(), json!(nested))]);
    // and what a header must repeat would be behind the check
    let smuggled = json!({ "$serde_json::private::RawValue": r#"{"region":"eu","value":1}"# });
    for arguments in [json!({ "value": value }), smuggled] {
        let named = "no member may be named";
        let response = served.send(&modern_call("q1", "any", arguments.clone())).await;
        Refusal::new(400, -32600, named).of("q1").check(response, "on its own").await;
        let response = client.post(&call(1, "any", arguments)).await;
        Refusal::new(400, -32600, named).of(1).check(response, "in a session").await;
    }
    assert_eq!(server.calls(), 0, "nothing ran");
    let said = json!({ "value": ["$serde_json::private::RawValue", nested] });
    let response = served.send(&modern_call("q1", "any", said)).await.expect(200).await;
    assert_eq!(response.answer().await["result"].get("isError"), None, "a text may speak of it");
}
