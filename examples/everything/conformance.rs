//! Tools for the official conformance suite: content of every kind, logs, progress, and a stream that breaks off.
//!
//! The suite requires these names and texts.

use std::time::Duration;

use actix_mcp::{content::ResourceContents, prelude::*};
use actix_web::rt::time::sleep;

/// One red pixel.
pub(crate) const PNG: &[u8] = include_bytes!("pixel.png");
/// One millisecond of silence.
const WAV: &[u8] = include_bytes!("silence.wav");

/// The time between two messages.
const STEP: Duration = Duration::from_millis(50);

/// Answers with a text.
#[tool]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with an image.
#[tool]
async fn test_image_content() -> Content {
    Content::image(PNG, "image/png")
}

/// Answers with sound.
#[tool]
async fn test_audio_content() -> Content {
    Content::audio(WAV, "audio/wav")
}

/// Answers with a resource.
#[tool]
async fn test_embedded_resource() -> Content {
    let contents =
        ResourceContents::text("test://embedded-resource", "This is an embedded resource content.");
    Content::resource(contents.mime_type("text/plain"))
}

/// Answers with a text, an image and a resource.
#[tool]
async fn test_multiple_content_types() -> Vec<Content> {
    let contents = ResourceContents::text("test://mixed-content-resource", r#"{"test":"data","value":123}"#);
    vec![
        Content::text("Multiple content types test:"),
        Content::image(PNG, "image/png"),
        Content::resource(contents.mime_type("application/json")),
    ]
}

/// Fails.
#[tool]
async fn test_error_handling() -> Result<&'static str, &'static str> {
    Err("This tool intentionally returns an error for testing")
}

/// Logs to the client while it works.
#[tool]
async fn test_tool_with_logging(log: Log) -> &'static str {
    log.info("Tool execution started");
    sleep(STEP).await;
    log.info("Tool processing data");
    sleep(STEP).await;
    log.info("Tool execution completed");
    "Tool with logging executed successfully"
}

/// Reports its progress.
#[tool]
async fn test_tool_with_progress(progress: Progress) -> &'static str {
    for done in [0, 50, 100] {
        progress.report(done).total(100).await.ok();
        sleep(STEP).await;
    }
    "Tool with progress executed successfully"
}

/// Closes its own stream and continues; the client resumes the stream to get the answer.
#[tool]
async fn test_reconnection(client: Client) -> &'static str {
    client.close_stream();
    sleep(2 * STEP).await;
    "Reconnection test completed successfully"
}

/// A schema that Rust types cannot express.
const CONTACT: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
        }
    },
    "properties": {
        "name": { "type": "string" },
        "address": { "$ref": "#/$defs/address" },
        "contactMethod": { "type": "string", "enum": ["phone", "email"] },
        "phone": { "type": "string" },
        "email": { "type": "string" }
    },
    "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
    "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
    "then": { "required": ["phone"] },
    "else": { "required": ["email"] },
    "additionalProperties": false
}"##;

async fn contact() -> &'static str {
    "The contact fits the schema"
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    let contact = Tool::new("json_schema_2020_12_tool", contact)
        .description("Takes a contact, with a schema written by hand.")
        .input_schema(CONTACT);
    server
        .tool(test_simple_text)
        .tool(test_image_content)
        .tool(test_audio_content)
        .tool(test_embedded_resource)
        .tool(test_multiple_content_types)
        .tool(test_error_handling)
        .tool(test_tool_with_logging)
        .tool(test_tool_with_progress)
        .tool(test_reconnection)
        .tool(contact)
}
