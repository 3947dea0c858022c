//! Errors in the function, or in a call of it, point at the user's code.
use actix_mcp_router::tool;

#[tool(crate = "actix_mcp_router")]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tool(crate = "actix_mcp_router")]
async fn wrong(a: i64) -> String {
    a
}

async fn call() -> i64 {
    add(1, "2").await
}

fn main() {}
