//! A server, as a child process or in a thread of its own, and a client of one revision that asks it for everything.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};

use crate::oracle::Oracle;

/// How long a line may take before the test gives up: a guard against a test that hangs, nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What each tool of the examples is called with, one call a row.
pub(crate) fn arguments(tool: &str) -> Vec<Value> {
    match tool {
        "add" => vec![json!({ "a": 2, "b": 40 }), json!({ "a": "two" }), json!({ "a": i64::MAX, "b": 1 })],
        "divide" => vec![json!({ "a": 1.0, "b": 4.0 }), json!({ "a": 1.0, "b": 0.0 })],
        "countdown" => vec![json!({ "from": 3, "ms": 0 })],
        "confirm_order" => vec![json!({ "item": "tea" })],
        "book" => vec![json!({ "day": "Friday" })],
        "restock" | "introduce" => vec![json!({})],
        "summarize" => vec![json!({ "text": "A long text." })],
        // of the server with all there is, which takes no arguments
        "contents" | "structured" | "ask" | "ask_url" | "sample" | "work" | "refuse" => vec![json!({})],
        // of the wire tests' server
        "echo" => vec![json!({ "text": "a\u{2028}b" })],
        "slow" => vec![json!({ "ms": 1, "tag": "t" })],
        "progress" => vec![json!({ "n": 2, "text": "step" }), json!({ "values": [0.5, 0.25, 1] })],
        "log" => ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
            .map(|level| json!({ "level": level }))
            .to_vec(),
        "typed" => vec![json!({ "n": 1, "any": [null] }), json!({ "n": -1 }), json!([])],
        "out" => ["ok", "missing", "wrong", "error"].map(|mode| json!({ "mode": mode })).to_vec(),
        "big" => vec![json!({ "bytes": 100_000 })],
        // adds a tool, and removes it
        "toggle" => vec![json!({}), json!({})],
        "touch" => vec![json!({ "uri": "mem://a" })],
        "late" | "roots" | "panic" | "panic_in_drop" | "panic_in_display" | "fail" | "none" => {
            vec![json!({})]
        }
        // of the example `everything`, beside those of the same name
        "test_sampling" => vec![json!({ "prompt": "hello" })],
        "test_elicitation" => vec![json!({ "message": "who?" })],
        "json_schema_2020_12_tool" => vec![json!({ "name": "n" })],
        "region" => vec![json!({ "region": "eu", "n": 1 })],
        tool if tool.starts_with("test_") => vec![json!({})],
        _ => panic!("the tool `{tool}` is new here: add a row for it"),
    }
}

/// A running server.
pub(crate) struct Child {
    input: Box<dyn Write>,
    /// What it writes, line by line; disconnected when it closes its output.
    lines: Receiver<String>,
    revision: &'static str,
    /// Closes the server's input; then waits for its end, which must be a good one.
    end: Box<dyn FnOnce() -> Box<dyn FnOnce()>>,
    oracle: Oracle,
    /// The method of request `n` at `n - 1`.
    asked: Vec<String>,
    /// The methods of its own requests and notifications.
    said: BTreeSet<String>,
}

impl Child {
    /// Starts an example and shakes hands at `revision`.
    pub(crate) fn example(name: &str, revision: &'static str) -> Self {
        let mut process = Command::new(executable(name))
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the example starts");
        let stdin = process.stdin.take().expect("stdin is piped");
        let stdout = process.stdout.take().expect("stdout is piped");
        let end = move || {
            let status = process.wait().expect("the example can be waited for");
            assert!(status.success(), "the example ended with {status}");
        };
        // dropping the pipe, as `input`, closes it
        Self::start(Box::new(stdin), stdout, Box::new(|| Box::new(end)), revision)
    }

    /// Starts a server of this process in a thread of its own, and shakes hands at `revision`.
    pub(crate) fn thread(server: fn() -> actix_mcp::Server, revision: &'static str) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async {
                theirs.set_nonblocking(true)?;
                let input = actix_web::rt::net::UnixStream::from_std(theirs.try_clone()?)?;
                let output = actix_web::rt::net::UnixStream::from_std(theirs)?;
                server().serve_stream(input, output).await
            })
        });
        let input = ours.try_clone().expect("a socket can be cloned");
        let output = ours.try_clone().expect("a socket can be cloned");
        let end = move || {
            ours.shutdown(Shutdown::Write).expect("the socket is open");
            let wait = move || thread.join().expect("no panic").expect("the server ends well");
            Box::new(wait) as Box<dyn FnOnce()>
        };
        Self::start(Box::new(input), output, Box::new(end), revision)
    }

    fn start(
        input: Box<dyn Write>,
        output: impl Read + Send + 'static,
        end: Box<dyn FnOnce() -> Box<dyn FnOnce()>>,
        revision: &'static str,
    ) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.expect("the server writes UTF-8")).is_err() {
                    break;
                }
            }
        });
        let oracle = Oracle::of(revision);
        let (asked, said) = (Vec::new(), BTreeSet::new());
        let mut child = Self { input, lines, revision, end, oracle, asked, said };
        if child.is_modern() {
            let found = child.ask("server/discover", json!({}));
            assert_eq!(found["result"]["supportedVersions"][0], revision, "{found}");
            return child;
        }
        let hello = child.ask(
            "initialize",
            json!({
                "protocolVersion": revision,
                "capabilities": capabilities(),
                "clientInfo": { "name": "schemas", "version": "1" },
            }),
        );
        assert_eq!(hello["result"]["protocolVersion"], revision, "{hello}");
        child.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        child
    }

    /// Lists everything, then calls, reads and gets each of it, and makes the mistakes that have an answer.
    pub(crate) fn walk(&mut self) {
        let resources = self.list("resources/list", "resources");
        if !self.is_modern() {
            self.ask("ping", json!({}));
            self.ask("logging/setLevel", json!({ "level": "debug" }));
            for resource in &resources {
                self.ask("resources/subscribe", json!({ "uri": resource["uri"] }));
            }
        }
        for tool in self.list("tools/list", "tools") {
            jsonschema::meta::validate(&tool["inputSchema"]).expect("an input schema is a JSON Schema");
            for arguments in arguments(text(&tool["name"])) {
                self.call(&tool, arguments);
            }
        }
        for resource in resources {
            self.ask("resources/read", json!({ "uri": resource["uri"] }));
        }
        for template in self.list("resources/templates/list", "resourceTemplates") {
            let of = json!({ "type": "ref/resource", "uri": template["uriTemplate"] });
            self.ask("completion/complete", json!({ "ref": of, "argument": { "name": "id", "value": "" } }));
            self.ask("resources/read", json!({ "uri": text(&template["uriTemplate"]).replace("{id}", "1") }));
        }
        for prompt in self.list("prompts/list", "prompts") {
            self.get(&prompt);
        }
        assert!(self.ask("tools/call", json!({ "name": "no such tool" }))["error"].is_object());
        assert!(self.ask("resources/read", json!({ "uri": "no:such" }))["error"].is_object());
        assert!(self.ask("prompts/get", json!({ "name": "no such prompt" }))["error"].is_object());
    }

    /// Closes the server's input, judges what it still says and expects a clean end.
    pub(crate) fn stop(self) {
        let Self { input, lines, end, mut oracle, .. } = self;
        drop(input);
        let wait = end();
        for line in lines {
            let message: Value = serde_json::from_str(&line).expect("a line is JSON");
            oracle.check_message(&message, |_| None).unwrap_or_else(|fault| panic!("{fault}"));
        }
        wait();
    }

    fn call(&mut self, tool: &Value, arguments: Value) {
        let answer = self.ask(
            "tools/call",
            json!({ "name": tool["name"], "arguments": arguments, "_meta": { "progressToken": self.asked.len() } }),
        );
        // MCP 2025-06-18 tools, Output Schema: servers MUST provide structured results that conform to it.
        let result = &answer["result"];
        if let Some(schema) = tool.get("outputSchema")
            && result.is_object()
            && result["isError"] != true
        {
            jsonschema::validate(schema, &result["structuredContent"])
                .expect("the result fits its output schema");
        }
    }

    fn get(&mut self, prompt: &Value) {
        let names: Vec<_> =
            prompt["arguments"].as_array().into_iter().flatten().map(|it| text(&it["name"])).collect();
        let arguments: serde_json::Map<_, _> = names
            .iter()
            .map(|name| (name.to_string(), json!(if name.ends_with("Uri") { "mem://a" } else { "1" })))
            .collect();
        let answer = self.ask("prompts/get", json!({ "name": prompt["name"], "arguments": arguments }));
        // one that asks is not given where nobody can be asked
        let refused = answer["error"]["data"]["requiredCapabilities"].is_object();
        assert!(answer["result"].is_object() || refused, "{answer}");
        for name in names {
            let of = json!({ "type": "ref/prompt", "name": prompt["name"] });
            self.ask("completion/complete", json!({ "ref": of, "argument": { "name": name, "value": "" } }));
        }
    }

    /// All pages of a list; none if the server has no such thing.
    fn list(&mut self, method: &str, member: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut params = json!({});
        loop {
            let answer = self.ask(method, params);
            let Some(result) = answer.get("result") else { return items };
            items.extend(result[member].as_array().expect("a list").iter().cloned());
            let Some(cursor) = result.get("nextCursor") else { return items };
            params = json!({ "cursor": cursor });
        }
    }

    /// Whether each request speaks for itself, as it must at the revisions without a handshake.
    fn is_modern(&self) -> bool {
        self.revision > "2026"
    }

    /// Sends a request, judges and serves what comes until its answer does, and returns that.
    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.is_modern() {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(self.revision);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities();
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        self.asked.push(method.to_owned());
        let id = self.asked.len();
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = loop {
            let message = self.receive();
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "the answer to another request: {message}");
                break message;
            }
        };
        if answer["result"]["resultType"] != "input_required" {
            return answer;
        }
        // what it asks of its client comes in its result, and the answers in the same request again
        let questions = answer["result"]["inputRequests"].as_object().cloned().unwrap_or_default();
        let answers: serde_json::Map<_, _> =
            questions.iter().map(|(key, question)| (key.clone(), answered(question))).collect();
        self.said.extend(questions.values().map(|question| text(&question["method"]).to_owned()));
        params["inputResponses"] = Value::Object(answers);
        if let Some(state) = answer["result"].get("requestState") {
            params["requestState"] = state.clone();
        }
        self.ask(method, params)
    }

    /// Asserts that the server has said, or still says by itself, what has this method.
    pub(crate) fn hear(&mut self, method: &str) {
        while !self.said.contains(method) {
            self.receive();
        }
    }

    /// Receives and judges a message, and answers it if it is a request.
    fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("nothing comes any more; so far: {:?}", self.said));
        let message: Value = serde_json::from_str(&line).expect("a line is JSON");
        let asked = &self.asked;
        let method_of = |id: &Value| asked.get(usize::try_from(id.as_u64()?).ok()?.checked_sub(1)?).cloned();
        self.oracle.check_message(&message, method_of).unwrap_or_else(|fault| panic!("{fault}"));
        if let Some(method) = message.get("method") {
            self.said.insert(text(method).to_owned());
            if message.get("id").is_some() {
                self.serve(&message);
            }
        }
        message
    }

    /// Answers what the server asks of its client.
    fn serve(&mut self, request: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": answered(request) }));
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
    }
}

/// What the client can do.
fn capabilities() -> Value {
    json!({ "sampling": {}, "elicitation": { "form": {}, "url": {} }, "roots": {} })
}

/// What the client answers to a question.
fn answered(question: &Value) -> Value {
    match text(&question["method"]) {
        "elicitation/create" => json!({ "action": "accept", "content": filled(&question["params"]) }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "short" } })
        }
        "roots/list" => json!({ "roots": [{ "uri": "file:///a", "name": "a" }] }),
        _ => json!({}),
    }
}

/// A value for each field that a form asks for.
fn filled(params: &Value) -> Value {
    let fields = params["requestedSchema"]["properties"].as_object();
    fields
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let value = match (field.get("enum"), field["type"].as_str()) {
                (Some(choices), _) => choices[0].clone(),
                (None, Some("boolean")) => json!(true),
                (None, Some("integer" | "number")) => {
                    field.get("minimum").cloned().unwrap_or_else(|| json!(1))
                }
                (None, Some("array")) => json!([]),
                (None, _) => json!("text"),
            };
            (name.clone(), value)
        })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no string"))
}

/// Where cargo puts the examples: beside `deps`, in which this test stands. A plain `cargo test` builds them with the
/// tests, `cargo test --test schemas` does not, and runs what an earlier `cargo build --examples` left.
fn executable(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("a test is in PROFILE/deps");
    let path = profile.join("examples").join(example).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: run `cargo build --examples`", path.display());
    path
}
