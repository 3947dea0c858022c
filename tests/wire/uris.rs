//! URIs that are one and are written in two ways: case C104, over a pipe in both eras.

use std::time::Duration;

use actix_mcp::{
    content::ResourceContents,
    prelude::*,
    testing::{Pipe, paused},
};
use actix_web::rt::time::sleep;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::modern::modern;

const SPELLINGS: [&str; 3] =
    ["file:///gr%C3%B6%C3%9Fe/a.txt", "file:///größe/a.txt", "FILE:///gr%c3%b6ße/%61.txt"];

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

async fn named(Args(Named { name }): Args<Named>) -> String {
    name
}

async fn own_uri() -> ResourceContents {
    ResourceContents::text("mem://a%20b", "x")
}

async fn names() -> Vec<&'static str> {
    vec!["a"]
}

#[tool]
async fn touch(uri: String, handle: Handle) {
    handle.resource_updated(&uri);
}

fn server() -> Server {
    Server::builder("uris", "1")
        .resource(Resource::new("mem://a%20b", "ab", own_uri).mime_type("text/x"))
        .resource(Resource::new("mem://h/~me", "me", async |Uri(uri): Uri| uri.to_string()))
        .resource_template(ResourceTemplate::new("file:///größe/{name}", "n", named).complete("name", names))
        .tool(touch)
        .build()
}

/// A pipe with a session, and how its requests are dressed: as the session's, or as ones that speak for themselves.
async fn both() -> [(Pipe, fn(Value) -> Value); 2] {
    let same: fn(Value) -> Value = |params| params;
    [(Pipe::connect(&server(), "2025-11-25").await, same), (Pipe::open(&server()), modern)]
}

async fn ask(pipe: &mut Pipe, method: &str, params: Value) -> Value {
    pipe.request(1, method, params).await;
    pipe.answer_to(1).await
}

#[actix_web::test]
async fn a_resource_is_read_however_its_uri_is_written_and_is_called_as_it_was_asked_for() {
    paused();
    for (mut pipe, dress) in both().await {
        for uri in SPELLINGS {
            let answer = ask(&mut pipe, "resources/read", dress(json!({ "uri": uri }))).await;
            assert_eq!(answer["result"]["contents"], json!([{ "uri": uri, "text": "a.txt" }]), "{answer}");
        }
        for uri in ["mem://h/~me", "mem://H/%7Eme", "MEM://h/%7eme"] {
            let answer = ask(&mut pipe, "resources/read", dress(json!({ "uri": uri }))).await;
            assert_eq!(answer["result"]["contents"], json!([{ "uri": uri, "text": uri }]), "{answer}");
        }
        for uri in ["mem://a b", "mem://a%20b"] {
            let answer = ask(&mut pipe, "resources/read", dress(json!({ "uri": uri }))).await;
            let contents = json!([{ "uri": "mem://a%20b", "mimeType": "text/x", "text": "x" }]);
            assert_eq!(answer["result"]["contents"], contents, "{answer}");
        }
        for uri in
            ["mem://h%2F~me", "mem://h/x/../~me", "mem://h/~ME", "file:///gr%C3%B6sse/a.txt", "mem://a%2520b"]
        {
            let answer = ask(&mut pipe, "resources/read", dress(json!({ "uri": uri }))).await;
            assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
        }
        // decoded once
        let twice = dress(json!({ "uri": "file:///gr%C3%B6%C3%9Fe/%2541" }));
        assert_eq!(ask(&mut pipe, "resources/read", twice).await["result"]["contents"][0]["text"], "%41");
    }
}

#[actix_web::test]
async fn a_template_is_completed_however_it_or_a_uri_of_it_is_written() {
    paused();
    for (mut pipe, dress) in both().await {
        for uri in ["file:///größe/{name}", "file:///gr%C3%B6%c3%9fe/{name}", "FILE:///größe/{name}"]
            .into_iter()
            .chain(SPELLINGS)
        {
            let params = json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": "name", "value": "" } });
            let answer = ask(&mut pipe, "completion/complete", dress(params)).await;
            assert_eq!(answer["result"]["completion"]["values"], json!(["a"]), "{uri} {answer}");
        }
    }
}

#[actix_web::test]
async fn a_session_is_told_by_the_name_it_subscribed_with() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for subscribed in SPELLINGS {
        ask(&mut pipe, "resources/subscribe", json!({ "uri": subscribed })).await;
        // again, in another way, changes nothing
        ask(&mut pipe, "resources/subscribe", json!({ "uri": SPELLINGS[1] })).await;
        for touched in SPELLINGS {
            pipe.call(1, "touch", json!({ "uri": touched })).await;
            pipe.answer_to(1).await;
        }
        sleep(Duration::from_millis(60)).await;
        let told = pipe.until_silence().await;
        let uris: Vec<_> = told.iter().map(|notice| &notice["params"]["uri"]).collect();
        assert_eq!(uris, [subscribed], "one notice, however often and in whatever way it was touched");
        ask(&mut pipe, "resources/unsubscribe", json!({ "uri": SPELLINGS[2] })).await;
        pipe.call(1, "touch", json!({ "uri": subscribed })).await;
        pipe.answer_to(1).await;
        sleep(Duration::from_millis(60)).await;
        assert!(pipe.until_silence().await.is_empty(), "{subscribed}");
    }
}

#[actix_web::test]
async fn a_subscription_is_told_by_the_name_it_asked_with() {
    paused();
    let server = server();
    for asked in SPELLINGS {
        let mut pipe = Pipe::open(&server);
        let notifications =
            json!({ "resourceSubscriptions": [asked, SPELLINGS[0], SPELLINGS[2], "mem://a b"] });
        pipe.request("l", "subscriptions/listen", modern(json!({ "notifications": notifications }))).await;
        let honoured = pipe.next().await["params"]["notifications"]["resourceSubscriptions"].clone();
        assert_eq!(honoured, json!([asked, "mem://a b"]), "each once, as it was asked for");
        for touched in [SPELLINGS[0], SPELLINGS[1], "mem://a%20b", "mem://h/~me"] {
            server.handle().resource_updated(touched);
        }
        sleep(Duration::from_millis(60)).await;
        let told = pipe.until_silence().await;
        let mut uris: Vec<_> = told.iter().filter_map(|notice| notice["params"]["uri"].as_str()).collect();
        uris.sort_by_key(|uri| *uri != asked);
        assert_eq!(uris, [asked, "mem://a b"]);
    }
}
