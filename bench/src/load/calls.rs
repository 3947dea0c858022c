//! Calls of `echo`, one after another on each connection, with or without sessions.

use std::{cell::Cell, rc::Rc};

use super::{Sample, Time, all, client, measure};
use crate::{
    http::{Caller, Connection},
    message::{Message, echo, echo_alone, read},
    server::Listening,
    tally::Tally,
};

/// The sessions that the calls use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Belonging {
    /// A session for each connection.
    Sessions,
    /// One session for all connections.
    OneSession,
    /// None: each call is self-contained.
    Themselves,
}

pub(super) async fn run(
    server: &Listening,
    connections: usize,
    belonging: Belonging,
    time: Time,
    tally: &Rc<Tally>,
) -> anyhow::Result<Sample> {
    let stop = Rc::new(Cell::new(false));
    let mut shared = None;
    if belonging == Belonging::OneSession {
        shared = Some(Connection::open(server.address).await?.initialize().await?);
    }
    let mut clients = Vec::new();
    for nth in 0..connections {
        let mut connection = Connection::open(server.address).await?;
        // sessions use the same ids on purpose; within one they must differ
        let (session, first, step) = match &shared {
            Some(session) => (Some(session.clone()), nth as u64 + 1, connections as u64),
            None if belonging == Belonging::Themselves => (None, 1, 1),
            None => (Some(connection.initialize().await?), 1, 1),
        };
        let calls = Calls { session, nth, ids: (first, step), stop: stop.clone(), tally: tally.clone() };
        clients.push(client(tally, calls.run(connection)));
    }
    let sample = measure(server.pid, time, &tally.ok, &stop).await;
    all(clients).await?;
    sample
}

struct Calls {
    /// `None` without sessions.
    session: Option<String>,
    nth: usize,
    ids: (u64, u64),
    stop: Rc<Cell<bool>>,
    tally: Rc<Tally>,
}

impl Calls {
    async fn run(self, mut connection: Connection) -> anyhow::Result<()> {
        let (mut id, step) = self.ids;
        let (mut request, mut body) = (String::new(), Vec::new());
        let (write, caller): (fn(&mut String, u64, &str), _) = match &self.session {
            Some(session) => (echo, Caller::Session(session)),
            None => (echo_alone, Caller::Itself { method: "tools/call", name: Some("echo") }),
        };
        while !self.stop.get() {
            let expected = format!("{}-{id}-xxxxxxxxxxxxxxxx", self.nth);
            request.clear();
            write(&mut request, id, &expected);
            connection.exchange("POST", caller, &request, &mut body).await?;
            match read(&body) {
                Message::Answer { id: of, text } => {
                    self.tally.routed(of == Some(id) && text.as_deref() == Some(&expected));
                }
                Message::Progress { .. } | Message::Other => {
                    anyhow::bail!("{}", String::from_utf8_lossy(&body))
                }
            }
            id += step;
        }
        Ok(())
    }
}
