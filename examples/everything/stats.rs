//! `GET /stats`: counters of the running server.

use actix_mcp::{prelude::*, stats::Snapshot};
use serde::Serialize;

/// The counters of the server, as JSON.
#[derive(Serialize)]
pub(crate) struct Stats {
    sessions: usize,
    in_flight: usize,
    streams: usize,
    subscriptions: usize,
    calls: u64,
}

pub(crate) async fn show(server: web::Data<Server>) -> web::Json<Stats> {
    let Snapshot { sessions, in_flight, streams, subscriptions, listens, .. } = server.stats();
    let subscriptions = subscriptions + listens;
    web::Json(Stats { sessions, in_flight, streams, subscriptions, calls: server.calls() })
}
