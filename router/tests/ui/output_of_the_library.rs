//! Results that need no derive, only a `Json` around them.
use actix_mcp_router::{Tool, tool};

async fn plain() -> Option<String> {
    None
}

#[tool(crate = "actix_mcp_router")]
async fn annotated() -> Vec<String> {
    Vec::new()
}

fn main() {
    Tool::new("plain", plain);
}
