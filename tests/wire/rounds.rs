//! Questions to the user on one pipe, in both eras at once.

use actix_mcp::testing::{Pipe, paused};
use serde_json::{Value, json};

use crate::{
    interview::{IN_A_ROW, echo, named, one, retry, server},
    metadata::stateless,
};

/// Calls a tool as a request that speaks for itself.
async fn call(pipe: &mut Pipe, id: u64, params: Value) -> Value {
    pipe.request(id, "tools/call", stateless(params, json!({ "elicitation": {} }))).await;
    let answer = pipe.next().await;
    assert_eq!(answer["id"], id, "{answer}");
    answer
}

#[actix_web::test]
async fn a_pipe_that_opened_a_session_asks_each_way() {
    paused();
    let mut pipe = Pipe::connect(&server([1; 32]), "2025-11-25").await;
    for tool in IN_A_ROW.into_iter().chain(["joined"]) {
        // one waits for its answer all the while
        pipe.call(1, tool, json!({})).await;
        let asked = pipe.next().await;
        let mut open = vec![asked];
        if tool == "joined" {
            open.push(pipe.next().await);
        }
        let params = json!({ "name": tool });
        let mut turn = call(&mut pipe, 2, params.clone()).await;
        while turn["result"]["resultType"] == "input_required" {
            let result = &turn["result"];
            turn = call(&mut pipe, 2, retry(params.clone(), &result["requestState"], echo(result))).await;
        }
        assert_eq!(turn["result"]["content"][0]["text"], "a? b?", "{turn}");
        for asked in open {
            pipe.answer(&asked["id"], named(asked["params"]["message"].as_str().expect("a message"))).await;
        }
        let mut next = pipe.next().await;
        if next["method"] == "elicitation/create" {
            pipe.answer(&next["id"], named("b?")).await;
            next = pipe.next().await;
        }
        assert_eq!((&next["id"], &next["result"]["content"][0]["text"]), (&json!(1), &json!("a? b?")));
        assert!(next["result"].get("resultType").is_none(), "nothing of one era is in the other: {next}");
    }
}

#[actix_web::test]
async fn what_a_handler_asks_by_hand_is_asked_in_either_era() {
    paused();
    let mut pipe = Pipe::connect(&server([1; 32]), "2025-11-25").await;
    pipe.call(1, "by_hand", json!({})).await;
    let asked = pipe.next().await;
    assert_eq!(
        (&asked["method"], &asked["params"]["message"]),
        (&json!("elicitation/create"), &json!("who?"))
    );
    pipe.answer(&asked["id"], named("Ada")).await;
    assert_eq!(pipe.next().await["result"]["content"][0]["text"], "Ada asked");

    let params = json!({ "name": "by_hand" });
    let turn = call(&mut pipe, 2, params.clone()).await["result"].clone();
    let turn = call(&mut pipe, 3, retry(params, &turn["requestState"], json!({ "who": named("Bob") }))).await;
    assert_eq!(turn["result"]["content"][0]["text"], "Bob asked");
}

#[actix_web::test]
async fn a_tool_that_has_gone_when_the_answer_comes_is_unknown() {
    paused();
    let server = server([1; 32]);
    let mut pipe = Pipe::open(&server);
    let params = json!({ "name": "one" });
    let turn = call(&mut pipe, 1, params.clone()).await["result"].clone();
    let again = retry(params, &turn["requestState"], json!({ "user_name": named("Ada") }));
    assert!(server.handle().remove_tool("one"));
    let gone = call(&mut pipe, 2, again.clone()).await;
    assert_eq!(gone["error"], json!({ "code": -32602, "message": "unknown tool: `name` is \"one\"" }));
    assert_eq!(server.calls(), 1);
    server.handle().add_tool(one).expect("its name is free");
    assert_eq!(call(&mut pipe, 3, again).await["result"]["content"][0]["text"], "Ada");
}

// C78
#[actix_web::test]
async fn a_state_that_is_not_good_is_refused_under_its_own_id() {
    paused();
    let server = server([1; 32]);
    let mut pipe = Pipe::open(&server);
    let params = json!({ "name": "one" });
    let state = call(&mut pipe, 1, params.clone()).await["result"]["requestState"].clone();
    let answers = || json!({ "user_name": named("Ada") });
    for bad in [json!(format!("{}A", state.as_str().expect("a state"))), json!(7), json!("")] {
        let refused = call(&mut pipe, 2, retry(params.clone(), &bad, answers())).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert_eq!(refused["error"]["message"], "`requestState` is not valid for this request");
    }
    assert_eq!(server.calls(), 1);
    let answer = call(&mut pipe, 3, retry(params, &state, answers())).await;
    assert_eq!(answer["result"]["content"][0]["text"], "Ada");
}
