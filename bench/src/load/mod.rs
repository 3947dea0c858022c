//! The loads: each drives one server for a while, checks every answer, and reports the cost.

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
    /// Calls of `echo`, one after another on each of this many connections, each with its own session.
    Calls(usize),
    /// The same with all connections in one session.
    OneSession(usize),
    /// The same without sessions: every call is self-contained.
    Stateless(usize),
    /// Sessions that are opened, used for one call, and deleted, on this many connections.
    Churn(usize),
    /// This many concurrent calls that report progress 100 times each.
    Progress(usize),
    /// This many sessions with an idle GET stream.
    Idle(usize),
    /// This many idle subscriptions.
    Listens(usize),
    /// Calls of `echo` over stdio, this many at once.
    Stdio(usize),
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) warm: Duration,
    pub(crate) measured: Duration,
}

/// The result of one measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Server CPU in microseconds for one call, cycle or notification; KiB for an idle stream.
    pub(crate) cost: f64,
    /// Calls, cycles or notifications per second; none for idle streams.
    pub(crate) rate: Option<f64>,
}

impl Load {
    /// Starts a server and runs the load against it.
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

/// Keeps the load generator from sleeping. The kernel charges waking a reader to the writer, and a slower server would
/// find the generator asleep more often, so its measured cost would grow further.
async fn stay_awake() -> Infallible {
    loop {
        yield_now().await;
    }
}

/// The measured time, in which units are counted.
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
        anyhow::ensure!(done > 0, "the server completed nothing in the measured time");
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

/// Starts a client; an error that ends it is counted as a failure.
fn client(tally: &Rc<Tally>, run: impl Future<Output = anyhow::Result<()>> + 'static) -> JoinHandle<()> {
    let tally = tally.clone();
    spawn_local(async move {
        if let Err(error) = run.await {
            tally.fail(&error);
        }
    })
}

/// Waits for all clients; a panic in one is a bug of the benchmark.
async fn all(clients: Vec<JoinHandle<()>>) -> anyhow::Result<()> {
    for client in clients {
        client.await?;
    }
    Ok(())
}
