//! What the judge must refuse: were it weak, every other test here would pass for nothing.

use serde_json::{Value, json};

use crate::{fixture::REVISIONS, oracle::Oracle};

/// Asserts that `value` is a `definition` from revision `first` on, and at none before it.
fn begins(first: &str, definition: &str, value: &Value) {
    for revision in REVISIONS {
        let verdict = Oracle::of(revision).check(definition, value);
        assert_eq!(verdict.is_ok(), revision >= first, "{definition} at {revision}: {verdict:?}");
    }
}

/// Asserts that `value` is a `definition` at no revision.
fn never(definition: &str, value: &Value) {
    begins("never", definition, value);
}

/// One object of the members of two.
fn merged(base: Value, extra: Value) -> Value {
    let members = |part| {
        let Value::Object(members) = part else { panic!("{part} is no object") };
        members
    };
    members(base).into_iter().chain(members(extra)).collect()
}

fn tools(extra: Value) -> Value {
    json!({ "tools": [merged(json!({ "name": "add", "inputSchema": { "type": "object" } }), extra)] })
}

fn content(block: Value) -> Value {
    json!({ "content": [block] })
}

#[test]
fn a_member_is_accepted_from_its_first_revision_on() {
    begins("2024-11-05", "ListToolsResult", &tools(json!({ "description": "Adds." })));
    begins("2025-03-26", "ListToolsResult", &tools(json!({ "annotations": { "readOnlyHint": true } })));
    begins("2025-06-18", "ListToolsResult", &tools(json!({ "title": "Add" })));
    begins("2025-06-18", "ListToolsResult", &tools(json!({ "_meta": { "a": 1 } })));
    begins("2025-06-18", "ListToolsResult", &tools(json!({ "outputSchema": { "type": "object" } })));
    begins(
        "2025-11-25",
        "ListToolsResult",
        &tools(json!({ "icons": [{ "src": "https://example.com/a.png" }] })),
    );
    begins("2025-06-18", "CallToolResult", &json!({ "content": [], "structuredContent": {} }));
    let prompt = |extra: Value| json!({ "prompts": [{ "name": "p", "arguments": [extra] }] });
    begins("2024-11-05", "ListPromptsResult", &prompt(json!({ "name": "a", "required": true })));
    begins("2025-06-18", "ListPromptsResult", &prompt(json!({ "name": "a", "title": "A" })));
    let capable = |capabilities: Value| json!({ "protocolVersion": "any", "serverInfo": { "name": "n", "version": "1" }, "capabilities": capabilities });
    begins(
        "2024-11-05",
        "InitializeResult",
        &capable(json!({ "tools": { "listChanged": true }, "logging": {} })),
    );
    begins("2025-03-26", "InitializeResult", &capable(json!({ "completions": {} })));
}

#[test]
fn a_content_block_is_accepted_from_its_first_revision_on() {
    begins("2024-11-05", "CallToolResult", &content(json!({ "type": "text", "text": "t" })));
    begins(
        "2025-03-26",
        "CallToolResult",
        &content(json!({ "type": "audio", "data": "", "mimeType": "audio/wav" })),
    );
    begins(
        "2025-06-18",
        "CallToolResult",
        &content(json!({ "type": "resource_link", "name": "n", "uri": "a:b" })),
    );
    begins("2025-06-18", "CallToolResult", &content(json!({ "type": "text", "text": "t", "_meta": {} })));
    begins(
        "2025-06-18",
        "CallToolResult",
        &content(
            json!({ "type": "text", "text": "t", "annotations": { "lastModified": "2025-01-01T00:00:00Z" } }),
        ),
    );
}

#[test]
fn a_form_is_accepted_from_the_first_revision_that_has_its_fields() {
    let form = |field: Value| {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "elicitation/create",
            "params": { "message": "?", "requestedSchema": { "type": "object", "properties": { "f": field } } },
        })
    };
    for (first, field) in [
        ("2025-06-18", json!({ "type": "string", "format": "email" })),
        ("2025-06-18", json!({ "type": "boolean", "default": true })),
        ("2025-06-18", json!({ "type": "string", "enum": ["a", "b"] })),
        ("2025-11-25", json!({ "type": "string", "default": "d" })),
        ("2025-11-25", json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] })),
        ("2025-11-25", json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } })),
        ("never", json!({ "type": "object" })),
        ("never", json!({ "$ref": "#/$defs/Field" })),
    ] {
        for revision in REVISIONS {
            let verdict = Oracle::of(revision).check_message(&form(field.clone()), |_| None);
            assert_eq!(verdict.is_ok(), revision >= first, "{field} at {revision}: {verdict:?}");
        }
    }
}

#[test]
fn progress_says_in_words_from_2025_03_26_on() {
    let progress = |extra: Value| {
        let params = merged(json!({ "progressToken": "t", "progress": 1, "total": 3 }), extra);
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
    };
    for revision in REVISIONS {
        let mut oracle = Oracle::of(revision);
        oracle.check_message(&progress(json!({})), |_| None).unwrap();
        let worded = oracle.check_message(&progress(json!({ "message": "one" })), |_| None);
        assert_eq!(worded.is_ok(), revision >= "2025-03-26", "{revision}: {worded:?}");
        oracle.check_message(&progress(json!({ "progress": "1" })), |_| None).unwrap_err();
        oracle.check_message(&progress(json!({ "progressToken": null })), |_| None).unwrap_err();
    }
}

#[test]
fn what_no_revision_knows_is_refused_at_each() {
    never("ListToolsResult", &tools(json!({ "colour": "red" })));
    never("ListToolsResult", &tools(json!({ "description": null })));
    never("ListToolsResult", &json!({ "tools": [{ "name": "add" }] }));
    never("ListToolsResult", &tools(json!({ "inputSchema": { "type": "string" } })));
    never(
        "ListToolsResult",
        &tools(json!({ "inputSchema": { "type": "object", "properties": { "a": true } } })),
    );
    never("CallToolResult", &json!({}));
    never("CallToolResult", &content(json!({ "type": "video", "data": "" })));
    never("CallToolResult", &content(json!({ "type": "text" })));
    never("CallToolResult", &json!({ "content": [], "isError": "yes" }));
    never("ReadResourceResult", &json!({ "contents": [{ "uri": "no uri", "text": "" }] }));
    never("EmptyResult", &json!({ "ok": true }));
    never("Nothing", &json!({}));
}

#[test]
fn the_schemas_of_a_tool_may_say_more_than_the_specification_lists() {
    let schema = json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "required": ["a"],
        "additionalProperties": false, "$defs": { "A": { "type": "integer" } },
    });
    begins("2024-11-05", "ListToolsResult", &tools(json!({ "inputSchema": schema })));
}

#[test]
fn a_server_sends_only_what_its_side_may_send() {
    for revision in REVISIONS {
        let mut oracle = Oracle::of(revision);
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "add" } });
        oracle.check_message(&call, |_| None).unwrap_err();
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
        oracle.check_message(&answer, |_| None).unwrap_err();
        oracle.check_message(&answer, |_| Some("ping".to_owned())).unwrap();
        oracle.check_message(&answer, |_| Some("tools/list".to_owned())).unwrap_err();
        let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": "m" } });
        oracle.check_message(&error, |_| None).unwrap();
        let wordless = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602 } });
        oracle.check_message(&wordless, |_| None).unwrap_err();
        let unversioned = json!({ "id": 1, "result": {} });
        oracle.check_message(&unversioned, |_| Some("ping".to_owned())).unwrap_err();
    }
}

#[test]
fn a_result_says_what_it_is_and_how_long_it_may_be_kept_from_2026_07_28_on() {
    let mut oracle = Oracle::of("2026-07-28");
    let tool = json!({ "name": "add", "inputSchema": { "type": "object" } });
    let own =
        json!({ "io.modelcontextprotocol/serverInfo": { "name": "n", "version": "1" }, "com.example/a": 1 });
    let whole = json!({ "tools": [tool], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": own });
    oracle.check("ListToolsResult", &whole).unwrap();
    for (member, wrong) in [
        ("resultType", Value::Null),
        ("ttlMs", Value::Null),
        ("ttlMs", json!(-1)),
        ("ttlMs", json!("0")),
        ("cacheScope", Value::Null),
        ("cacheScope", json!("everybody")),
        ("_meta", json!({ "io.modelcontextprotocol/serverInfo": { "name": "n" } })),
        ("colour", json!("red")),
    ] {
        let mut other = whole.clone();
        if wrong.is_null() {
            other.as_object_mut().unwrap().remove(member);
        } else {
            other[member] = wrong;
        }
        oracle.check("ListToolsResult", &other).unwrap_err();
    }
    oracle.check("CallToolResult", &json!({ "content": [] })).unwrap_err();
    oracle
        .check("CallToolResult", &json!({ "content": [], "resultType": "complete", "structuredContent": 7 }))
        .unwrap();
    let found = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "extensions": { "com.example/a": {} } } });
    oracle
        .check(
            "DiscoverResult",
            &merged(found.clone(), json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "public" })),
        )
        .unwrap();
    oracle.check("DiscoverResult", &found).unwrap_err();
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" });
    oracle.check_message(&ask, |_| None).unwrap_err();
}
