//! A server with every member that a definition, a result or a question can have: most are newer than the oldest
//! revision, and none may reach a session that does not know it. The examples are plainer than that.

use actix_mcp::{
    content::{Annotations, Icon, MediaContent, ResourceContents, ResourceLink, Role, TextContent},
    extract::CompletionRequest,
    prelude::*,
    question::SamplingRequest,
    result::Completion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

fn icon() -> Icon {
    Icon {
        mime_type: Some("image/png".to_owned()),
        sizes: Some(vec!["48x48".to_owned()]),
        theme: Some("dark".to_owned()),
        ..Icon::new("https://example.com/icon.png")
    }
}

fn hints() -> Annotations {
    Annotations {
        audience: Some(vec![Role::User]),
        priority: Some(0.5),
        last_modified: Some("2025-01-12T15:00:58Z".to_owned()),
    }
}

fn meta() -> Option<serde_json::Map<String, serde_json::Value>> {
    json!({ "example.com/mark": 1 }).as_object().cloned()
}

/// Every kind of content, each block with all it can have.
fn blocks() -> Vec<Content> {
    let media = |mime_type: &str| MediaContent {
        data: actix_mcp::content::Base64(vec![1, 2, 3]),
        mime_type: mime_type.to_owned(),
        annotations: Some(hints()),
        meta: meta(),
    };
    let contents = ResourceContents {
        meta: meta(),
        ..ResourceContents::text("mem://a", "text").mime_type("text/plain")
    };
    vec![
        Content::Text(TextContent { text: "text".to_owned(), annotations: Some(hints()), meta: meta() }),
        Content::Image(media("image/png")),
        Content::Audio(media("audio/wav")),
        Content::ResourceLink(ResourceLink {
            uri: "mem://a".to_owned(),
            name: "a".to_owned(),
            title: Some("A".to_owned()),
            description: Some("the first".to_owned()),
            mime_type: Some("text/plain".to_owned()),
            size: Some(4),
            icons: Some(vec![icon()]),
            annotations: Some(hints()),
            meta: meta(),
        }),
        Content::resource(contents),
        Content::resource(ResourceContents::blob("mem://b", vec![1, 2, 3])),
    ]
}

async fn contents() -> ToolResult {
    blocks().into_iter().fold(ToolResult::new(), ToolResult::content).meta("example.com/mark", 1)
}

#[derive(Serialize, JsonSchema)]
struct Point {
    x: i64,
    label: Option<String>,
}

async fn structured() -> Json<Point> {
    Json(Point { x: 1, label: None })
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is what matters here")]
struct Form {
    /// A name
    name: String,
    #[schemars(length(max = 10), email)]
    mail: Option<String>,
    #[schemars(range(min = 1, max = 9))]
    count: u32,
    share: Option<f64>,
    sure: bool,
}

async fn ask(client: Client) -> Result<&'static str, String> {
    client.elicit::<Form>("Who?").await.map_err(|err| err.to_string())?;
    Ok("asked")
}

async fn ask_url(client: Client) -> Result<&'static str, String> {
    client.elicit_url("Sign in", "https://example.com/").await.map_err(|err| err.to_string())?;
    Ok("asked")
}

async fn sample(client: Client) -> Result<String, String> {
    let request = SamplingRequest::text("Hello")
        .system_prompt("Be brief")
        .temperature(0.5)
        .stop_sequence("end")
        .model_hint("small")
        .max_tokens(10);
    client.sample(request).await.map(|result| result.text()).map_err(|err| err.to_string())
}

async fn work(progress: Progress, log: Log) -> &'static str {
    for step in 1..=3 {
        progress.report(step).total(3).message(format!("step {step}")).await.ok();
    }
    log.named("work").warning(json!({ "done": true }));
    "done"
}

async fn refuse() -> Result<&'static str, McpError> {
    Err(McpError::invalid_params("not today"))
}

async fn read(uri: Uri) -> Vec<ResourceContents> {
    let text = ResourceContents::text(uri.to_string(), "text").mime_type("text/plain");
    vec![ResourceContents { meta: meta(), ..text }, ResourceContents::blob(uri.to_string(), vec![1, 2, 3])]
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Topic {
    /// What about
    topic: String,
}

async fn talk(_: Args<Topic>) -> Vec<PromptMessage> {
    blocks().into_iter().map(PromptMessage::user).collect()
}

async fn complete(_: CompletionRequest) -> Completion {
    Completion { values: vec!["one".to_owned()], total: Some(250), has_more: true }
}

pub(crate) fn server() -> Server {
    let tool = |tool: Tool| {
        tool.title("A title")
            .description("A tool")
            .read_only(true)
            .destructive(false)
            .icon(icon())
            .meta("example.com/mark", 1)
    };
    Server::builder("everything", "1.0.0")
        .title("Everything")
        .description("All there is")
        .website_url("https://example.com/")
        .icon(icon())
        .instructions("Look at all of it")
        .page_size(3)
        .tool(tool(Tool::new("contents", contents)))
        .tool(tool(Tool::new("structured", structured)))
        .tool(tool(Tool::new("ask", ask)))
        .tool(tool(Tool::new("ask_url", ask_url)))
        .tool(tool(Tool::new("sample", sample)))
        .tool(tool(Tool::new("work", work)))
        .tool(tool(Tool::new("refuse", refuse)))
        .resource(
            Resource::new("mem://a", "a", read)
                .title("A")
                .description("the first")
                .mime_type("text/plain")
                .size(4)
                .annotations(hints())
                .icon(icon())
                .meta("example.com/mark", 1),
        )
        .resource_template(
            ResourceTemplate::new("mem://item/{id}", "item", read)
                .title("Items")
                .description("one of many")
                .mime_type("text/plain")
                .annotations(hints())
                .complete("id", complete)
                .icon(icon())
                .meta("example.com/mark", 1),
        )
        .prompt(
            Prompt::new("talk", talk)
                .title("Talk")
                .description("talks")
                .complete("topic", complete)
                .icon(icon())
                .meta("example.com/mark", 1),
        )
        .build()
}
