//! Arguments that can be read but not described.
use actix_mcp_router::{Args, Tool, tool};

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
}

async fn add(args: Args<Add>) -> i64 {
    args.a
}

#[tool(crate = "actix_mcp_router")]
async fn annotated(Args(add): Args<Add>) -> i64 {
    add.a
}

fn main() {
    Tool::new("add", add);
}
