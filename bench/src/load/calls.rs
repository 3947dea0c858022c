//! Calls of `echo`, one after the other on each connection.

use std::{cell::Cell, rc::Rc};

use super::{Sample, Time, all, client, measure};
use crate::{
    http::Connection,
    message::{Message, echo, read},
    server::Listening,
    tally::Tally,
};

pub(super) async fn run(
    server: &Listening,
    connections: usize,
    one_session: bool,
    time: Time,
    tally: &Rc<Tally>,
) -> anyhow::Result<Sample> {
    let stop = Rc::new(Cell::new(false));
    let mut shared = None;
    if one_session {
        shared = Some(Connection::open(server.address).await?.initialize().await?);
    }
    let mut clients = Vec::new();
    for nth in 0..connections {
        let mut connection = Connection::open(server.address).await?;
        // sessions use the same ids on purpose; within one they must differ
        let (session, first, step) = match &shared {
            Some(session) => (session.clone(), nth as u64 + 1, connections as u64),
            None => (connection.initialize().await?, 1, 1),
        };
        let calls = Calls { session, nth, ids: (first, step), stop: stop.clone(), tally: tally.clone() };
        clients.push(client(tally, calls.run(connection)));
    }
    let sample = measure(server.pid, time, &tally.ok, &stop).await;
    all(clients).await?;
    sample
}

struct Calls {
    session: String,
    nth: usize,
    ids: (u64, u64),
    stop: Rc<Cell<bool>>,
    tally: Rc<Tally>,
}

impl Calls {
    async fn run(self, mut connection: Connection) -> anyhow::Result<()> {
        let (mut id, step) = self.ids;
        let (mut request, mut body) = (String::new(), Vec::new());
        while !self.stop.get() {
            let expected = format!("{}-{id}-xxxxxxxxxxxxxxxx", self.nth);
            request.clear();
            echo(&mut request, id, &expected);
            connection.exchange("POST", Some(&self.session), &request, &mut body).await?;
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
