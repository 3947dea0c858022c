//! A parameter that could be an argument and an extractor.
use actix_mcp_router::{Call, FromCall, McpError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Tenant;

impl FromCall for Tenant {
    async fn from_call(_: &Call) -> Result<Self, McpError> {
        Ok(Self)
    }
}

#[tool(crate = "actix_mcp_router")]
async fn save(tenant: Tenant) {
    let _ = tenant;
}

fn main() {}
