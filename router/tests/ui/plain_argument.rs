//! An argument that is not an extractor, without `#[tool]`.
use actix_mcp_router::Tool;

async fn add(a: i64) -> i64 {
    a + 1
}

fn main() {
    Tool::new("add", add);
}
