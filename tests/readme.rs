//! What the README shows is so: its server is short, and the lines it has you type are answered as it prints.
//! (That its code compiles is the doctest's to say.)

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

const README: &str = include_str!("../README.md");

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
    let lines = block("rust,no_run\n", "Server::new").lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 16, "{lines} lines that are not blank");
}

#[test]
fn the_lines_typed_by_hand_are_answered_as_printed() {
    let typed: Vec<_> = block("sh\n", "printf").split('\'').filter(|part| part.starts_with("{\"")).collect();
    assert_eq!(typed.len(), 3, "{typed:?}");
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("a test is in PROFILE/deps");
    let program = profile.join("examples/calculator").with_extension(std::env::consts::EXE_EXTENSION);
    let mut server = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|err| panic!("{}: {err}; run `cargo build --examples`", program.display()));
    let mut stdin = server.stdin.take().expect("stdin is piped");
    for line in typed {
        writeln!(stdin, "{line}").expect("the example reads");
    }
    drop(stdin);
    let output = server.wait_with_output().expect("the example ends");
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), block("json\n", "jsonrpc").trim_end());
}
