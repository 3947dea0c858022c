use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::{Map, Value, json};

use super::*;
use crate::{
    ask::client::Client,
    fake::{ALL, Fake},
    wire::error::McpError,
    wire::{
        content::{MediaContent, Role},
        definition::ToolDefinition,
        era::Revision::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25},
        peer::ClientCapabilities,
    },
};

fn session(revision: Revision, capabilities: ClientCapabilities) -> (Arc<Fake>, Client) {
    let fake = Fake::new(revision, capabilities);
    let client = Client::new(&fake.call(None));
    (fake, client)
}

/// The parameters a session of this revision is asked with.
fn asked(revision: Revision, request: SamplingRequest) -> Value {
    let (fake, client) = session(revision, ALL);
    assert!(client.sample(request).now_or_never().is_none());
    let asked = fake.asked();
    asked[0].params.clone()
}

fn media(bytes: &[u8], mime_type: &str) -> MediaContent {
    MediaContent::new(bytes, mime_type)
}

fn weather() -> ToolDefinition {
    ToolDefinition::new("weather", json!({ "type": "object" }))
}

#[tokio::test]
async fn a_text_is_asked_for_and_its_answer_read() {
    let (fake, client) = session(V2024_11_05, ALL);
    fake.will_answer(
        r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}"#,
    );
    let answer = client.sample(SamplingRequest::text("hello").max_tokens(10)).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.role, answer.model.as_str()), ("hi", Role::Assistant, "m"));
    assert_eq!(answer.stop_reason.as_deref(), Some("endTurn"));
    let asked = &fake.asked()[0];
    assert_eq!((asked.method, asked.needs), ("sampling/createMessage", NEEDS));
    let params = r#"{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}],"maxTokens":10}"#;
    assert_eq!(asked.text, params);
}

#[tokio::test]
async fn every_setting_is_written_under_its_name() {
    let preferences = ModelPreferences::new()
        .hint("opus")
        .cost_priority(0.25)
        .speed_priority(0.5)
        .intelligence_priority(1.0);
    let request = SamplingRequest::text("q")
        .message(SamplingMessage::assistant("a"))
        .system_prompt("be brief")
        .temperature(0.5)
        .stop_sequence("END")
        .model_preferences(preferences)
        .model_hint("sonnet")
        .include_context(IncludeContext::ThisServer)
        .metadata(Map::from_iter([("tier".to_owned(), json!("batch"))]));
    let params = json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "q" } },
            { "role": "assistant", "content": { "type": "text", "text": "a" } },
        ],
        "maxTokens": 1000,
        "systemPrompt": "be brief",
        "temperature": 0.5,
        "stopSequences": ["END"],
        "modelPreferences": {
            "hints": [{ "name": "opus" }, { "name": "sonnet" }],
            "costPriority": 0.25,
            "speedPriority": 0.5,
            "intelligencePriority": 1.0,
        },
        "includeContext": "thisServer",
        "metadata": { "tier": "batch" },
    });
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        assert_eq!(asked(revision, request.clone()), params);
    }
}

#[tokio::test]
async fn context_is_asked_for_only_where_the_client_may_be_asked() {
    let without = ClientCapabilities { sampling_context: false, ..ALL };
    let request = SamplingRequest::text("q").include_context(IncludeContext::AllServers);
    let (fake, client) = session(V2025_11_25, without);
    assert!(client.sample(request.clone()).now_or_never().is_none());
    assert!(fake.asked()[0].params.get("includeContext").is_none());
    assert_eq!(asked(V2025_06_18, request)["includeContext"], "allServers");
}

#[tokio::test]
async fn several_blocks_are_several_messages_before_the_revision_that_has_lists() {
    let blocks = vec!["one".into(), SamplingContent::Audio(media(b"x", "audio/wav"))];
    let request = SamplingRequest::new(vec![SamplingMessage::new(Role::User, blocks)]);
    let new = asked(V2025_11_25, request.clone());
    let text = json!({ "type": "text", "text": "one" });
    let audio = json!({ "type": "audio", "data": "eA==", "mimeType": "audio/wav" });
    assert_eq!(new["messages"], json!([{ "role": "user", "content": [text, audio] }]));
    let old = asked(V2025_03_26, request.clone());
    assert_eq!(
        old["messages"],
        json!([{ "role": "user", "content": text }, { "role": "user", "content": audio }])
    );
    let oldest = asked(V2024_11_05, request);
    assert_eq!(oldest["messages"][1]["content"]["type"], "text");
}

#[tokio::test]
async fn tools_go_to_clients_that_declared_them_and_to_no_other() {
    let request = SamplingRequest::text("q").tool(weather()).tool_choice(ToolChoice::Required);
    let params = asked(V2025_11_25, request.clone());
    assert_eq!(params["tools"], json!([{ "name": "weather", "inputSchema": { "type": "object" } }]));
    assert_eq!(params["toolChoice"], json!({ "mode": "required" }));
    let history = SamplingRequest::new(vec![SamplingMessage::user(SamplingContent::ToolResult(
        SampledToolResult::default(),
    ))]);
    let without = ClientCapabilities { sampling_tools: false, ..ALL };
    for (revision, capabilities) in [(V2025_11_25, without), (V2025_06_18, ALL)] {
        for request in
            [request.clone(), history.clone(), SamplingRequest::text("q").tool_choice(ToolChoice::None)]
        {
            let (fake, client) = session(revision, capabilities.clone());
            let error = client.sample(request).now_or_never().expect("nothing to wait for").unwrap_err();
            assert!(matches!(error, QuestionError::Unsupported(ClientCapability::SamplingTools)), "{error}");
            assert!(fake.asked().is_empty());
        }
    }
}

#[tokio::test]
async fn a_completion_that_calls_tools_goes_on_as_a_conversation() {
    let (fake, client) = session(V2025_11_25, ALL);
    fake.will_answer(
        r#"{"role":"assistant","model":"m","stopReason":"toolUse","content":[
            {"type":"text","text":"let me "},{"type":"text","text":"see"},
            {"type":"tool_use","id":"c1","name":"weather","input":{"city":"Paris"}}]}"#,
    );
    let answer = client.sample(SamplingRequest::text("q").tool(weather())).await.unwrap();
    assert_eq!(fake.asked()[0].needs, NEEDS_TOOLS);
    assert_eq!(answer.text(), "let me see");
    let calls: Vec<_> = answer.tool_uses().collect();
    assert_eq!((calls[0].id.as_str(), &calls[0].input["city"]), ("c1", &json!("Paris")));
    let result = SampledToolResult::new("c1").content("18 degrees");
    let next = SamplingRequest::text("q").message(answer.into()).message(SamplingMessage::user(result));
    let messages = &asked(V2025_11_25, next)["messages"];
    assert_eq!(
        messages[1]["content"][2],
        json!({ "type": "tool_use", "id": "c1", "name": "weather", "input": { "city": "Paris" } })
    );
    let content = json!([{ "type": "text", "text": "18 degrees" }]);
    assert_eq!(
        messages[2]["content"],
        json!({ "type": "tool_result", "toolUseId": "c1", "content": content })
    );
}

#[tokio::test]
async fn a_request_that_every_client_must_refuse_is_not_sent() {
    let mixed = vec![SamplingContent::ToolResult(SampledToolResult::default()), "text".into()];
    let priority = ModelPreferences::new().speed_priority(1.5);
    let requests = [
        SamplingRequest::text("q").temperature(f64::NAN),
        SamplingRequest::text("q").model_preferences(priority),
        SamplingRequest::new(vec![SamplingMessage::new(Role::User, mixed)]),
    ];
    for request in requests {
        let (fake, client) = session(V2025_11_25, ALL);
        assert!(matches!(
            client.sample(request).now_or_never().expect("nothing to wait for"),
            Err(QuestionError::Malformed { .. })
        ));
        assert!(fake.asked().is_empty());
    }
}

#[tokio::test]
async fn a_completion_that_does_not_fit_names_the_member() {
    let cases = [
        (r#"{"role":"assistant","content":{"type":"text","text":"x"}}"#, "model"),
        (r#"{"role":"robot","content":{"type":"text","text":"x"},"model":"m"}"#, "role"),
        (r#"{"role":"assistant","content":{"type":"smell"},"model":"m"}"#, "content"),
        (r#"{"role":"assistant","content":{"type":"text"},"model":"m"}"#, "content"),
        (
            r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"text"}],"model":"m"}"#,
            "content",
        ),
        (r#"{"role":"assistant","content":"x","model":"m"}"#, "content"),
    ];
    for (answer, at) in cases {
        let (fake, client) = session(V2025_11_25, ALL);
        fake.will_answer(answer);
        let error = client.sample(SamplingRequest::text("q")).await.unwrap_err();
        assert!(
            matches!(&error, QuestionError::Invalid { field, .. } if field.starts_with(at)),
            "{answer}: {error:?}"
        );
    }
}

#[tokio::test]
async fn what_went_wrong_is_told_and_a_dropped_request_taken_back() {
    let (fake, client) = session(V2025_11_25, ALL);
    fake.will_fail(QuestionError::TimedOut);
    fake.will_fail(QuestionError::Refused(McpError::new(crate::wire::error::ErrorCode(-1), "User rejected")));
    let sample = || client.sample(SamplingRequest::text("q")).timeout(Duration::from_secs(3));
    assert!(matches!(sample().await, Err(QuestionError::TimedOut)));
    assert!(matches!(sample().await, Err(QuestionError::Refused(error)) if error.code.0 == -1));
    assert!(sample().now_or_never().is_none());
    assert_eq!(fake.withdrawn(), 1);
    assert_eq!(fake.asked()[0].timeout, Some(Duration::from_secs(3)));
    let (fake, client) = session(V2025_11_25, ClientCapabilities { sampling: false, ..ALL });
    let error = client.sample(SamplingRequest::text("q")).await.unwrap_err();
    assert!(matches!(error, QuestionError::Unsupported(ClientCapability::Sampling)));
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn a_tool_use_is_followed_by_its_results_and_nothing_else_or_nothing_is_sent() {
    let used = |id: &str| SamplingContent::from(ToolUse::new(id, "weather", Map::new()));
    let result = |id: &str| SamplingContent::from(SampledToolResult::new(id));
    let by_user = |blocks: Vec<SamplingContent>| SamplingMessage::new(Role::User, blocks);
    let by_model = |blocks: Vec<SamplingContent>| SamplingMessage::new(Role::Assistant, blocks);
    let question = || SamplingMessage::user("Is it raining?");
    let refused = [
        (
            vec![question(), by_model(vec![used("a")]), question()],
            "is not followed by a message of tool results",
        ),
        (vec![question(), by_model(vec![used("a")])], "the last message"),
        (
            vec![by_model(vec!["hm".into(), used("a"), used("b")]), by_user(vec![result("a")])],
            "no result in the message after it",
        ),
        (vec![by_model(vec![used("a")]), by_user(vec![result("b")])], "does not match a tool use"),
        (
            vec![by_model(vec![used("a")]), by_user(vec![result("a"), result("a")])],
            "does not match a tool use",
        ),
        (
            vec![by_model(vec![used("a")]), by_model(vec!["hm".into()]), by_user(vec![result("a")])],
            "is not followed",
        ),
        (vec![by_model(vec![used("a")]), by_user(vec![result("a"), "and".into()])], "must hold nothing else"),
        (vec![by_model(vec![used("a")]), by_model(vec![result("a")])], "a message of the assistant"),
        (vec![by_user(vec![used("a")]), by_user(vec![result("a")])], "a message of the user"),
        (vec![by_model(vec![used("a"), used("a")]), by_user(vec![result("a"), result("a")])], "the same id"),
        (vec![question(), by_user(vec![result("a")])], "does not match a tool use"),
    ];
    for (messages, why) in &refused {
        let (fake, client) = session(V2025_11_25, ALL);
        let request = SamplingRequest::new(messages.clone());
        // at 2026-07-28, awaited or returned, the same check applies
        assert!(request.check().is_err(), "{why}");
        let told = client.sample(request).now_or_never().unwrap().unwrap_err();
        assert!(
            matches!(&told, QuestionError::Malformed { reason, .. } if reason.contains(why)),
            "{why}: {told}"
        );
        assert!(fake.asked().is_empty(), "{why}");
    }
    let good = vec![
        question(),
        by_model(vec!["hm".into(), used("a"), used("b")]),
        by_user(vec![result("b"), result("a")]),
        by_model(vec![used("a")]),
        by_user(vec![result("a")]),
        SamplingMessage::assistant("It is."),
        question(),
    ];
    assert_eq!(asked(V2025_11_25, SamplingRequest::new(good))["messages"].as_array().unwrap().len(), 7);
}

#[test]
fn a_tool_use_and_its_result_are_built_with_all_they_can_have() {
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    let used = ToolUse::new("a", "weather", object(json!({ "city": "Paris" }))).meta("k", 1);
    let result = SampledToolResult::new("a")
        .content("none")
        .structured_content(object(json!({ "degrees": null })))
        .is_error(true)
        .meta("k", 2);
    let written = [
        serde_json::to_value(SamplingMessage::assistant(used)).unwrap(),
        serde_json::to_value(SamplingMessage::user(result).meta("k", 3)).unwrap(),
    ];
    let used = json!({
        "type": "tool_use", "id": "a", "name": "weather", "input": { "city": "Paris" }, "_meta": { "k": 1 },
    });
    let result = json!({
        "type": "tool_result",
        "toolUseId": "a",
        "content": [{ "type": "text", "text": "none" }],
        "structuredContent": { "degrees": null },
        "isError": true,
        "_meta": { "k": 2 },
    });
    let expected = [
        json!({ "role": "assistant", "content": used }),
        json!({ "role": "user", "content": result, "_meta": { "k": 3 } }),
    ];
    assert_eq!(written, expected);
}
