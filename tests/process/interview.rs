//! The example that asks, in either era, and by several processes that share a secret.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Child,
};

use serde_json::{Value, json};

use crate::program::{PATIENCE, Program, example, example_with, lines_of};

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

/// The example over HTTP, with the secret that both have; killed when it is dropped.
struct Site {
    process: Child,
    addr: String,
}

impl Site {
    fn start() -> Self {
        let mut command = example_with("interview", &["--http", "127.0.0.1:0"]);
        let mut process = command.env("INTERVIEW_SECRET", SECRET).spawn().expect("the example starts");
        let stderr = lines_of(process.stderr.take().expect("stderr is piped"));
        let url = stderr.recv_timeout(PATIENCE).expect("it prints its URL");
        Self { process, addr: url.trim_start_matches("MCP at http://").trim_end_matches("/mcp").to_owned() }
    }

    /// The result of a call, on a connection of its own.
    fn call(&self, params: &Value) -> Value {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let name = params["name"].as_str().expect("a name");
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut connection = TcpStream::connect(&self.addr).expect("it listens");
        connection.set_read_timeout(Some(PATIENCE)).expect("a socket");
        write!(
            connection,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n\r\n{body}",
            self.addr,
            body.len()
        )
        .expect("it reads");
        let mut response = String::new();
        connection.read_to_string(&mut response).expect("it answers");
        // the answer is one line, in either form
        let lines = response.lines().map(|line| line.trim_start_matches("data: "));
        let answer = lines.rev().find(|line| line.starts_with('{')).expect("an answer");
        serde_json::from_str::<Value>(answer).expect("JSON")["result"].take()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // it may have ended by itself
        drop(self.process.kill());
        drop(self.process.wait());
    }
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
    let sites = [Site::start(), Site::start()];
    let book = json!({ "name": "book", "arguments": { "day": "Friday" } });
    let booked = |table: u32| format!("table {table} on Friday, by the window, for 4 of Ada");
    // so that the two do not count alike: what one reserved is not what the other would
    assert_eq!(talk(|_, params| sites[0].call(params), book.clone()), (booked(1), 3));
    assert_eq!(talk(|nth, params| sites[nth].call(params), book), (booked(2), 3));
    let badge = "a badge for Ada, in red".to_owned();
    let introduce = json!({ "name": "introduce", "arguments": {} });
    assert_eq!(talk(|nth, params| sites[nth].call(params), introduce), (badge, 2));
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
