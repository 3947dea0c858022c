//! A tuple of an argument and an extractor.
use actix_mcp_router::{Progress, Tool, tool};

async fn plain(both: (u64, Progress)) -> u64 {
    both.0
}

#[tool(crate = "actix_mcp_router")]
async fn annotated(both: (u64, Progress)) -> u64 {
    both.0
}

fn main() {
    Tool::new("plain", plain);
}
