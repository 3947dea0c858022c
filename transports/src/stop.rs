//! The signals that stop this process: the first one shuts it down, a second one ends it at once.

use std::{future::Future, io, process, thread};

/// The exit status that a shell shows for a process ended by a signal, minus the signal's number.
#[cfg(unix)]
const BY_A_SIGNAL: i32 = 128;

/// Resolves at the first SIGTERM, SIGINT or SIGHUP. From then on, the next SIGTERM or SIGINT ends the process at once.
///
/// A process that was started with SIGHUP ignored, as by `nohup`, keeps ignoring it (on Linux, where this can be found
/// out).
#[cfg(unix)]
pub(crate) fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(async move {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            () = hung_up => {}
        }
        // a second SIGHUP is ignored: a supervisor may send one right after SIGTERM
        end_at(async move {
            let signal = tokio::select! {
                _ = term.recv() => SignalKind::terminate(),
                _ = int.recv() => SignalKind::interrupt(),
            };
            BY_A_SIGNAL + signal.as_raw_value()
        });
    })
}

/// Resolves at the first Ctrl-C. From then on, the next one ends the process at once.
#[cfg(not(unix))]
pub(crate) fn signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // without a handler there is nothing to wait for but the end of stdin
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        end_at(async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            1
        });
    })
}

/// Ends the process with the status that the future returns. It has its own thread: the second signal is for the case
/// that the others are busy.
fn end_at(status: impl Future<Output = i32> + Send + 'static) {
    let end = move || match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let status = runtime.block_on(status);
            log::warn!("received a second signal: ending at once");
            process::exit(status);
        }
        Err(error) => log::error!("cannot wait for a second signal: {error}"),
    };
    if let Err(error) = thread::Builder::new().name("mcp-stop".to_owned()).spawn(end) {
        log::error!("cannot wait for a second signal: {error}");
    }
}

/// Whether this process was started with SIGHUP ignored.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // proc_pid_status(5): a mask in hexadecimal digits, where signal 1 is the lowest bit
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}
