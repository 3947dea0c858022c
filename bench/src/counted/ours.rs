//! Ours: the tools of the example `everything` that the loads call.

use std::io::{self, Write};

use actix_mcp::prelude::*;
use actix_web::rt::System;

/// Returns the text.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Reports progress from 1 to n.
#[tool]
async fn progress(n: u32, text: String, progress: Progress) -> &'static str {
    for step in 1..=n {
        // a report is refused only if progress does not increase
        progress.report(step).total(n).message(&text).await.ok();
    }
    "done"
}

fn server() -> Server {
    Server::builder("counted", "0").tool(echo).tool(progress).build()
}

/// Serves on one worker, and prints its URL.
pub(crate) fn serve(address: &str) -> io::Result<()> {
    System::new().block_on(async {
        let server = server();
        let http = actix_mcp::http_server(move || App::new().configure(server.mount("/mcp"))).workers(1);
        let http = http.bind(address)?;
        for address in http.addrs() {
            writeln!(io::stdout(), "http://{address}/mcp")?;
        }
        http.run().await
    })
}

/// Serves over standard input and output.
pub(crate) fn serve_stdio() -> io::Result<()> {
    System::new().block_on(server().stdio())
}
