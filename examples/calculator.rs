//! The smallest server: two tools, over standard input and output.
//!
//! Shows how a function becomes a tool, and how one that fails tells the model why.
//!
//! Run it: `cargo run --example calculator`. It waits for a client; any MCP client can start it.
//!
//! Try: call `add` with a text for `b`, or `divide` by zero: both are answers that a model can read and mend.

use actix_mcp::prelude::*;

/// Adds two integers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> Result<i64, &'static str> {
    a.checked_add(b).ok_or("the sum is too large")
}

/// Divides one number by another.
#[tool(read_only)]
async fn divide(
    /// The dividend.
    a: f64,
    /// The divisor; not zero.
    b: f64,
) -> Result<f64, &'static str> {
    if b == 0.0 { Err("cannot divide by zero") } else { Ok(a / b) }
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    // logs go to standard error: standard output belongs to the protocol
    env_logger::init();
    Server::new("calculator", "1.0.0").tool(add).tool(divide).stdio().await
}
