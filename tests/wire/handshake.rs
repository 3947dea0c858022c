//! Opening a session: versions, what a client may declare, a second `initialize`, and what is served before.

use actix_mcp::testing::{Pipe, paused, script};
use serde_json::{Value, json};

use crate::{
    checks::{assert_idle, text},
    fixture::{REVISIONS, server},
};

#[actix_web::test]
async fn a_served_revision_is_agreed_to_and_another_is_countered_with_the_latest() {
    paused();
    for revision in REVISIONS {
        let mut pipe = Pipe::open(&server());
        let result = pipe.initialize(revision, json!({})).await;
        assert_eq!(result["protocolVersion"], revision);
    }
    for unknown in ["1999-01-01", "", "2026-07-28", "2025-11-25 ", "latest"] {
        let mut pipe = Pipe::open(&server());
        let result = pipe.initialize(unknown, json!({})).await;
        assert_eq!(result["protocolVersion"], "2025-11-25", "{unknown:?}");
        pipe.call(1, "echo", json!({ "text": "served" })).await;
        assert_eq!(text(&pipe.next().await), "served");
    }
}

#[actix_web::test]
async fn an_initialize_that_cannot_be_read_opens_nothing_and_the_next_one_does() {
    paused();
    let info = r#""clientInfo":{"name":"t","version":"1"}"#;
    let server = server();
    for (params, field) in [
        (format!(r#"{{"protocolVersion":5,"capabilities":{{}},{info}}}"#), "`protocolVersion`"),
        (format!(r#"{{"protocolVersion":null,"capabilities":{{}},{info}}}"#), "`protocolVersion`"),
        (format!(r#"{{"protocolVersion":["2025-11-25"],"capabilities":{{}},{info}}}"#), "`protocolVersion`"),
        (format!(r#"{{"capabilities":{{}},{info}}}"#), "`protocolVersion`"),
        (format!(r#"{{"protocolVersion":"2025-11-25",{info}}}"#), "`capabilities`"),
        (format!(r#"{{"protocolVersion":"2025-11-25","capabilities":7,{info}}}"#), "`capabilities`"),
        (r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#.to_owned(), "`clientInfo`"),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t"}}"#.to_owned(),
            "version",
        ),
        ("[]".to_owned(), "`params`"),
        ("null".to_owned(), "`protocolVersion`"),
        ("{}".to_owned(), "`protocolVersion`"),
    ] {
        let mut pipe = Pipe::open(&server);
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{params}}}\n");
        pipe.write(line.as_bytes()).await;
        let refusal = pipe.next().await;
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(0), &json!(-32602)), "{params}");
        assert!(refusal["error"]["message"].as_str().unwrap().contains(field), "{params}: {refusal}");
        pipe.call(1, "none", json!({})).await;
        assert_eq!(pipe.next().await["error"]["code"], -32602, "{params} opened a session");
        assert_eq!(pipe.initialize("2025-06-18", json!({})).await["protocolVersion"], "2025-06-18");
    }
    assert_eq!(server.calls(), 0);
    assert_idle(&server).await;
}

#[actix_web::test]
async fn what_a_client_declares_beyond_our_knowledge_is_ignored() {
    paused();
    let capabilities = json!({
        "elicitation": { "form": {}, "url": {} },
        "tasks": { "list": {}, "requests": { "sampling": { "createMessage": {} } } },
        "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } },
        "experimental": { "x": {} },
        "futureThing": { "a": [1] },
        "roots": null,
        "sampling": null,
    });
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {
            "name": "t", "version": "1", "title": "T", "icons": [], "websiteUrl": "https://example.com",
            "description": "d", "extra": { "deep": [null] },
        },
        "extra": true,
        "_meta": { "a": 1 },
    });
    let mut pipe = Pipe::open(&server());
    pipe.request(0, "initialize", params).await;
    assert_eq!(pipe.next().await["result"]["protocolVersion"], "2025-11-25");
    pipe.notify("notifications/initialized", json!({ "extra": 1 })).await;
    // `null` declared nothing, the rest what it says
    for (tool, declared) in [("sample", false), ("roots", false), ("ask", true), ("ask_url", true)] {
        pipe.call(tool, tool, json!({})).await;
        let message = pipe.next().await;
        assert_eq!(message.get("method").is_some(), declared, "{tool}: {message}");
    }
}

#[actix_web::test]
async fn declarations_of_every_shape_open_a_session() {
    paused();
    for elicitation in
        ["null", "{}", "true", "[]", r#"{"form":null}"#, r#"{"form":{"a":1},"x":0}"#, r#"{"url":{}}"#]
    {
        let mut pipe = Pipe::open(&server());
        let declared: Value = serde_json::from_str(elicitation).unwrap();
        let result = pipe.initialize("2025-11-25", json!({ "elicitation": declared })).await;
        assert_eq!(result["protocolVersion"], "2025-11-25", "{elicitation}");
        pipe.call(1, "ask", json!({})).await;
        let asked = pipe.next().await.get("method").is_some();
        let form = !matches!(elicitation, "null" | "true" | "[]" | r#"{"url":{}}"#);
        assert_eq!(asked, form, "{elicitation}");
    }
}

#[actix_web::test]
async fn a_second_initialize_is_refused_and_changes_nothing() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-06-18 {"elicitation":{}}
        > {"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"other","version":"2"}}}
        < {"id":5,"error":{"code":-32600,"message":"the session is already initialized"}}
        > {"jsonrpc":"2.0","id":6,"method":"initialize"}
        < {"id":6,"error":{"code":-32600}}
        > ping {"id":7}
        < {"id":7,"result":{}}
        # Still the capabilities of the first one,
        > tools/call {"id":8,"name":"ask"}
        < {"method":"elicitation/create","id":1}
        > {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"x":"1"}}}
        < {"id":8,"result":{"content":[{"text":"accept:1"}]}}
        # and its revision, in which an error without a readable id has a null one.
        > {"jsonrpc":"2.0","id":null,"method":"ping"}
        < {"id":null,"error":{"code":-32600}}
        # Others open sessions meanwhile.
        > initialize 2024-11-05 as b
        > ping {"id":7} as b
        < b {"id":7,"result":{}}
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn before_initialize_only_ping_is_served() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        > ping {"id":1}
        < {"id":1,"result":{}}
        > tools/call {"id":2,"name":"none"}
        < {"id":2,"error":{"code":-32602}}
        > tools/list {"id":3}
        < {"id":3,"error":{"code":-32602}}
        > logging/setLevel {"id":4,"level":"debug"}
        < {"id":4,"error":{"code":-32602}}
        > resources/subscribe {"id":5,"uri":"mem://a"}
        < {"id":5,"error":{"code":-32602}}
        # A notification cannot open it.
        > notifications/initialized {}
        > tools/list {"id":6}
        < {"id":6,"error":{"code":-32602}}
        > initialize 2025-11-25
        > tools/call {"id":7,"name":"none"}
        < {"id":7,"result":{"content":[{"text":"ok"}]}}
        < nothing
        "#,
    )
    .await;
    assert_eq!(server.calls(), 1);
}

#[actix_web::test]
async fn an_unknown_method_is_not_found_and_the_session_stays() {
    paused();
    for revision in REVISIONS {
        let mut pipe = Pipe::connect(&server(), revision).await;
        for method in
            ["no/such", "", "initialize ", "TOOLS/LIST", "tools/call/", "server/discover", "tasks/list"]
        {
            pipe.request(1, method, json!({})).await;
            let answer = pipe.next().await;
            assert_eq!(answer["id"], 1, "{revision} {method:?}");
            assert_eq!(answer["error"]["code"], -32601, "{revision} {method:?}");
        }
        // notifications are never answered, known or not
        pipe.notify("no/such", json!({})).await;
        pipe.notify("notifications/no/such", json!({})).await;
        pipe.silence().await;
        pipe.request(2, "ping", json!({})).await;
        assert_eq!(pipe.next().await["result"], json!({}));
    }
}

#[actix_web::test]
async fn a_notification_is_never_answered_whatever_is_wrong_with_it() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/does/not/exist","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"none"}}"#,
        r#"{"jsonrpc":"2.0","method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
        r#"{"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":5}"#,
        r#"{"jsonrpc":"2.0","method":"a","params":5,"method":"b"}"#,
    ] {
        pipe.write(format!("{line}\n").as_bytes()).await;
        let came = pipe.until_silence().await;
        assert!(came.is_empty(), "{line} was answered: {came:?}");
    }
    assert_eq!(server.calls(), 0);
    pipe.request(2, "ping", json!({})).await;
    assert_eq!(pipe.next().await["result"], json!({}));
}
