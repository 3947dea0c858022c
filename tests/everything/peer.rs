//! The example, started, and a client that speaks to it either way.

use std::{
    net::SocketAddr,
    process::{Child, Command},
    sync::mpsc::Receiver,
};

use serde_json::{Value, json};

use crate::{
    client::{Connection, Request, Response},
    program::{PATIENCE, Program, example_with, lines_of},
    served::{Client, message},
};

/// The command that starts the example with these arguments.
pub(crate) fn everything(arguments: &[&str]) -> Command {
    example_with("everything", arguments)
}

/// The example on a port of its own; killed when it is dropped.
pub(crate) struct Http {
    pub(crate) process: Child,
    pub(crate) addr: SocketAddr,
    /// What follows on its stdout.
    pub(crate) lines: Receiver<String>,
}

impl Http {
    pub(crate) fn start(flags: &[&str]) -> Self {
        let mut command = everything(&["--http", "127.0.0.1:0"]);
        let mut process =
            command.args(flags).stderr(std::process::Stdio::null()).spawn().expect("the example starts");
        let lines = lines_of(process.stdout.take().expect("stdout is piped"));
        let url = lines.recv_timeout(PATIENCE).expect("the example prints its URL");
        let addr = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp")).expect("it is a URL");
        Self { process, addr: addr.parse().expect("it has an address"), lines }
    }

    /// Sends a request on a connection of its own.
    pub(crate) async fn send(&self, request: &Request) -> Response {
        let mut connection = Connection::tcp(self.addr).await;
        connection.send(request).await;
        connection.response().await
    }

    /// What `/stats` says.
    pub(crate) async fn stats(&self) -> Value {
        self.send(&Request::new("GET").to("/stats")).await.expect(200).await.json().await
    }

    /// Waits until a member of `/stats` has this value.
    pub(crate) async fn until(&self, member: &str, value: u64) {
        let reached = async { while self.stats().await[member] != value {} };
        tokio::time::timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{member} is never {value}"));
    }

    /// Sends it a signal, by its name without `SIG`.
    pub(crate) fn signal(&self, name: &str) {
        // what the standard library cannot do, every shell can
        let kill = format!("kill -{name} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh runs").success());
    }

    /// A client of a session of this server.
    pub(crate) async fn client(&self) -> Client {
        Client::open(self.addr, "2025-11-25").await
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        // it may have ended by itself
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A client of one session.
pub(crate) struct Peer {
    id: u64,
    way: Way,
}

enum Way {
    Http(Client, #[expect(dead_code, reason = "kept, so that it runs")] Http),
    Stdio(Box<Program>),
}

impl Peer {
    /// One over each transport, each of a server of its own with these flags.
    pub(crate) async fn both(flags: &[&str]) -> [Self; 2] {
        [Self::http(flags).await, Self::stdio(flags)]
    }

    pub(crate) async fn http(flags: &[&str]) -> Self {
        let server = Http::start(flags);
        Self { id: 0, way: Way::Http(server.client().await, server) }
    }

    pub(crate) fn stdio(flags: &[&str]) -> Self {
        let mut command = everything(&["--stdio"]);
        command.args(flags);
        let mut program = Program::start(command);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} },
            "clientInfo": { "name": "t", "version": "1" },
        });
        program.send(&message(0, "initialize", params));
        program.next();
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Self { id: 0, way: Way::Stdio(Box::new(program)) }
    }

    /// What is said until a request is answered, the answer last; each question is replied to with these members.
    pub(crate) async fn exchange(
        &mut self,
        method: &str,
        params: Value,
        reply: impl Fn(&Value) -> Value,
    ) -> Vec<Value> {
        self.id += 1;
        let request = message(self.id, method, params);
        let reply = |question: &Value| {
            let mut reply = reply(question);
            reply["jsonrpc"] = "2.0".into();
            reply["id"] = question["id"].clone();
            reply
        };
        let is_question = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
        let mut heard = Vec::new();
        match &mut self.way {
            Way::Http(client, _) => {
                let mut response = client.post(&request).await.expect(200).await;
                if response.header("content-type") == Some("application/json") {
                    return vec![response.json().await];
                }
                while let Some(message) = response.message().await {
                    if is_question(&message) {
                        client.post(&reply(&message)).await.expect(202).await;
                    }
                    heard.push(message);
                }
            }
            Way::Stdio(program) => {
                program.send(&request);
                loop {
                    let message = program.next();
                    if is_change(&message) {
                        continue;
                    }
                    if is_question(&message) {
                        program.send(&reply(&message));
                    }
                    let is_answer = message["id"] == self.id && message.get("method").is_none();
                    heard.push(message);
                    if is_answer {
                        break;
                    }
                }
            }
        }
        heard
    }

    /// The answer to a request during which nothing else is said.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let mut heard = self.exchange(method, params, |question| panic!("{question}")).await;
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }

    /// What is said until a tool has answered, with the progress token `p`.
    pub(crate) async fn watch(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } });
        self.exchange("tools/call", params, |question| panic!("{question}")).await
    }

    /// The result of a tool that says nothing else.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await["result"].take()
    }

    /// Calls a tool whose call makes the server say something outside of it, and gives that.
    pub(crate) async fn call_aside(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        match &mut self.way {
            Way::Http(client, _) => {
                let mut aside = client.get().await.expect(200).await;
                self.id += 1;
                client.post(&message(self.id, "tools/call", params)).await.expect(200).await.answer().await;
                // comments keep the stream alive, and the client patient
                let change = tokio::time::timeout(PATIENCE, aside.message()).await.expect("nothing is said");
                change.expect("the stream goes on")
            }
            Way::Stdio(program) => {
                self.id += 1;
                program.send(&message(self.id, "tools/call", params));
                // they come in any order
                let (mut answer, mut change) = (None, None);
                while answer.is_none() || change.is_none() {
                    let message = program.next();
                    let place = if is_change(&message) { &mut change } else { &mut answer };
                    place.get_or_insert(message);
                }
                change.expect("it has come")
            }
        }
    }

    /// What is said to a line that cannot be taken. Of stdio only.
    pub(crate) fn refused_line(&mut self, message: &Value) -> Value {
        let Way::Stdio(program) = &mut self.way else { panic!("it has no lines") };
        program.send(message);
        program.next()
    }

    /// The names in the tool list.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        let mut list = self.request("tools/list", json!({})).await["result"]["tools"].take();
        let tools = list.as_array_mut().expect("there is a list").iter_mut();
        tools.map(|tool| tool["name"].as_str().expect("a tool has a name").to_owned()).collect()
    }
}

/// Whether this is a change notice, which belongs to no request. Over stdio it comes between their messages, and a burst of
/// changes is one notice or several.
fn is_change(message: &Value) -> bool {
    ["notifications/tools/list_changed", "notifications/resources/updated"]
        .iter()
        .any(|method| message["method"] == *method)
}

/// A result that is this text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The text of a result that is an error.
pub(crate) fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("an error is a text")
}
