//! The benchmark: the cost of a call, compared with the least that a server on actix-web could do.
//!
//! The limit and our server run in turn, so that other load on the machine affects both. The ratios of pairs are the
//! result.
//!
//! Read next: `load` (what is measured), `limit` (the comparison), `table` (the output).

mod args;
mod cost;
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
    args::{Args, Measure, USAGE},
    cost::Mode,
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
    if let Measure::Allocations { check } = args.measure {
        return count_allocations(args.ours, check);
    }
    let limit = match &args.limit {
        Some(path) => path.clone(),
        None => build("limit", true)?,
    };
    let ours = match &args.ours {
        Some(path) => path.clone(),
        None => build("everything", true)?,
    };
    // after the builds, which may use all processors
    let pinned = args.pinned && pin(PROCESSORS.1);
    let program =
        |name, path| Program { processor: pinned.then_some(PROCESSORS.0), ..Program::new(name, path) };
    let (limit, ours) = (program("limit", limit), program("ours", ours));
    if args.measure == Measure::Instructions {
        return count_instructions(&limit, &ours);
    }

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

/// Runs one load against both servers in turn. Returns the row, and whether every message was correct.
async fn measure(load: Load, args: &Args, limit: &Program, ours: &Program) -> (String, bool) {
    let (mut pairs, mut wrong) = (Vec::new(), Vec::new());
    for run in 0..args.runs {
        // the two take turns in running first
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

/// Counts the allocations of each mode, in this program's own profile, or with the given program.
fn count_allocations(counted: Option<PathBuf>, check: bool) -> anyhow::Result<ExitCode> {
    let counted = match counted {
        Some(path) => path,
        None => build("counted", !cfg!(debug_assertions))?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| mode | limit: allocations | bytes | ours: allocations | bytes |\n|---|---|---|---|---|"
    )?;
    let (mut passed, mut failed) = (0, 0);
    for mode in Mode::ALL {
        let count = |name| cost::allocations(mode, Program::new(name, counted.clone()));
        let limit = runtime.block_on(count("limit"))?;
        let ours = runtime.block_on(count("ours"))?;
        let [limit, ours_cells] =
            [limit, ours].map(|cost| format!("{:.1} | {:.0}", cost.allocations, cost.bytes));
        writeln!(out, "| {} | {limit} | {ours_cells} |", mode.name())?;
        match cost::check(mode, ours) {
            Ok(()) => passed += 1,
            Err(error) => {
                failed += 1;
                eprintln!("{error:#}");
            }
        }
    }
    if check {
        writeln!(out, "{passed} passed, {failed} failed")?;
    }
    Ok(if check && failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Counts the instructions of each mode.
fn count_instructions(limit: &Program, ours: &Program) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = io::stdout().lock();
    writeln!(out, "| mode | limit: instructions | ours | ratio |\n|---|---|---|---|")?;
    for mode in Mode::ALL {
        let limit = runtime.block_on(cost::instructions(mode, limit))?;
        let ours = runtime.block_on(cost::instructions(mode, ours))?;
        writeln!(out, "| {} | {limit:.0} | {ours:.0} | {:.2} |", mode.name(), ours / limit)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds a program of this package, in the release or the dev profile, and returns its path.
fn build(bin: &str, release: bool) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "-p", "actix-mcp-bench", "--bin", bin]);
    cargo.args(release.then_some("--release"));
    ensure!(cargo.status().context("cannot start cargo")?.success(), "building a server failed");
    let this = std::env::current_exe()?;
    let profile = this.parent().context("this program has no folder")?;
    // next to the folder of this program's own profile
    Ok(profile.with_file_name(if release { "release" } else { "debug" }).join(bin))
}
