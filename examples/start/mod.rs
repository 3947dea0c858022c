//! What all examples share: how they are told what to serve, and what they print when they do.

use std::net::SocketAddr;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}"#;

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

/// Says on standard error where the server is, and what to type to see that it answers.
pub(crate) fn print_url(addrs: &[SocketAddr]) {
    for addr in addrs {
        eprintln!("MCP at http://{addr}/mcp");
    }
    if let Some(addr) = addrs.first() {
        eprintln!("try: curl -i http://{addr}/mcp -H 'Content-Type: application/json' -d '{HELLO}'");
    }
}
