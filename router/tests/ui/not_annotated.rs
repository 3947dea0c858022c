//! A function without `#[tool]` where a tool is wanted.
use actix_mcp_router::IntoTool;

fn register<M>(_: impl IntoTool<M>) {}

async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    register(add);
}
