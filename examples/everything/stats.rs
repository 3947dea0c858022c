//! `GET /stats`: what runs at this moment.

use actix_mcp::{prelude::*, stats::Snapshot};
use serde::Serialize;

/// The counters of the server, as JSON.
#[derive(Serialize)]
pub(crate) struct Stats {
    #[serde(flatten)]
    now: Snapshot,
    calls: u64,
}

pub(crate) async fn show(server: web::Data<Server>) -> web::Json<Stats> {
    web::Json(Stats { now: server.stats(), calls: server.calls() })
}
