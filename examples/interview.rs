//! A reception that asks before it acts: two questions in a row, two at once, and then work that reports its progress.
//!
//! The handlers are written once. Up to revision 2025-11-25 a question is sent to the client while the call runs. From
//! 2026-07-28 on the call ends with its questions, the client repeats it with the answers, and the handler runs again
//! from the start. So `book` reserves its table in a step (`once`) that runs only once at every revision.
//!
//! Run it: `cargo run --example interview` serves HTTP on 127.0.0.1:8080 and prints commands to try; `-- --http
//! ADDR:PORT` serves another address. With `-- --stdio` it serves stdin and stdout, so any MCP client can start it. If
//! `INTERVIEW_SECRET` is set, that secret seals the state of a call between its questions, and any process with the
//! same secret can continue the call.
//!
//! Try:
//! - `book`, and decline the second question: nothing is booked (a reserved number is not used again)
//! - `introduce`: both questions arrive at once, if the client shows them that way
//! - `introduce` from a client that does not support forms: the error names the missing capability
//! - with a secret: ask one process, stop it, and send the answers to another
//!
//! At revision 2026-07-28 the result of a call that asks has its questions, each under a key, and a `requestState`:
//!
//! ```sh
//! STATE=$(curl -s http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: introduce' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"introduce","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}' | tee /dev/stderr | sed 's/.*"requestState":"\([^"]*\)".*/\1/')
//! ```
//!
//! ```json
//! {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","_meta":{..},"inputRequests":{"name":{"method":"elicitation/create","params":{"message":"Who are you?","requestedSchema":{..}}},"colour":{..}},"requestState":".."}}
//! ```
//!
//! The client repeats the request with the same headers and arguments, the unchanged `requestState`, and an answer
//! under each key (`{"action":"decline"}` or `{"action":"cancel"}` if the user does not want to answer):
//!
//! ```sh
//! curl -s http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: introduce' -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"introduce","requestState":"'$STATE'","inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}},"colour":{"action":"accept","content":{"colour":"red"}}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}'
//! ```
//!
//! ```json
//! {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{..},"content":[{"type":"text","text":"a badge for Ada, in red"}]}}
//! ```

mod start;

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use actix_mcp::{QuestionError, client::ClientCapability, prelude::*};
use futures_util::future::try_join;
use schemars::JsonSchema;
use serde::Deserialize;

/// The number of the last reserved table, shared by the whole process.
#[derive(Default)]
struct Tables(AtomicU32);

#[derive(Deserialize, JsonSchema)]
struct Party {
    /// Number of guests
    #[schemars(range(min = 1, max = 12))]
    guests: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Choice {
    /// Name for the booking
    name: String,
    /// Table by the window
    #[serde(default)]
    window: bool,
}

/// Books a table: asks for the number of guests, reserves a table, and asks for a name.
#[tool]
async fn book(
    /// The day.
    day: String,
    client: Client,
    tables: web::Data<Tables>,
) -> Result<String, QuestionError> {
    let party: Party = client.elicit(format!("A table on {day}: for how many?")).await?;
    // the handler may run through here again, but the table is reserved only the first time
    let reserve = async || Ok::<_, QuestionError>(tables.0.fetch_add(1, Ordering::Relaxed) + 1);
    let table = client.once("reserve", reserve).await?;
    let question = format!("Table {table} is free for {}. Under which name?", party.guests);
    match client.elicit::<Choice>(question).await {
        Ok(choice) => {
            let place = if choice.window { "by the window" } else { "inside" };
            Ok(format!("table {table} on {day}, {place}, for {} of {}", party.guests, choice.name))
        }
        Err(QuestionError::Declined | QuestionError::Cancelled) => Ok(format!("table {table} stays free")),
        Err(error) => Err(error),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Your name
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Taste {
    /// A colour you like
    colour: String,
}

/// Asks for a name and a colour at once, then paints a badge, letter by letter.
#[tool]
async fn introduce(client: Client, progress: Progress) -> Result<String, McpError> {
    client.require(ClientCapability::ElicitationForm)?;
    let answers = try_join(
        client.elicit::<Name>("Who are you?").key("name"),
        client.elicit::<Taste>("What colour do you like?").key("colour"),
    );
    // a question that fails is a result of the tool, not a protocol error
    let (Name { name }, Taste { colour }) = match answers.await {
        Ok(answers) => answers,
        Err(error) => return Ok(format!("no badge: {error}")),
    };
    let letters = name.chars().count();
    for painted in 1..=letters {
        progress.report(painted).total(letters).await.ok();
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(format!("a badge for {name}, in {colour}"))
}

/// The server, also used by the tests.
pub fn server() -> Server {
    let server = Server::builder("interview", "1.0.0")
        .instructions("A reception. It asks before it acts.")
        .data(Tables::default())
        .tool(book)
        .tool(introduce);
    match std::env::var("INTERVIEW_SECRET") {
        Ok(secret) => server.state_keys([secret]).build(),
        Err(_) => server.build(),
    }
}

/// A call whose result has two questions and a `requestState`.
const ASK: &str = r#"-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: introduce' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"introduce","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}'"#;

/// Repeats the call with answers; replace `STATE` with that `requestState`.
const ANSWER: &str = r#"-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: introduce' -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"introduce","requestState":"STATE","inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}},"colour":{"action":"accept","content":{"colour":"red"}}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}'"#;

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    // logs go to standard error: standard output belongs to the protocol
    env_logger::init();
    let server = server();
    let Some(addr) = start::http_addr() else { return server.stdio().await };
    let http = actix_mcp::http_server(move || App::new().configure(server.mount("/mcp"))).bind(addr)?;
    start::print_url(
        &http.addrs(),
        r#"{"elicitation":{}}"#,
        &[("or", ASK), ("then, with its requestState for STATE", ANSWER)],
    );
    http.run().await
}
