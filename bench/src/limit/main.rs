//! The limit: the least that a server on actix-web can do for the same messages.
//!
//! It parses the same bodies, reads the same members and writes answers of the same size, and does nothing else: no
//! sessions, no checks, no handlers. No server on this stack can be faster; the benchmark shows how close we get.

mod http;
mod message;
mod stdio;

use std::{io, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    let args = std::env::args().skip(1).collect::<Vec<_>>();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--http", address] => http::serve(address)?,
        ["--stdio"] => stdio::serve()?,
        _ => {
            eprintln!("usage: limit --http ADDR:PORT | --stdio");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
