//! The servers under test, as processes.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf, process::Stdio};

use anyhow::Context;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// A server that can be started over HTTP and over stdio.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    /// Runs on this processor alone, so that it does not compete with the load generator.
    pub(crate) processor: Option<u32>,
}

/// A server that listens. Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    pub(crate) pid: u32,
    _child: Child,
}

impl Program {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = match self.processor {
            Some(processor) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(processor.to_string()).arg(&self.path);
                command
            }
            None => Command::new(&self.path),
        };
        command.args(args).kill_on_drop(true).stderr(Stdio::inherit()).stdout(Stdio::piped());
        command
    }

    /// Starts it on a free port. It prints its URL when it listens.
    pub(crate) async fn listen(&self) -> anyhow::Result<Listening> {
        let mut child = self.command(&["--http", "127.0.0.1:0"]).stdin(Stdio::null()).spawn()?;
        let pid = child.id().context("it has ended")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.with_context(|| format!("{}: no URL but {line:?}", self.name))?.parse()?;
        Ok(Listening { address, pid, _child: child })
    }

    /// Starts it on a pair of pipes.
    pub(crate) fn stdio(&self) -> anyhow::Result<Child> {
        self.command(&["--stdio"])
            .stdin(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", self.name))
    }
}

/// Pins this process to a processor; `false` where there is no `taskset`.
pub(crate) fn pin(processor: u32) -> bool {
    let args: [OsString; 3] =
        ["-pc".into(), processor.to_string().into(), std::process::id().to_string().into()];
    let pinned =
        std::process::Command::new("taskset").args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    pinned.is_ok_and(|status| status.success())
}
