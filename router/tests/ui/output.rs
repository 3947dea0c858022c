//! A user's result type that cannot be converted to a tool result.
use actix_mcp_router::{Tool, tool};

struct Sum(i64);

async fn plain() -> Sum {
    Sum(1)
}

#[tool(crate = "actix_mcp_router")]
async fn annotated() -> Sum {
    Sum(1)
}

fn main() {
    Tool::new("plain", plain);
}
