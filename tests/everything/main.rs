//! The example `everything` as a process: each tool, resource, prompt and flag, over Streamable HTTP and over stdio.
//!
//! `peer` starts it and speaks to it. Whatever is waited for is an event; a time is only ever a guard. What the official
//! conformance suite calls is tested by that suite, in the part `conformance` of `tests/all`.

mod caller;
#[expect(dead_code, reason = "of tests/http, which needs more of it")]
#[path = "../http/client.rs"]
mod client;
mod command_line;
mod flags;
mod listens;
#[path = "../wire/metadata.rs"]
mod metadata;
mod peer;
#[expect(dead_code, reason = "of tests/process, which needs more of it")]
#[path = "../process/program.rs"]
mod program;
mod questions;
mod reads;
mod rounds;
#[expect(dead_code, reason = "of tests/http, which needs more of it")]
#[path = "../http/served.rs"]
mod served;
mod stateless;
mod stats;
mod tools;
