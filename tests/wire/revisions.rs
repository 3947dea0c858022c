//! What a revision does not have is not sent, and what it has is: the same server, seen at each of the four.
//!
//! That what is sent fits the revision's schema is shown by `tests/schemas`; here it is shown that nothing is lost that
//! the revision has, and what stands in the place of what it lacks.

use actix_mcp::testing::{Pipe, contains, paused};
use serde_json::{Value, json};

use crate::{everything, fixture::REVISIONS};

/// `value` from revision `first` on; before, the member is absent.
fn from(first: &str, revision: &str, value: Value) -> Value {
    if revision >= first { value } else { json!("$absent") }
}

async fn open(revision: &str) -> (Pipe, Value) {
    let mut pipe = Pipe::open(&everything::server());
    let capabilities = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
    let hello = pipe.initialize(revision, capabilities).await;
    (pipe, hello)
}

async fn result(pipe: &mut Pipe, method: &str, params: Value) -> Value {
    pipe.request(1, method, params).await;
    pipe.answer_to(1).await["result"].clone()
}

#[track_caller]
fn has(actual: &Value, expected: &Value, revision: &str) {
    contains(actual, expected).unwrap_or_else(|error| panic!("at {revision}: {error}\nin {actual}"));
}

#[actix_web::test]
async fn the_server_says_of_itself_what_the_revision_has_room_for() {
    paused();
    for revision in REVISIONS {
        let (_, hello) = open(revision).await;
        let lists = json!({ "listChanged": true });
        let expected = json!({
            "protocolVersion": revision,
            "instructions": "Look at all of it",
            "capabilities": {
                "tools": lists, "prompts": lists, "resources": { "listChanged": true, "subscribe": true }, "logging": {},
                "completions": from("2025-03-26", revision, json!({})),
                "experimental": "$absent", "tasks": "$absent",
            },
            "serverInfo": {
                "name": "everything", "version": "1.0.0",
                "title": from("2025-06-18", revision, json!("Everything")),
                "description": from("2025-11-25", revision, json!("All there is")),
                "websiteUrl": from("2025-11-25", revision, json!("https://example.com/")),
                "icons": from("2025-11-25", revision, json!([icon()])),
            },
        });
        has(&hello, &expected, revision);
    }
}

fn icon() -> Value {
    json!({ "src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark" })
}

/// Annotations of content and resources.
fn hints(revision: &str) -> Value {
    let modified = from("2025-06-18", revision, json!("2025-01-12T15:00:58Z"));
    json!({ "audience": ["user"], "priority": 0.5, "lastModified": modified })
}

fn meta(revision: &str) -> Value {
    from("2025-06-18", revision, json!({ "example.com/mark": 1 }))
}

#[actix_web::test]
async fn definitions_have_the_members_of_the_revision() {
    paused();
    for revision in REVISIONS {
        let (mut pipe, _) = open(revision).await;
        let titled = |title: &str| from("2025-06-18", revision, json!(title));
        let icons = from("2025-11-25", revision, json!([icon()]));

        let tool = result(&mut pipe, "tools/list", json!({})).await["tools"][0].clone();
        // where clients of 2025-03-26 looked for a title
        let old_title = if revision == "2025-03-26" { json!("A title") } else { json!("$absent") };
        let annotations = json!({ "readOnlyHint": true, "destructiveHint": false, "title": old_title });
        let expected = json!({
            "name": "contents", "description": "A tool", "inputSchema": { "type": "object" },
            "title": titled("A title"), "icons": icons, "_meta": meta(revision),
            "annotations": from("2025-03-26", revision, annotations),
        });
        has(&tool, &expected, revision);

        let resource = result(&mut pipe, "resources/list", json!({})).await["resources"][0].clone();
        let expected = json!({
            "uri": "mem://a", "name": "a", "description": "the first", "mimeType": "text/plain", "size": 4,
            "title": titled("A"), "icons": icons, "_meta": meta(revision), "annotations": hints(revision),
        });
        has(&resource, &expected, revision);

        let template =
            result(&mut pipe, "resources/templates/list", json!({})).await["resourceTemplates"][0].clone();
        let expected = json!({
            "uriTemplate": "mem://item/{id}", "name": "item", "description": "one of many", "mimeType": "text/plain",
            "title": titled("Items"), "icons": icons, "_meta": meta(revision), "annotations": hints(revision),
        });
        has(&template, &expected, revision);

        let prompt = result(&mut pipe, "prompts/list", json!({})).await["prompts"][0].clone();
        let expected = json!({
            "name": "talk", "description": "talks", "title": titled("Talk"), "icons": icons, "_meta": meta(revision),
            "arguments": [{ "name": "topic", "description": "What about", "required": true }],
        });
        has(&prompt, &expected, revision);
    }
}

/// The blocks of `everything`, as this revision has them.
fn blocks(revision: &str) -> Value {
    let (hints, meta) = (hints(revision), meta(revision));
    let audio = match revision {
        "2024-11-05" => json!({
            "type": "text", "annotations": hints,
            "text": "[audio left out: audio/wav, 3 bytes; protocol revision 2024-11-05 has no audio]",
        }),
        _ => {
            json!({ "type": "audio", "data": "AQID", "mimeType": "audio/wav", "annotations": hints, "_meta": meta })
        }
    };
    let link = match revision {
        "2024-11-05" | "2025-03-26" => {
            json!({ "type": "text", "text": "[resource: A, mem://a] the first", "annotations": hints })
        }
        _ => json!({
            "type": "resource_link", "uri": "mem://a", "name": "a", "title": "A", "description": "the first",
            "mimeType": "text/plain", "size": 4, "annotations": hints, "_meta": meta,
            "icons": from("2025-11-25", revision, json!([icon()])),
        }),
    };
    json!([
        { "type": "text", "text": "text", "annotations": hints, "_meta": meta },
        { "type": "image", "data": "AQID", "mimeType": "image/png", "annotations": hints, "_meta": meta },
        audio,
        link,
        { "type": "resource", "resource": { "uri": "mem://a", "text": "text", "mimeType": "text/plain", "_meta": meta } },
        { "type": "resource", "resource": { "uri": "mem://b", "blob": "AQID", "text": "$absent" } },
    ])
}

#[actix_web::test]
async fn content_that_the_revision_lacks_becomes_text_that_says_so() {
    paused();
    for revision in REVISIONS {
        let (mut pipe, _) = open(revision).await;
        let called = result(&mut pipe, "tools/call", json!({ "name": "contents" })).await;
        // `_meta` of a result is as old as results
        let expected =
            json!({ "content": blocks(revision), "_meta": { "example.com/mark": 1 }, "isError": "$absent" });
        has(&called, &expected, revision);

        let arguments = json!({ "topic": "x" });
        let got = result(&mut pipe, "prompts/get", json!({ "name": "talk", "arguments": arguments })).await;
        let blocks = blocks(revision);
        let messages: Value = blocks
            .as_array()
            .into_iter()
            .flatten()
            .map(|block| json!({ "role": "user", "content": block }))
            .collect();
        has(&got, &json!({ "description": "talks", "messages": messages }), revision);

        let read = result(&mut pipe, "resources/read", json!({ "uri": "mem://a" })).await;
        let expected = json!({ "contents": [
            { "uri": "mem://a", "mimeType": "text/plain", "text": "text", "blob": "$absent", "_meta": meta(revision) },
            { "uri": "mem://a", "blob": "AQID", "text": "$absent" },
        ] });
        has(&read, &expected, revision);
    }
}

#[actix_web::test]
async fn structured_content_is_sent_from_its_revision_on_and_its_text_always() {
    paused();
    for revision in REVISIONS {
        let (mut pipe, _) = open(revision).await;
        let tool = result(&mut pipe, "tools/list", json!({})).await["tools"][1].clone();
        let schema = from("2025-06-18", revision, json!({ "type": "object" }));
        has(&tool, &json!({ "name": "structured", "outputSchema": schema }), revision);
        let called = result(&mut pipe, "tools/call", json!({ "name": "structured" })).await;
        let expected = json!({
            "content": [{ "type": "text", "text": "{\"x\":1,\"label\":null}" }],
            "structuredContent": from("2025-06-18", revision, json!({ "x": 1, "label": null })),
        });
        has(&called, &expected, revision);
    }
}

#[actix_web::test]
async fn progress_says_in_words_where_the_revision_has_words() {
    paused();
    for revision in REVISIONS {
        let (mut pipe, _) = open(revision).await;
        pipe.call_with_progress(1, "work", json!({}), "p").await;
        for step in 1..=3 {
            let words = from("2025-03-26", revision, json!(format!("step {step}")));
            let params = json!({ "progressToken": "p", "progress": step, "total": 3, "message": words });
            has(&pipe.message("notifications/progress").await, &json!({ "params": params }), revision);
        }
        let params = json!({ "level": "warning", "logger": "work", "data": { "done": true } });
        has(&pipe.message("notifications/message").await, &json!({ "params": params }), revision);
    }
}

#[actix_web::test]
async fn a_question_that_the_revision_lacks_fails_as_one_that_the_client_does_not_support() {
    paused();
    for revision in REVISIONS {
        for (tool, first, mode) in [("ask", "2025-06-18", "form"), ("ask_url", "2025-11-25", "url")] {
            // the client declares both, whatever its revision
            let (mut pipe, _) = open(revision).await;
            pipe.call(1, tool, json!({})).await;
            if revision < first {
                let answer = pipe.next().await;
                has(&answer, &json!({ "id": 1, "result": { "isError": true } }), revision);
                let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
                assert!(text.contains("elicitation"), "{tool} at {revision}: {text}");
                continue;
            }
            let question = pipe.message("elicitation/create").await;
            // MCP 2025-11-25 client/elicitation, Form Mode: without a word it is a form, which is what older clients know
            let word = if mode == "form" { json!("$absent") } else { json!(mode) };
            has(&question, &json!({ "params": { "message": "$any", "mode": word } }), revision);
            pipe.answer(&question["id"], json!({ "action": "decline" })).await;
            has(&pipe.answer_to(1).await, &json!({ "result": { "isError": true } }), revision);
        }
    }
}

#[actix_web::test]
async fn an_error_of_an_author_and_an_unknown_method_are_the_same_at_every_revision() {
    paused();
    for revision in REVISIONS {
        let (mut pipe, _) = open(revision).await;
        pipe.request(1, "tools/call", json!({ "name": "refuse" })).await;
        let refused =
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": "not today" } });
        assert_eq!(pipe.next().await, refused);
        pipe.request(1, "server/discover", json!({})).await;
        let unknown = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "method not found: \"server/discover\"" } });
        assert_eq!(pipe.next().await, unknown);
    }
}

/// The code of a source file, without the tests at its end.
fn code(file: &std::path::Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}

#[test]
fn no_module_but_era_names_a_revision() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut left: Vec<_> = ["src", "router/src", "router/macros/src", "session-actor/src", "transports/src"]
        .map(|folder| root.join(folder))
        .into();
    let mut read = 0;
    while let Some(path) = left.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder can be read");
            left.extend(entries.map(|entry| entry.expect("it can be listed").path()));
        } else if name.ends_with(".rs") && name != "era.rs" && !name.ends_with("tests.rs") {
            read += 1;
            for (number, line) in code(&path).lines().enumerate() {
                // what cannot be named, and has no order, cannot be compared
                let names = ["Revision::V20", "V2024_", "V2025_", "V2026_"]
                    .into_iter()
                    .any(|name| line.contains(name));
                assert!(!names, "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
    assert!(read > 80, "only {read} files were looked at");
}
