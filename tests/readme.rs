//! What the README shows is so: its server is short, and the lines it has you type are answered as it prints.
//! (That its code compiles is the doctest's to say.)

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
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
    let lines =
        block("rust,no_run\n", "Server::builder").lines().filter(|line| !line.trim().is_empty()).count();
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
    let server = Served::start();
    let curl = block("sh\n", "curl").trim_end();
    assert_eq!(server.printed, format!("try: {}", curl.replace("127.0.0.1:8080", &server.address)));
    let answer = server.answer_to(curl);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\nmcp-session-id: "), "{answer}");
    assert!(answer.contains(r#""serverInfo":{"name":"calculator""#), "{answer}");
}

#[test]
fn the_curl_line_without_a_session_is_answered_at_once() {
    let answer = Served::start().answer_to(block("sh\n", "Mcp-Name").trim_end());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains(r#""text":"42""#) && !answer.contains("mcp-session-id"), "{answer}");
}

/// The example, serving HTTP until it is dropped.
struct Served {
    program: Child,
    address: String,
    /// The line to try.
    printed: String,
}

impl Served {
    fn start() -> Self {
        let mut program = Command::new(calculator())
            .args(["--http", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let mut lines = BufReader::new(program.stderr.take().expect("stderr is piped")).lines();
        let url = lines.next().expect("a line with the URL").expect("UTF-8");
        let printed = lines.next().expect("a line to try").expect("UTF-8");
        let address = url.strip_prefix("MCP at http://").and_then(|url| url.strip_suffix("/mcp"));
        Self { program, address: address.expect("a URL").to_owned(), printed }
    }

    /// What comes back for a line of curl: all its words but the first and the URL are headers, and the last is the body.
    fn answer_to(&self, curl: &str) -> String {
        let mut words = curl.split('\'');
        let (first, quoted) = (words.next().unwrap_or_default(), words.step_by(2).collect::<Vec<_>>());
        assert!(first.starts_with("curl ") && first.contains(" http://127.0.0.1:8080/mcp -H "), "{first}");
        let Some((body, headers)) = quoted.split_last() else { panic!("{curl} sends nothing") };
        // what curl sends
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nUser-Agent: curl/8\r\nAccept: */*\r\n{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            headers.join("\r\n"),
            body.len()
        );
        let mut connection = TcpStream::connect(&self.address).expect("the example listens");
        connection.write_all(request.as_bytes()).expect("the example reads");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("the example answers");
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.program.kill().expect("it can be killed");
        self.program.wait().expect("it can be waited for");
    }
}

/// The example's program.
fn calculator() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("a test is in PROFILE/deps");
    let program = profile.join("examples/calculator").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{} is not there; run `cargo build --examples`", program.display());
    program
}
