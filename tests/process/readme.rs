//! What the README shows is so: its server is short, and the lines it has you type are answered as it prints.
//! (That its code compiles is the doctest's to say.)

use std::io::Write as _;

use crate::{
    program::example,
    served::{Served, over_http},
};

const README: &str = include_str!("../../README.md");

/// The block that opens with `fence` and has `with` in it, without its fences.
fn block(fence: &str, with: &str) -> &'static str {
    README
        .split("\n```")
        .filter_map(|part| part.strip_prefix(fence))
        .find(|block| block.contains(with))
        .unwrap_or_else(|| panic!("no block {fence} with {with}"))
}

#[test]
fn the_server_has_at_most_sixteen_lines() {
    let lines =
        block("rust,no_run\n", "Server::builder").lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 16, "{lines} lines that are not blank");
}

#[test]
fn the_lines_typed_by_hand_are_answered_as_printed() {
    let typed: Vec<_> = block("sh\n", "printf").split('\'').filter(|part| part.starts_with("{\"")).collect();
    assert_eq!(typed.len(), 3, "{typed:?}");
    let mut server = example("calculator").spawn().expect("the example starts");
    let mut stdin = server.stdin.take().expect("stdin is piped");
    for line in typed {
        writeln!(stdin, "{line}").expect("the example reads");
    }
    drop(stdin);
    let output = server.wait_with_output().expect("the example ends");
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), block("json\n", "jsonrpc").trim_end());
}

#[test]
fn the_curl_line_is_the_one_the_example_prints_and_opens_a_session() {
    let server = Served::start(over_http("calculator"));
    let curl = block("sh\n", "curl").trim_end();
    assert_eq!(server.line(), format!("try: {}", curl.replace("127.0.0.1:8080", &server.addr)));
    let answer = server.answer_to(curl, None);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\nmcp-session-id: "), "{answer}");
    assert!(answer.contains(r#""serverInfo":{"name":"calculator""#), "{answer}");
}

#[test]
fn the_curl_line_without_a_session_is_answered_at_once() {
    let server = Served::start(over_http("calculator"));
    let answer = server.answer_to(block("sh\n", "Mcp-Name").trim_end(), None);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains(r#""text":"42""#) && !answer.contains("mcp-session-id"), "{answer}");
}
