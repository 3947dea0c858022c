//! A parameter that is neither an argument nor an extractor.
use actix_mcp_router::tool;

struct Db;

#[tool(crate = "actix_mcp_router")]
async fn save(id: u64, db: Db) -> u64 {
    let _ = db;
    id
}

fn main() {}
