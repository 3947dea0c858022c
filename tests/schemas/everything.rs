//! A server with every member that a definition, a result or a question can have: most are newer than the oldest
//! revision, and none may reach a session that does not know it. The examples are plainer than that.

use actix_mcp::{
    content::{
        Annotations, EmbeddedResource, Icon, MediaContent, ResourceContents, ResourceLink, Role, TextContent,
    },
    extract::CompletionRequest,
    prelude::*,
    question::SamplingRequest,
    result::Completion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

fn icon() -> Icon {
    Icon::new("https://example.com/icon.png").mime_type("image/png").size("48x48").theme("dark")
}

fn hints() -> Annotations {
    Annotations::new().audience([Role::User]).priority(0.5).last_modified("2025-01-12T15:00:58Z")
}

const MARK: &str = "example.com/mark";

/// Every kind of content, each block with all it can have.
fn blocks() -> Vec<Content> {
    let media = |mime_type: &str| MediaContent::new([1, 2, 3], mime_type).annotations(hints()).meta(MARK, 1);
    let contents = ResourceContents::text("mem://a", "text").mime_type("text/plain").meta(MARK, 1);
    let link = ResourceLink::new("mem://a", "a")
        .title("A")
        .description("the first")
        .mime_type("text/plain")
        .size(4)
        .icon(icon())
        .annotations(hints())
        .meta(MARK, 1);
    vec![
        TextContent::new("text").annotations(hints()).meta(MARK, 1).into(),
        Content::Image(media("image/png")),
        Content::Audio(media("audio/wav")),
        link.into(),
        EmbeddedResource::new(contents).annotations(hints()).meta(MARK, 1).into(),
        Content::resource(ResourceContents::blob("mem://b", vec![1, 2, 3])),
    ]
}

async fn contents() -> ToolResult {
    blocks().into_iter().fold(ToolResult::new(), ToolResult::content).meta(MARK, 1)
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
    let text = ResourceContents::text(uri.to_string(), "text").mime_type("text/plain").meta(MARK, 1);
    vec![text, ResourceContents::blob(uri.to_string(), vec![1, 2, 3])]
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
    Completion::new(["one"]).total(250).has_more(true)
}

pub(crate) fn server() -> Server {
    let tool = |tool: Tool| {
        tool.title("A title")
            .description("A tool")
            .read_only(true)
            .destructive(false)
            .icon(icon())
            .meta(MARK, 1)
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
                .meta(MARK, 1),
        )
        .resource_template(
            ResourceTemplate::new("mem://item/{id}", "item", read)
                .title("Items")
                .description("one of many")
                .mime_type("text/plain")
                .annotations(hints())
                .complete("id", complete)
                .icon(icon())
                .meta(MARK, 1),
        )
        .prompt(
            Prompt::new("talk", talk)
                .title("Talk")
                .description("talks")
                .complete("topic", complete)
                .icon(icon())
                .meta(MARK, 1),
        )
        .build()
}
