//! What a session is told without asking: changed lists, changed resources, logs. Each client by its own state.

use std::time::Duration;

use actix_mcp::testing::{Pipe, paused, script};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    checks::{assert_idle, text},
    fixture::server,
};

const CHANGED: &str = "notifications/tools/list_changed";

async fn has_extra(pipe: &mut Pipe) -> bool {
    pipe.request("list", "tools/list", json!({})).await;
    let list = pipe.answer_to("list").await;
    list["result"]["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == "extra")
}

#[actix_web::test]
async fn a_thousand_changes_at_once_are_one_notice_and_the_list_is_the_last() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let mut other = Pipe::connect(&server, "2024-11-05").await;
    for (times, there) in [(1000, false), (1, true), (1001, false)] {
        pipe.call(1, "toggle", json!({ "times": times })).await;
        assert_eq!(text(&pipe.answer_to(1).await), "toggled");
        sleep(Duration::from_millis(60)).await;
        for pipe in [&mut pipe, &mut other] {
            let told = pipe.until_silence().await;
            assert_eq!(told.len(), 1, "{told:?}");
            assert_eq!(told[0]["method"], CHANGED);
            assert_eq!(has_extra(pipe).await, there);
        }
    }
}

#[actix_web::test]
async fn changes_over_a_while_are_few_notices_and_the_last_one_arrives() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.call(1, "toggle", json!({ "times": 1000, "ms": 1 })).await;
    let start = Instant::now();
    let mut told = 0;
    while pipe.next().await.get("id").is_none() {
        told += 1;
    }
    let most = start.elapsed().as_millis() / 50 + 1;
    sleep(Duration::from_millis(60)).await;
    let last = pipe.until_silence().await;
    assert_eq!(last.len(), 1, "the last change is told after it happened");
    assert!((10..=most).contains(&told), "{told} notices, {most} at most");
}

#[actix_web::test]
async fn a_client_that_does_not_read_is_owed_no_more_than_one_notice_a_kind_for_long() {
    paused();
    let server = server();
    let mut pipe = Pipe::with_buffer(&server, 256);
    let mut other = Pipe::connect(&server, "2025-11-25").await;
    pipe.initialize("2025-11-25", json!({})).await;
    other.call(1, "toggle", json!({ "times": 10_001, "ms": 100 })).await;
    assert_eq!(text(&other.answer_to(1).await), "toggled");
    sleep(Duration::from_secs(1)).await;
    let mut told = Vec::new();
    // what was held back comes once there is room
    for _ in 0..10 {
        told.extend(pipe.until_silence().await);
        sleep(Duration::from_millis(60)).await;
    }
    // the queue, the writer's buffer and the pipe
    let line = format!("{}\n", told[0]).len();
    assert!(told.len() <= 256 + 32 * 1024 / line + 256 / line + 3, "{} notices were kept", told.len());
    assert!(has_extra(&mut pipe).await);
}

#[actix_web::test]
async fn nothing_is_told_before_initialized() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    pipe.request(0, "initialize", params).await;
    let declared = pipe.next().await;
    assert_eq!(declared["result"]["capabilities"]["tools"]["listChanged"], true);
    pipe.call(1, "toggle", json!({ "times": 1000 })).await;
    pipe.request(2, "resources/subscribe", json!({ "uri": "mem://a" })).await;
    pipe.call(3, "touch", json!({ "uri": "mem://a", "count": 100 })).await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(pipe.until_silence().await.len(), 3, "the answers and nothing else");
    pipe.notify("notifications/initialized", json!({})).await;
    sleep(Duration::from_millis(60)).await;
    let mut methods: Vec<_> =
        pipe.until_silence().await.iter().map(|told| told["method"].to_string()).collect();
    methods.sort();
    assert_eq!(methods, ["\"notifications/resources/updated\"", "\"notifications/tools/list_changed\""]);
}

#[actix_web::test]
async fn a_changed_resource_is_told_once_to_those_who_subscribed() {
    paused();
    let server = server();
    script(
        &server,
        r#"
        > initialize 2025-11-25 as a
        > initialize 2024-11-05 as b
        > resources/subscribe {"id":1,"uri":"mem://a"} as a
        < a {"id":1,"result":{}}
        > resources/subscribe {"id":2,"uri":"mem://item/1"} as a
        < a {"id":2,"result":{}}
        > tools/call {"id":3,"name":"touch","arguments":{"uri":"mem://a","count":1000}} as b
        < b {"id":3,"result":{}}
        > tools/call {"id":3,"name":"touch","arguments":{"uri":"mem://item/1"}} as b
        < b {"id":3,"result":{}}
        > tools/call {"id":3,"name":"touch","arguments":{"uri":"mem://b"}} as b
        < b {"id":3,"result":{}}
        < a {"method":"notifications/resources/updated","params":{"uri":"mem://a"}}
        < a {"method":"notifications/resources/updated","params":{"uri":"mem://item/1"}}
        = 1s
        < nothing
        # Another session cannot end the subscription, and its own can.
        > resources/unsubscribe {"id":4,"uri":"mem://a"} as b
        < b {"id":4,"result":{}}
        > tools/call {"id":5,"name":"touch","arguments":{"uri":"mem://a"}} as b
        < b {"id":5,"result":{}}
        < a {"method":"notifications/resources/updated","params":{"uri":"mem://a"}}
        > tools/call {"id":6,"name":"touch","arguments":{"uri":"mem://a"}} as b
        < b {"id":6,"result":{}}
        > resources/unsubscribe {"id":6,"uri":"mem://a"} as a
        < a {"id":6,"result":{}}
        = 1s
        < nothing
        "#,
    )
    .await;
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_log_level_is_of_its_own_session() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-11-25 as a
        > initialize 2025-11-25 as b
        > initialize 2025-11-25 as c
        > logging/setLevel {"id":1,"level":"debug"} as a
        < a {"id":1,"result":{}}
        > logging/setLevel {"id":1,"level":"error"} as b
        < b {"id":1,"result":{}}
        > tools/call {"id":2,"name":"log","arguments":{"level":"info"}} as a
        < a {"method":"notifications/message","params":{"level":"info","logger":"fixture","data":"log 1"}}
        < a {"id":2,"result":{}}
        > tools/call {"id":2,"name":"log","arguments":{"level":"info"}} as b
        < b {"id":2,"result":{}}
        > tools/call {"id":3,"name":"log","arguments":{"level":"critical"}} as b
        < b {"method":"notifications/message","params":{"level":"critical"}}
        < b {"id":3,"result":{}}
        # Who set none gets all.
        > tools/call {"id":2,"name":"log","arguments":{"level":"debug","n":2}} as c
        < c {"method":"notifications/message","params":{"data":"log 1"}}
        < c {"method":"notifications/message","params":{"data":"log 2"}}
        < c {"id":2,"result":{}}
        < nothing
        "#,
    )
    .await;
}

#[actix_web::test]
async fn a_level_lets_through_itself_and_what_is_above() {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for (set, level) in LEVELS.iter().enumerate() {
        pipe.request(1, "logging/setLevel", json!({ "level": level })).await;
        assert_eq!(pipe.next().await["result"], json!({}));
        // what is no level changes nothing
        for bad in [json!("WARN"), json!("Error"), json!(""), json!(3), Value::Null, json!(["debug"])] {
            pipe.request(2, "logging/setLevel", json!({ "level": bad })).await;
            let refusal = pipe.next().await;
            assert_eq!(refusal["error"]["code"], -32602, "{bad}");
            assert!(refusal["error"]["message"].as_str().unwrap().contains("`level`"), "{refusal}");
        }
        pipe.request(2, "logging/setLevel", json!({})).await;
        assert_eq!(pipe.next().await["error"]["code"], -32602);
        for (sent, level) in LEVELS.iter().enumerate() {
            pipe.call(3, "log", json!({ "level": level })).await;
            assert_eq!(pipe.until_silence().await.len(), 1 + usize::from(sent >= set), "{level}");
        }
    }
}
