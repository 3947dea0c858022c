//! Tools that change what the server offers, and tell clients of it.

use std::time::Duration;

use actix_mcp::prelude::*;
use actix_web::rt::{task::yield_now, time::sleep};

async fn extra() -> &'static str {
    "ok"
}

/// Adds the tool `extra`, or removes it where it is there.
#[tool]
async fn toggle(
    /// How often; once by default.
    times: Option<u32>,
    /// How long to wait after each time, in milliseconds.
    ms: Option<u64>,
    handle: Handle,
) -> &'static str {
    for _ in 0..times.unwrap_or(1) {
        let extra = || Tool::new("extra", extra).description("Comes and goes.");
        // another call may add it between the two, and then it is this one's to remove
        while !handle.remove_tool("extra") && handle.add_tool(extra()).is_err() {}
        sleep(Duration::from_millis(ms.unwrap_or(0))).await;
    }
    "toggled"
}

/// Says that a resource has new contents.
#[tool]
async fn touch(
    uri: String,
    /// How often; once by default.
    count: Option<u32>,
    handle: Handle,
) -> &'static str {
    for n in 1..=count.unwrap_or(1) {
        handle.resource_updated(&uri);
        // announcing never waits: without this, a large count would keep this worker from all its other clients
        if n % 64 == 0 {
            yield_now().await;
        }
    }
    "touched"
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server.tool(toggle).tool(touch)
}
