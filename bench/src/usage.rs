//! The resources that a process has used, as reported by Linux.

use std::{fs, time::Duration};

use anyhow::Context;

/// The processor time of all threads of a process, to the nanosecond.
pub(crate) fn cpu(pid: u32) -> anyhow::Result<Duration> {
    let mut all = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).context("the server has ended")? {
        // a thread may end in between
        let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        all += text.split_whitespace().next().context("no schedstat")?.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(all))
}

/// The resident memory of a process, in KiB.
pub(crate) fn memory(pid: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the server has ended")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// How busy the machine is: the load average of the last minute.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_processor_and_memory() {
        let pid = std::process::id();
        assert!(cpu(pid).unwrap() > Duration::ZERO);
        assert!(memory(pid).unwrap() > 100.0);
        assert!(load().parse::<f64>().is_ok());
    }
}
