//! What the README shows is so: its server is short, and the lines it has you type are answered as it prints.
//! (That its code compiles is the doctest's to say.)

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
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
    let mut server = Command::new(calculator())
        .arg("--stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example starts");
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
    let mut server = Command::new(calculator())
        .args(["--http", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(server.stderr.take().expect("stderr is piped")).lines();
    let url = lines.next().expect("a line with the URL").expect("UTF-8");
    let printed = lines.next().expect("a line to try").expect("UTF-8");
    let addr = url.strip_prefix("MCP at http://").and_then(|url| url.strip_suffix("/mcp")).expect("a URL");
    let curl = block("sh\n", "curl").trim_end();
    assert_eq!(printed, format!("try: {}", curl.replace("127.0.0.1:8080", addr)));

    let typed: Vec<_> = curl.split('\'').collect();
    let ["curl -i http://127.0.0.1:8080/mcp -H ", header, " -d ", body, ""] = typed[..] else {
        panic!("the line has another shape: {typed:?}");
    };
    // what curl sends
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {addr}\r\nUser-Agent: curl/8\r\nAccept: */*\r\n{header}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(addr).expect("the example listens");
    connection.write_all(request.as_bytes()).expect("the example reads");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("the example answers");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\nmcp-session-id: "), "{answer}");
    assert!(answer.contains(r#""serverInfo":{"name":"calculator""#), "{answer}");
    server.kill().expect("it can be killed");
    server.wait().expect("it can be waited for");
}

/// The example's program.
fn calculator() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("a test is in PROFILE/deps");
    let program = profile.join("examples/calculator").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{} is not there; run `cargo build --examples`", program.display());
    program
}
