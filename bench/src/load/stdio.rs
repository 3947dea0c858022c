//! Concurrent calls of `echo` over stdio.

use std::rc::Rc;

use anyhow::Context;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    time::{Instant, timeout},
};

use super::{Measure, Sample, Time};
use crate::{
    message::{INITIALIZE, INITIALIZED, Message, echo, read},
    server::Program,
    tally::{Tally, add},
};

/// An answer that has not arrived after this time is lost.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

pub(super) async fn run(
    program: &Program,
    window: usize,
    time: Time,
    tally: &Rc<Tally>,
) -> anyhow::Result<Sample> {
    let mut child = program.stdio()?;
    let pid = child.id().context("the server has ended")?;
    let input = child.stdin.take().context("no stdin")?;
    let output = BufReader::with_capacity(64 * 1024, child.stdout.take().context("no stdout")?);
    let mut pipe = Pipe { input, output, line: Vec::new() };
    pipe.input.write_all(format!("{INITIALIZE}\n{INITIALIZED}\n").as_bytes()).await?;
    pipe.next().await?;

    let mut calls = Calls { next: 1, open: Vec::new(), window };
    calls.run(&mut pipe, Instant::now() + time.warm, tally).await?;
    let (measure, before) = (Measure::start(pid)?, tally.ok.get());
    calls.run(&mut pipe, Instant::now() + time.measured, tally).await?;
    let sample = measure.end(tally.ok.get() - before);
    calls.window = 0;
    calls.drain(&mut pipe, tally).await?;
    sample
}

struct Pipe {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Pipe {
    async fn next(&mut self) -> anyhow::Result<()> {
        self.line.clear();
        let read = timeout(PATIENCE, self.output.read_until(b'\n', &mut self.line)).await;
        anyhow::ensure!(read.context("no answer")?? > 0, "the server has ended");
        Ok(())
    }
}

struct Calls {
    next: u64,
    /// The ids waiting for their answers; at most the window size.
    open: Vec<u64>,
    window: usize,
}

impl Calls {
    /// Keeps the window full until `end`.
    async fn run(&mut self, pipe: &mut Pipe, end: Instant, tally: &Tally) -> anyhow::Result<()> {
        let mut lines = String::new();
        while Instant::now() < end {
            lines.clear();
            while self.open.len() < self.window {
                echo(&mut lines, self.next, &text(self.next));
                lines.push('\n');
                self.open.push(self.next);
                self.next += 1;
            }
            pipe.input.write_all(lines.as_bytes()).await?;
            self.answer(pipe, tally).await?;
            // read everything that has already arrived before refilling the window
            while !self.open.is_empty() && pipe.output.buffer().contains(&b'\n') {
                self.answer(pipe, tally).await?;
            }
        }
        Ok(())
    }

    async fn drain(&mut self, pipe: &mut Pipe, tally: &Tally) -> anyhow::Result<()> {
        while !self.open.is_empty() {
            if let Err(error) = self.answer(pipe, tally).await {
                add(&tally.lost, self.open.len() as u64);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn answer(&mut self, pipe: &mut Pipe, tally: &Tally) -> anyhow::Result<()> {
        pipe.next().await?;
        let Message::Answer { id: Some(id), text: Some(found) } = read(&pipe.line) else {
            anyhow::bail!("{}", String::from_utf8_lossy(&pipe.line));
        };
        match self.open.iter().position(|open| *open == id) {
            Some(at) => {
                self.open.swap_remove(at);
                tally.routed(found == text(id));
            }
            None if id < self.next => add(&tally.duplicated, 1),
            None => add(&tally.misrouted, 1),
        }
        Ok(())
    }
}

fn text(id: u64) -> String {
    format!("s{id}-xxxxxxxxxxxxxxxx")
}
