//! What a handler takes from HTTP: the request, the application's data, what middleware left, and who asks.

use std::{cell::Cell, rc::Rc};

use actix_mcp::{FromMiddleware, Http, Principal, Server, ServerBuilder, testing::paused, tool};
use actix_web::{
    App, Error, HttpMessage,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    middleware::{Next, from_fn},
    web,
};
use serde_json::json;

use crate::{
    client::Request,
    logs,
    refused::Refusal,
    served::{Client, Served, call, initialize, message},
};

struct Tag(&'static str);

/// Which data it sees.
#[tool]
async fn which(tag: web::Data<Tag>) -> &'static str {
    tag.0
}

/// Counts in a value that cannot leave its thread.
#[tool]
async fn count(count: web::Data<Rc<Cell<u32>>>) -> String {
    count.set(count.get() + 1);
    // held over a wait, so that the future cannot leave its thread either
    actix_web::rt::task::yield_now().await;
    count.get().to_string()
}

/// What it sees of the request.
#[tool]
async fn whence(http: Http) -> String {
    let seen = http.headers().get("x-seen").and_then(|value| value.to_str().ok()).unwrap_or("-");
    let peer = http.peer_addr().map(|peer| peer.ip().to_string()).unwrap_or_default();
    format!("{} {} {seen} {peer}", http.head().method, http.uri())
}

/// Whether there is a request.
#[tool]
async fn maybe(http: Option<Http>) -> String {
    http.is_some().to_string()
}

#[derive(Clone)]
struct Trace(u32);

/// What middleware gave it.
#[tool]
async fn traced(trace: FromMiddleware<Trace>) -> String {
    trace.0.0.to_string()
}

/// Who asks.
#[tool]
async fn who(principal: Principal) -> String {
    principal.name().to_owned()
}

/// Who asks, if anybody.
#[tool]
async fn anybody(principal: Option<Principal>) -> String {
    principal.map_or("nobody".to_owned(), |principal| principal.name().to_owned())
}

fn server() -> Server {
    builder().build()
}

fn builder() -> ServerBuilder {
    Server::builder("extractors", "1")
        .tool(which)
        .tool(count)
        .tool(whence)
        .tool(maybe)
        .tool(traced)
        .tool(who)
        .tool(anybody)
}

async fn inspect(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let number =
        |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (user, trace) = (number("x-user"), number("x-trace").and_then(|trace| trace.parse().ok()));
    if let Some(user) = user {
        request.extensions_mut().insert(Principal::new(user));
    }
    if let Some(trace) = trace {
        request.extensions_mut().insert(Trace(trace));
    }
    next.call(request).await
}

async fn text(client: &Client, request: Request) -> String {
    let answer = client.send(&request).await.expect(200).await.answer().await;
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn called(client: &Client, tool: &str) -> String {
    text(client, client.request(&call(1, tool, json!({})))).await
}

#[actix_web::test]
async fn data_is_that_of_the_innermost_scope_and_may_be_bound_to_its_thread() {
    paused();
    let (outer, inner, own) = (server(), server(), builder().data(Tag("server")).build());
    let app = App::new()
        .app_data(web::Data::new(Tag("app")))
        .app_data(web::Data::new(Rc::new(Cell::new(0_u32))))
        .service(outer.scope("/mcp"))
        .service(own.scope("/own"))
        .service(web::scope("/in").app_data(web::Data::new(Tag("scope"))).service(inner.scope("/mcp")));
    let served = Served::app(app).await;
    for (path, tag) in [("/mcp", "app"), ("/in/mcp", "scope"), ("/own", "app")] {
        let client = Client::uninitialized(&served, initialize("2025-11-25").to(path), &[]).await;
        assert_eq!(text(&client, client.request(&call(1, "which", json!({}))).to(path)).await, tag);
    }
    let client = Client::open(&served, "2025-11-25").await;
    assert_eq!(called(&client, "count").await, "1");
    assert_eq!(called(&client, "count").await, "2");
}

#[actix_web::test]
async fn data_of_the_server_serves_where_the_app_has_none() {
    paused();
    let server = Server::builder("one", "1").tool(which).data(Tag("server")).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    assert_eq!(called(&client, "which").await, "server");
}

#[actix_web::test]
async fn a_handler_sees_the_request_that_called_it() {
    paused();
    let app = App::new()
        .wrap(from_fn(inspect))
        .app_data(web::Data::new(Tag("app")))
        .app_data(web::Data::new(Rc::new(Cell::new(0_u32))))
        .service(server().scope("/mcp"));
    let served = Served::app(app).await;
    let client = Client::open(&served, "2025-11-25").await;
    let request = client.request(&call(1, "whence", json!({}))).to("/mcp?q=1").header("X-Seen", "yes");
    assert_eq!(text(&client, request).await, "POST /mcp?q=1 yes 127.0.0.1");
    assert_eq!(called(&client, "whence").await, "POST /mcp - 127.0.0.1");
    assert_eq!(called(&client, "maybe").await, "true");
    for trace in ["7", "8"] {
        let request = client.request(&call(1, "traced", json!({}))).header("X-Trace", trace);
        assert_eq!(text(&client, request).await, trace);
    }
    // what the application forgot is its own fault, and is not told
    Refusal::new(200, -32603, "internal error")
        .of(1)
        .check(client.call(1, "traced", json!({})).await, "no trace")
        .await;
    assert_eq!(called(&client, "anybody").await, "nobody");
    Refusal::new(200, -32600, "principal")
        .of(1)
        .check(client.call(1, "who", json!({})).await, "nobody")
        .await;
    let alice = Client::open_with(&served, initialize("2025-11-25"), &[("X-User", "alice")]).await;
    assert_eq!(called(&alice, "anybody").await, "alice");
    assert_eq!(called(&alice, "who").await, "alice");
}

#[actix_web::test]
async fn data_that_is_missing_is_logged_whole_and_fails_the_first_request_of_each_worker() {
    paused();
    logs::install();
    let server = server();
    for _worker in 0..2 {
        let served = Served::new(&server).await;
        logs::take();
        let response = served.send(&initialize("2025-11-25")).await;
        Refusal::new(500, -32603, "internal error").of(0).check(response, "the first request").await;
        let errors: Vec<_> = logs::take().into_iter().filter(|line| line.starts_with("ERROR")).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].contains("`which`") && errors[0].contains("extractors::Tag"), "{errors:?}");
        assert!(errors[1].contains("`count`") && errors[1].contains("Rc<"), "{errors:?}");
        assert_eq!(server.stats(), actix_mcp::stats::Snapshot::default());
        // from then on what can be served is served
        let client = Client::open(&served, "2025-11-25").await;
        assert_eq!(called(&client, "maybe").await, "true");
        let response = client.post(&message(1, "tools/call", json!({ "name": "which" }))).await;
        Refusal::new(200, -32603, "internal error").of(1).check(response, "no data").await;
        client.delete().await.expect(204).await;
        actix_mcp::testing::settle().await;
    }
}
