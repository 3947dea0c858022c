//! Allocations and bytes per call, counted by the server's own allocator.

use anyhow::Context;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{Cost, Mode, drive::Drive};
use crate::server::Program;

/// The warm-up before counting: caches fill, tables and buffers reach their size.
const WARM: u64 = 300; // units
/// The size of one window.
const WINDOW: u64 = 100; // units
/// The result is the median of these, since a window may include a tick of actix's clock or the end of an earlier call.
const WINDOWS: usize = 15;

/// Counts one mode of one server: `limit` or `ours` of the program `counted`.
pub(crate) async fn allocations(mode: Mode, mut program: Program) -> anyhow::Result<Cost> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    program.args = vec![program.name.to_owned(), listener.local_addr()?.to_string()];
    let (drive, meter) = tokio::join!(Drive::start(mode, &program), listener.accept());
    let (mut drive, (mut meter, _)) = (drive?, meter?);
    let steps = |units: u64| units.div_ceil(mode.units());
    drive.steps(steps(WARM)).await?;
    let mut windows = Vec::new();
    for _ in 0..WINDOWS {
        let before = counts(&mut meter).await?;
        drive.steps(steps(WINDOW)).await?;
        let after = counts(&mut meter).await?;
        windows.push((after.0 - before.0, after.1 - before.1));
    }
    drive.end().await?;
    let units = (steps(WINDOW) * mode.units()) as f64;
    let median = |of: fn(&(u64, u64)) -> u64| {
        let mut counts = windows.iter().map(of).collect::<Vec<_>>();
        counts.sort_unstable();
        counts.get(counts.len() / 2).map(|count| *count as f64 / units).context("no window was counted")
    };
    let (allocations, bytes) = (median(|window| window.0)?, median(|window| window.1)?);
    // the position of a random id in a table makes a difference of about a hundredth
    Ok(Cost { allocations: (allocations * 10.0).round() / 10.0, bytes: bytes.round() })
}

/// The number of allocations so far, and their bytes.
async fn counts(meter: &mut TcpStream) -> anyhow::Result<(u64, u64)> {
    meter.write_all(b"?").await?;
    Ok((meter.read_u64().await?, meter.read_u64().await?))
}
