//! The `Json` of actix-web instead of the library's own.
use actix_mcp_router::{Tool, tool};
use actix_web::web;

async fn plain() -> web::Json<Vec<u8>> {
    web::Json(vec![1])
}

#[tool(crate = "actix_mcp_router")]
async fn annotated() -> web::Json<Vec<u8>> {
    web::Json(vec![1])
}

fn main() {
    Tool::new("plain", plain);
}
