//! The server that the wire tests talk to: one tool for each thing that can go wrong.
//!
//! | tool | what it does |
//! | --- | --- |
//! | `echo{text}` | gives the text back |
//! | `slow{ms,tag}` | waits, then gives the tag |
//! | `progress{n,ms,text,values}` | reports 1..n, or these values, `ms` after each; refused values are passed over |
//! | `late{}` | answers at once and reports progress from a detached task 200 ms later |
//! | `log{level,n}` | logs `n` times |
//! | `ask{}`, `ask_url{}`, `sample{}`, `roots{}` | asks the client; a failure is a result that starts with `ask failed` |
//! | `panic{after}` | reports 1..after and panics with a text that nobody must see |
//! | `panic_in_drop{}`, `panic_in_display{}` | the same in a destructor, and in an error's `Display` |
//! | `fail{}`, `refuse{}` | an error of the tool; an error of the protocol |
//! | `none{}`, `typed{n,opt,any}`, `out{mode}` | no arguments; the shapes of case C85; an output schema |
//! | `big{bytes}` | so many times `x` |
//! | `toggle{times,ms}` | adds and removes the tool `extra` |
//! | `touch{uri,count}` | says that a resource has changed |
//! | `contents{}` | every kind of content |
//!
//! Resources `mem://a`, `mem://b`, template `mem://item/{id}` (`mem://item/panic` panics), prompt `greet(name)` with 250
//! completions (those of `panic` panic).

use std::time::Duration;

use actix_mcp::{
    Limits, QuestionError, ServerBuilder,
    content::{Annotations, ResourceContents},
    prelude::*,
    question::SamplingRequest,
};
use actix_web::rt::{spawn, time::sleep};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The revisions with a handshake, oldest first.
pub(crate) const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What no message may ever hold.
pub(crate) const SECRET: &str = "PANIC-SECRET-7731 at /secret/path";

#[tool]
async fn echo(text: String) -> String {
    text
}

#[tool]
async fn slow(ms: u64, tag: String) -> String {
    sleep(Duration::from_millis(ms)).await;
    tag
}

#[tool]
async fn progress(
    n: Option<u32>,
    ms: Option<u64>,
    text: Option<String>,
    values: Option<Vec<f64>>,
    progress: Progress,
) -> &'static str {
    let n = n.unwrap_or(0);
    let values = values.unwrap_or_else(|| (1..=n).map(f64::from).collect());
    for value in values {
        let mut report = progress.report(value).total(n);
        if let Some(text) = &text {
            report = report.message(text);
        }
        // a value that is refused is passed over
        report.await.ok();
        sleep(Duration::from_millis(ms.unwrap_or(0))).await;
    }
    "done"
}

#[tool]
async fn late(progress: Progress) -> &'static str {
    spawn(async move {
        sleep(Duration::from_millis(200)).await;
        progress.report(1).total(1).await.ok();
    });
    "returned"
}

#[tool]
async fn log(level: Level, n: Option<u32>, log: Log) -> &'static str {
    let log = log.named("fixture");
    for n in 1..=n.unwrap_or(1) {
        log.send(level, format!("log {n}"));
    }
    "logged"
}

#[derive(Deserialize, JsonSchema)]
struct Answer {
    x: String,
}

#[tool]
async fn ask(target: Option<String>, client: Client) -> Result<String, String> {
    let message = target.map_or("input wanted".to_owned(), |target| format!("input wanted for {target}"));
    match client.elicit::<Answer>(message).await {
        Ok(answer) => Ok(format!("accept:{}", answer.x)),
        Err(QuestionError::Declined) => Ok("declined".to_owned()),
        Err(QuestionError::Cancelled) => Ok("cancelled".to_owned()),
        Err(err) => Err(format!("ask failed: {err}")),
    }
}

#[tool]
async fn ask_url(client: Client) -> Result<&'static str, String> {
    client
        .elicit_url("sign in", "https://example.com/auth")
        .await
        .map_err(|err| format!("ask failed: {err}"))?;
    Ok("accept:")
}

#[tool]
async fn sample(client: Client) -> Result<String, String> {
    let request = SamplingRequest::text("hello").max_tokens(10);
    client.sample(request).await.map(|result| result.text()).map_err(|err| format!("ask failed: {err}"))
}

#[tool]
async fn roots(client: Client) -> Result<String, String> {
    let roots = client.roots().await.map_err(|err| format!("ask failed: {err}"))?;
    Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(" "))
}

#[tool]
async fn panic(after: Option<u32>, progress: Progress) -> String {
    for step in 1..=after.unwrap_or(0) {
        progress.report(step).await.ok();
    }
    panic!("{SECRET}")
}

struct PanicInDrop;

impl Drop for PanicInDrop {
    fn drop(&mut self) {
        panic!("{SECRET}")
    }
}

#[tool]
async fn panic_in_drop() -> &'static str {
    let _guard = PanicInDrop;
    "dropped"
}

struct PanicInDisplay;

impl std::fmt::Display for PanicInDisplay {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("{SECRET}")
    }
}

#[tool]
async fn panic_in_display() -> Result<String, PanicInDisplay> {
    Err(PanicInDisplay)
}

#[tool]
async fn fail() -> Result<String, String> {
    Err("it failed".to_owned())
}

#[tool]
async fn refuse() -> Result<String, McpError> {
    Err(McpError::invalid_params("not like this").with_data(json!({ "why": 1 })))
}

#[tool]
async fn none() -> &'static str {
    "ok"
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct CompletionRequest {
    n: u64,
    opt: Option<String>,
    #[serde(default)]
    any: Value,
}

async fn typed(Args(_): Args<CompletionRequest>) -> &'static str {
    "typed"
}

const OUT: &str = r#"{"type":"object","properties":{"v":{"type":"integer"}},"required":["v"]}"#;

#[derive(Deserialize, JsonSchema)]
struct Mode {
    mode: Option<String>,
}

async fn out(Args(Mode { mode }): Args<Mode>) -> Result<ToolResult, serde_json::Error> {
    Ok(match mode.as_deref() {
        None | Some("ok") => ToolResult::new().structured(&json!({ "v": 1 }))?,
        Some("missing") => ToolResult::text("nothing structured"),
        Some("wrong") => ToolResult::new().structured(&json!({ "v": "x" }))?,
        Some("error with structure") => ToolResult::error("failed").structured(&json!({ "error": "x" }))?,
        Some(_) => ToolResult::error("failed"),
    })
}

#[tool]
async fn big(bytes: usize) -> String {
    "x".repeat(bytes)
}

async fn extra() -> &'static str {
    "ok"
}

#[tool]
async fn toggle(times: Option<u32>, ms: Option<u64>, handle: Handle) -> Result<&'static str, String> {
    for _ in 0..times.unwrap_or(1) {
        if !handle.remove_tool("extra") {
            handle.add_tool(Tool::new("extra", extra)).map_err(|err| err.to_string())?;
        }
        if let Some(ms) = ms {
            sleep(Duration::from_millis(ms)).await;
        }
    }
    Ok("toggled")
}

#[tool]
async fn touch(uri: String, count: Option<u32>, handle: Handle) -> &'static str {
    for _ in 0..count.unwrap_or(1) {
        handle.resource_updated(&uri);
    }
    "touched"
}

#[tool]
async fn contents() -> Vec<Content> {
    let contents = ResourceContents::blob("mem://blob", [0, 1, 2]).mime_type("application/octet-stream");
    vec![
        Content::text("text"),
        Content::image([137, 80, 78, 71], "image/png"),
        Content::audio([82, 73, 70, 70], "audio/wav"),
        Content::resource_link("mem://a", "a"),
        Content::resource(ResourceContents::text("mem://a", "content of mem://a")),
        Content::resource(contents),
    ]
}

async fn read(Uri(uri): Uri) -> String {
    if &*uri == "mem://item/panic" {
        panic!("{SECRET}");
    }
    format!("content of {uri}")
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet
    name: String,
}

async fn greet(Args(Greet { name }): Args<Greet>) -> String {
    format!("Hello {name}")
}

async fn names(typed: actix_mcp::extract::CompletionRequest) -> Vec<String> {
    if typed.value == "panic" {
        panic!("{SECRET}");
    }
    (0..250).map(|n| format!("name{n:03}")).filter(|name| name.starts_with(&typed.value)).collect()
}

/// Limits that differ from the default.
pub(crate) fn limited(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

/// The server. Each test has one of its own.
pub(crate) fn server() -> Server {
    builder().build()
}

/// The same, to be changed first.
pub(crate) fn builder() -> ServerBuilder {
    Server::builder("fixture", "1.0.0")
        .instructions("for tests")
        .tool(echo)
        .tool(slow)
        .tool(progress)
        .tool(late)
        .tool(log)
        .tool(ask)
        .tool(ask_url)
        .tool(sample)
        .tool(roots)
        .tool(panic)
        .tool(panic_in_drop)
        .tool(panic_in_display)
        .tool(fail)
        .tool(refuse)
        .tool(none)
        .tool(Tool::new("typed", typed))
        .tool(Tool::new("out", out).output_schema(OUT).title("Out").read_only(true))
        .tool(big)
        .tool(toggle)
        .tool(touch)
        .tool(contents)
        .resource(
            Resource::new("mem://a", "a", read)
                .mime_type("text/plain")
                .title("A")
                .annotations(Annotations::new().priority(0.5).last_modified("2026-01-01T00:00:00Z")),
        )
        .resource(Resource::new("mem://b", "b", read))
        .resource_template(ResourceTemplate::new("mem://item/{id}", "item", read))
        .prompt(Prompt::new("greet", greet).description("Greets").complete("name", names))
}
