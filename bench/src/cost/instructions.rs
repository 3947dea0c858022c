//! Instructions per call, counted by valgrind.

use anyhow::Context;

use super::{Mode, drive::Drive};
use crate::server::Program;

/// The lengths of two runs. Their difference is counted, which excludes the start and end of the server.
const RUNS: (u64, u64) = (100, 300); // steps

/// Counts one mode of one server. Requires `valgrind`.
pub(crate) async fn instructions(mode: Mode, program: &Program) -> anyhow::Result<f64> {
    let (few, many) = (count(mode, program, RUNS.0).await?, count(mode, program, RUNS.1).await?);
    Ok(many.saturating_sub(few) as f64 / ((RUNS.1 - RUNS.0) * mode.units()) as f64)
}

/// The instructions of a server's whole life, with this many steps.
async fn count(mode: Mode, program: &Program, steps: u64) -> anyhow::Result<u64> {
    let mut drive = Drive::start(mode, &program.under_valgrind()).await?;
    drive.steps(steps).await?;
    let report = drive.end().await?;
    read(&report).with_context(|| format!("valgrind counted nothing: {report}"))
}

/// Reads the number in `==1== I refs:   1,234,567`.
fn read(report: &str) -> Option<u64> {
    let (_, figure) = report.lines().find_map(|line| line.split_once("refs:"))?;
    figure.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_valgrinds_report() {
        assert_eq!(read("==7== \n==7== I   refs:      1,234,567\n"), Some(1_234_567));
        assert_eq!(read("valgrind: no such file"), None);
    }
}
