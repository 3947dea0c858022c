//! Parameters that borrow.
use actix_mcp_router::tool;

#[tool(crate = "actix_mcp_router")]
async fn text(a: &str) -> usize {
    a.len()
}

#[tool(crate = "actix_mcp_router")]
async fn maybe(a: Option<&str>) -> bool {
    a.is_none()
}

#[tool(crate = "actix_mcp_router")]
async fn list(a: &Vec<u8>) -> usize {
    a.len()
}

fn main() {}
