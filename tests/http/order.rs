//! The order of checks: a request that is wrong in two ways is refused for the first of them, and leaves nothing behind.

use actix_mcp::{
    Principal, Server,
    testing::{paused, settle},
};
use serde_json::json;

use crate::{
    client::Request,
    fixture,
    refused::Refusal,
    served::{Client, Served, initialize, message},
};

const MAX_BODY: usize = 4096; // bytes

/// One way to be wrong, and what it is told.
struct Flaw {
    what: &'static str,
    apply: fn(Request) -> Request,
    refusal: Refusal,
}

fn flaw(what: &'static str, apply: fn(Request) -> Request, refusal: Refusal) -> Flaw {
    Flaw { what, apply, refusal }
}

fn edit(request: Request, from: &str, to: &str) -> Request {
    let body = request.text();
    assert!(body.contains(from), "{body} has no {from}");
    request.body(body.replace(from, to))
}

fn server() -> Server {
    let limits = fixture::limited(|limits| {
        limits.http.body_bytes = MAX_BODY;
        limits.session.in_flight = 1;
    });
    fixture::builder()
        .limits(limits)
        .principal(|request| Some(Principal::new(request.headers().get("x-user")?.to_str().ok()?)))
        .build()
}

/// The flaws of what every method goes through, in the order in which they are found.
fn outer() -> Vec<Flaw> {
    vec![
        flaw(
            "Origin",
            |request| request.header("Origin", "https://evil.example"),
            Refusal::new(403, -32600, "`Origin`"),
        ),
        flaw("Host", |request| request.set("Host", "evil.example"), Refusal::new(403, -32600, "`Host`")),
    ]
}

/// The flaws of finding the session.
fn session(id: i64) -> Vec<Flaw> {
    let of = |refusal: Refusal| if id > 0 { refusal.of(id) } else { refusal };
    vec![
        flaw(
            "no session",
            |request| request.without("Mcp-Session-Id"),
            of(Refusal::new(400, -32600, "`Mcp-Session-Id`")),
        ),
        flaw(
            "unknown session",
            |request| request.set("Mcp-Session-Id", "00000000-dead-beef-0000-000000000000"),
            of(Refusal::new(404, -32600, "`Mcp-Session-Id`")),
        ),
        flaw(
            "another's session",
            |request| request.set("X-User", "bob"),
            of(Refusal::new(404, -32600, "`Mcp-Session-Id`")),
        ),
        flaw(
            "version",
            |request| request.set("MCP-Protocol-Version", "2020-01-01"),
            of(Refusal::new(400, -32600, "`MCP-Protocol-Version`")),
        ),
    ]
}

/// Sends every pair of flaws, and each alone; nothing may change on the server.
async fn check_pairs(served: &Served, server: &Server, base: &Request, flaws: &[Flaw]) {
    settle().await;
    let before = server.stats();
    for (first, flaw) in flaws.iter().enumerate() {
        for (second, later) in flaws.iter().enumerate().skip(first) {
            let request = if first == second { base.clone() } else { (later.apply)(base.clone()) };
            let request = (flaw.apply)(request);
            let what = format!("{} before {}", flaw.what, later.what);
            flaw.refusal.check(served.send(&request).await, &what).await;
            settle().await;
            assert_eq!(server.stats(), before, "{what}: something is left behind");
            assert_eq!(server.calls(), u64::from(before.in_flight > 0), "{what}: a tool ran");
        }
    }
}

async fn alice(served: &Served) -> Client {
    Client::open_with(served, initialize("2025-11-25"), &[("X-User", "alice")]).await
}

#[actix_web::test]
async fn of_two_flaws_of_a_post_the_first_in_the_order_of_checks_is_told() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = alice(&served).await;
    // takes the whole limit of calls in flight
    let live = client
        .start(&client.request(&crate::served::call(7, "slow", json!({ "ms": 3_600_000, "tag": "x" }))))
        .await;
    let mut flaws = outer();
    flaws.extend([
        flaw("method", |request| request.method("PUT"), Refusal::new(405, -32600, "method")),
        flaw("Accept", |request| request.set("Accept", "text/html"), Refusal::new(406, -32600, "`Accept`")),
        flaw(
            "Content-Type",
            |request| request.set("Content-Type", "text/plain"),
            Refusal::new(415, -32600, "`Content-Type`"),
        ),
        flaw(
            "size",
            |request| {
                let body = request.text() + &" ".repeat(MAX_BODY);
                request.body(body)
            },
            Refusal::new(413, -32600, "4096 bytes"),
        ),
        flaw(
            "JSON",
            |request| {
                let body = request.text() + "}";
                request.body(body)
            },
            Refusal::new(400, -32700, "JSON"),
        ),
        flaw(
            "message",
            |request| edit(request, r#""jsonrpc":"2.0""#, r#""jsonrpc":"1.0""#),
            Refusal::new(400, -32600, "`jsonrpc`").of(1),
        ),
    ]);
    flaws.extend(session(1));
    flaws.extend([
        flaw(
            "duplicate",
            |request| edit(request, r#""id":1"#, r#""id":7"#),
            Refusal::new(409, -32600, "request id 7 is already in flight").of(7),
        ),
        // the session is full, so this holds for every request
        flaw("limit", |request| request, Refusal::new(429, -32603, "the limit is 1").of(1)),
    ]);
    let base = client.request(&message(1, "tools/list", json!({})));
    // a duplicate is named by its own id in the refusals before it that echo one
    let (duplicate, others): (Vec<_>, Vec<_>) = flaws.into_iter().partition(|flaw| flaw.what == "duplicate");
    check_pairs(&served, &server, &base, &others).await;
    let twin = duplicate.iter().fold(base.clone(), |request, flaw| (flaw.apply)(request));
    for flaw in &others {
        let refusal = if flaw.what == "limit" { &duplicate[0].refusal } else { &flaw.refusal };
        let refusal = if refusal.id.is_number() { refusal.clone().of(7) } else { refusal.clone() };
        refusal
            .check(served.send(&(flaw.apply)(twin.clone())).await, &format!("duplicate and {}", flaw.what))
            .await;
    }
    // what a full session is asked is refused for its limit before anybody looks at the method or its parameters
    for message in [message(1, "no/such", json!({})), message(1, "tools/call", json!({}))] {
        Refusal::new(429, -32603, "the limit is 1")
            .of(1)
            .check(client.post(&message).await, "a later flaw")
            .await;
    }
    drop(live);
}

#[actix_web::test]
async fn method_and_params_are_checked_last_and_told_with_200() {
    paused();
    let server = fixture::server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (message, code, names) in [
        (message(1, "no/such", json!({})), -32601, "no/such"),
        (message(1, "tools/call", json!({})), -32602, "name"),
        (message(1, "tools/call", json!({ "name": "ghost" })), -32602, "ghost"),
        (message(1, "logging/setLevel", json!({ "level": "WARN" })), -32602, "level"),
        (message(1, "initialize", json!({ "protocolVersion": "2025-11-25" })), -32600, "initialized"),
    ] {
        let status = if code == -32600 { 400 } else { 200 };
        Refusal::new(status, code, names).of(1).check(client.post(&message).await, names).await;
    }
    assert_eq!(server.stats().in_flight, 0);
    client.call(2, "echo", json!({ "text": "x" })).await.expect(200).await;
}

#[actix_web::test]
async fn of_two_flaws_of_a_get_or_delete_the_first_in_the_order_of_checks_is_told() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = alice(&served).await;
    let mut flaws = outer();
    flaws.push(flaw(
        "Accept",
        |request| request.set("Accept", "application/json"),
        Refusal::new(406, -32600, "`Accept`"),
    ));
    flaws.extend(session(0));
    flaws.push(flaw(
        "Last-Event-ID",
        |request| request.set("Last-Event-ID", "no-such-event"),
        Refusal::new(400, -32600, "`Last-Event-ID`"),
    ));
    check_pairs(&served, &server, &client.dress(Request::get()), &flaws).await;

    let mut flaws = outer();
    flaws.extend(session(0));
    check_pairs(&served, &server, &client.dress(Request::new("DELETE")), &flaws).await;
    client.get().await.expect(200).await;
}

#[actix_web::test]
async fn a_refusal_is_json_for_a_client_that_reads_only_events() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = alice(&served).await;
    let events = |request: Request| request.set("Accept", "text/event-stream");
    let request = events(client.request(&message(1, "tools/list", json!({})))).without("Mcp-Session-Id");
    Refusal::new(400, -32600, "`Mcp-Session-Id`")
        .of(1)
        .check(served.send(&request).await, "no session")
        .await;
    // also one that the session decides
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
    Refusal::new(400, -32600, "already initialized")
        .of(1)
        .check(served.send(&events(client.request(&message(1, "initialize", params)))).await, "a second")
        .await;
    // an answer is what it reads, also one that is an error
    for (message, member) in
        [(message(1, "tools/list", json!({})), "result"), (message(1, "no/such", json!({})), "error")]
    {
        let mut answer = served.send(&events(client.request(&message))).await.expect(200).await;
        assert!(answer.message().await.unwrap().get(member).is_some());
        assert_eq!(answer.message().await, None);
    }
}
