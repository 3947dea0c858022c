//! The limit and ours with a counting allocator, for `actix-mcp-bench --allocations`.
//!
//! A separate thread answers each byte that it reads from the meter's connection with the counts so far. It does not
//! allocate, and the server does not know about it.

#[path = "../limit/http.rs"]
mod http;
#[path = "../limit/message.rs"]
mod message;
mod ours;
#[path = "../limit/stdio.rs"]
mod stdio;

use std::{
    alloc::System,
    io::{self, Read, Write},
    net::TcpStream,
    process::ExitCode,
};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> io::Result<ExitCode> {
    let args = std::env::args().skip(1).collect::<Vec<_>>();
    let words = args.iter().map(String::as_str).collect::<Vec<_>>();
    let [program, meter, way @ ..] = &words[..] else { return usage() };
    let meter = match *meter {
        "none" => None,
        address => Some(TcpStream::connect(address)?),
    };
    if let Some(meter) = meter {
        std::thread::spawn(move || answer(meter));
    }
    match (*program, way) {
        ("limit", ["--http", address]) => http::serve(address)?,
        ("limit", ["--stdio"]) => stdio::serve()?,
        ("ours", ["--http", address]) => ours::serve(address)?,
        ("ours", ["--stdio"]) => ours::serve_stdio()?,
        _ => return usage(),
    }
    Ok(ExitCode::SUCCESS)
}

fn usage() -> io::Result<ExitCode> {
    eprintln!("usage: counted limit|ours none|METER-ADDR:PORT --http ADDR:PORT|--stdio");
    Ok(ExitCode::from(2))
}

/// Sends the number of allocations so far and their bytes, each time a byte arrives.
fn answer(mut meter: TcpStream) -> io::Result<()> {
    let mut ask = [0];
    loop {
        meter.read_exact(&mut ask)?;
        let stats = ALLOCATOR.stats();
        let counts = [stats.allocations + stats.reallocations, stats.bytes_allocated];
        for count in counts {
            meter.write_all(&(count as u64).to_be_bytes())?;
        }
    }
}
