//! The example that asks, in either era, and by several processes that share a secret.

use std::io::Read;

use serde_json::{Value, json};

use crate::{
    program::{Program, example},
    served::{Served, over_http},
};

/// What the user fills in.
fn filled(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// An answer to whatever the example asks.
fn answer(message: &str) -> Value {
    filled(match message {
        "A table on Friday: for how many?" => json!({ "guests": 4 }),
        "Who are you?" => json!({ "name": "Ada" }),
        "What colour do you like?" => json!({ "colour": "red" }),
        table => {
            assert!(table.starts_with("Table ") && table.ends_with("Under which name?"), "{table}");
            json!({ "name": "Ada", "window": true })
        }
    })
}

fn call(program: &mut Program, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "progressToken": "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    program.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    loop {
        let next = program.next();
        if next["method"] != "notifications/progress" {
            return next["result"].clone();
        }
    }
}

/// The example over HTTP, with the secret that both have.
fn site() -> Served {
    let mut command = over_http("interview");
    command.env("INTERVIEW_SECRET", SECRET);
    Served::start(command)
}

/// The result of a call over HTTP.
fn call_over_http(site: &Served, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    let name = params["name"].as_str().expect("a name");
    let headers = format!(
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    );
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut response = String::new();
    site.send("POST", &headers, &body.to_string()).read_to_string(&mut response).expect("it answers");
    // the answer is one line, in either form
    let lines = response.lines().map(|line| line.trim_start_matches("data: "));
    let answer = lines.rev().find(|line| line.starts_with('{')).expect("an answer");
    serde_json::from_str::<Value>(answer).expect("JSON")["result"].take()
}

/// Talks to two processes in turn until there is a result; its text, and how many rounds it took.
fn talk(mut call: impl FnMut(usize, &Value) -> Value, mut params: Value) -> (String, usize) {
    for round in 1.. {
        let result = call(round % 2, &params);
        if result["resultType"] == "complete" {
            return (result["content"][0]["text"].as_str().expect("a text").to_owned(), round);
        }
        let asked = result["inputRequests"].as_object().expect("questions");
        let answers = asked
            .iter()
            .map(|(key, asked)| (key.clone(), answer(asked["params"]["message"].as_str().expect("a text"))));
        params["inputResponses"] = answers.collect();
        params["requestState"] = result["requestState"].clone();
    }
    unreachable!()
}

const SECRET: &str = "a secret of the test, of 32 bytes and more";

#[test]
fn several_processes_with_one_secret_serve_the_rounds_of_one_call_over_http() {
    let sites = [site(), site()];
    let book = json!({ "name": "book", "arguments": { "day": "Friday" } });
    let booked = |table: u32| format!("table {table} on Friday, by the window, for 4 of Ada");
    // so that the two do not count alike: what one reserved is not what the other would
    assert_eq!(talk(|_, params| call_over_http(&sites[0], params), book.clone()), (booked(1), 3));
    assert_eq!(talk(|nth, params| call_over_http(&sites[nth], params), book), (booked(2), 3));
    let badge = "a badge for Ada, in red".to_owned();
    let introduce = json!({ "name": "introduce", "arguments": {} });
    assert_eq!(talk(|nth, params| call_over_http(&sites[nth], params), introduce), (badge, 2));
}

#[test]
fn several_processes_with_one_secret_serve_the_rounds_of_one_call() {
    let start = || {
        let mut command = example("interview");
        command.env("INTERVIEW_SECRET", SECRET);
        Program::start(command)
    };
    let mut programs = [start(), start()];
    let book = json!({ "name": "book", "arguments": { "day": "Friday" } });
    let booked = |table: u32| format!("table {table} on Friday, by the window, for 4 of Ada");
    let alone = talk(|_, params| call(&mut programs[0], params), book.clone());
    assert_eq!(alone, (booked(1), 3));
    let mut by_turns = |nth: usize, params: &Value| call(&mut programs[nth], params);
    assert_eq!(talk(&mut by_turns, book.clone()), (booked(2), 3));
    let badge = "a badge for Ada, in red".to_owned();
    assert_eq!(talk(by_turns, json!({ "name": "introduce", "arguments": {} })), (badge, 2));
    // without the secret they do not take each other's
    let mut strangers = [Program::start(example("interview")), Program::start(example("interview"))];
    let mut params = book;
    let asked = call(&mut strangers[0], &params);
    params["requestState"] = asked["requestState"].clone();
    assert_eq!(call(&mut strangers[1], &params), Value::Null);
}

#[test]
fn in_a_session_the_same_tools_ask_while_they_run() {
    let mut program = Program::connect(example("interview"));
    for (tool, arguments, text) in [
        ("book", json!({ "day": "Friday" }), "table 1 on Friday, by the window, for 4 of Ada"),
        ("introduce", json!({}), "a badge for Ada, in red"),
    ] {
        program.call(1, tool, arguments);
        let (mut asked, mut progress) = (0, 0);
        let result = loop {
            let next = program.next();
            match next["method"].as_str() {
                Some("elicitation/create") => {
                    asked += 1;
                    let result = answer(next["params"]["message"].as_str().expect("a text"));
                    program.send(&json!({ "jsonrpc": "2.0", "id": next["id"], "result": result }));
                }
                Some(_) => progress += 1,
                None => break next["result"].clone(),
            }
        };
        assert_eq!(result["content"][0]["text"], text);
        assert_eq!((asked, progress), (2, if tool == "introduce" { 3 } else { 0 }));
    }
}
