//! Tools as an author writes them, called as dispatch calls them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{cell::RefCell, sync::Arc};

use actix_mcp_router::{
    Call, IntoTool, McpError, Tool, ToolResult,
    internal::{CallContext, DataMap},
};
use serde_json::{Value, json};

mod annotated;
mod arguments;
mod dialects;
mod empty;
mod extractors;
mod headers;
mod results;
mod schemas;
mod whole;

/// A call of no session with these arguments.
fn call(arguments: &str) -> Call {
    call_from(CallContext::detached(), DataMap::default(), arguments)
}

fn call_from(context: CallContext, data: DataMap, arguments: &str) -> Call {
    context.into_call(Arc::new(data), "the-tool".into(), Some(arguments.into()), None, None)
}

async fn run<M>(tool: impl IntoTool<M>, arguments: &str) -> Result<ToolResult, McpError> {
    Arc::new(checked(tool)).call(call(arguments)).await
}

fn checked<M>(tool: impl IntoTool<M>) -> Tool {
    let tool = tool.into_tool();
    tool.check().unwrap();
    tool
}

/// The result as clients of the newest revision see it.
async fn result<M>(tool: impl IntoTool<M>, arguments: &str) -> Value {
    serde_json::to_value(run(tool, arguments).await.unwrap()).unwrap()
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// The schema of a tool's arguments, as it is listed.
fn input<M>(tool: impl IntoTool<M>) -> String {
    checked(tool).definition().input_schema.get().to_owned()
}

/// What was logged as an error on this thread while the future ran.
async fn errors_logged(work: impl Future) -> Vec<String> {
    logged(log::Level::Error, work).await
}

/// What was logged at this level on this thread while the future ran: tests share one process.
async fn logged(level: log::Level, work: impl Future) -> Vec<String> {
    thread_local!(static LINES: RefCell<Vec<(log::Level, String)>> = const { RefCell::new(Vec::new()) });
    struct Lines;
    impl log::Log for Lines {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &log::Record<'_>) {
            LINES.with_borrow_mut(|lines| lines.push((record.level(), record.args().to_string())));
        }
        fn flush(&self) {}
    }
    // fails in all tests but the first, where it is set already
    drop(log::set_logger(&Lines));
    log::set_max_level(log::LevelFilter::Warn);
    LINES.take();
    work.await;
    LINES.take().into_iter().filter(|(at, _)| *at == level).map(|(_, line)| line).collect()
}
