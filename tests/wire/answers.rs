//! Answers of a client that no server may take, and what they could be meant for. Shared with `tests/http`.

/// The tools that ask, at a revision.
pub(crate) fn asking_at(revision: &str) -> &'static [&'static str] {
    match revision {
        "2025-11-25" => &["ask", "ask_url", "sample", "roots"],
        "2025-06-18" => &["ask", "sample", "roots"],
        _ => &["sample", "roots"],
    }
}

/// A tool that asks, and a result that fits.
pub(crate) const FITTING: [(&str, &str); 3] = [
    ("ask", r#"{"action":"accept","content":{"x":"tea"}}"#),
    ("sample", r#"{"role":"assistant","model":"m","content":{"type":"text","text":"tea"}}"#),
    ("roots", r#"{"roots":[{"uri":"file:///a"}]}"#),
];

/// What looks like the answer to the question `ID`, and is none.
pub(crate) const MALFORMED: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"x"}}"#,
    r#"{"id":ID,"result":{}}"#,
    r#"{"jsonrpc":null,"id":ID,"result":{}}"#,
    r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
    r#"{"jsonrpc":2,"id":ID,"error":{"code":1,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"ping","result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"ping","error":{"code":1,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":7,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":null}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":null}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":null,"error":null}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":[1,"no"]}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":1}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"$serde_json::private::Number":"1"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":DEEP}"#,
];

/// What looks like a notification, and an answer without an id that could be read.
pub(crate) const NOTIFICATIONS: &[&str] = &[
    r#"{"jsonrpc":"1.0","method":"notifications/x"}"#,
    r#"{"method":"notifications/x"}"#,
    r#"{"jsonrpc":"2.0","method":7}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/x","result":{}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/x","method":"notifications/y"}"#,
    r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":[],"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":true,"result":{}}"#,
    r#"{"jsonrpc":"2.0","result":{}}"#,
    r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
];

/// An answer to the question of this id.
pub(crate) fn answer(template: &str, id: &str) -> String {
    let deep = format!("{}{}", "[".repeat(70), "]".repeat(70));
    template.replace("ID", id).replace("DEEP", &deep)
}
