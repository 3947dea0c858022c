//! The lines of curl that examples print are answered, and are those that the documentation shows.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Child,
};

use crate::program::{PATIENCE, example_with, lines_of};

/// An example over HTTP, and what it printed; killed when it is dropped.
struct Printed {
    process: Child,
    addr: String,
    /// The lines after the URL, with the address that the documentation has.
    lines: Vec<String>,
}

impl Printed {
    fn start(name: &str, lines: usize) -> Self {
        let mut process = example_with(name, &["--http", "127.0.0.1:0"]).spawn().expect("the example starts");
        let stderr = lines_of(process.stderr.take().expect("stderr is piped"));
        let next = || stderr.recv_timeout(PATIENCE).expect("it prints a line");
        let addr = next().trim_start_matches("MCP at http://").trim_end_matches("/mcp").to_owned();
        let lines = (0..lines).map(|_| next().replace(&addr, "127.0.0.1:8080")).collect();
        Self { process, addr, lines }
    }

    /// What comes back for a line of curl, up to and with `end` if that comes at all.
    fn answer_to(&self, line: &str, end: &str) -> String {
        let mut words = line.split('\'');
        let first = words.next().unwrap_or_default();
        assert!(first.ends_with("curl http://127.0.0.1:8080/mcp -H "), "{line}");
        let quoted: Vec<_> = words.step_by(2).collect();
        let (body, headers) = quoted.split_last().expect("it sends something");
        let (headers, length) = (headers.join("\r\n"), body.len());
        let mut connection = TcpStream::connect(&self.addr).expect("it listens");
        connection.set_read_timeout(Some(PATIENCE)).expect("a socket");
        write!(
            connection,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\n{headers}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}",
            self.addr
        )
        .expect("it reads");
        let mut answer = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let read = connection.read(&mut bytes).expect("it answers");
            answer.extend_from_slice(&bytes[..read]);
            let text = String::from_utf8_lossy(&answer);
            if read == 0 || text.contains(end) {
                return text.into_owned();
            }
        }
    }
}

impl Drop for Printed {
    fn drop(&mut self) {
        // it may have ended by itself
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The line of curl behind what is said before it, as documentation shows it.
fn shown(line: &str, options: &str) -> String {
    let (_, curl) = line.split_once(": curl ").expect("a line of curl");
    format!("curl {options} {curl}")
}

#[test]
fn a_client_that_can_be_asked_is_asked_and_its_answers_go_with_the_same_request() {
    const SHOWN: &str = include_str!("../../examples/interview.rs");
    let printed = Printed::start("interview", 3);
    let [hello, ask, answer] = &printed.lines[..] else { panic!("three lines") };
    assert!(hello.starts_with("try: ") && hello.contains(r#""capabilities":{"elicitation":{}}"#), "{hello}");
    for (line, shown) in [(ask, shown(ask, "-s")), (answer, shown(answer, "-s").replace("STATE", "'$STATE'"))]
    {
        assert!(SHOWN.contains(&shown), "not shown as printed: {line}");
    }
    let asked = printed.answer_to(ask, "none");
    assert!(asked.contains(r#""resultType":"input_required""#), "{asked}");
    let state = asked.split(r#""requestState":""#).nth(1).and_then(|rest| rest.split('"').next());
    let done =
        printed.answer_to(&answer.replace("\"STATE\"", &format!("\"{}\"", state.expect("a state"))), "none");
    assert!(done.contains(r#""text":"a badge for Ada, in red""#), "{done}");
}

#[test]
fn a_client_that_listens_is_told_what_it_will_hear_of() {
    const SHOWN: &str = include_str!("../../router/src/serve/handle.rs");
    let printed = Printed::start("feedback", 2);
    let listen = printed.lines.last().expect("two lines");
    assert!(SHOWN.contains(&shown(listen, "-N")), "not shown as printed: {listen}");
    let told = printed.answer_to(listen, "\n\n");
    let acknowledged = SHOWN.lines().find_map(|line| line.strip_prefix("/// data: ")).expect("an answer");
    assert!(told.contains(acknowledged), "{told}");
}
