//! A session belongs to the principal that opened it, whatever token that shows.

use actix_mcp::{Principal, testing::paused};
use actix_web::{
    App, Error, HttpMessage,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    error::ErrorUnauthorized,
    middleware::{Next, from_fn},
};
use serde_json::json;

use crate::{
    client::Request,
    fixture::server,
    refused::Refusal,
    served::{Client, Served, call_with_progress, initialize, message},
};

/// As an application does: the bearer says who it is.
async fn authenticate(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let bearer = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    let user = match bearer {
        Some("Bearer token1" | "Bearer token3") => "alice",
        Some("Bearer token2") => "bob",
        _ => return Err(ErrorUnauthorized("who are you?")),
    };
    request.extensions_mut().insert(Principal::new(user));
    Ok(next.call(request).await?.map_into_boxed_body())
}

// C53
#[actix_web::test]
async fn a_session_is_its_principals_and_nobody_elses() {
    paused();
    let server = server();
    let served = Served::app(App::new().wrap(from_fn(authenticate)).service(server.scope("/mcp"))).await;
    let alice =
        Client::open_with(&served, initialize("2025-11-25"), &[("Authorization", "Bearer token1")]).await;
    // a call that has had events: there is something to steal
    let call = call_with_progress(1, "progress", json!({ "n": 20, "ms": 1000 }), "p");
    let mut stream = alice.post(&call).await.expect(200).await;
    let (last, _) = stream.message_event().await.unwrap();
    let last = last.unwrap();
    let list = alice.request(&message(2, "tools/list", json!({})));
    let requests = [
        list.clone(),
        alice.request(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        ),
        alice.request(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
        alice.request(&json!([message(2, "ping", json!({}))])),
        alice.dress(Request::get()),
        alice.dress(Request::get().header("Last-Event-ID", &last)),
        alice.dress(Request::new("DELETE")),
    ];
    // (a) another principal: as if there were no such session
    for (n, request) in requests.iter().enumerate() {
        let request = request.clone().set("Authorization", "Bearer token2");
        let refusal = Refusal::new(404, -32600, "`Mcp-Session-Id`");
        let refusal = if n == 0 { refusal.of(2) } else { refusal };
        refusal.check(served.send(&request).await, &format!("request {n} of bob")).await;
    }
    // its `initialize` opens one of its own
    let request = initialize("2025-11-25").header("Mcp-Session-Id", &alice.session);
    let bob = Client::open_with(&served, request, &[("Authorization", "Bearer token2")]).await;
    assert_ne!(bob.session, alice.session);
    // (c) nobody: the middleware's answer
    for request in &requests {
        served.send(&request.clone().without("Authorization")).await.expect(401).await;
    }
    // (b) a refreshed token
    for request in [list, alice.dress(Request::get())] {
        served.send(&request.set("Authorization", "Bearer token3")).await.expect(200).await;
    }
    let resume = requests[5].clone().set("Authorization", "Bearer token3");
    let resumed = served.send(&resume).await.expect(200).await.messages().await;
    assert_eq!(resumed.len(), 20);
    assert_eq!(resumed[19]["result"]["content"][0]["text"], "done");
    let delete = requests[6].clone().set("Authorization", "Bearer token3");
    served.send(&delete).await.expect(204).await;
}
