//! A result of the author's own that says nothing of how it is shown.
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
