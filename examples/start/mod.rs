//! What all examples share: how they are told what to serve, and what they print when they do.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
};

/// Where to serve HTTP: 127.0.0.1:8080, or what stands behind `--http`; `None` with `--stdio`.
///
/// Any other word ends the program.
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

/// Says on standard error where the server is, and what to type to open a session of a client with these capabilities; then
/// more lines of curl to try: what is said before each, and the words that end it.
pub(crate) fn print_url(addrs: &[SocketAddr], capabilities: &str, more: &[(&str, &str)]) {
    // nobody may be reading this: that is no reason not to serve
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
