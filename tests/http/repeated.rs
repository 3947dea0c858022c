//! Headers that repeat what the body says, from 2026-07-28 on: cases C75 and C85.

use actix_mcp::{Args, Server, Tool, testing::paused, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::Request,
    fixture,
    served::{Served, modern, modern_call},
};

/// Shows its arguments.
#[tool]
async fn region(#[header("Region")] region: Option<String>, #[header("N")] n: Option<i64>) -> String {
    format!(
        "region={} n={}",
        region.as_deref().unwrap_or("null"),
        n.map_or("null".to_owned(), |n| n.to_string())
    )
}

#[derive(Deserialize, JsonSchema)]
struct Nested {
    place: Option<Place>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Zone"))]
    zone: Option<String>,
}

async fn nested(Args(Nested { place }): Args<Nested>) -> String {
    place.and_then(|place| place.zone).unwrap_or("null".to_owned())
}

pub(crate) fn server() -> Server {
    fixture::builder().tool(region).tool(Tool::new("nested", nested)).build()
}

/// Asserts that a request is refused for its headers, with its id and before anything runs.
async fn refused(server: &Server, served: &Served, request: &Request, header: &str) {
    let calls = server.calls();
    let text = request.text();
    let response = served.send(request).await.expect(400).await;
    assert_eq!(response.header("mcp-session-id"), None);
    let error = response.json().await;
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!("q1"), &json!(-32020)), "{text}: {error}");
    let message = error["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(&format!("`{header}`")), "{text}: {message}");
    assert_eq!(server.calls(), calls, "it ran");
    assert_eq!(server.stats(), Default::default(), "it left something behind");
}

async fn served(served: &Served, request: &Request) -> Value {
    served.send(request).await.expect(200).await.answer().await["result"].clone()
}

// C75
#[actix_web::test]
async fn what_a_header_says_otherwise_than_the_body_is_refused_and_does_not_run() {
    paused();
    let server = server();
    let to = Served::new(&server).await;
    let echo = || modern_call("q1", "echo", json!({ "text": "x" }));
    let read = || modern("q1", "resources/read", json!({ "uri": "mem://a" }));
    let greet = || modern("q1", "prompts/get", json!({ "name": "greet", "arguments": { "name": "x" } }));
    for (request, header) in [
        (echo().set("Mcp-Name", "none"), "Mcp-Name"),
        (echo().set("Mcp-Name", "Echo"), "Mcp-Name"),
        (echo().set("Mcp-Name", ""), "Mcp-Name"),
        (echo().set("Mcp-Name", "=?base64?ZWNob?="), "Mcp-Name"),
        (echo().without("Mcp-Name"), "Mcp-Name"),
        (echo().header("mcp-name", "echo"), "Mcp-Name"),
        (echo().header("mcp-name", "none"), "Mcp-Name"),
        (echo().set("Mcp-Name", "ech\u{f6}"), "Mcp-Name"),
        (echo().without("Mcp-Method"), "Mcp-Method"),
        (echo().set("Mcp-Method", "Tools/Call"), "Mcp-Method"),
        (echo().set("Mcp-Method", "tools/list"), "Mcp-Method"),
        (echo().header("mcp-method", "tools/call"), "Mcp-Method"),
        (echo().without("MCP-Protocol-Version"), "MCP-Protocol-Version"),
        (echo().set("MCP-Protocol-Version", "2025-11-25"), "MCP-Protocol-Version"),
        (echo().header("mcp-protocol-version", "2026-07-28"), "MCP-Protocol-Version"),
        (read().set("Mcp-Name", "mem://b"), "Mcp-Name"),
        (read().without("Mcp-Name"), "Mcp-Name"),
        (greet().set("Mcp-Name", "echo"), "Mcp-Name"),
        (greet().without("Mcp-Name"), "Mcp-Name"),
    ] {
        refused(&server, &to, &request, header).await;
    }
    for request in [
        echo()
            .without("Mcp-Name")
            .header("mCP-nAME", "echo")
            .without("Mcp-Method")
            .header("MCP-METHOD", "tools/call"),
        echo()
            .set("Mcp-Name", "  echo\t ")
            .set("Mcp-Method", " tools/call ")
            .set("MCP-Protocol-Version", " 2026-07-28 "),
        echo().set("Mcp-Name", "=?base64?ZWNobw==?="),
    ] {
        assert_eq!(served(&to, &request).await["content"][0]["text"], "x");
    }
    assert_eq!(served(&to, &read()).await["contents"][0]["uri"], "mem://a");
    // where nothing is named, nothing is compared
    served(&to, &modern("q1", "tools/list", json!({})).header("Mcp-Name", "echo")).await;
}

// C85
#[actix_web::test]
async fn an_argument_that_is_marked_and_its_header_come_together() {
    paused();
    let server = server();
    let to = Served::new(&server).await;
    let call = |arguments: Value| modern_call("q1", "region", arguments);
    for (request, header) in [
        (call(json!({ "region": "eu" })), "Mcp-Param-Region"),
        (call(json!({ "region": "eu" })).header("Mcp-Param-Region", "us"), "Mcp-Param-Region"),
        (call(json!({ "region": "eu" })).header("Mcp-Param-Region", "=?base64?ZXU?="), "Mcp-Param-Region"),
        (
            call(json!({ "region": "eu" })).header("Mcp-Param-Region", "eu").header("mcp-param-region", "eu"),
            "Mcp-Param-Region",
        ),
        (call(json!({ "region": "\u{f6}" })).header("Mcp-Param-Region", "\u{f6}"), "Mcp-Param-Region"),
        (call(json!({ "region": null })).header("Mcp-Param-Region", "eu"), "Mcp-Param-Region"),
        (call(json!({})).header("Mcp-Param-N", "1").header("Mcp-Param-N", "1"), "Mcp-Param-N"),
        (call(json!({})).header("Mcp-Param-N", "1"), "Mcp-Param-N"),
        (call(json!({ "n": 42 })).header("Mcp-Param-N", "43"), "Mcp-Param-N"),
        (
            call(json!({ "n": 9_007_199_254_740_992_i64 })).header("Mcp-Param-N", "9007199254740992"),
            "Mcp-Param-N",
        ),
        (modern_call("q1", "nested", json!({ "place": { "zone": "a" } })), "Mcp-Param-Zone"),
        (
            modern_call("q1", "nested", json!({ "place": { "zone": "a" } })).header("Mcp-Param-Zone", "b"),
            "Mcp-Param-Zone",
        ),
    ] {
        refused(&server, &to, &request, header).await;
    }
    for (request, text) in [
        (call(json!({})), "region=null n=null"),
        (call(json!({ "region": null, "n": null })), "region=null n=null"),
        (
            call(json!({ "region": "eu", "n": 42 }))
                .header("mcp-param-region", " eu")
                .header("Mcp-Param-N", "42.0"),
            "region=eu n=42",
        ),
        (
            call(json!({ "region": "\u{f6}" })).header("Mcp-Param-Region", "=?base64?w7Y=?="),
            "region=\u{f6} n=null",
        ),
        (call(json!({})).header("Mcp-Param-Else", "x").header("Mcp-Param-", "y"), "region=null n=null"),
        (modern_call("q1", "nested", json!({ "place": { "zone": "a" } })).header("Mcp-Param-Zone", "a"), "a"),
        (modern_call("q1", "echo", json!({ "text": "x" })).header("Mcp-Param-Region", "eu"), "x"),
    ] {
        assert_eq!(served(&to, &request).await["content"][0]["text"], text);
    }
    let tools = served(&to, &modern("q1", "tools/list", json!({}))).await;
    let listed = |name: &str| {
        let tools = tools["tools"].as_array().into_iter().flatten();
        tools.clone().find(|tool| tool["name"] == name).map(|tool| tool["inputSchema"]["properties"].clone())
    };
    let properties = json!({
        "region": { "type": "string", "x-mcp-header": "Region" },
        "n": { "type": "integer", "x-mcp-header": "N" },
    });
    assert_eq!(listed("region"), Some(properties));
    let zone = json!({ "type": "string", "x-mcp-header": "Zone" });
    assert_eq!(listed("nested").unwrap_or_default()["place"]["properties"]["zone"], zone);
}

#[actix_web::test]
async fn a_session_asks_for_no_such_header() {
    paused();
    let to = Served::new(&server()).await;
    let client = crate::served::Client::open(&to, "2025-11-25").await;
    let response = client.call(1, "region", json!({ "region": "eu" })).await.expect(200).await;
    assert_eq!(response.answer().await["result"]["content"][0]["text"], "region=eu n=null");
}
