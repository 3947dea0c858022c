//! Sessions with a GET stream on which nothing happens.

use std::{cell::RefCell, rc::Rc, time::Duration};

use anyhow::ensure;

use super::{Sample, all, client};
use crate::{
    http::Connection,
    server::Listening,
    tally::{Tally, add},
    usage,
};

/// Opened first and closed again, so that what a server allocates once is not put down to streams.
const WARM: usize = 50;
/// So many are opened at a time.
const OPENERS: usize = 16;
/// What is let go of, and what arrives late, has so long.
const SETTLE: Duration = Duration::from_millis(500);

pub(super) async fn run(server: &Listening, streams: usize, tally: &Rc<Tally>) -> anyhow::Result<Sample> {
    drop(open(server, WARM, tally).await?);
    tokio::time::sleep(SETTLE).await;
    let before = usage::memory(server.pid)?;
    let open = open(server, streams, tally).await?;
    tokio::time::sleep(SETTLE).await;
    let memory = usage::memory(server.pid)? - before;
    let alive = open.iter().filter(|stream| stream.is_open()).count();
    add(&tally.ok, alive as u64);
    add(&tally.lost, (streams - alive) as u64);
    Ok(Sample { cost: memory / streams as f64, rate: None })
}

async fn open(server: &Listening, streams: usize, tally: &Rc<Tally>) -> anyhow::Result<Vec<Connection>> {
    let opened = Rc::new(RefCell::new(Vec::with_capacity(streams)));
    let mut openers = Vec::new();
    for nth in 0..OPENERS {
        let (opened, address) = (opened.clone(), server.address);
        let share = streams / OPENERS + usize::from(nth < streams % OPENERS);
        openers.push(client(tally, async move {
            let mut posts = Connection::open(address).await?;
            for _ in 0..share {
                let session = posts.initialize().await?;
                let mut stream = Connection::open(address).await?;
                stream.send("GET", Some(&session), "").await?;
                let head = stream.head().await?;
                ensure!(head.status == 200 && head.events, "GET: {}", head.status);
                opened.borrow_mut().push(stream);
            }
            Ok(())
        }));
    }
    all(openers).await?;
    Ok(opened.take())
}
