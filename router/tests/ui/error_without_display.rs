//! An error without `Display`.
use actix_mcp_router::{Tool, tool};

struct MyError;

async fn plain() -> Result<String, MyError> {
    Err(MyError)
}

#[tool(crate = "actix_mcp_router")]
async fn annotated() -> Result<String, MyError> {
    Err(MyError)
}

fn main() {
    Tool::new("plain", plain);
}
