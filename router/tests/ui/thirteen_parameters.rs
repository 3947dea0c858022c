//! One parameter more than a handler can have.
use actix_mcp_router::{Session as S, Tool, tool};

#[tool(crate = "actix_mcp_router")]
async fn annotated(_: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, thirteenth: u8) -> u8 {
    thirteenth
}

async fn plain(_: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S, _: S) {}

fn main() {
    Tool::new("plain", plain);
}
