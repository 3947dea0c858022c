//! The benchmark: what a call costs here, held against the least that a server on actix-web could do.
//!
//! Limit and ours run in turn, so that what else the machine does falls on both; the ratio of a pair is what counts.
//!
//! Read next: `load` (what is measured), `limit` (what it is held against), `table` (what is printed).

mod args;
mod http;
mod load;
mod message;
mod server;
mod table;
mod tally;
mod usage;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::{Command, ExitCode},
    rc::Rc,
};

use anyhow::{Context, ensure};

use crate::{
    args::{Args, USAGE},
    load::{Load, Sample, Time},
    server::{Program, pin},
    tally::Tally,
};

/// Servers run here, the load generator there.
const PROCESSORS: (u32, u32) = (0, 1);

fn main() -> anyhow::Result<ExitCode> {
    let Some(args) = Args::read(std::env::args().skip(1))? else {
        io::stdout().write_all(USAGE.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let limit = match &args.limit {
        Some(path) => path.clone(),
        None => build("limit")?,
    };
    let ours = match &args.ours {
        Some(path) => path.clone(),
        None => build("everything")?,
    };
    // after the builds, which may use all processors
    let pinned = args.pinned && pin(PROCESSORS.1);
    let program = |name, path| Program { name, path, processor: pinned.then_some(PROCESSORS.0) };
    let (limit, ours) = (program("limit", limit), program("ours", ours));

    let mut out = io::stdout().lock();
    let placed = if pinned { "a processor each for server and load" } else { "unpinned" };
    writeln!(
        out,
        "{} alternated runs of {:?}, {placed}; load average {}\n",
        args.runs,
        args.time.measured,
        usage::load()
    )?;
    out.write_all(table::HEAD.as_bytes())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut right = true;
    for load in &args.loads {
        let tasks = tokio::task::LocalSet::new();
        let (row, well) = tasks.block_on(&runtime, measure(*load, &args, &limit, &ours));
        right &= well;
        out.write_all(row.as_bytes())?;
        out.flush()?;
    }
    writeln!(out, "\nload average {}", usage::load())?;
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one load in turn against both. The row, and whether every message came where it belongs.
async fn measure(load: Load, args: &Args, limit: &Program, ours: &Program) -> (String, bool) {
    let (mut pairs, mut wrong) = (Vec::new(), Vec::new());
    for run in 0..args.runs {
        // whoever runs first has no advantage of it
        let pair = if run % 2 == 0 {
            let limit = sample(load, limit, args.time, &mut wrong).await;
            (limit, sample(load, ours, args.time, &mut wrong).await)
        } else {
            let ours = sample(load, ours, args.time, &mut wrong).await;
            (sample(load, limit, args.time, &mut wrong).await, ours)
        };
        if let (Some(limit), Some(ours)) = pair {
            pairs.push((limit, ours));
        }
    }
    let well = wrong.is_empty();
    let wrong = if well { "0".to_owned() } else { wrong.join("; ") };
    (table::row(load, &pairs, &wrong), well)
}

async fn sample(load: Load, program: &Program, time: Time, wrong: &mut Vec<String>) -> Option<Sample> {
    let tally = Rc::new(Tally::default());
    let sample = load.run(program, time, &tally).await;
    if let Err(error) = &sample {
        tally.fail(error);
    }
    wrong.extend(tally.wrong().map(|what| format!("{}: {what}", program.name)));
    sample.ok()
}

/// Builds a program of this package as it is shipped; where it is then.
fn build(bin: &str) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "-p", "actix-mcp-bench", "--bin", bin]);
    ensure!(cargo.status().context("cargo does not start")?.success(), "a server does not build");
    let this = std::env::current_exe()?;
    let profile = this.parent().context("no folder")?;
    // `release` beside whatever this was built as
    Ok(profile.with_file_name("release").join(bin))
}
