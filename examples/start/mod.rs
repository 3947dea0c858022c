//! Shared by all examples: reading the command line, and printing commands to try.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
};

/// The address to serve HTTP on: 127.0.0.1:8080, or the value of `--http`; `None` with `--stdio`.
///
/// Any other argument ends the program.
pub(crate) fn http_addr() -> Option<String> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Some("127.0.0.1:8080".to_owned()),
        ["--http", addr] => Some(addr.to_owned()),
        ["--stdio"] => None,
        _ => {
            eprintln!("usage: [--stdio | --http ADDR:PORT]");
            std::process::exit(2)
        }
    }
}

/// Prints to stderr the server's URLs and a curl command that opens a session with these client capabilities, then
/// `more` curl commands: for each, the text before it and its last arguments.
pub(crate) fn print_url(addrs: &[SocketAddr], capabilities: &str, more: &[(&str, &str)]) {
    // serve even if stderr is closed
    let mut stderr = io::stderr();
    for addr in addrs {
        writeln!(stderr, "MCP at http://{addr}/mcp").ok();
    }
    let Some(addr) = addrs.first() else { return };
    let hello = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"curl","version":"1"}}}}}}"#
    );
    writeln!(stderr, "try: curl -i http://{addr}/mcp -H 'Content-Type: application/json' -d '{hello}'").ok();
    for (before, words) in more {
        writeln!(stderr, "{before}: curl http://{addr}/mcp -H 'Content-Type: application/json' {words}").ok();
    }
}
