//! Wire tests as text.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use super::{Pipe, contains};
use crate::Server;

/// Plays a script against a server. The clock must be paused.
///
/// ```text
/// # The rule that the script proves, in a sentence.
/// > initialize 2025-11-25 as a
/// > tools/call {"id":7,"name":"progress","arguments":{"n":2}} as a
/// < a {"method":"notifications/progress","params":{"progress":1}}
/// > {"jsonrpc":"2.0","id":7,"method":"ping"} as b
/// < nothing
/// ```
///
/// | line | what happens |
/// | --- | --- |
/// | `> METHOD {members}` | sends a message of this method: `id` is its id, all other members are its `params` |
/// | `> initialize REVISION {capabilities}` | does the whole handshake; the capabilities are optional |
/// | `> {..}`, or anything else | sends the line as it is |
/// | `> eof` | closes the client's end |
/// | `< {..}` | expects this as the next message, which may have further members; see [`contains`] |
/// | `< nothing` | expects no message on any connection |
/// | `< eof` | expects the server to end the connection without an error |
/// | `= 500ms` | lets this time pass |
///
/// `as NAME` at the end of a `>` line and `NAME` at the start of a `<` line name the connection; each has its own
/// session. The default name is `a`.
///
/// # Panics
///
/// With the number of the first line that fails.
pub async fn script(server: &Server, text: &str) {
    let mut player = Player { server, pipes: BTreeMap::new() };
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Err(error) = player.play(line).await {
            panic!("line {}: {line}\n{error}\n\nin the script\n{text}", number + 1);
        }
    }
}

struct Player<'a> {
    server: &'a Server,
    pipes: BTreeMap<String, Pipe>,
}

impl Player<'_> {
    async fn play(&mut self, line: &str) -> Result<(), String> {
        match line.split_at_checked(2) {
            Some(("> ", rest)) => self.send(rest).await,
            Some(("< ", "nothing")) => {
                for pipe in self.pipes.values_mut() {
                    pipe.silence().await;
                }
                Ok(())
            }
            Some(("< ", rest)) => self.expect(rest).await,
            Some(("= ", rest)) => {
                tokio::time::sleep(duration(rest)?).await;
                Ok(())
            }
            _ => Err("a line must start with `> `, `< `, `= ` or `#`".to_owned()),
        }
    }

    fn pipe(&mut self, name: &str) -> &mut Pipe {
        let server = self.server;
        self.pipes.entry(name.to_owned()).or_insert_with(|| Pipe::open(server))
    }

    async fn send(&mut self, rest: &str) -> Result<(), String> {
        let (what, name) = match rest.rsplit_once(" as ") {
            Some((what, name)) if is_name(name) => (what, name),
            _ => (rest, "a"),
        };
        let pipe = self.pipe(name);
        let (method, members) = what.split_once(' ').unwrap_or((what, ""));
        if what == "eof" {
            pipe.close().await;
        } else if method == "initialize" {
            let (revision, capabilities) = members.split_once(' ').unwrap_or((members, "{}"));
            let capabilities = serde_json::from_str(capabilities).map_err(|error| error.to_string())?;
            pipe.initialize(revision, capabilities).await;
        } else if members.starts_with('{') && is_method(method) {
            let message = message(method, members)?;
            pipe.send(&message).await;
        } else {
            pipe.write(format!("{what}\n").as_bytes()).await;
        }
        Ok(())
    }

    async fn expect(&mut self, rest: &str) -> Result<(), String> {
        let (name, what) = match rest.split_once(' ') {
            Some((name, what)) if is_name(name) => (name, what),
            _ => ("a", rest),
        };
        let pipe = self.pipes.get_mut(name).ok_or_else(|| format!("there is no connection {name}"))?;
        if what == "eof" {
            if let Some(message) = pipe.try_next().await {
                return Err(format!("expected the end, got {message}"));
            }
            return pipe.ended().await.map_err(|error| format!("the server returned {error}"));
        }
        let expected: Value = serde_json::from_str(what).map_err(|error| error.to_string())?;
        let actual = tokio::time::timeout(Duration::from_secs(86_400), pipe.try_next()).await;
        let actual = actual.map_err(|_| "no message arrived in a day")?.ok_or("the server has ended")?;
        contains(&actual, &expected).map_err(|error| format!("{error}\nin {actual}"))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_ascii_lowercase())
}

fn is_method(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_ascii_alphabetic() || matches!(char, '/' | '_'))
}

fn message(method: &str, members: &str) -> Result<Value, String> {
    let mut members: serde_json::Map<String, Value> =
        serde_json::from_str(members).map_err(|error| error.to_string())?;
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(id) = members.remove("id") {
        message["id"] = id;
    }
    if !members.is_empty() {
        message["params"] = Value::Object(members);
    }
    Ok(message)
}

fn duration(text: &str) -> Result<Duration, String> {
    let number =
        |suffix: &str| text.strip_suffix(suffix).and_then(|number| number.trim().parse::<u64>().ok());
    if let Some(millis) = number("ms") {
        Ok(Duration::from_millis(millis))
    } else if let Some(seconds) = number("s") {
        Ok(Duration::from_secs(seconds))
    } else {
        Err(format!("{text} is not a duration"))
    }
}
