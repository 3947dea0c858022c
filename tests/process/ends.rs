//! A server ends when its client closes stdin, when it is told to, and when its client has gone. Cases C20, C21 and C22.

use std::{
    fs::File,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::program::{Program, example, hello, message, with_hangup, without_hangup};

/// The drain time. That it is not much exceeded is measured on paused time, in `tests/wire`; here a machine may be busy.
const DRAIN: Duration = Duration::from_secs(5);

// C20
#[test]
fn without_a_client_it_ends_at_once() {
    for name in ["calculator", "feedback"] {
        let mut command = example(name);
        command.stdin(Stdio::null());
        assert!(Program::start(command).ended().well().is_empty());
    }
}

// C20
#[test]
fn at_the_end_of_its_input_it_ends() {
    let mut program = Program::connect(example("feedback"));
    // nothing of this is in flight
    program.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": { "uri": "shop://stock" } }));
    assert_eq!(program.next()["id"], 1);
    program.stdin = None;
    assert!(program.ended().well().is_empty());
}

// C20
#[test]
fn at_the_end_of_its_input_it_ends_although_somebody_listens() {
    for handshake in [true, false] {
        let mut program = match handshake {
            true => Program::connect(example("feedback")),
            false => Program::start(example("feedback")),
        };
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "_meta": meta, "notifications": { "resourceSubscriptions": ["shop://stock"] } });
        program.send(
            &json!({ "jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params }),
        );
        assert_eq!(program.next()["method"], "notifications/subscriptions/acknowledged");
        let start = Instant::now();
        program.stdin = None;
        let rest = program.ended().well();
        assert!(start.elapsed() < DRAIN, "a listener is nothing to wait for");
        let last = message(rest.first().expect("a result"));
        assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!("l"), &json!("complete")));
    }
}

// C22
#[test]
fn at_the_end_of_its_input_it_answers_what_runs() {
    let mut program = Program::connect(example("feedback"));
    for id in 1..=20 {
        program.call(id, "countdown", json!({ "from": 1, "ms": 100 }));
    }
    program.stdin = None;
    let lines = program.ended().well();
    let answers = lines.iter().filter(|line| line.contains("lift-off")).count();
    assert_eq!(answers, 20, "{lines:?}");
}

#[test]
fn input_and_output_may_be_files() {
    let folder = std::env::temp_dir().join(format!("actix-mcp-process-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let (input, output) = (folder.join("in.jsonl"), folder.join("out.jsonl"));
    let calls = (1..=500).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":{id},"b":1}}}}}}"#));
    let lines: Vec<_> = [hello().to_string()].into_iter().chain(calls).collect();
    // the last line has no end
    std::fs::write(&input, lines.join("\n")).expect("a file");
    let mut command = example("calculator");
    command.stdin(File::open(&input).expect("a file")).stdout(File::create(&output).expect("a file"));
    Program::start(command).ended().well();
    let written = std::fs::read_to_string(&output).expect("a file");
    assert_eq!(written.lines().count(), 501);
    assert!(written.ends_with('\n'));
    std::fs::remove_dir_all(&folder).expect("a folder of ours");
}

// C21
#[test]
fn a_signal_ends_it_although_its_input_stays_open() {
    for name in ["TERM", "INT", "HUP"] {
        for handshake in [true, false] {
            let mut program = Program::start(with_hangup(example("calculator")));
            // an answer proves that it is up and listens to signals
            program.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
            assert_eq!(program.next()["id"], 1);
            if handshake {
                program.send(&hello());
                program.next();
            }
            let stdin = program.stdin.take();
            let start = Instant::now();
            program.signal(name);
            assert!(program.ended().well().is_empty());
            assert!(start.elapsed() < DRAIN, "nothing was in flight");
            drop(stdin);
        }
    }
}

#[test]
fn a_signal_lets_a_call_that_runs_end() {
    for name in ["TERM", "INT", "HUP"] {
        let mut program = Program::connect(with_hangup(example("feedback")));
        program.call(1, "countdown", json!({ "from": 1, "ms": 500 }));
        assert_eq!(program.next()["method"], "notifications/progress");
        let stdin = program.stdin.take();
        program.signal(name);
        let rest = program.ended().well();
        assert!(rest.len() == 1 && rest[0].contains("lift-off"), "{rest:?}");
        drop(stdin);
    }
}

/// Asserts that the endless call, and nothing else, was answered.
fn assert_stopped(rest: &[String]) {
    assert_eq!(rest.len(), 1, "{rest:?}");
    let answer = message(&rest[0]);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(77), &json!(-32603)), "{answer}");
}

// C22
#[test]
fn a_call_that_never_ends_is_cut_off_after_the_drain_time() {
    // side by side: each takes its five seconds
    let term = std::thread::spawn(|| {
        let mut program = Program::connect(example("feedback"));
        program.endless_call();
        let (start, stdin) = (Instant::now(), program.stdin.take());
        program.signal("TERM");
        assert_stopped(&program.ended().well());
        drop(stdin);
        start.elapsed()
    });
    let mut program = Program::connect(example("feedback"));
    program.endless_call();
    let start = Instant::now();
    program.stdin = None;
    assert_stopped(&program.ended().well());
    for took in [start.elapsed(), term.join().expect("the same with a signal")] {
        assert!(took >= DRAIN, "{took:?}");
    }
}

#[test]
fn a_second_signal_ends_it_at_once_and_says_so_by_its_status() {
    for (name, status) in [("TERM", 143), ("INT", 130)] {
        let mut program = Program::connect(example("feedback"));
        program.endless_call();
        let (start, stdin) = (Instant::now(), program.stdin.take());
        // two at once may be one
        while program.process.try_wait().expect("it can be waited for").is_none() {
            program.signal(name);
            assert!(start.elapsed() < DRAIN, "it waits for the call");
        }
        assert_eq!(program.process.wait().expect("it has ended").code(), Some(status));
        drop(stdin);
    }
}

#[test]
fn a_second_signal_ends_it_at_once_after_its_input_has_ended_too() {
    let mut program = Program::connect(example("feedback"));
    program.endless_call();
    program.call(1, "confirm_order", json!({ "item": "tea" }));
    assert_eq!(program.next()["method"], "elicitation/create");
    let start = Instant::now();
    program.stdin = None;
    assert_eq!(program.next()["id"], 1, "whoever cannot be answered any more shows that the end was seen");
    // two at once may be one
    while program.process.try_wait().expect("it can be waited for").is_none() {
        program.signal("TERM");
        assert!(start.elapsed() < DRAIN, "it waits for the call");
    }
    assert_eq!(program.process.wait().expect("it has ended").code(), Some(143));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_was_ignored_from_the_start_stays_ignored() {
    let mut program = Program::start(without_hangup(example("calculator")));
    for id in 1..=3 {
        program.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        assert_eq!(program.next()["id"], id);
        program.signal("HUP");
    }
    program.stdin = None;
    assert!(program.ended().well().is_empty());
}
