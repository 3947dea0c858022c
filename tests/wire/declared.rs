//! `logging` is declared where a handler can log, and nowhere else: case C120.

use actix_mcp::{
    Call, Capability, FromCall, Log, McpError,
    extract::{CompletionRequest, HandlerSpec},
    prelude::*,
    testing::{Pipe, paused},
};
use serde_json::{Value, json};

const PROBE: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

async fn quiet() -> &'static str {
    "quiet"
}

async fn logs(log: Log) -> &'static str {
    log.info("heard");
    "logged"
}

async fn logs_perhaps(log: Option<Log>) -> &'static str {
    log.map_or("quiet", |_| "logged")
}

async fn values(_: CompletionRequest, log: Log) -> Vec<String> {
    log.info("heard");
    Vec::new()
}

/// An extractor of the author's that holds a log, and does not say so.
struct Audit(Log);

impl FromCall for Audit {
    async fn from_call(call: &Call) -> Result<Self, McpError> {
        Log::from_call(call).await.map(Self)
    }
}

async fn audits(Audit(log): Audit) -> &'static str {
    log.info("heard");
    "logged"
}

/// One that says that it does not log.
struct Silent;

impl FromCall for Silent {
    fn describe(_: &mut HandlerSpec) {}

    async fn from_call(_: &Call) -> Result<Self, McpError> {
        Ok(Self)
    }
}

/// One that says so, and logs all the same.
struct Liar(Log);

impl FromCall for Liar {
    fn describe(_: &mut HandlerSpec) {}

    async fn from_call(call: &Call) -> Result<Self, McpError> {
        Log::from_call(call).await.map(Self)
    }
}

fn bare() -> ServerBuilder {
    Server::builder("s", "1").tool(Tool::new("quiet", quiet))
}

/// Whether it is declared, in a session and without one, which must agree with what `logging/setLevel` is answered.
async fn declares(server: &Server) -> bool {
    let mut pipe = Pipe::open(server);
    let opened = pipe.initialize("2025-11-25", json!({})).await;
    let declared = opened["capabilities"].get("logging").is_some();
    pipe.request(1, "logging/setLevel", json!({ "level": "info" })).await;
    let set = pipe.answer_to(1).await;
    if declared {
        assert_eq!(set["result"], json!({}));
    } else {
        assert_eq!(set["error"]["code"], -32601);
    }
    let meta: Value = serde_json::from_str(PROBE).expect("JSON");
    pipe.request(2, "server/discover", json!({ "_meta": meta })).await;
    let found = pipe.answer_to(2).await["result"]["capabilities"].take();
    assert_eq!(found.get("logging").is_some(), declared, "{found}");
    declared
}

#[actix_web::test]
async fn logging_is_declared_where_a_handler_can_log() {
    paused();
    for (server, declared) in [
        (Server::builder("s", "1"), false),
        (bare(), false),
        (bare().tool(Tool::new("t", logs)), true),
        (bare().tool(Tool::new("t", logs_perhaps)), true),
        (bare().tool(Tool::new("t", async |_: (Client, Log)| "x")), true),
        (bare().prompt(Prompt::new("p", logs)), true),
        (bare().prompt(Prompt::new("p", quiet).optional_argument("a", "").complete("a", values)), true),
        (bare().prompt(Prompt::new("p", quiet)), false),
        (bare().resource(Resource::new("mem://a", "a", logs)), true),
        (bare().resource_template(ResourceTemplate::new("mem://{a}", "a", logs)), true),
        (
            bare().resource_template(ResourceTemplate::new("mem://{a}", "a", quiet).complete("a", values)),
            true,
        ),
        (bare().tool(Tool::new("t", audits)), true),
        (bare().tool(Tool::new("t", async |_: Silent| "x")), false),
        (
            bare()
                .tool(Tool::new("t", async |_: Client, _: Progress, _: Http, _: Session, _: Cancelled| "x")),
            false,
        ),
        (bare().declare(Capability::Logging), true),
    ] {
        let server = server.build();
        assert_eq!(declares(&server).await, declared, "{server:?}");
    }
}

#[actix_web::test]
async fn a_tool_that_logs_and_comes_later_is_declared_from_then_on() {
    paused();
    let server = bare().build();
    let mut early = Pipe::connect(&server, "2025-11-25").await;
    assert!(!declares(&server).await);
    server.handle().add_tool(Tool::new("t", logs)).expect("its name is free");
    assert!(declares(&server).await);
    // whoever came before has the method, too
    early.request(1, "logging/setLevel", json!({ "level": "info" })).await;
    assert_eq!(early.answer_to(1).await["result"], json!({}));
}

#[actix_web::test]
async fn what_is_not_declared_is_not_sent() {
    paused();
    for (server, heard) in [
        (bare().tool(Tool::new("t", audits)), 1),
        (bare().tool(Tool::new("t", async |Liar(log): Liar| log.info("x"))), 0),
        (bare().declare(Capability::Logging).tool(Tool::new("t", async |Liar(log): Liar| log.info("x"))), 1),
    ] {
        let mut pipe = Pipe::connect(&server.build(), "2025-11-25").await;
        pipe.call(1, "t", json!({})).await;
        let messages = pipe.until_silence().await;
        let logged = messages.iter().filter(|message| message["method"] == "notifications/message");
        assert_eq!(logged.count(), heard, "{messages:?}");
    }
}
