//! Tools for the official conformance suite without sessions (2026-07-28): arguments in headers, missing capabilities,
//! logs on request, and change notifications for subscribers.
//!
//! The suite requires these names.

use actix_mcp::{QuestionError, client::ClientCapability, prelude::*};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Custom {
    /// Repeated in the header `Mcp-Param-Value`
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
}

async fn custom_header(Args(Custom { value }): Args<Custom>) -> String {
    format!("The value is {value}")
}

/// Requires a client with sampling.
#[tool]
async fn test_missing_capability(client: Client) -> Result<&'static str, McpError> {
    client.require(ClientCapability::Sampling)?;
    Ok("The client's model can be asked")
}

#[derive(Deserialize, JsonSchema)]
struct Confirmed {
    /// Shall it go on?
    confirmed: bool,
}

/// Reports progress, then asks the user.
#[tool]
async fn test_streaming_elicitation(client: Client, progress: Progress) -> Result<String, QuestionError> {
    progress.report(1).total(2).await.ok();
    let Confirmed { confirmed } = client.elicit("Shall it go on?").await?;
    Ok(format!("confirmed: {confirmed}"))
}

/// Logs to the client, if it asked for logs.
#[tool]
async fn test_logging_tool(log: Log) -> &'static str {
    log.info("The logging tool was called");
    "Logged"
}

async fn dynamic() -> &'static str {
    "It comes and goes"
}

/// Adds a tool and removes it again.
#[tool]
async fn test_trigger_tool_change(handle: Handle) -> &'static str {
    const NAME: &str = "test_dynamic_tool";
    // if another call has already added it, that call removes it
    handle.add_tool(Tool::new(NAME, dynamic).description("Comes and goes.")).ok();
    if handle.remove_tool(NAME) { "The tools changed" } else { "Another call was faster" }
}

/// Adds a prompt and removes it again.
#[tool]
async fn test_trigger_prompt_change(handle: Handle) -> &'static str {
    const NAME: &str = "test_dynamic_prompt";
    handle.add_prompt(Prompt::new(NAME, dynamic)).ok();
    if handle.remove_prompt(NAME) { "The prompts changed" } else { "Another call was faster" }
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            Tool::new("test_custom_header", custom_header)
                .description("Takes an argument that a header repeats."),
        )
        .tool(test_missing_capability)
        .tool(test_streaming_elicitation)
        .tool(test_logging_tool)
        .tool(test_trigger_tool_change)
        .tool(test_trigger_prompt_change)
}
