//! A client of the example that has no session: each of its requests speaks for itself.

use serde_json::{Value, json};

use crate::{
    client::{Request, Response},
    metadata::stateless,
    peer::{Http, everything},
    program::Program,
    served::{message, modern_with},
};

/// A client without a session.
pub(crate) struct Caller {
    id: u64,
    /// What it can do, as each of its requests says.
    pub(crate) capabilities: Value,
    way: Way,
}

enum Way {
    Http(Http),
    Stdio(Box<Program>),
}

impl Caller {
    /// One over each transport, each of a server of its own with these flags.
    pub(crate) fn both(flags: &[&str]) -> [Self; 2] {
        [Self::http(flags), Self::stdio(flags)]
    }

    pub(crate) fn http(flags: &[&str]) -> Self {
        Self::new(Way::Http(Http::start(flags)))
    }

    pub(crate) fn stdio(flags: &[&str]) -> Self {
        let mut command = everything(&["--stdio"]);
        command.args(flags);
        Self::new(Way::Stdio(Box::new(Program::start(command))))
    }

    fn new(way: Way) -> Self {
        let capabilities = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
        Self { id: 0, capabilities, way }
    }

    /// What is said until a request is answered, the answer last.
    pub(crate) async fn exchange(&mut self, method: &str, params: Value) -> Vec<Value> {
        self.id += 1;
        let (id, capabilities) = (self.id, self.capabilities.clone());
        match &mut self.way {
            Way::Http(server) => {
                let response = server.send(&repeated(modern_with(id, method, params, capabilities))).await;
                said(response).await
            }
            Way::Stdio(program) => {
                program.send(&spoken(id, method, params, capabilities));
                let mut heard = Vec::new();
                loop {
                    let message = program.next();
                    let is_answer = message["id"] == id;
                    assert!(is_answer || message.get("id").is_none(), "a question: {message}");
                    heard.push(message);
                    if is_answer {
                        return heard;
                    }
                }
            }
        }
    }

    /// The answer to a request during which nothing else is said.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let mut heard = self.exchange(method, params).await;
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }

    /// The result of such a request.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params).await;
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    /// The text of a tool's result.
    pub(crate) async fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(result["resultType"], "complete", "{result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// The code of the error that a request is refused with.
    pub(crate) async fn refusal(&mut self, method: &str, params: Value) -> Value {
        self.request(method, params).await["error"]["code"].take()
    }
}

/// All that a response says, in whichever form.
pub(crate) async fn said(response: Response) -> Vec<Value> {
    if response.header("content-type") == Some("application/json") {
        return vec![response.json().await];
    }
    response.messages().await
}

/// The same request with the headers that repeat the arguments of `region`, and those names that no header takes as they are.
fn repeated(request: Request) -> Request {
    let message: Value = serde_json::from_str(&request.text()).expect("it is a message");
    let params = &message["params"];
    let mut request = match params["name"].as_str() {
        Some("tööl") => request.set("Mcp-Name", "=?base64?dMO2w7Zs?="),
        Some("=?base64?abc?=") => request.set("Mcp-Name", "=?base64?PT9iYXNlNjQ/YWJjPz0=?="),
        _ => request,
    };
    for (argument, header) in [("region", "Mcp-Param-Region"), ("n", "Mcp-Param-N")] {
        if params["name"] == "region"
            && let Some(value) = params["arguments"].get(argument).filter(|value| !value.is_null())
        {
            request = request.header(header, value.as_str().unwrap_or(&value.to_string()));
        }
    }
    request
}

/// The message of a request that speaks for itself, where there are no headers.
pub(crate) fn spoken(id: impl Into<Value>, method: &str, params: Value, capabilities: Value) -> Value {
    message(id, method, stateless(params, capabilities))
}
