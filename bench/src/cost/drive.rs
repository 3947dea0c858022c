//! One client that makes one call after another and checks each answer.

use anyhow::{Context, ensure};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout},
};

use super::Mode;
use crate::{
    http::{Caller, Connection},
    message::{INITIALIZE, INITIALIZED, Message, echo, echo_alone, progress, read},
    server::{Listening, Program},
};

/// Progress notifications of one call.
pub(super) const NOTIFICATIONS: u64 = 100;

/// All ids have the same number of digits, so that all calls have the same size.
const FIRST_ID: u64 = 1_000_000;

const TEXT: &str = "xxxxxxxxxxxxxxxxxxxxxxxx";

/// A client and the server that it started.
pub(super) struct Drive {
    mode: Mode,
    way: Way,
    id: u64,
    request: String,
    body: Vec<u8>,
}

enum Way {
    Http { server: Listening, connection: Connection, session: Option<String> },
    Stdio { child: Child, input: Option<ChildStdin>, output: BufReader<ChildStdout> },
}

impl Drive {
    pub(super) async fn start(mode: Mode, program: &Program) -> anyhow::Result<Self> {
        let way = match mode {
            Mode::Stdio => pipe(program).await?,
            Mode::Session | Mode::Stateless | Mode::Churn | Mode::Progress => {
                let server = program.listen().await?;
                let mut connection = Connection::open(server.address).await?;
                let session = match mode {
                    Mode::Session | Mode::Progress => Some(connection.initialize().await?),
                    Mode::Stateless | Mode::Churn | Mode::Stdio => None,
                };
                Way::Http { server, connection, session }
            }
        };
        Ok(Self { mode, way, id: FIRST_ID, request: String::new(), body: Vec::new() })
    }

    /// Runs this many steps.
    pub(super) async fn steps(&mut self, steps: u64) -> anyhow::Result<()> {
        for _ in 0..steps {
            self.step().await?;
        }
        Ok(())
    }

    async fn step(&mut self) -> anyhow::Result<()> {
        self.id += 1;
        self.request.clear();
        match self.mode {
            Mode::Session | Mode::Churn | Mode::Stdio => echo(&mut self.request, self.id, TEXT),
            Mode::Stateless => echo_alone(&mut self.request, self.id, TEXT),
            Mode::Progress => self.request = progress(self.id, NOTIFICATIONS, TEXT),
        }
        match &mut self.way {
            Way::Stdio { input, output, .. } => {
                self.request.push('\n');
                let input = input.as_mut().context("stdin is closed")?;
                input.write_all(self.request.as_bytes()).await?;
                line(output, &mut self.body).await?;
            }
            Way::Http { connection, session, .. } => {
                let opened = match self.mode {
                    Mode::Churn => Some(connection.initialize().await?),
                    Mode::Session | Mode::Stateless | Mode::Progress | Mode::Stdio => None,
                };
                let session = opened.as_ref().or(session.as_ref());
                let caller = match session {
                    Some(session) => Caller::Session(session),
                    None => Caller::Itself { method: "tools/call", name: Some("echo") },
                };
                connection.exchange("POST", caller, &self.request, &mut self.body).await?;
                if let Some(opened) = &opened {
                    let mut nothing = Vec::new();
                    connection.exchange("DELETE", Caller::Session(opened), "", &mut nothing).await?;
                }
            }
        }
        self.check()
    }

    /// Checks the last message of the body.
    fn check(&self) -> anyhow::Result<()> {
        let json = match self.mode {
            Mode::Progress => {
                let mut lines = self.body.split(|byte| *byte == b'\n');
                lines.rfind(|line| line.starts_with(b"data: {")).and_then(|line| line.strip_prefix(b"data: "))
            }
            Mode::Session | Mode::Stateless | Mode::Churn | Mode::Stdio => Some(&*self.body),
        };
        let expected = if self.mode == Mode::Progress { "done" } else { TEXT };
        let answer = json.map(read);
        ensure!(
            matches!(&answer, Some(Message::Answer { id: Some(id), text: Some(text) }) if *id == self.id && text == expected),
            "{}: {}",
            self.mode.name(),
            String::from_utf8_lossy(&self.body)
        );
        Ok(())
    }

    /// Ends the server as an operator would, and waits for it. Returns its stderr, if that was captured.
    pub(super) async fn end(self) -> anyhow::Result<String> {
        let child = match self.way {
            Way::Stdio { child, input, .. } => {
                drop(input);
                child
            }
            Way::Http { server, connection, .. } => {
                drop(connection);
                server.terminate().await?
            }
        };
        let output = child.wait_with_output().await?;
        ensure!(output.status.success(), "the server ended with {}", output.status);
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

async fn pipe(program: &Program) -> anyhow::Result<Way> {
    let mut child = program.stdio()?;
    let mut input = child.stdin.take().context("no stdin")?;
    let mut output = BufReader::new(child.stdout.take().context("no stdout")?);
    input.write_all(format!("{INITIALIZE}\n{INITIALIZED}\n").as_bytes()).await?;
    line(&mut output, &mut Vec::new()).await?;
    Ok(Way::Stdio { child, input: Some(input), output })
}

async fn line(output: &mut BufReader<ChildStdout>, to: &mut Vec<u8>) -> anyhow::Result<()> {
    to.clear();
    ensure!(output.read_until(b'\n', to).await? > 0, "the server has ended");
    Ok(())
}
