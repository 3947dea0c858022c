//! The loads: each drives one server for a while, checks all that comes back, and says what it cost.

mod calls;
mod churn;
mod idle;
mod progress;
mod stdio;

use std::{
    cell::Cell,
    convert::Infallible,
    future::Future,
    rc::Rc,
    time::{Duration, Instant},
};

use tokio::task::{JoinHandle, spawn_local, yield_now};

use self::{calls::Belonging, idle::Kind};
use crate::{
    server::{Listening, Program},
    tally::Tally,
    usage,
};

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Calls of `echo`, one after the other on each of so many connections, each with a session of its own.
    Calls(usize),
    /// The same with all connections in one session.
    OneSession(usize),
    /// The same without sessions: every call speaks for itself.
    Stateless(usize),
    /// Sessions that are opened, used for one call, and deleted, on so many connections.
    Churn(usize),
    /// So many calls at once that report progress 100 times each.
    Progress(usize),
    /// So many sessions with a GET stream on which nothing happens.
    Idle(usize),
    /// So many subscriptions on which nothing happens.
    Listens(usize),
    /// Calls of `echo` over stdio, so many at once.
    Stdio(usize),
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) warm: Duration,
    pub(crate) measured: Duration,
}

/// What one measurement gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Server CPU in microseconds for one call, cycle or notification; KiB for an idle stream.
    pub(crate) cost: f64,
    /// Calls, cycles or notifications per second; none for idle streams.
    pub(crate) rate: Option<f64>,
}

impl Load {
    /// Runs it against a server that is started for it.
    pub(crate) async fn run(
        self,
        program: &Program,
        time: Time,
        tally: &Rc<Tally>,
    ) -> anyhow::Result<Sample> {
        if let Self::Stdio(window) = self {
            return stdio::run(program, window, time, tally).await;
        }
        let server = program.listen().await?;
        tokio::select! {
            biased;
            sample = self.drive(&server, time, tally) => sample,
            never = stay_awake() => match never {},
        }
    }

    async fn drive(self, server: &Listening, time: Time, tally: &Rc<Tally>) -> anyhow::Result<Sample> {
        match self {
            Self::Calls(connections) => {
                calls::run(server, connections, Belonging::Sessions, time, tally).await
            }
            Self::OneSession(connections) => {
                calls::run(server, connections, Belonging::OneSession, time, tally).await
            }
            Self::Stateless(connections) => {
                calls::run(server, connections, Belonging::Themselves, time, tally).await
            }
            Self::Churn(connections) => churn::run(server, connections, time, tally).await,
            Self::Progress(calls) => progress::run(server, calls, time, tally).await,
            Self::Listens(streams) => idle::run(server, Kind::Listen, streams, tally).await,
            Self::Idle(streams) | Self::Stdio(streams) => idle::run(server, Kind::Get, streams, tally).await,
        }
    }
}

/// Keeps the load generator from sleeping. Waking a reader is charged to who writes, and the slower a server is, the more
/// often it would find the generator asleep: what it costs would grow with what it costs.
async fn stay_awake() -> Infallible {
    loop {
        yield_now().await;
    }
}

/// A stretch of time in which what is done is counted.
struct Measure {
    pid: u32,
    cpu: Duration,
    start: Instant,
}

impl Measure {
    fn start(pid: u32) -> anyhow::Result<Self> {
        Ok(Self { pid, cpu: usage::cpu(pid)?, start: Instant::now() })
    }

    fn end(self, done: u64) -> anyhow::Result<Sample> {
        anyhow::ensure!(done > 0, "nothing was done");
        let (wall, cpu) = (self.start.elapsed(), usage::cpu(self.pid)?.saturating_sub(self.cpu));
        let done = done as f64;
        Ok(Sample { cost: cpu.as_secs_f64() * 1e6 / done, rate: Some(done / wall.as_secs_f64()) })
    }
}

/// Counts what `done` counts, for the measured time after the warm-up; then sets `stop`.
async fn measure(pid: u32, time: Time, done: &Cell<u64>, stop: &Cell<bool>) -> anyhow::Result<Sample> {
    tokio::time::sleep(time.warm).await;
    let (measure, before) = (Measure::start(pid)?, done.get());
    tokio::time::sleep(time.measured).await;
    let sample = measure.end(done.get() - before);
    stop.set(true);
    sample
}

/// Starts a client; what ends it early is counted as a failure.
fn client(tally: &Rc<Tally>, run: impl Future<Output = anyhow::Result<()>> + 'static) -> JoinHandle<()> {
    let tally = tally.clone();
    spawn_local(async move {
        if let Err(error) = run.await {
            tally.fail(&error);
        }
    })
}

/// Waits for all clients; one that panicked is a mistake of ours.
async fn all(clients: Vec<JoinHandle<()>>) -> anyhow::Result<()> {
    for client in clients {
        client.await?;
    }
    Ok(())
}
