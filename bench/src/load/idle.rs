//! Idle streams: the GET stream of a session, or a subscription.

use std::{cell::RefCell, rc::Rc, time::Duration};

use anyhow::ensure;

use super::{Sample, all, client};
use crate::{
    http::{Caller, Connection},
    message::LISTEN,
    server::Listening,
    tally::{Tally, add},
    usage,
};

/// Opened and closed before measuring, so that one-time allocations of the server are not attributed to the streams.
const WARM: usize = 50;
/// The number of streams opened concurrently.
const OPENERS: usize = 16;
/// The time for the server to free memory, and for late messages to arrive.
const SETTLE: Duration = Duration::from_millis(500);

/// The kind of stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A session and its GET stream.
    Get,
    /// `subscriptions/listen`.
    Listen,
}

pub(super) async fn run(
    server: &Listening,
    kind: Kind,
    streams: usize,
    tally: &Rc<Tally>,
) -> anyhow::Result<Sample> {
    drop(open(server, kind, WARM, tally).await?);
    tokio::time::sleep(SETTLE).await;
    let before = usage::memory(server.pid)?;
    let open = open(server, kind, streams, tally).await?;
    tokio::time::sleep(SETTLE).await;
    let memory = usage::memory(server.pid)? - before;
    let alive = open.iter().filter(|stream| stream.is_open()).count();
    add(&tally.ok, alive as u64);
    add(&tally.lost, (streams - alive) as u64);
    Ok(Sample { cost: memory / streams as f64, rate: None })
}

async fn open(
    server: &Listening,
    kind: Kind,
    streams: usize,
    tally: &Rc<Tally>,
) -> anyhow::Result<Vec<Connection>> {
    let opened = Rc::new(RefCell::new(Vec::with_capacity(streams)));
    let mut openers = Vec::new();
    for nth in 0..OPENERS {
        let (opened, address) = (opened.clone(), server.address);
        let share = streams / OPENERS + usize::from(nth < streams % OPENERS);
        openers.push(client(tally, async move {
            let mut posts = Connection::open(address).await?;
            for _ in 0..share {
                let mut stream = Connection::open(address).await?;
                match kind {
                    Kind::Get => {
                        let session = posts.initialize().await?;
                        stream.send("GET", Caller::Session(&session), "").await?;
                    }
                    Kind::Listen => {
                        let caller = Caller::Itself { method: "subscriptions/listen", name: None };
                        stream.send("POST", caller, LISTEN).await?;
                    }
                }
                let head = stream.head().await?;
                ensure!(head.status == 200 && head.events, "no stream: {}", head.status);
                opened.borrow_mut().push(stream);
            }
            Ok(())
        }));
    }
    all(openers).await?;
    Ok(opened.take())
}
