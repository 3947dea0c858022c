//! The command line.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, bail};

use crate::load::{Load, Time};

pub(crate) const USAGE: &str = "\
usage: cargo run --release -p actix-mcp-bench -- [OPTION]... [LOAD]...

Measures the limit and the example `everything` in turn, and prints a table.

  calls:N      echo, on N connections with a session each
  session:N    echo, on N connections in one session
  stateless:N  echo at revision 2026-07-28, on N connections
  churn:N      open a session, call, delete it, on N connections
  progress:N   N calls at once, each with 100 progress notifications
  idle:N       N sessions with an idle GET stream: KiB for each
  listens:N    N idle streams of subscriptions/listen: KiB for each
  stdio:N      echo over stdio, N calls at once

  --allocations  count allocations and bytes per call instead, exactly
  --check        do the same, and fail if a count exceeds its figure in bench/cost.txt
  --instructions count instructions per call instead (needs valgrind)

  --runs N     number of alternated runs of each load (default 5)
  --seconds S  measured time of each run, after a warm-up of a quarter of it (default 2)
  --unpinned   do not pin server and load generator to a processor each
  --limit PATH, --ours PATH
               measure this program instead, such as an earlier build of ours; it takes --http and --stdio like `everything`
";

/// All loads of the table.
const LOADS: [&str; 11] = [
    "calls:1",
    "calls:32",
    "calls:256",
    "session:32",
    "stateless:32",
    "churn:16",
    "progress:32",
    "idle:2000",
    "listens:2000",
    "stdio:1",
    "stdio:64",
];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The loads: processor time, rates, memory.
    Loads,
    Allocations {
        /// Whether they are checked against the committed figures.
        check: bool,
    },
    Instructions,
}

#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) loads: Vec<Load>,
    pub(crate) runs: usize,
    pub(crate) time: Time,
    pub(crate) pinned: bool,
    pub(crate) measure: Measure,
    /// Programs to use instead of building them.
    pub(crate) limit: Option<PathBuf>,
    pub(crate) ours: Option<PathBuf>,
}

impl Args {
    /// `None` if help is requested.
    pub(crate) fn read(args: impl IntoIterator<Item = String>) -> anyhow::Result<Option<Self>> {
        let (mut runs, mut seconds, mut pinned, mut loads) = (5, 2.0, true, Vec::new());
        let (mut limit, mut ours, mut measure) = (None, None, Measure::Loads);
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match &*arg {
                "--help" | "-h" => return Ok(None),
                "--runs" => runs = value()?.parse().context("--runs")?,
                "--seconds" => seconds = value()?.parse().context("--seconds")?,
                "--limit" => limit = Some(value()?.into()),
                "--ours" => ours = Some(value()?.into()),
                "--unpinned" => pinned = false,
                "--allocations" => measure = Measure::Allocations { check: false },
                "--check" => measure = Measure::Allocations { check: true },
                "--instructions" => measure = Measure::Instructions,
                load => loads.push(read_load(load)?),
            }
        }
        if loads.is_empty() {
            loads = LOADS.iter().copied().map(read_load).collect::<Result<_, _>>()?;
        }
        let measured = Duration::try_from_secs_f64(seconds).context("--seconds")?;
        Ok(Some(Self {
            loads,
            runs,
            time: Time { warm: measured / 4, measured },
            pinned,
            measure,
            limit,
            ours,
        }))
    }
}

fn read_load(text: &str) -> anyhow::Result<Load> {
    let (kind, number) = text.split_once(':').with_context(|| format!("unknown load: {text}"))?;
    let number = number.parse().with_context(|| format!("unknown load: {text}"))?;
    Ok(match kind {
        "calls" => Load::Calls(number),
        "session" => Load::OneSession(number),
        "stateless" => Load::Stateless(number),
        "churn" => Load::Churn(number),
        "progress" => Load::Progress(number),
        "idle" => Load::Idle(number),
        "listens" => Load::Listens(number),
        "stdio" => Load::Stdio(number),
        _ => bail!("unknown load: {text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> anyhow::Result<Option<Args>> {
        Args::read(args.iter().copied().map(str::to_owned))
    }

    #[test]
    fn without_arguments_all_loads_are_run() {
        assert_eq!(read(&[]).unwrap().unwrap().loads.len(), LOADS.len());
    }

    #[test]
    fn loads_are_named_with_their_number() {
        let args = read(&["churn:3", "--runs", "1"]).unwrap().unwrap();
        assert_eq!((args.loads, args.runs), (vec![Load::Churn(3)], 1));
        for wrong in ["churn", "churn:x", "nothing:1", "--runs"] {
            assert!(read(&[wrong]).is_err(), "{wrong}");
        }
    }
}
