//! Arguments that can be described but not read.
use actix_mcp_router::{Args, Tool};

#[derive(schemars::JsonSchema)]
struct Add {
    a: i64,
}

async fn add(args: Args<Add>) -> i64 {
    args.a
}

fn main() {
    Tool::new("add", add);
}
