//! Malformed answers and notifications on a pipe: never answered, and no question waits for what was refused. Cases C96 and
//! C97; `tests/http/unanswerable.rs` has the same over HTTP.

use std::time::Duration;

use actix_mcp::testing::{Pipe, paused};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    answers::{FITTING, MALFORMED, NOTIFICATIONS, answer, asking_at},
    checks::text,
    fixture::server,
};

async fn line(pipe: &mut Pipe, text: &str) {
    pipe.write(format!("{text}\n").as_bytes()).await;
}

/// Starts a call that asks; the id of its question.
async fn asking(pipe: &mut Pipe, tool: &str) -> Value {
    pipe.call("asking", tool, json!({})).await;
    pipe.next().await["id"].clone()
}

// C96
#[actix_web::test]
async fn what_looks_like_an_answer_or_a_notification_is_not_answered() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::connect(&server(), revision).await;
        for text in MALFORMED.iter().chain(NOTIFICATIONS) {
            line(&mut pipe, &answer(text, "77")).await;
            if revision == "2025-03-26" {
                line(&mut pipe, &format!("[{}]", answer(text, "77"))).await;
            }
        }
        // but for arrays that are refused as a whole, none of which names an id
        for message in pipe.until_silence().await {
            assert!(message.get("id").is_none_or(Value::is_null), "{revision}: {message}");
            assert!(revision == "2025-03-26", "{message}");
        }
        pipe.call(77, "none", json!({})).await;
        assert_eq!(text(&pipe.answer_to(77).await), "ok");
    }
}

// C96
#[actix_web::test]
async fn nor_before_there_is_a_session() {
    paused();
    let mut pipe = Pipe::open(&server());
    for text in MALFORMED.iter().chain(NOTIFICATIONS) {
        line(&mut pipe, &answer(text, "77")).await;
    }
    pipe.silence().await;
}

// C97
#[actix_web::test]
async fn an_answer_that_is_refused_ends_its_question_at_once_and_says_why() {
    paused();
    for (revision, open, close) in [("2025-11-25", "", ""), ("2025-06-18", "", ""), ("2025-03-26", "[", "]")]
    {
        let mut pipe = Pipe::connect(&server(), revision).await;
        for tool in asking_at(revision) {
            for malformed in MALFORMED {
                let id = asking(&mut pipe, tool).await;
                let start = Instant::now();
                line(&mut pipe, &format!("{open}{}{close}", answer(malformed, &id.to_string()))).await;
                let ended = pipe.answer_to("asking").await;
                assert!(text(&ended).contains("answer was refused: "), "{tool} {malformed}: {ended}");
                assert!(start.elapsed() < Duration::from_secs(1), "{malformed}");
                pipe.until_silence().await;
            }
        }
    }
}

// C97
#[actix_web::test]
async fn an_answer_in_an_array_that_is_refused_as_a_whole_ends_its_question() {
    paused();
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::connect(&server(), revision).await;
        let id = asking(&mut pipe, "roots").await;
        line(&mut pipe, &format!(r#"[{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}]"#)).await;
        let ended = pipe.answer_to("asking").await;
        assert!(text(&ended).contains("answer was refused: the message must not be a batch"), "{ended}");
    }
}

// C97
#[actix_web::test]
async fn a_member_that_is_null_is_absent() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for (tool, result) in FITTING {
        let id = asking(&mut pipe, tool).await;
        line(
            &mut pipe,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result},"error":null,"method":null}}"#),
        )
        .await;
        assert!(!text(&pipe.answer_to("asking").await).contains("ask failed"), "{tool}");
        let id = asking(&mut pipe, tool).await;
        line(
            &mut pipe,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":null,"error":{{"code":-1,"message":"no thanks"}}}}"#
            ),
        )
        .await;
        assert!(text(&pipe.answer_to("asking").await).contains("no thanks"), "{tool}");
    }
    line(&mut pipe, r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null,"result":null,"error":null}"#)
        .await;
    assert_eq!(pipe.next().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
}
