//! Sessions: how they open, what their ids are, and what a client is told whose session is not there.

use actix_mcp::testing::{paused, settle};
use actix_web::rt::{spawn, time::sleep};
use serde_json::{Value, json};
use std::{collections::HashSet, time::Duration};

use crate::{
    client::Request,
    fixture::{builder, limited, server},
    logs,
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, initialize, initialize_with, message},
};

const DEAD: &str = "00000000-dead-beef-0000-000000000000";

// C04
#[actix_web::test]
async fn requests_before_the_initialized_notification_are_served() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let clients = (0..32).map(|_| {
        let served = served.clone();
        spawn(async move {
            let client = Client::uninitialized(&served, initialize("2025-11-25"), &[]).await;
            for (id, method, params) in [
                (1, "tools/list", json!({})),
                (2, "ping", json!({})),
                (3, "logging/setLevel", json!({ "level": "info" })),
            ] {
                let answer = client.post(&message(id, method, params)).await.expect(200).await.json().await;
                assert!(answer["result"].is_object(), "{answer}");
            }
            sleep(Duration::from_millis(50)).await;
            client.notify("notifications/initialized", json!({})).await;
            client.call(4, "echo", json!({ "text": "x" })).await.expect(200).await;
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    assert_eq!(server.stats().sessions, 32);
}

// C05, C89
#[actix_web::test]
async fn a_session_that_is_not_there_is_404_for_every_method() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let dead = |request: Request| request.header("Mcp-Session-Id", DEAD);
    let not_found = Refusal::new(404, -32600, "`Mcp-Session-Id`");
    for method in ["tools/list", "ping", "no/such"] {
        let response = served.send(&dead(Request::post(message(1, method, json!({}))))).await;
        not_found.clone().of(1).check(response, method).await;
    }
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    let batch = json!([message(1, "ping", json!({}))]);
    for message in [notification, answer, batch] {
        not_found.check(served.send(&dead(Request::post(&message))).await, "no request").await;
        let response = served.send(&Request::post(&message)).await;
        Refusal::new(400, -32600, "`Mcp-Session-Id`").check(response, "no session").await;
    }
    for request in [Request::get(), Request::new("DELETE")] {
        not_found.check(served.send(&dead(request.clone())).await, "GET, DELETE").await;
        Refusal::new(400, -32600, "`Mcp-Session-Id`").check(served.send(&request).await, "no session").await;
    }
    let response = served.send(&Request::post(message(1, "ping", json!({})))).await;
    Refusal::new(400, -32600, "`Mcp-Session-Id`").of(1).check(response, "no session").await;
    let twice = dead(dead(Request::post(message(1, "ping", json!({})))));
    Refusal::new(400, -32600, "`Mcp-Session-Id`").of(1).check(served.send(&twice).await, "two ids").await;
    assert_idle(&server).await;
}

// C07, C46, C49
#[actix_web::test]
async fn initialize_is_lenient_with_what_clients_send_and_strict_with_what_it_needs() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        assert_eq!(Client::open_with(&served, initialize(asked), &[]).await.revision, given);
    }
    // as the Python client sends it, and with members nobody knows
    let sent = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "elicitation": { "form": {}, "url": {} },
            "tasks": { "list": {}, "requests": { "sampling": { "createMessage": {} } } },
            "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } },
            "experimental": { "x": {} }, "futureThing": { "a": [1] }, "roots": null, "sampling": null,
        },
        "clientInfo": {
            "name": "t", "version": "1", "title": "T", "icons": [], "websiteUrl": "https://example.com",
            "description": "d", "extra": 1,
        },
        "extra": true, "_meta": {},
    });
    let client = Client::open_with(&served, Request::post(message(0, "initialize", sent)), &[]).await;
    let list = message(1, "tools/list", json!({ "_meta": { "progressToken": 3 } }));
    assert!(client.post(&list).await.expect(200).await.json().await["result"]["tools"].is_array());
    // what it needs
    settle().await;
    let before = server.stats();
    for (params, names) in [
        (json!({ "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }), "protocolVersion"),
        (
            json!({ "protocolVersion": 5, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
            "protocolVersion",
        ),
        (
            json!({ "protocolVersion": "2025-11-25", "clientInfo": { "name": "t", "version": "1" } }),
            "capabilities",
        ),
        (json!({ "protocolVersion": "2025-11-25", "capabilities": {} }), "clientInfo"),
    ] {
        let response = served.send(&Request::post(message(0, "initialize", params))).await;
        Refusal::new(200, -32602, names).of(0).check(response, names).await;
    }
    settle().await;
    assert_eq!(server.stats(), before);
}

// C44
#[actix_web::test]
async fn the_version_header_does_not_stand_in_the_way_of_initialize() {
    paused();
    let served = Served::new(&server()).await;
    for (asked, header, given) in [
        ("2030-01-01", "2030-01-01", "2025-11-25"),
        ("2025-06-18", "2025-11-25", "2025-06-18"),
        ("2025-11-25", "garbage", "2025-11-25"),
    ] {
        let request = initialize(asked).header("MCP-Protocol-Version", header);
        let response = served.send(&request).await.expect(200).await;
        assert_eq!(response.json().await["result"]["protocolVersion"], given);
    }
}

// C42, C45
#[actix_web::test]
async fn a_version_header_that_is_not_served_is_400_on_every_method() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let list = client.request(&message(13, "tools/list", json!({})));
    let get = client.dress(Request::get());
    let delete = client.dress(Request::new("DELETE"));
    let bad = Refusal::new(400, -32600, "`MCP-Protocol-Version`");
    for version in ["2020-01-01", "garbage", "", "2026-07-28x"] {
        let set = |request: &Request| request.clone().set("MCP-Protocol-Version", version);
        bad.clone().of(13).check(client.send(&set(&list)).await, version).await;
        bad.check(client.send(&set(&get)).await, version).await;
        bad.check(client.send(&set(&delete)).await, version).await;
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        bad.check(client.send(&set(&client.request(&notification))).await, version).await;
    }
    let twice = list.clone().header("MCP-Protocol-Version", "2025-11-25");
    bad.clone().of(13).check(client.send(&twice).await, "two lines").await;
    // absent, or another served one: the negotiated one governs
    client.send(&list.clone().without("MCP-Protocol-Version")).await.expect(200).await;
    let batch =
        client.request(&json!([message(1, "ping", json!({}))])).set("MCP-Protocol-Version", "2025-03-26");
    Refusal::new(400, -32600, "must not be a batch").check(client.send(&batch).await, "a batch").await;
    client.send(&list.set("MCP-Protocol-Version", "2024-11-05")).await.expect(200).await;
    client.send(&delete.without("MCP-Protocol-Version")).await.expect(204).await;
}

// C26
#[actix_web::test]
async fn delete_cancels_what_runs_ends_the_streams_and_is_404_the_second_time() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    let pending = client.start(&client.request(&call(1, "slow", json!({ "ms": 5000, "tag": "x" })))).await;
    let mut waiting = client.call(2, "ask", json!({})).await.expect(200).await;
    assert_eq!(waiting.message().await.unwrap()["method"], "elicitation/create");
    let json_only =
        client.request(&call(3, "slow", json!({ "ms": 5000, "tag": "x" }))).set("Accept", "application/json");
    let json_only = client.start(&json_only).await;
    settle().await;
    assert_eq!(server.stats().in_flight, 3);
    let response = client.delete().await.expect(204).await;
    assert_eq!(response.header("content-type"), None);
    response.empty().await;
    // those without a head learn that the session has gone; those with one end
    let gone = Refusal::new(404, -32600, "`Mcp-Session-Id`");
    gone.clone().of(1).check(pending.response().await, "pending").await;
    gone.clone().of(3).check(json_only.response().await, "JSON only").await;
    let withdrawn = waiting.messages().await;
    assert!(withdrawn.iter().all(|message| message["method"] == "notifications/cancelled"), "{withdrawn:?}");
    assert_eq!(get.message().await, None);
    gone.check(client.delete().await, "a second DELETE").await;
    gone.clone().of(4).check(client.post(&message(4, "tools/list", json!({}))).await, "POST").await;
    gone.clone().of(5).check(client.post(&message(5, "ping", json!({}))).await, "ping").await;
    gone.check(client.get().await, "GET").await;
    gone.check(client.resume("0-0").await, "resume").await;
    assert_idle(&server).await;
}

// C50
#[actix_web::test]
async fn a_second_initialize_is_refused_and_changes_nothing() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-06-18").await;
    let mut live = client.start(&client.request(&call(5, "slow", json!({ "ms": 1000, "tag": "x" })))).await;
    settle().await;
    let again = |id: i64| {
        let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "u", "version": "2" } });
        client.request(&message(id, "initialize", params))
    };
    // also under a live id, where it evicts nothing
    Refusal::new(400, -32600, "already initialized").of(6).check(client.send(&again(6)).await, "again").await;
    Refusal::new(400, -32600, "already initialized")
        .of(5)
        .check(client.send(&again(5)).await, "under a live id")
        .await;
    let mut live_response = live_response(&mut live).await;
    assert_eq!(live_response.message().await.unwrap()["result"]["content"][0]["text"], "x");
    // still what the first one declared
    let mut asked = client.call(7, "ask", json!({})).await.expect(200).await;
    let question = asked.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    client.answer(&question["id"], json!({ "action": "decline" })).await;
    assert_eq!(asked.message().await.unwrap()["result"]["content"][0]["text"], "declined");
    // without a session id it is always a new session
    let other = Client::open(&served, "2025-11-25").await;
    assert_ne!(other.session, client.session);
    assert_eq!(server.stats().sessions, 2);
}

async fn live_response(connection: &mut crate::client::Connection) -> crate::client::Response {
    let nothing = crate::client::Connection::on(tokio::io::duplex(1).0, Duration::ZERO);
    std::mem::replace(connection, nothing).response().await
}

// C51
#[actix_web::test]
async fn initialize_with_a_dead_id_opens_a_new_session_under_a_new_id() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.idle = Duration::from_secs(60))).build();
    let served = Served::new(&server).await;
    let expired = Client::open(&served, "2025-11-25").await;
    let deleted = Client::open(&served, "2025-11-25").await;
    deleted.delete().await.expect(204).await;
    sleep(Duration::from_secs(61)).await;
    Refusal::new(404, -32600, "`Mcp-Session-Id`").check(expired.get().await, "expired").await;
    for dead in [DEAD, &*expired.session, &*deleted.session] {
        let request = initialize("2025-11-25").header("Mcp-Session-Id", dead);
        let client = Client::open_with(&served, request, &[]).await;
        assert_ne!(client.session, dead);
        client.call(1, "echo", json!({ "text": "x" })).await.expect(200).await;
    }
    Refusal::new(404, -32600, "`Mcp-Session-Id`").check(expired.get().await, "expired").await;
}

// C52
#[actix_web::test]
async fn ten_thousand_session_ids_are_visible_ascii_and_look_random() {
    paused();
    const IDS: usize = 10_000;
    let server = server();
    let served = Served::new(&server).await;
    let mut connection = served.connect();
    let mut ids = HashSet::new();
    for _ in 0..IDS {
        connection.send(&initialize("2025-11-25")).await;
        let mut response = connection.response().await;
        ids.insert(response.header("mcp-session-id").unwrap().to_owned());
        response.bytes().await;
        connection = response.into_connection();
    }
    assert_eq!(ids.len(), IDS);
    let mut ones = [0_usize; 128];
    for id in &ids {
        assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
        let bits = u128::from_str_radix(id, 16).unwrap();
        (0..128).for_each(|bit| ones[bit] += usize::from(bits >> bit & 1 == 1));
    }
    // ten standard deviations: a counter, a clock or a prefix shows in some bit, chance does not
    for (bit, ones) in ones.iter().enumerate() {
        assert!((IDS / 2).abs_diff(*ones) < 500, "bit {bit} is set in {ones} of {IDS} ids");
    }
}

// C43
#[actix_web::test]
async fn an_unknown_method_is_an_answer_and_no_end_of_the_session() {
    paused();
    let served = Served::new(&server()).await;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Client::open(&served, revision).await;
        let response = client.post(&message(1, "no/such", json!({}))).await;
        Refusal::new(200, -32601, "no/such").of(1).check(response, revision).await;
        client.notify("notifications/no/such", json!({})).await;
        client.post(&message(2, "ping", json!({}))).await.expect(200).await;
    }
}

// C89
#[actix_web::test]
async fn ping_is_answered_with_an_empty_result() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::uninitialized(&served, initialize_with("2025-11-25", json!({})), &[]).await;
    for _ in 0..2 {
        for ping in [message(1, "ping", json!({})), json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })] {
            let answer: Value = client.post(&ping).await.expect(200).await.json().await;
            assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        }
        client.notify("notifications/initialized", json!({})).await;
    }
}

#[actix_web::test]
async fn an_initialize_whose_client_has_gone_leaves_no_session() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    for _ in 0..20 {
        let mut connection = served.connect();
        connection.send(&initialize("2025-11-25")).await;
        drop(connection);
        assert_idle(&server).await;
    }
    Client::open(&served, "2025-11-25").await;
    assert_eq!(server.stats().sessions, 1);
}

// C52
#[actix_web::test]
async fn no_log_line_holds_a_whole_session_id() {
    paused();
    logs::install();
    let server = builder().limits(limited(|limits| limits.session.idle = Duration::from_secs(60))).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let get = client.get().await.expect(200).await;
    client.call(1, "panic", json!({})).await.expect(200).await;
    client.post(&message(2, "no/such", json!({}))).await.expect(200).await;
    client.send(&client.dress(Request::post("{"))).await.expect(400).await;
    client.resume("1-1").await.expect(400).await;
    drop(get);
    sleep(Duration::from_secs(130)).await;
    client.get().await.expect(404).await;
    let again = Client::open(&served, "2025-11-25").await;
    again.delete().await.expect(204).await;
    let lines = logs::take();
    assert!(lines.len() > 5, "{lines:?}");
    for line in lines {
        assert!(!line.contains(&client.session) && !line.contains(&again.session), "{line}");
    }
}
