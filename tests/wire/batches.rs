//! Several messages in one array: served at 2025-03-26 only.

use actix_mcp::testing::{Pipe, contains, paused, script};
use serde_json::json;

use crate::fixture::server;

#[actix_web::test]
async fn the_answers_to_a_batch_come_as_one_array() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-03-26
        > [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]
        # The array waits for the slowest; what is sent meanwhile goes before it.
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":1,"ms":100},"_meta":{"progressToken":"p"}}},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
        < nothing
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        < {"id":3,"result":{}}
        < [{"id":2,"result":{}},{"id":1,"result":{"content":[{"text":"done"}]}}]
        < nothing
        # A batch of one is a batch.
        > [{"jsonrpc":"2.0","id":1,"method":"ping"}]
        < [{"id":1,"result":{}}]
        "#,
    )
    .await;
}

#[actix_web::test]
async fn a_batch_without_requests_is_answered_by_nothing() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-03-26
        > [{"jsonrpc":"2.0","method":"notifications/initialized"}]
        > [{"jsonrpc":"2.0","method":"notifications/made_up"},{"jsonrpc":"2.0","id":77,"result":{}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}]
        < nothing
        > ping {"id":1}
        < {"id":1,"result":{}}
        "#,
    )
    .await;
}

#[actix_web::test]
async fn a_bad_member_is_refused_alone() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-03-26
        > [1,{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < [{"id":null,"error":{"code":-32600}},{"id":2,"result":{}}]
        > ["x",null,[],{},{"jsonrpc":"2.0","id":null,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"none"},{"jsonrpc":"2.0","id":4,"method":"ping","params":1}]
        < [{"id":null,"error":{"code":-32600}},{"id":null,"error":{"code":-32600}},{"id":null,"error":{"code":-32600}},{"id":null,"error":{"code":-32600}},{"id":null,"error":{"code":-32600}},{"id":3,"error":{"code":-32601}},{"id":4,"error":{"code":-32602}}]
        # An id that is twice in a batch: the second is refused, the rest is served.
        > [{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"ms":50,"tag":"first"}}},{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]
        < [{"id":null,"error":{"code":-32600,"message":"request id 5 is already in flight"}},{"id":6,"result":{}},{"id":5,"result":{"content":[{"text":"first"}]}}]
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn initialize_cannot_be_part_of_a_batch() {
    paused();
    script(
        &server(),
        r#"
        # Before the handshake there is no revision that could have batches.
        > [{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}]
        < {"id":"$absent","error":{"code":-32600}}
        > [{"jsonrpc":"2.0","id":1,"method":"ping"}]
        < {"id":"$absent","error":{"code":-32600}}
        > initialize 2025-03-26
        > [{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < [{"id":1,"error":{"code":-32600,"message":"`initialize` cannot be part of a batch"}},{"id":2,"result":{}}]
        "#,
    )
    .await;
}

#[actix_web::test]
async fn an_array_that_is_no_batch_is_one_refusal() {
    paused();
    let server = server();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::connect(&server, revision).await;
        for (line, code) in
            [("[]", -32600), (" [ ] ", -32600), ("[{]", -32700), ("[{}", -32700), ("[1,]", -32700)]
        {
            pipe.write(format!("{line}\n").as_bytes()).await;
            let error = pipe.next().await;
            assert_eq!(error["error"]["code"], code, "{line} at {revision}: {error}");
            assert!(error.get("id").is_none_or(|id| id.is_null()), "{error}");
            pipe.silence().await;
        }
    }
}

#[actix_web::test]
async fn other_revisions_refuse_a_batch_as_a_whole() {
    paused();
    let server = server();
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::connect(&server, revision).await;
        for batch in [
            json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }, { "jsonrpc": "2.0", "id": 2, "method": "ping" }]),
            json!([{ "jsonrpc": "2.0", "method": "notifications/made_up" }]),
            json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "none" } }]),
            json!([{ "jsonrpc": "2.0", "id": 1, "method": "initialize" }]),
            json!([1, { "jsonrpc": "2.0", "id": 2, "method": "ping" }]),
        ] {
            pipe.send(&batch).await;
            let error = pipe.next().await;
            let wanted = json!({ "error": { "code": -32600, "message": "the message must not be a batch: batches are served at 2025-03-26 only" } });
            contains(&error, &wanted).unwrap();
            assert!(error.get("id").is_none_or(|id| id.is_null()), "{error}");
            pipe.silence().await;
        }
    }
    assert_eq!(server.calls(), 0);
}

#[actix_web::test]
async fn a_batch_has_a_hundred_members_at_most() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-03-26").await;
    let pings =
        |count: u64| (1..=count).map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).collect();
    pipe.send(&pings(100)).await;
    assert_eq!(pipe.next().await.as_array().map(Vec::len), Some(100));
    pipe.send(&pings(101)).await;
    let error = pipe.next().await;
    assert_eq!(error["error"]["code"], -32600);
    assert_eq!(error["error"]["message"], "a batch holds at most 100 messages, this one has 101");
}

#[actix_web::test]
async fn a_member_that_is_cancelled_has_no_answer_and_holds_none_up() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-03-26
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"ms":3600000,"tag":"x"}}},{"jsonrpc":"2.0","id":2,"method":"ping"}]
        < nothing
        > notifications/cancelled {"requestId":1}
        < [{"id":2,"result":{}}]
        # All of it cancelled, in the batch itself: nothing at all.
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"ms":3600000,"tag":"x"}}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]
        < nothing
        > ping {"id":1}
        < {"id":1,"result":{}}
        "#,
    )
    .await;
}

#[actix_web::test]
async fn a_client_may_answer_in_a_batch() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-03-26").await;
    pipe.call(1, "roots", json!({})).await;
    let question = pipe.message("roots/list").await;
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": [{ "uri": "file:///a" }] } });
    pipe.send(&json!([answer, { "jsonrpc": "2.0", "id": 2, "method": "ping" }])).await;
    assert_eq!(pipe.answer_to(1).await["result"]["content"][0]["text"], "file:///a");
}

#[actix_web::test]
async fn at_the_end_a_batch_gives_the_answers_it_has() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-03-26").await;
    let endless = json!({ "name": "slow", "arguments": { "ms": 3_600_000, "tag": "x" } });
    pipe.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": endless },
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
    ]))
    .await;
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    let error = json!({ "code": -32603, "message": "the server is shutting down; the call was stopped" });
    assert_eq!(
        rest,
        [json!([{ "jsonrpc": "2.0", "id": 2, "result": {} }, { "jsonrpc": "2.0", "id": 1, "error": error }])]
    );
}
