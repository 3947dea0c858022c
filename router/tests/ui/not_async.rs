//! A function that is not async.
use actix_mcp_router::{Session, Tool, tool};

#[tool(crate = "actix_mcp_router")]
fn annotated(a: i64) -> i64 {
    a
}

fn plain(_: Session) -> i64 {
    1
}

fn main() {
    Tool::new("plain", plain);
}
