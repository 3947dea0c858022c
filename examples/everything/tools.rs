//! Tools that answer in many ways: an echo, late, in pieces, with an invalid result, or with a panic.

use std::time::Duration;

use actix_mcp::prelude::*;
use actix_web::rt::{spawn, task::yield_now, time::sleep};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A text that must never reach a client.
pub(crate) const SECRET: &str = "PANIC-SECRET-7731 at /secret/path";

/// Returns the text.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Waits, then returns the tag.
#[tool]
async fn slow(
    /// How long to wait, in milliseconds.
    ms: u64,
    tag: String,
    /// Continue even if the call is cancelled, as long as the server allows it.
    stubborn: Option<bool>,
    cancelled: Cancelled,
) -> String {
    tokio::select! {
        () = sleep(Duration::from_millis(ms)) => {}
        // the result of a cancelled call is discarded
        () = cancelled.wait(), if stubborn != Some(true) => {}
    }
    tag
}

/// Reports progress from 1 to n, or the given values.
#[tool]
async fn progress(
    n: Option<u32>,
    /// How long to wait after each report, in milliseconds.
    ms: Option<u64>,
    /// The message of each report.
    text: Option<String>,
    /// Report these numbers, in this order.
    values: Option<Vec<f64>>,
    progress: Progress,
) -> &'static str {
    let n = n.unwrap_or(0);
    // an iterator: n is the client's choice, and a list could fill the memory
    let values: Box<dyn Iterator<Item = f64>> = match values {
        Some(values) => Box::new(values.into_iter()),
        None => Box::new((1..=n).map(f64::from)),
    };
    for value in values {
        let mut report = progress.report(value).total(n);
        if let Some(text) = &text {
            report = report.message(text);
        }
        // progress must increase: a value that does not is refused, and the error ignored here
        report.await.ok();
        if let Some(ms) = ms.filter(|ms| *ms > 0) {
            sleep(Duration::from_millis(ms)).await;
        }
    }
    "done"
}

/// Answers at once, and reports progress after the answer.
#[tool]
async fn late(progress: Progress) -> &'static str {
    spawn(async move {
        sleep(Duration::from_millis(200)).await;
        progress.report(1).total(1).await.ok();
    });
    "returned"
}

/// Logs n times to the client.
#[tool]
async fn log(level: Level, n: Option<u32>, log: Log) -> &'static str {
    let log = log.named("fixture");
    for n in 1..=n.unwrap_or(1) {
        log.send(level, format!("log {n}"));
        // sending never waits: without this, a large n would block all other clients of this worker
        if n % 64 == 0 {
            yield_now().await;
        }
    }
    "logged"
}

/// Reports progress, then panics.
#[tool]
async fn panic(after: Option<u32>, progress: Progress) -> String {
    for step in 1..=after.unwrap_or(0) {
        progress.report(step).await.ok();
    }
    panic!("{SECRET}")
}

/// Takes no arguments.
#[tool]
async fn none() -> &'static str {
    "ok"
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Typed {
    n: u64,
    opt: Option<String>,
    #[serde(default)]
    any: Value,
}

async fn typed(Args(_): Args<Typed>) -> &'static str {
    "typed"
}

#[derive(Deserialize, JsonSchema)]
struct Out {
    /// The kind of result: `ok`, `missing`, `wrong` or `error`
    mode: Option<String>,
}

const OUT: &str = r#"{"type":"object","properties":{"v":{"type":"integer"}},"required":["v"]}"#;

async fn out(Args(Out { mode }): Args<Out>) -> Result<ToolResult, serde_json::Error> {
    Ok(match mode.as_deref() {
        Some("missing") => ToolResult::text("nothing structured"),
        Some("wrong") => ToolResult::new().structured(&json!({ "v": "x" }))?,
        Some("error") => ToolResult::error("failed"),
        _ => ToolResult::new().structured(&json!({ "v": 1 }))?,
    })
}

/// The limit of `big`: a failed allocation would end the process.
const BIG_MAX: usize = 256 * 1024 * 1024; // bytes

/// Answers with the letter x, this many times.
#[tool]
async fn big(bytes: usize) -> Result<String, String> {
    if bytes > BIG_MAX {
        return Err(format!("that is too much (the limit is {BIG_MAX} bytes)"));
    }
    Ok("x".repeat(bytes))
}

// Arguments that a proxy may route by, since clients repeat them in headers. A doc comment would appear in the schema.
#[derive(Deserialize, JsonSchema)]
struct Region {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
    #[schemars(extend("x-mcp-header" = "N"))]
    n: Option<i64>,
}

async fn region(Args(Region { region, n }): Args<Region>) -> String {
    let n = n.map_or("null".to_owned(), |n| n.to_string());
    format!("region={} n={n}", region.as_deref().unwrap_or("null"))
}

/// Accepts and ignores any arguments; a tool without `Args` would refuse them as unknown.
async fn odd(_: Args<Map<String, Value>>) -> &'static str {
    "odd"
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(echo)
        .tool(slow)
        .tool(progress)
        .tool(late)
        .tool(log)
        .tool(panic)
        .tool(none)
        .tool(Tool::new("typed", typed).description("Takes a number, perhaps a text, and anything."))
        .tool(
            Tool::new("out", out).description("Has an output schema, and may violate it.").output_schema(OUT),
        )
        .tool(big)
        .tool(Tool::new("region", region).description("Shows the arguments that headers repeat."))
}

/// Registers tools with names that a client must quote or encode in a header.
pub(crate) fn offer_odd_names(server: ServerBuilder) -> ServerBuilder {
    let tool = |name| Tool::new(name, odd).description("Has an unusual name.");
    server.tool(tool("tööl")).tool(tool("=?base64?abc?="))
}
