//! Clients that do not read, or are gone: nothing hangs, nothing spins, nothing grows.

use std::{
    io::Write,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::json;

use crate::program::{Program, example, hello, lines_of, message, pause};

/// What a debug build of the example takes with nothing to do is about 10 MiB.
const LITTLE: u64 = 64 * 1024; // KiB

#[test]
fn a_client_that_has_closed_stdout_is_the_end() {
    for (name, tool, arguments) in [
        ("calculator", "add", json!({ "a": 1, "b": 2 })),
        ("feedback", "countdown", json!({ "from": 1000, "ms": 1 })),
    ] {
        let mut command = example(name);
        let (stdout, ours) = std::io::pipe().map(|(read, write)| (write, read)).expect("a pipe");
        command.stdout(stdout);
        let mut program = Program::start(command);
        program.send(&hello());
        // it is up; then nobody reads any more
        let mut ours = std::io::BufReader::new(ours);
        std::io::BufRead::read_line(&mut ours, &mut String::new()).expect("an answer");
        drop(ours);
        let stdin = program.stdin.take();
        if let Some(mut stdin) = stdin {
            let call = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 1 } });
            writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).ok();
            writeln!(
                stdin,
                "{}",
                json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call })
            )
            .ok();
            // its input stays open: it must not wait for the end of that
            program.ended().well();
        }
    }
}

#[test]
fn a_client_that_never_reads_costs_little_and_a_signal_still_ends_it() {
    let mut command = example("feedback");
    // the reading end stays open, unread
    let (unread, stdout) = std::io::pipe().expect("a pipe");
    command.stdout(stdout);
    let mut program = Program::start(command);
    let mut stdin = program.stdin.take().expect("stdin is piped");
    let written = Arc::new(AtomicUsize::new(0));
    let count = written.clone();
    let writer = thread::spawn(move || {
        // an answer says it again: 160 MB in all
        let name = "x".repeat(16 * 1024);
        let mut send = |message: serde_json::Value| writeln!(stdin, "{message}").is_ok();
        let mut open = send(hello());
        for id in 0..10_000 {
            let params = json!({ "name": "thanks", "arguments": { "name": name } });
            open = open
                && send(json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": params }));
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    // all is written, or it reads no more: nothing of what waits moves
    let (mut before, mut still) = (0, 0);
    while still < 100 && !writer.is_finished() {
        let now = written.load(Ordering::Relaxed);
        (before, still) = if now == before && now > 0 { (now, still + 1) } else { (now, 0) };
        pause();
    }
    let peak = program.peak_memory();
    assert!(peak < LITTLE, "{peak} KiB");
    program.signal("TERM");
    let ended = program.ended();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    writer.join().expect("the writer ends with the server");
    drop(unread);
}

#[test]
fn an_endless_line_takes_no_more_memory_than_the_limit_of_one() {
    let mut program = Program::connect(example("calculator"));
    program.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"a\":\"");
    assert_eq!(program.next()["id"], 1);
    let before = program.peak_memory();
    let chunk = vec![b'a'; 1024 * 1024];
    for _ in 0..200 {
        program.write(&chunk);
    }
    program.write(b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    assert_eq!(program.next()["error"]["code"], -32600);
    assert_eq!(program.next()["id"], 2);
    let after = program.peak_memory();
    // 16 MiB, and as much again while the buffer grows
    assert!(after - before < 48 * 1024, "{before} KiB before, {after} KiB after");
    program.stdin = None;
    assert!(program.ended().status.success());
}

#[test]
fn a_client_that_is_killed_takes_its_server_with_it() {
    // the client is two processes, one for each end: both are killed, as one would be
    let mut speaks =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat runs");
    let mut reads =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat runs");
    let mut command = example("feedback");
    command.stdin(speaks.stdout.take().expect("stdout is piped"));
    command.stdout(reads.stdin.take().expect("stdin is piped"));
    let program = Program::start(command);
    let seen = lines_of(reads.stdout.take().expect("stdout is piped"));
    let mut stdin = speaks.stdin.take().expect("stdin is piped");
    let call = json!({ "name": "countdown", "arguments": { "from": u32::MAX, "ms": 10 }, "_meta": { "progressToken": 1 } });
    writeln!(stdin, "{}", hello()).expect("cat reads");
    writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }))
        .expect("cat reads");
    for wanted in ["initialize", "progress"] {
        let line = seen.recv().expect("an answer");
        assert!(message(&line).to_string().contains(wanted), "{line}");
    }
    for client in [&mut speaks, &mut reads] {
        client.kill().expect("it runs");
        client.wait().expect("it was killed");
    }
    program.ended().well();
}

#[test]
fn a_client_on_sockets_that_is_killed_takes_its_server_with_it() {
    // some clients give sockets instead of pipes; one that dies with bytes unread resets them
    let (stdin, server_in) = UnixStream::pair().expect("sockets");
    let (stdout, server_out) = UnixStream::pair().expect("sockets");
    let mut command = example("calculator");
    command.stdin(OwnedFd::from(server_in)).stdout(OwnedFd::from(server_out));
    let program = Program::start(command);
    let mut input = stdin.try_clone().expect("a socket");
    // more than the sockets hold: the server is in the middle of a write
    let writer = thread::spawn(move || {
        let mut open = writeln!(input, "{}", hello()).is_ok();
        for id in 0..100_000 {
            open = open
                && writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).is_ok();
        }
    });
    let mut first = [0];
    std::io::Read::read_exact(&mut &stdout, &mut first).expect("an answer");
    drop(stdout);
    drop(stdin);
    let ended = program.ended();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    writer.join().expect("the writer ends with the server");
}
