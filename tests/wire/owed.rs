//! The ids of a batch on a pipe: taken until its array was handed over. Case C111; `tests/http/owed.rs` has more.

use actix_mcp::testing::{paused, script};

use crate::fixture::server;

// C111
#[actix_web::test]
async fn an_id_of_a_batch_is_taken_until_its_array_was_handed_over() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-03-26
        > [{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow","arguments":{"ms":100,"tag":"x"}}},{"jsonrpc":"2.0","id":3,"method":"ping"}]
        # Nor is it free for what comes beside the batch, on the same pipe.
        > ping {"id":3}
        < {"id":null,"error":{"code":-32600,"message":"request id 3 is already in flight"}}
        > [{"jsonrpc":"2.0","id":3,"method":"no/such/method"},{"jsonrpc":"2.0","id":5,"method":"ping"}]
        < [{"id":null,"error":{"code":-32600}},{"id":5,"result":{}}]
        > {"jsonrpc":"1.0","id":3,"method":"ping"}
        < {"id":null,"error":{"code":-32600,"message":"`jsonrpc` is not \"2.0\""}}
        < [{"id":3,"result":{}},{"id":null,"error":{"code":-32600,"message":"request id 3 is already in flight"}},{"id":4,"result":{"content":[{"text":"x"}]}}]
        > ping {"id":3}
        < {"id":3,"result":{}}
        # A batch that is answered at once frees its ids at once.
        > [{"jsonrpc":"2.0","id":3,"method":"ping"}]
        > [{"jsonrpc":"2.0","id":3,"method":"ping"}]
        > ping {"id":3}
        < [{"id":3,"result":{}}]
        < [{"id":3,"result":{}}]
        < {"id":3,"result":{}}
        # One whose call was cancelled is free, as any cancelled id is.
        > [{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"slow","arguments":{"ms":60000,"tag":"x"}}},{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow","arguments":{"ms":100,"tag":"y"}}}]
        > notifications/cancelled {"requestId":6}
        > ping {"id":6}
        < {"id":6,"result":{}}
        < [{"id":7,"result":{"content":[{"text":"y"}]}}]
        < nothing
        "#,
    )
    .await;
}
