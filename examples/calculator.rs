//! The smallest server: two tools, over HTTP or standard input and output.
//!
//! Shows how a function becomes a tool, and how a failed call tells the model why.
//!
//! Run it: `cargo run --example calculator` serves HTTP on 127.0.0.1:8080 and prints a command to try; `-- --http
//! ADDR:PORT` serves another address. With `-- --stdio` it serves stdin and stdout, so any MCP client can start it.
//!
//! Try: call `add` with a text for `b`, or `divide` by zero. The model can read both errors and correct its call.

mod start;

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
    let server = Server::builder("calculator", "1.0.0").tool(add).tool(divide).build();
    let Some(addr) = start::http_addr() else { return server.stdio().await };
    let http = actix_mcp::http_server(move || App::new().configure(server.mount("/mcp"))).bind(addr)?;
    start::print_url(&http.addrs(), "{}", &[]);
    http.run().await
}
