//! Tools that change the server's lists and resources, and notify clients.

use std::time::Duration;

use actix_mcp::prelude::*;
use actix_web::rt::{task::yield_now, time::sleep};

async fn extra() -> &'static str {
    "ok"
}

/// Adds the tool `extra`, or removes it if it is registered.
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
        // if another call adds it between the two steps, this call removes it
        while !handle.remove_tool("extra") && handle.add_tool(extra()).is_err() {}
        sleep(Duration::from_millis(ms.unwrap_or(0))).await;
    }
    "toggled"
}

/// Announces that a resource was updated.
#[tool]
async fn touch(
    uri: String,
    /// How often; once by default.
    count: Option<u32>,
    handle: Handle,
) -> &'static str {
    for n in 1..=count.unwrap_or(1) {
        handle.resource_updated(&uri);
        // announcing never waits: without this, a large count would block all other clients of this worker
        if n % 64 == 0 {
            yield_now().await;
        }
    }
    "touched"
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server.tool(toggle).tool(touch)
}
