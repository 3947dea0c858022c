//! Calls that report progress; every notification is checked.

use std::{cell::Cell, rc::Rc};

use anyhow::ensure;

use super::{Sample, Time, all, client, measure};
use crate::{
    http::{Caller, Connection},
    message::{Message, progress, read},
    server::Listening,
    tally::{Tally, add},
};

/// Notifications of one call.
const STEPS: u64 = 100;

pub(super) async fn run(
    server: &Listening,
    calls: usize,
    time: Time,
    tally: &Rc<Tally>,
) -> anyhow::Result<Sample> {
    let (stop, arrived) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
    let mut clients = Vec::new();
    for nth in 0..calls {
        let mut connection = Connection::open(server.address).await?;
        let session = connection.initialize().await?;
        let (stop, arrived, counts) = (stop.clone(), arrived.clone(), tally.clone());
        clients.push(client(tally, async move {
            let mut id = 0;
            while !stop.get() {
                id += 1;
                // ids and tokens are the same in all sessions, on purpose
                let mut call = Call { id, text: format!("{nth}-{id}"), step: 0, answers: 0 };
                connection.send("POST", Caller::Session(&session), &progress(id, STEPS, &call.text)).await?;
                call.read(&mut connection, &counts, &arrived).await?;
                add(&counts.lost, STEPS.saturating_sub(call.step) + u64::from(call.answers == 0));
                add(&counts.duplicated, call.answers.saturating_sub(1));
            }
            Ok(())
        }));
    }
    let sample = measure(server.pid, time, &arrived, &stop).await;
    all(clients).await?;
    sample
}

struct Call {
    id: u64,
    text: String,
    /// The last step received.
    step: u64,
    answers: u64,
}

impl Call {
    async fn read(
        &mut self,
        connection: &mut Connection,
        tally: &Tally,
        arrived: &Cell<u64>,
    ) -> anyhow::Result<()> {
        let head = connection.head().await?;
        ensure!(head.status == 200 && head.events, "progress: {}", head.status);
        let mut bytes = Vec::new();
        loop {
            let more = connection.part(&head, &mut bytes).await?;
            let mut rest = &bytes[..];
            while let Some(end) = rest.windows(2).position(|end| end == b"\n\n") {
                let data =
                    rest[..end].split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data: "));
                // an event without data is a priming event
                if let Some(data) = data.filter(|data| !data.is_empty()) {
                    self.message(data, tally, arrived)?;
                }
                rest = &rest[end + 2..];
            }
            let done = bytes.len() - rest.len();
            bytes.drain(..done);
            if !more {
                return Ok(());
            }
        }
    }

    fn message(&mut self, json: &[u8], tally: &Tally, arrived: &Cell<u64>) -> anyhow::Result<()> {
        match read(json) {
            Message::Progress { token, step, text } => {
                add(arrived, 1);
                let right =
                    token == Some(self.id) && text.as_deref() == Some(&self.text) && self.answers == 0;
                let next = (self.step + 1) as f64;
                match step {
                    _ if !right => add(&tally.misrouted, 1),
                    step if step < next => add(&tally.duplicated, 1),
                    step => {
                        add(&tally.lost, (step - next) as u64);
                        self.step = step as u64;
                    }
                }
            }
            Message::Answer { id, text } => {
                tally.routed(id == Some(self.id) && text.as_deref() == Some("done"));
                self.answers += 1;
            }
            Message::Other => anyhow::bail!("{}", String::from_utf8_lossy(json)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(token: u64, step: u64) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step},"message":"m"}}}}"#
        )
    }

    #[test]
    fn what_is_lost_twice_or_another_calls_is_counted_as_such() {
        let (tally, arrived) = (Tally::default(), Cell::new(0));
        let mut call = Call { id: 7, text: "m".to_owned(), step: 0, answers: 0 };
        for (token, step) in [(7, 1), (7, 1), (8, 2), (7, 4)] {
            call.message(notification(token, step).as_bytes(), &tally, &arrived).unwrap();
        }
        assert_eq!((tally.duplicated.get(), tally.misrouted.get(), tally.lost.get()), (1, 1, 2));
        assert_eq!((call.step, arrived.get()), (4, 4));
    }
}
