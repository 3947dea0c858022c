//! Request ids: which are taken, which are refused, and when one is free again.

use actix_mcp::testing::{Pipe, paused, script};
use serde_json::json;

use crate::fixture::server;

#[actix_web::test]
async fn a_second_request_under_a_live_id_is_refused_and_the_first_keeps_everything() {
    paused();
    script(
        &server(),
        r#"
        # A second request under a live id is refused without an id, and the first keeps its progress and its answer.
        > initialize 2025-11-25
        > tools/call {"id":7,"name":"progress","arguments":{"n":2,"ms":100},"_meta":{"progressToken":"p"}}
        < {"method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":2}}
        > tools/call {"id":7,"name":"echo","arguments":{"text":"B"}}
        < {"id":"$absent","error":{"code":-32600,"message":"request id 7 is already in flight"}}
        < {"method":"notifications/progress","params":{"progressToken":"p","progress":2,"total":2}}
        < {"id":7,"result":{"content":[{"type":"text","text":"done"}]}}
        # It is free again after the answer.
        > tools/call {"id":7,"name":"echo","arguments":{"text":"C"}}
        < {"id":7,"result":{"content":[{"type":"text","text":"C"}]}}
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn of_two_hundred_requests_under_one_id_exactly_one_runs() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for n in 0..200 {
        pipe.call(7, "slow", json!({ "ms": 1000, "tag": n.to_string() })).await;
    }
    let mut refused = 0;
    let answer = loop {
        let message = pipe.next().await;
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["error"]["code"], -32600);
        refused += 1;
    };
    assert_eq!(refused, 199);
    assert_eq!(answer["result"]["content"][0]["text"], "0");
    assert_eq!(server.calls(), 1);
    pipe.silence().await;
}
