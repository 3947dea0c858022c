//! A server whose one tool does what the test tells it, step by step.
//!
//! **Invariant:** whatever a puppet says carries its key, so a message on a foreign stream is seen as one.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use actix_mcp::{Limits, QuestionError, prelude::*};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a puppet is told to do.
#[derive(Debug)]
pub(crate) enum Act {
    /// Report this progress.
    Report(u32),
    /// Ask the client and wait for its answer.
    Ask,
    /// Close the stream for polling.
    CloseStream,
    /// Answer with the key.
    Finish,
    Panic,
}

/// The puppets of one server.
#[derive(Clone, Default)]
pub(crate) struct Puppets(Arc<Mutex<Strings>>);

#[derive(Default)]
struct Strings {
    made: u64,
    waiting: HashMap<u64, UnboundedReceiver<Act>>,
    answers: Vec<(u64, String)>,
}

/// The test's end of one call's handler, which starts when the call does.
pub(crate) struct Puppet {
    pub(crate) key: u64,
    puppets: Puppets,
    acts: UnboundedSender<Act>,
}

impl Puppets {
    pub(crate) fn make(&self) -> Puppet {
        let (acts, receiver) = unbounded_channel();
        let mut strings = self.0.lock().unwrap();
        strings.made += 1;
        let key = strings.made;
        strings.waiting.insert(key, receiver);
        Puppet { key, puppets: self.clone(), acts }
    }
}

impl Puppet {
    pub(crate) fn act(&self, act: Act) {
        // a handler that has ended does nothing any more
        self.acts.send(act).ok();
    }

    pub(crate) fn arguments(&self) -> Value {
        json!({ "key": self.key })
    }

    /// Whether its handler was started; it can be only once.
    pub(crate) fn started(&self) -> bool {
        !self.puppets.0.lock().unwrap().waiting.contains_key(&self.key)
    }

    /// Whether its handler has gone.
    pub(crate) fn gone(&self) -> bool {
        self.acts.is_closed()
    }

    /// What it was told when it asked.
    pub(crate) fn answers(&self) -> Vec<String> {
        let strings = self.puppets.0.lock().unwrap();
        strings.answers.iter().filter(|(key, _)| *key == self.key).map(|(_, answer)| answer.clone()).collect()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Answer {
    x: String,
}

#[tool]
async fn puppet(
    key: u64,
    puppets: web::Data<Puppets>,
    progress: Progress,
    client: Client,
) -> Result<String, String> {
    let acts = puppets.0.lock().unwrap().waiting.remove(&key);
    let mut acts = acts.ok_or("a puppet is started once")?;
    while let Some(act) = acts.recv().await {
        match act {
            Act::Report(value) => progress.report(value).await.map_err(|err| err.to_string())?,
            Act::Ask => {
                let answer = match client.elicit::<Answer>(key.to_string()).await {
                    Ok(answer) => answer.x,
                    Err(QuestionError::TimedOut) => "timed out".to_owned(),
                    Err(err) => err.to_string(),
                };
                puppets.0.lock().unwrap().answers.push((key, answer));
            }
            Act::CloseStream => client.close_stream(),
            Act::Finish => break,
            Act::Panic => panic!("a puppet was told to panic"),
        }
    }
    Ok(key.to_string())
}

/// A server of its own for each test, and its puppets.
pub(crate) fn server() -> (Server, Puppets) {
    server_with(|_| {})
}

/// The same with other limits.
pub(crate) fn server_with(set: impl FnOnce(&mut Limits)) -> (Server, Puppets) {
    let mut limits = Limits::default();
    set(&mut limits);
    let puppets = Puppets::default();
    let server =
        Server::builder("puppets", "1.0.0").tool(puppet).data(puppets.clone()).limits(limits).build();
    (server, puppets)
}
