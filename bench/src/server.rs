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
    /// Arguments before those of the transport.
    pub(crate) args: Vec<String>,
    /// Whether stderr is captured, for [`Child::wait_with_output`].
    pub(crate) stderr: bool,
    /// The processor that it is pinned to, so that it does not compete with the load generator.
    pub(crate) processor: Option<u32>,
}

/// A server that listens. Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    pub(crate) pid: u32,
    child: Child,
}

impl Program {
    /// A program that runs on any processor.
    pub(crate) fn new(name: &'static str, path: PathBuf) -> Self {
        Self { name, path, args: Vec::new(), stderr: false, processor: None }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = match self.processor {
            Some(processor) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(processor.to_string()).arg(&self.path);
                command
            }
            None => Command::new(&self.path),
        };
        command.args(&self.args).args(args).kill_on_drop(true).stdout(Stdio::piped());
        command.stderr(if self.stderr { Stdio::piped() } else { Stdio::inherit() });
        command
    }

    /// The same under valgrind, which counts instructions and reports them to stderr, which is captured.
    pub(crate) fn under_valgrind(&self) -> Self {
        let tool = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
        let mut args = tool.map(str::to_owned).to_vec();
        args.push(self.path.to_string_lossy().into_owned());
        args.extend(self.args.iter().cloned());
        Self { path: "valgrind".into(), args, stderr: true, ..self.clone() }
    }

    /// Starts it on a free port. It prints its URL when it listens.
    pub(crate) async fn listen(&self) -> anyhow::Result<Listening> {
        let mut child = self.command(&["--http", "127.0.0.1:0"]).stdin(Stdio::null()).spawn()?;
        let pid = child.id().context("the server has ended")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address =
            address.with_context(|| format!("{}: expected a URL, got {line:?}", self.name))?.parse()?;
        Ok(Listening { address, pid, child })
    }

    /// Starts it on a pair of pipes.
    pub(crate) fn stdio(&self) -> anyhow::Result<Child> {
        self.command(&["--stdio"])
            .stdin(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.name))
    }
}

impl Listening {
    /// Sends SIGTERM to the server, which may take a while to end.
    pub(crate) async fn terminate(self) -> anyhow::Result<Child> {
        let kill = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().await?;
        anyhow::ensure!(kill.success(), "cannot send SIGTERM to the server");
        Ok(self.child)
    }
}

/// Pins this process to a processor; `false` if `taskset` is missing or fails.
pub(crate) fn pin(processor: u32) -> bool {
    let args: [OsString; 3] =
        ["-pc".into(), processor.to_string().into(), std::process::id().to_string().into()];
    let pinned =
        std::process::Command::new("taskset").args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    pinned.is_ok_and(|status| status.success())
}
