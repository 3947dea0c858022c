//! Structured content that cannot be described.
use actix_mcp_router::{Json, Tool, tool};

#[derive(serde::Serialize)]
struct Sum(i64);

async fn plain() -> Json<Sum> {
    Json(Sum(1))
}

#[tool(crate = "actix_mcp_router")]
async fn annotated() -> Json<Sum> {
    Json(Sum(1))
}

fn main() {
    Tool::new("plain", plain);
}
