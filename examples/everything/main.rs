//! Every kind of tool, resource and prompt, over Streamable HTTP or stdio: the server for test suites, clients and
//! benchmarks.
//!
//! Shows how a larger server is put together: modules that each register a part, a command line that sets the server's
//! options, bearer tokens checked by the application's own middleware, and another route next to the endpoint.
//!
//! Run it: `cargo run --release --example everything`. It prints its URL and a curl command to try; `--help` lists the
//! flags.
//!
//! Try: open `http://127.0.0.1:8080/stats` while a client runs `slow` or `ask`.

mod args;
mod bearer;
mod changes;
mod conformance;
mod forms;
mod input_required;
mod prompts;
mod questions;
mod resources;
mod stateless;
mod stats;
mod tools;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use actix_mcp::prelude::*;
use actix_web::middleware::{Condition, from_fn};
use actix_web_lab::middleware::CatchPanic;

use args::{Args, Command, Transport};
use bearer::Tokens;

/// The arguments of the printed curl command.
const TRY: &str = r#"-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}'"#;

/// Registers everything. The tools of the conformance suite come first, and `test_simple_text` before all others.
fn server(odd_names: bool) -> ServerBuilder {
    let mut server = Server::builder("everything", env!("CARGO_PKG_VERSION"))
        .instructions("For tests: each tool shows one thing that a server can do.");
    server = conformance::offer(server);
    server = forms::offer(server);
    server = tools::offer(server);
    server = questions::offer(server);
    server = changes::offer(server);
    server = stateless::offer(server);
    server = input_required::offer(server);
    if odd_names {
        server = tools::offer_odd_names(server);
    }
    server = resources::offer(server);
    input_required::offer_prompt(prompts::offer(server))
}

/// Serves the endpoint `/mcp`, which requires a token if there are any, and `/stats`, which is public.
async fn serve_http(server: Server, address: &str, tokens: Tokens) -> io::Result<()> {
    let asks = !tokens.is_empty();
    let (tokens, stats) = (web::Data::new(tokens), web::Data::new(server.clone()));
    let http = actix_mcp::http_server(move || {
        App::new()
            .app_data(tokens.clone())
            .app_data(stats.clone())
            .route("/stats", web::get().to(stats::show))
            .configure(
                server.mount_with("/mcp", |scope| scope.wrap(Condition::new(asks, from_fn(bearer::check)))),
            )
            // the framework catches panics of MCP handlers; this catches those of the application's own routes
            .wrap(CatchPanic::default())
    })
    .bind(address)?;
    let mut stdout = io::stdout().lock();
    for address in http.addrs() {
        // serve even if stdout is closed
        writeln!(stdout, "http://{address}/mcp").ok();
        writeln!(stdout, "curl -i http://{address}/mcp {TRY}").ok();
    }
    drop(stdout);
    http.run().await
}

#[actix_web::main]
async fn main() -> io::Result<ExitCode> {
    // logs go to standard error: over stdio, standard output belongs to the protocol
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    let run = match Command::read(std::env::args().skip(1)) {
        Ok(Command::Run(args)) => args,
        Ok(Command::Help) => {
            io::stdout().write_all(args::USAGE.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(wrong) => {
            eprintln!("everything: {wrong}; --help lists the flags");
            return Ok(ExitCode::from(2));
        }
    };
    let Args { transport, odd_names, tokens, options } = *run;
    let server = match options.apply(server(odd_names)) {
        Ok(server) => server,
        Err(wrong) => {
            eprintln!("everything: {wrong}");
            return Ok(ExitCode::from(2));
        }
    };
    match transport {
        Transport::Http(address) => serve_http(server, &address, tokens).await?,
        Transport::Stdio => server.stdio().await?,
    }
    Ok(ExitCode::SUCCESS)
}
