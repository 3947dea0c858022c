//! What cannot be a tool, in words.
use actix_mcp_router::tool;

#[tool(crate = "actix_mcp_router")]
async fn generic<T>(a: T) {}

#[tool(crate = "actix_mcp_router")]
async fn takes_any(a: impl Into<String>) {}

#[tool(crate = "actix_mcp_router")]
async fn returns_some() -> impl ToString {
    1
}

#[tool(crate = "actix_mcp_router")]
async unsafe fn dangerous() {}

#[tool(crate = "actix_mcp_router")]
async extern "C" fn foreign() {}

#[tool(crate = "actix_mcp_router", readonly)]
async fn unknown_option() {}

#[tool(crate = "actix_mcp_router", name = "")]
async fn nameless() {}

#[tool(crate = "actix_mcp_router")]
struct NoFunction;

struct Calculator;

impl Calculator {
    #[tool(crate = "actix_mcp_router")]
    async fn method(&self) {}
}

fn main() {}
