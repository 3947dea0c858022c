//! Prompts: with arguments, completed arguments, a resource, an image.

use actix_mcp::{content::ResourceContents, extract::CompletionRequest, prelude::*};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::conformance::PNG;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet
    name: String,
}

async fn greet(Args(Greet { name }): Args<Greet>) -> String {
    format!("Hello {name}")
}

/// More names than one answer can hold: the framework truncates the list and sets `hasMore`.
async fn names(typed: CompletionRequest) -> Vec<String> {
    (0..250).map(|n| format!("name{n:03}")).filter(|name| name.starts_with(&typed.value)).collect()
}

async fn simple() -> &'static str {
    "This is a simple prompt for testing."
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first argument
    arg1: String,
    /// The second argument
    arg2: String,
}

async fn with_arguments(Args(Two { arg1, arg2 }): Args<Two>) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

#[derive(Deserialize, JsonSchema)]
struct Embedded {
    /// The resource to embed
    #[serde(rename = "resourceUri")]
    resource_uri: String,
}

async fn with_resource(Args(Embedded { resource_uri }): Args<Embedded>) -> Vec<PromptMessage> {
    let contents = ResourceContents::text(resource_uri, "Embedded resource content for testing.");
    vec![
        PromptMessage::user(Content::resource(contents.mime_type("text/plain"))),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

async fn with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Content::image(PNG, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server
        .prompt(Prompt::new("greet", greet).description("Greets somebody").complete("name", names))
        .prompt(Prompt::new("test_simple_prompt", simple).description("Takes nothing"))
        .prompt(
            Prompt::new("test_prompt_with_arguments", with_arguments)
                .description("Takes two arguments")
                // there are no values to suggest
                .complete("arg1", async || Vec::<String>::new()),
        )
        .prompt(
            Prompt::new("test_prompt_with_embedded_resource", with_resource).description("Embeds a resource"),
        )
        .prompt(Prompt::new("test_prompt_with_image", with_image).description("Contains an image"))
}
