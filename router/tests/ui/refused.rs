//! Functions that cannot be tools, and the errors of the macro.
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

#[tool(crate = "actix_mcp_router")]
async fn with_default(#[serde(default)] a: i64) {}

#[tool(crate = "actix_mcp_router")]
async fn with_rule(#[schemars(length(min = 1))] a: String) {}

#[tool(crate = "actix_mcp_router")]
#[doc = 7]
async fn documented_by_a_number() {}

struct Calculator;

impl Calculator {
    #[tool(crate = "actix_mcp_router")]
    async fn method(&self) {}

    #[tool(crate = "actix_mcp_router")]
    async fn constructor() -> Self {
        Self
    }
}

fn main() {}
