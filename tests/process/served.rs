//! An example that serves HTTP, and a client that blocks: each request is sent on a connection of its own.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command},
    sync::mpsc::Receiver,
};

use crate::program::{PATIENCE, example_with, lines_of};

/// A running example; killed when it is dropped.
pub(crate) struct Served {
    pub(crate) process: Child,
    /// Such as `127.0.0.1:8080`.
    pub(crate) addr: String,
    stderr: Receiver<String>,
}

/// The command that starts an example over HTTP, on a port that is free.
pub(crate) fn over_http(name: &str) -> Command {
    example_with(name, &["--http", "127.0.0.1:0"])
}

impl Served {
    /// Starts it, and reads its URL.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.spawn().expect("the example starts");
        let stderr = lines_of(process.stderr.take().expect("stderr is piped"));
        let mut served = Self { process, addr: String::new(), stderr };
        let url = served.line();
        let addr = url.strip_prefix("MCP at http://").and_then(|url| url.strip_suffix("/mcp"));
        addr.expect("a URL").clone_into(&mut served.addr);
        served
    }

    /// What it prints next.
    pub(crate) fn line(&self) -> String {
        self.stderr.recv_timeout(PATIENCE).expect("it prints a line")
    }

    /// Sends a request; the response is left to be read. Each of the headers ends its line.
    pub(crate) fn send(&self, method: &str, headers: &str, body: &str) -> TcpStream {
        let mut connection = TcpStream::connect(&self.addr).expect("it listens");
        connection.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let (addr, length) = (&self.addr, body.len());
        write!(
            connection,
            "{method} /mcp HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        connection
    }

    /// What comes back for a line of curl, up to `end` or all of it. The words in quotes are headers, and the last is
    /// the body.
    pub(crate) fn answer_to(&self, curl: &str, end: Option<&str>) -> String {
        let mut words = curl.split('\'');
        let first = words.next().unwrap_or_default();
        assert!(first.contains("curl ") && first.ends_with(" http://127.0.0.1:8080/mcp -H "), "{curl}");
        let quoted: Vec<_> = words.step_by(2).collect();
        let (body, headers) = quoted.split_last().expect("it sends something");
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        // what curl sends besides
        let headers = format!("User-Agent: curl/8\r\nAccept: */*\r\n{headers}");
        let mut connection = self.send("POST", &headers, body);
        let mut answer = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let read = connection.read(&mut bytes).expect("it answers");
            answer.extend_from_slice(&bytes[..read]);
            let text = String::from_utf8_lossy(&answer);
            if read == 0 || end.is_some_and(|end| text.contains(end)) {
                return text.into_owned();
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // it may have ended by itself
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
