//! The example that asks, in either era, and by several processes that share a secret.

use serde_json::{Value, json};

use crate::program::{Program, example};

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

/// Talks to these processes in turn until there is a result; its text, and how many rounds it took.
fn talk(programs: &mut [Program], mut params: Value) -> (String, usize) {
    for round in 1.. {
        let result = call(&mut programs[round % 2], &params);
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

#[test]
fn several_processes_with_one_secret_serve_the_rounds_of_one_call() {
    let start = || {
        let mut command = example("interview");
        command.env("INTERVIEW_SECRET", "a secret of the test");
        Program::start(command)
    };
    let mut programs = [start(), start()];
    let book = json!({ "name": "book", "arguments": { "day": "Friday" } });
    let booked = "table 1 on Friday, by the window, for 4 of Ada".to_owned();
    assert_eq!(talk(&mut programs, book.clone()), (booked, 3));
    let badge = "a badge for Ada, in red".to_owned();
    assert_eq!(talk(&mut programs, json!({ "name": "introduce", "arguments": {} })), (badge, 2));
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
