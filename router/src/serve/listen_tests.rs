use serde_json::Value;

use super::*;
use crate::{
    catalog::{prompt::Prompt, resource::Resource, resource_template::ResourceTemplate, tool::Tool},
    wire::error::ErrorCode,
};

async fn nothing() -> &'static str {
    ""
}

fn router() -> Router {
    let mut router = Router::new("test", "1");
    router.tool(Tool::new("t", nothing));
    router.resource(Resource::new("mem://a", "a", nothing));
    router.resource_template(ResourceTemplate::new("mem://item/{id}", "item", nothing));
    router
}

fn filter(router: &Router, notifications: Value) -> Result<Filter, McpError> {
    router.listen_filter(&Parameters::read(json!({ "notifications": notifications }).to_string()).unwrap(), 3)
}

fn honoured(router: &Router, notifications: Value) -> Value {
    serde_json::to_value(filter(router, notifications).unwrap()).unwrap()
}

#[test]
fn what_the_server_does_not_offer_is_left_out() {
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["mem://a", "mem://none", "mem://item/1", "mem://a"] });
    let told = json!({ "toolsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["mem://a", "mem://item/1"] });
    assert_eq!(honoured(&router(), all.clone()), told);
    assert_eq!(honoured(&Router::new("empty", "1"), all), json!({}));
    let mut prompts = Router::new("prompts", "1");
    prompts.prompt(Prompt::new("p", nothing));
    assert_eq!(
        honoured(&prompts, json!({ "promptsListChanged": true })),
        json!({ "promptsListChanged": true })
    );
}

#[test]
fn what_was_not_asked_for_is_not_told() {
    for none in [
        json!({}),
        json!({ "toolsListChanged": false, "resourceSubscriptions": [] }),
        json!({ "toolsListChanged": null, "resourceSubscriptions": null, "tasks": true }),
        json!({ "resourceSubscriptions": ["mem://nope"] }),
    ] {
        assert_eq!(honoured(&router(), none.clone()), json!({}), "{none}");
        assert_eq!(filter(&router(), none).unwrap().changes().count(), 0);
    }
}

#[test]
fn a_filter_that_is_none_is_refused_by_the_name_of_its_member() {
    let router = router();
    for params in ["{}", r#"{"notifications":[]}"#, r#"{"notifications":null}"#] {
        let error = router.listen_filter(&Parameters::read(params).unwrap(), 3).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert!(error.message.starts_with("`notifications` is "), "{params:?}: {}", error.message);
    }
    for (wrong, said) in [
        (json!({ "toolsListChanged": 1 }), "`notifications.toolsListChanged` is not true or false"),
        (json!({ "promptsListChanged": "true" }), "`notifications.promptsListChanged` is not true or false"),
        (json!({ "resourcesListChanged": {} }), "`notifications.resourcesListChanged` is not true or false"),
        (
            json!({ "resourceSubscriptions": "mem://a" }),
            "`notifications.resourceSubscriptions` is not an array of strings",
        ),
        (
            json!({ "resourceSubscriptions": [1] }),
            "`notifications.resourceSubscriptions` is not an array of strings",
        ),
    ] {
        let error = filter(&router, wrong).unwrap_err();
        assert_eq!((error.code, &*error.message), (ErrorCode::INVALID_PARAMS, said));
    }
}

#[test]
fn the_limits_on_resources_are_named() {
    let router = router();
    let items = |n| (0..n).map(|n| format!("mem://item/{n}")).collect::<Vec<_>>();
    assert_eq!(filter(&router, json!({ "resourceSubscriptions": items(3) })).unwrap().uris.len(), 3);
    let error = filter(&router, json!({ "resourceSubscriptions": items(4) })).unwrap_err();
    assert!(
        error.message.ends_with("`notifications.resourceSubscriptions` has more than 3 resources"),
        "{error}"
    );

    let most = router.limits().name_bytes;
    let uri = |bytes: usize| format!("mem://item/{}", "x".repeat(bytes - "mem://item/".len()));
    assert_eq!(filter(&router, json!({ "resourceSubscriptions": [uri(most)] })).unwrap().uris.len(), 1);
    let error = filter(&router, json!({ "resourceSubscriptions": [uri(most + 1)] })).unwrap_err();
    assert!(error.message.contains(&format!("a URI longer than {most} bytes")), "{error}");
}

#[test]
fn every_message_names_its_subscription_in_the_type_of_its_id() {
    for id in [RequestId::from(7_i64), RequestId::from("7"), RequestId::from(u64::MAX)] {
        let filter = Filter { tools: true, ..Filter::default() };
        let messages = [
            acknowledged(&id, &filter),
            notice(&id, &Change::Tools),
            notice(&id, &Change::Resource("mem://a".into())),
        ];
        for message in messages {
            let message: Value = serde_json::from_slice(&message).unwrap();
            assert_eq!(message["params"]["_meta"], json!({ "io.modelcontextprotocol/subscriptionId": id }));
            assert_eq!(message.get("id"), None);
        }
        let end: Value = serde_json::from_slice(&router().listen_result(&id, Revision::LATEST)).unwrap();
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id,
            "io.modelcontextprotocol/serverInfo": { "name": "test", "version": "1" } });
        assert_eq!(
            end,
            json!({ "jsonrpc": "2.0", "id": id, "result": { "resultType": "complete", "_meta": meta } })
        );
    }
}
