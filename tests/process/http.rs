//! An example over HTTP as a process: it ends when it is told to, whatever is open. Case C19.

use std::{
    io::{BufRead, BufReader, Read},
    net::{TcpListener, TcpStream},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    program::{example_with, hello, pause, with_hangup},
    served::{Served, over_http},
};

/// Longer than the drain time, for a machine that is busy.
const SOON: Duration = Duration::from_secs(12);

/// A running example, and a session of it.
struct Site {
    served: Served,
    session: String,
}

/// A response that is read line by line: chunk sizes are lines like any other.
struct Response {
    status: u16,
    headers: Vec<String>,
    lines: BufReader<TcpStream>,
}

impl Site {
    fn start(name: &str) -> Self {
        let served = Served::start(with_hangup(over_http(name)));
        let mut site = Self { served, session: String::new() };
        let response = site.post(&hello());
        assert_eq!(response.status, 200);
        let session = response.headers.iter().find_map(|line| line.strip_prefix("mcp-session-id: "));
        session.expect("a session id").clone_into(&mut site.session);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(site.post(&initialized).status, 202);
        site
    }

    fn request(&self, method: &str, body: &str) -> Response {
        let session = match &*self.session {
            "" => String::new(),
            id => format!("Mcp-Session-Id: {id}\r\n"),
        };
        self.request_with(method, &session, body)
    }

    fn request_with(&self, method: &str, headers: &str, body: &str) -> Response {
        let headers = format!(
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{headers}"
        );
        let mut lines = BufReader::new(self.served.send(method, &headers, body));
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).expect("it answers");
            match line.trim_end() {
                "" => break,
                line => headers.push(line.to_owned()),
            }
        }
        let status = headers[0].split(' ').nth(1).expect("a status").parse().expect("a status");
        Response { status, headers, lines }
    }

    /// Listens to everything, as a client that has no session.
    fn listen(&self, id: &str) -> Response {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params });
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
        self.request_with("POST", headers, &message.to_string())
    }

    fn post(&self, message: &Value) -> Response {
        self.request("POST", &message.to_string())
    }

    fn call(&self, id: u32, tool: &str, arguments: Value) -> Response {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.served.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh runs").success());
    }

    /// Waits for it to end by itself with 0, no later than `SOON`.
    fn ends_well(mut self) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.served.process.try_wait().expect("it can be waited for") {
                break status;
            }
            if start.elapsed() > SOON {
                self.served.process.kill().expect("it can be killed");
                panic!("it does not end");
            }
            pause();
        };
        assert_eq!(status.code(), Some(0), "{status}");
    }
}

impl Response {
    /// Reads to the line that has `text` in it.
    fn line_with(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).expect("UTF-8") > 0, "it ended without {text:?}");
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Reads to the end, which must be a whole body's.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).expect("an end");
        assert!(rest.ends_with("0\r\n\r\n"), "the body is cut off: {rest:?}");
        rest
    }
}

#[test]
fn told_to_stop_it_ends_its_streams_lets_calls_end_and_takes_nothing_new() {
    for signal in ["TERM", "INT", "HUP"] {
        let site = Site::start("feedback");
        let mut gets: Vec<_> = (0..3).map(|_| site.request("GET", "")).collect();
        for get in &mut gets {
            assert_eq!(get.status, 200);
            get.line_with("id: ");
        }
        let mut listening = site.listen("l");
        listening.line_with("notifications/subscriptions/acknowledged");
        let mut running = site.call(1, "countdown", json!({ "from": 30, "ms": 100 }));
        running.line_with("\"progress\":1,");
        site.signal(signal);
        let last = listening.line_with("\"id\":\"l\"");
        assert!(last.contains("\"resultType\":\"complete\"") && last.contains("subscriptionId"), "{last}");
        listening.rest();
        for get in gets {
            let rest = get.rest();
            assert!(rest.contains("retry: "), "{rest:?}");
        }
        // the streams have ended, so it drains
        let refused = site.call(2, "countdown", json!({ "from": 1, "ms": 1 }));
        assert_eq!(refused.status, 503);
        assert!(
            refused.headers.iter().any(|line| line.starts_with("retry-after: ")),
            "{:?}",
            refused.headers
        );
        assert_eq!(site.request("GET", "").status, 503);
        let answer = running.rest();
        assert!(answer.contains("lift-off"), "{answer}");
        let addr = site.served.addr.clone();
        site.ends_well();
        TcpListener::bind(addr).expect("its port is free");
    }
}

#[test]
fn told_to_stop_it_ends_although_a_call_does_not() {
    let site = Site::start("feedback");
    let mut running = site.call(1, "countdown", json!({ "from": u32::MAX, "ms": 3_600_000 }));
    running.line_with("\"progress\":1,");
    site.signal("TERM");
    let rest = running.rest();
    assert!(rest.contains("the server is shutting down; the call was stopped"), "{rest}");
    site.ends_well();
}

#[test]
fn told_to_stop_a_second_time_it_ends_at_once_and_says_so_by_its_status() {
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let mut site = Site::start("feedback");
        let mut running = site.call(1, "countdown", json!({ "from": u32::MAX, "ms": 3_600_000 }));
        running.line_with("\"progress\":1,");
        let start = Instant::now();
        // two at once may be one
        while site.served.process.try_wait().expect("it can be waited for").is_none() {
            site.signal(signal);
            assert!(start.elapsed() < Duration::from_secs(5), "it waits for the call");
        }
        assert_eq!(site.served.process.wait().expect("it has ended").code(), Some(status));
    }
}

#[test]
fn told_to_stop_with_nothing_open_it_ends_and_its_port_is_free() {
    let site = Site::start("calculator");
    let addr = site.served.addr.clone();
    site.signal("TERM");
    site.ends_well();
    let again = Served::start(example_with("calculator", &["--http", &addr]));
    assert_eq!(again.addr, addr);
}
