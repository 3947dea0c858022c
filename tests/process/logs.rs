//! stdout belongs to the protocol; logs go to stderr, and say nothing that was entrusted to them.

use serde_json::json;

use crate::program::{Program, example, message};

/// What a client or its user says in confidence.
const SECRETS: [&str; 8] = [
    "secret-argument",
    "secret-token",
    "secret-note",
    "secret-sample",
    "secret-reason",
    "secret-extra",
    "secret-name",
    "secret-text",
];

/// Has every tool called, every question answered and many a mistake made; gives what came on stdout and stderr.
fn walk(level: &str) -> (Vec<String>, String) {
    let mut command = example("feedback");
    command.env("RUST_LOG", level);
    let mut program = Program::connect(command);
    let call = |id: u64, tool: &str, arguments: serde_json::Value| {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "secret-token", "secret": "secret-extra" } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    program.send(&call(1, "confirm_order", json!({ "item": "secret-argument" })));
    let question = program.next();
    assert_eq!(question["method"], "elicitation/create");
    let content = json!({ "quantity": 1, "note": "secret-note" });
    program.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": content } }));
    while program.next()["id"] != 1 {}
    program.send(&call(2, "summarize", json!({ "text": "secret-text" })));
    let question = program.next();
    let block = json!({ "type": "text", "text": "secret-sample" });
    program.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "role": "assistant", "model": "m", "content": block } }));
    while program.next()["id"] != 2 {}
    program.send(&call(3, "summarize", json!({ "text": "secret-text" })));
    let question = program.next();
    let error = json!({ "code": -1, "message": "secret-reason" });
    program.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    while program.next()["id"] != 3 {}
    for mistake in [
        call(4, "secret-name", json!({})),
        call(4, "countdown", json!({ "from": "secret-argument", "ms": 1 })),
        call(4, "countdown", json!({ "secret-name": 1 })),
        call(4, "countdown", json!("secret-argument")),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": "secret-argument" }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": { "uri": "mem://secret-argument" } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "prompts/get", "params": { "name": "secret-name" } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "prompts/get", "params": { "name": "thanks", "arguments": { "secret-name": 1 } } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "logging/setLevel", "params": { "level": "secret-argument" } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "made/up" }),
        json!({ "jsonrpc": "secret-argument", "id": 4, "method": "ping" }),
    ] {
        program.send(&mistake);
        program.next();
    }
    program.write(b"{\"jsonrpc\":\"2.0\",\"secret-name\":secret-argument\nsecret-argument\n{\"secret-name\":\"\xff\"}\n");
    program.next();
    program.next();
    program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": ["secret-argument"], "reason": "secret-reason" } }));
    program
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": "secret-reason" }));
    program.send(&json!({ "jsonrpc": "2.0", "id": 999, "result": { "x": "secret-argument" } }));
    program.send(&call(5, "countdown", json!({ "from": 2, "ms": 0 })));
    while program.next()["id"] != 5 {}
    program.stdin = None;
    let ended = program.ended();
    assert!(ended.status.success(), "{}", ended.stderr);
    (ended.rest, ended.stderr)
}

#[test]
fn at_the_loudest_stdout_has_messages_only() {
    // `Program::next` takes nothing else
    let (rest, stderr) = walk("trace");
    rest.iter().for_each(|line| drop(message(line)));
    assert!(stderr.contains("TRACE"), "the logs are on stderr: {stderr}");
}

#[test]
fn above_trace_logs_say_nothing_that_was_said_in_confidence() {
    let (_, stderr) = walk("debug");
    assert!(stderr.contains("DEBUG"), "there are logs: {stderr}");
    for secret in SECRETS {
        let told = stderr.lines().find(|line| line.contains(secret));
        assert_eq!(told, None);
    }
}

#[test]
fn a_program_that_logs_into_the_pipe_costs_few_lines_of_ours() {
    let mut command = example("calculator");
    command.env("RUST_LOG", "warn");
    let mut program = Program::connect(command);
    program.write("2026-11-29T10:00:00Z INFO not a message\n".repeat(1234).as_bytes());
    program.call(1, "add", json!({ "a": 1, "b": 2 }));
    assert_eq!(program.next()["id"], 1);
    program.stdin = None;
    let stderr = program.ended().stderr;
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{stderr}");
    for (line, count) in lines.iter().zip([1, 10, 100, 1000]) {
        assert!(line.contains("WARN") && line.ends_with(&format!("({count} so far)")), "{line}");
    }
}

#[test]
fn by_default_a_good_session_logs_nothing() {
    let mut program = Program::connect(example("calculator"));
    program.call(1, "add", json!({ "a": 1, "b": 2 }));
    program.next();
    program.stdin = None;
    assert_eq!(program.ended().stderr, "");
}
