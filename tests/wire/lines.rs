//! Lines as real clients and shells write them, and lines that are none: each costs only itself.

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, script},
};
use serde_json::{Value, json};

use crate::fixture::server;

/// The revisions with what stands for an id that could not be read.
const REVISIONS: [(&str, &str); 4] =
    [("2024-11-05", "null"), ("2025-03-26", "null"), ("2025-06-18", "null"), ("2025-11-25", "\"$absent\"")];

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

#[actix_web::test]
async fn a_line_that_is_no_message_costs_only_itself() {
    paused();
    for (revision, no_id) in REVISIONS {
        let text = r#"
        # What begins like JSON gets one parse error without an id of its own; what does not is passed over.
        > initialize REVISION
        > {not json
        < {"id":NO_ID,"error":{"code":-32700}}
        > hello
        > 2026-11-29T10:00:00Z INFO a program that logs into the pipe
        > "x"
        > 42
        > null
        > true
        > -
        > }
        < nothing
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":null}
        < {"id":2,"error":{"code":-32602,"message":"`name` is missing"}}
        > {"jsonrpc":"2.0","id":2,"method":"ping","params":[]}
        < {"id":2,"error":{"code":-32602,"message":"`params` is not an object"}}
        > {"jsonrpc":"2.0","id":2,"method":"ping"
        < {"id":NO_ID,"error":{"code":-32700}}
        > {"jsonrpc":"2.0","id":2,"method":"ping"}}
        < {"id":NO_ID,"error":{"code":-32700}}
        > {}
        < {"id":NO_ID,"error":{"code":-32600}}
        > {"jsonrpc":"1.0","id":2,"method":"ping"}
        < {"id":2,"error":{"code":-32600,"message":"`jsonrpc` is not \"2.0\""}}
        > {"id":2,"method":"ping"}
        < {"id":2,"error":{"code":-32600,"message":"`jsonrpc` is missing"}}
        > {"jsonrpc":"2.0","id":2,"method":7}
        < {"id":2,"error":{"code":-32600,"message":"`method` is not a string"}}
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        < {"id":3,"result":{}}
        < nothing
        "#;
        script(&server(), &text.replace("REVISION", revision).replace("NO_ID", no_id)).await;
    }
}

#[actix_web::test]
async fn what_looks_like_an_answer_or_a_notification_is_never_answered() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-11-25
        > {"jsonrpc":"2.0","id":9,"result":{},"error":{"code":1,"message":"m"}}
        > {"jsonrpc":"2.0","id":9,"result":{}}
        > {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}
        > {"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}
        > {"jsonrpc":"1.0","method":"notifications/cancelled"}
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":7}
        > {"jsonrpc":"2.0","method":"notifications/made_up","params":{}}
        > {"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}
        < nothing
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        < {"id":3,"result":{}}
        "#,
    )
    .await;
}

#[actix_web::test]
async fn a_bad_line_before_the_handshake_does_not_end_the_server() {
    paused();
    script(
        &server(),
        r#"
        > {not json
        < {"id":"$absent","error":{"code":-32700}}
        > hello
        > [
        < {"id":"$absent","error":{"code":-32700}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"id":1,"error":{"code":-32602,"message":"the session is not open: send `initialize` first, or name a version in `_meta.io.modelcontextprotocol/protocolVersion`"}}
        > initialize 2025-11-25
        > ping {"id":2}
        < {"id":2,"result":{}}
        "#,
    )
    .await;
}

#[actix_web::test]
async fn a_bom_carriage_returns_blank_lines_and_padding_are_read_over() {
    paused();
    let mut pipe = Pipe::open(&server());
    pipe.write(format!("\u{feff}{INITIALIZE}\r\n\r\n   \n\n\r\n").as_bytes()).await;
    pipe.write(b"\t{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}  \r\n").await;
    let first = pipe.next_line().await.unwrap();
    assert!(first.starts_with(r#"{"jsonrpc":"2.0","id":1,"result""#), "{first}");
    // exact: no CR comes back
    assert_eq!(pipe.next_line().await.unwrap(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    // a BOM at the start of a later line, as concatenated files have it
    pipe.write("\u{feff} {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\r\n".as_bytes()).await;
    assert_eq!(pipe.next_line().await.unwrap(), r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    pipe.silence().await;
}

#[actix_web::test]
async fn the_last_line_needs_no_end() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.write(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    assert_eq!(rest, [json!({ "jsonrpc": "2.0", "id": 2, "result": {} })]);
}

#[actix_web::test]
async fn a_last_line_that_was_cut_off_is_one_parse_error_and_the_end() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.write(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"met")
        .await;
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    assert_eq!(rest[0], json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    assert_eq!(rest[1]["error"]["code"], -32700);
    assert_eq!(rest[1].get("id"), None);
    assert_eq!(rest.len(), 2, "{rest:?}");
}

#[actix_web::test]
async fn bytes_that_are_no_utf8_cost_only_their_line() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    let call =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"?"}}}"#;
    for bad in [&b"\xff\xfe"[..], b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"] {
        let (before, after) = call.split_once('?').unwrap();
        pipe.write(&[before.as_bytes(), bad, after.as_bytes(), b"\n"].concat()).await;
        let error = pipe.next().await;
        assert_eq!(error["error"]["code"], -32700, "{error}");
        assert_eq!(error.get("id"), None, "{error}");
    }
    pipe.write(b"\xff\xfe logged by something\n").await;
    pipe.request(3, "ping", json!({})).await;
    assert_eq!(pipe.next().await, json!({ "jsonrpc": "2.0", "id": 3, "result": {} }));
}

#[actix_web::test]
async fn half_a_surrogate_pair_is_refused_where_it_stands() {
    paused();
    script(
        &server(),
        r#"
        > initialize 2025-11-25
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"}}}
        < {"id":2,"result":{"isError":true}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"\udc00"}}
        < {"id":2,"error":{"code":-32602}}
        > {"jsonrpc":"2.0","id":2,"method":"\ud800"}
        < {"id":2,"error":{"code":-32600}}
        > {"jsonrpc":"2.0","id":"\ud800","method":"ping"}
        < {"id":"$absent","error":{"code":-32600}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud83d\ude00"}}}
        < {"id":2,"result":{"content":[{"text":"😀"}]}}
        "#,
    )
    .await;
}

/// Everything that some reader takes for the end of a line.
const BREAKS: &str = "a\u{2028}b\u{2029}c\u{85}d\r\n\re\u{b}\u{c}\u{1c}\u{1e}";

async fn lossy() -> String {
    String::from_utf8_lossy(b"\xff\xfe\xc3 a\r\n").into_owned()
}

async fn broken(progress: Progress, log: Log, client: Client) -> Result<String, String> {
    progress.report(1).message(BREAKS).await.ok();
    log.named(BREAKS).warning(BREAKS);
    client.elicit_url(BREAKS, "https://example.com/").await.map_err(|err| err.to_string())?;
    Err(BREAKS.to_owned())
}

async fn quoted() -> Result<ToolResult, serde_json::Error> {
    let raw = serde_json::value::RawValue::from_string("{\n\"v\":\r\n\"x\u{2028}y\"}".to_owned())?;
    ToolResult::new().meta(BREAKS, BREAKS).structured(&raw)
}

async fn read(Uri(uri): Uri) -> String {
    format!("{uri}{BREAKS}")
}

#[actix_web::test]
async fn whatever_a_message_says_it_is_one_line_of_utf8() {
    paused();
    let server = Server::builder(BREAKS, "1")
        .instructions(BREAKS)
        .tool(
            Tool::new("broken", broken)
                .description(BREAKS)
                .input_schema("{\n\"type\":\r\n\"object\",\"description\":\"\u{2028}\u{85}\"}"),
        )
        .tool(Tool::new("lossy", lossy))
        .tool(Tool::new("quoted", quoted))
        .resource(Resource::new("mem://broken", BREAKS, read))
        .build();
    let mut pipe = Pipe::open(&server);
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": { "url": {} } }, "clientInfo": client });
    pipe.request(BREAKS, "initialize", params).await;
    pipe.notify("notifications/initialized", json!({})).await;
    let mut lines = vec![pipe.next_line().await.unwrap()];
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "mem://broken" })),
        ("resources/read", json!({ "uri": BREAKS })),
        ("tools/call", json!({ "name": BREAKS })),
        ("tools/call", json!({ "name": "lossy" })),
        ("tools/call", json!({ "name": "quoted" })),
        (BREAKS, json!({})),
    ] {
        pipe.request(BREAKS, method, params).await;
        lines.push(pipe.next_line().await.unwrap());
    }
    pipe.call_with_progress(1, "broken", json!({}), BREAKS).await;
    for _ in 0..3 {
        lines.push(pipe.next_line().await.unwrap());
    }
    let question: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    pipe.answer(&question["id"], json!({ "action": "accept" })).await;
    lines.push(pipe.next_line().await.unwrap());
    pipe.silence().await;
    let breaks = ['\u{2028}', '\u{2029}', '\u{85}', '\r', '\n', '\u{b}', '\u{c}', '\u{1c}', '\u{1e}'];
    for line in &lines {
        assert!(!line.contains(breaks), "{line:?}");
    }
    // nothing was lost by it
    let value = |nth: usize| serde_json::from_str::<Value>(&lines[nth]).unwrap();
    assert_eq!(value(0)["id"], BREAKS);
    assert_eq!(value(0)["result"]["instructions"], BREAKS);
    assert_eq!(value(1)["result"]["tools"][0]["inputSchema"]["description"], "\u{2028}\u{85}");
    assert_eq!(value(2)["result"]["resources"][0]["name"], BREAKS);
    assert_eq!(value(3)["result"]["contents"][0]["text"], format!("mem://broken{BREAKS}"));
    assert_eq!(value(6)["result"]["content"][0]["text"], "\u{fffd}\u{fffd}\u{fffd} a\r\n");
    assert_eq!(value(7)["result"]["structuredContent"]["v"], "x\u{2028}y");
    assert_eq!(value(9)["params"]["message"], BREAKS);
    assert_eq!(value(9)["params"]["progressToken"], BREAKS);
    assert_eq!(value(10)["params"]["data"], BREAKS);
    assert_eq!(value(11)["params"]["message"], BREAKS);
    assert_eq!(value(12)["result"]["content"][0]["text"], BREAKS);
}
