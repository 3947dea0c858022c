//! A shop that talks to its client during a call: progress, cancellation, a form for the user, a question to the model.
//!
//! Run it: `cargo run --example feedback` serves HTTP on 127.0.0.1:8080 and prints commands to try; `-- --http
//! ADDR:PORT` serves another address. With `-- --stdio` it serves stdin and stdout, so any MCP client can start it.
//!
//! Try:
//! - `countdown` with a progress token, and cancel it halfway: with `RUST_LOG=info` it logs to stderr how far it got
//! - `confirm_order`, and decline, or close the form, or order nothing
//! - `summarize` from a client without sampling: the result says what the client cannot do
//! - `restock` while a client is subscribed to `shop://stock`: the second command that it prints subscribes

mod start;

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use actix_mcp::{QuestionError, prelude::*, question::SamplingRequest};
use schemars::JsonSchema;
use serde::Deserialize;

/// The number of items left, shared by the whole process.
struct Stock(AtomicU32);

/// Counts down and reports each step.
#[tool]
async fn countdown(
    /// Where to start.
    from: u32,
    /// Milliseconds between steps.
    ms: u64,
    progress: Progress,
    cancelled: Cancelled,
) -> String {
    for step in 1..=from {
        let left = from - step;
        // waits if the client reads slowly; costs nothing if the client did not ask for progress
        progress.report(step).total(from).message(format!("{left} to go")).await.ok();
        tokio::select! {
            () = actix_web::rt::time::sleep(Duration::from_millis(ms)) => {}
            () = cancelled.wait() => {
                // the grace period is for cleaning up; the result of a cancelled call is discarded
                log::info!("stopped at {left}: {}", cancelled.reason().unwrap_or("no reason given"));
                return String::new();
            }
        }
    }
    "lift-off".to_owned()
}

/// The form for the user.
#[derive(Deserialize, JsonSchema)]
struct Order {
    /// How many
    #[schemars(range(min = 1, max = 99))]
    quantity: u32,
    /// A word for the recipient
    note: Option<String>,
}

/// Orders an item once the user has said how many.
#[tool]
async fn confirm_order(
    /// What to order.
    item: String,
    client: Client,
    log: Log,
    stock: web::Data<Stock>,
) -> Result<String, QuestionError> {
    let order: Order = match client.elicit(format!("How many of {item}?")).await {
        Ok(order) => order,
        Err(QuestionError::Declined) => return Ok("the user does not want it".to_owned()),
        Err(QuestionError::Cancelled) => return Ok("the user has not decided".to_owned()),
        Err(err) => return Err(err),
    };
    // in one step, since others may order at the same time
    let take = |left: u32| Some(left.saturating_sub(order.quantity));
    let before = stock.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or_default();
    log.info(format!("{} left", before.saturating_sub(order.quantity)));
    let note = order.note.map(|note| format!(", with the words: {note}")).unwrap_or_default();
    Ok(format!("ordered {} of {item}{note}", order.quantity))
}

/// Summarizes a text with the client's own model.
#[tool(read_only)]
async fn summarize(
    /// The text.
    text: String,
    client: Client,
) -> Result<String, String> {
    let request = SamplingRequest::text(format!("Summarize in one sentence:\n\n{text}")).max_tokens(100);
    let result = client.sample(request).await.map_err(|err| err.to_string())?;
    Ok(result.text())
}

/// Refills the stock and notifies the subscribers of `shop://stock`.
#[tool]
async fn restock(stock: web::Data<Stock>, handle: Handle) -> &'static str {
    stock.0.store(100, Ordering::Relaxed);
    handle.resource_updated("shop://stock");
    "restocked"
}

async fn read_stock(stock: web::Data<Stock>) -> String {
    format!("{} left", stock.0.load(Ordering::Relaxed))
}

#[derive(Deserialize, JsonSchema)]
struct Thanks {
    /// Whom to thank
    name: String,
}

async fn thank(Args(thanks): Args<Thanks>) -> String {
    format!("Write two lines of thanks to {}.", thanks.name)
}

/// The server, also used by the tests.
pub fn server() -> Server {
    Server::builder("feedback", "1.0.0")
        .instructions("A small shop. Ask the user before you order.")
        .data(Stock(AtomicU32::new(100)))
        .tool(countdown)
        .tool(confirm_order)
        .tool(summarize)
        .tool(restock)
        .resource(Resource::new("shop://stock", "stock", read_stock).mime_type("text/plain"))
        .prompt(Prompt::new("thanks", thank).description("A note of thanks"))
        .build()
}

/// Subscribes to `shop://stock` and to changes of all lists.
const LISTEN: &str = r#"-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: subscriptions/listen' -d '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["shop://stock"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'"#;

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    // logs go to standard error: standard output belongs to the protocol
    env_logger::init();
    let server = server();
    let Some(addr) = start::http_addr() else { return server.stdio().await };
    let http = actix_mcp::http_server(move || App::new().configure(server.mount("/mcp"))).bind(addr)?;
    start::print_url(&http.addrs(), r#"{"elicitation":{},"sampling":{}}"#, &[("or", LISTEN)]);
    http.run().await
}
