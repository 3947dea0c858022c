//! An example as a process.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a process.
const LOOK: Duration = Duration::from_millis(5);

/// The command that starts an example over stdio.
pub(crate) fn example(name: &str) -> Command {
    example_with(name, &["--stdio"])
}

/// The command that starts an example.
pub(crate) fn example_with(name: &str, args: &[&str]) -> Command {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("a test is in PROFILE/deps");
    let path: PathBuf = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: run `cargo build --examples`", path.display());
    let mut command = Command::new(path);
    command.args(args).env_remove("RUST_LOG").env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same command with the default action for SIGHUP, which a test that was started by `nohup` does not have.
pub(crate) fn with_hangup(command: Command) -> Command {
    through_env(command, "--default-signal=HUP")
}

/// The same command as `nohup` would start it.
pub(crate) fn without_hangup(command: Command) -> Command {
    through_env(command, "--ignore-signal=HUP")
}

/// The same command, started by `env` (GNU coreutils 8.31) with an option, in the same process.
fn through_env(command: Command, option: &str) -> Command {
    let mut through = Command::new("env");
    through.arg(option).arg(command.get_program()).args(command.get_args());
    through.env_remove("RUST_LOG").env("RUST_BACKTRACE", "0");
    through.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    through
}

/// A running example.
pub(crate) struct Program {
    pub(crate) process: Child,
    pub(crate) stdin: Option<ChildStdin>,
    /// Its lines on stdout, if somebody reads them here.
    lines: Option<Receiver<String>>,
    stderr: JoinHandle<String>,
}

/// How a process ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What was not read of its stdout.
    pub(crate) rest: Vec<String>,
    pub(crate) stderr: String,
    /// The processor time it took, in all.
    pub(crate) cpu: Duration,
}

impl Program {
    /// Starts it.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.spawn().expect("the example starts");
        let stdin = process.stdin.take();
        let lines = process.stdout.take().map(lines_of);
        let mut stderr = process.stderr.take().expect("stderr is piped");
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).expect("stderr is UTF-8");
            text
        });
        Self { process, stdin, lines, stderr }
    }

    /// Starts it and does the handshake.
    pub(crate) fn connect(command: Command) -> Self {
        let mut program = Self::start(command);
        program.send(&hello());
        assert_eq!(program.next()["id"], "initialize");
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        program
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the example reads");
    }

    /// The next message on stdout.
    pub(crate) fn next(&mut self) -> Value {
        let lines = self.lines.as_ref().expect("stdout is read here");
        message(&lines.recv_timeout(PATIENCE).expect("the example answers"))
    }

    /// Starts a call that never ends, and sees it run.
    pub(crate) fn endless_call(&mut self) {
        self.call(77, "countdown", json!({ "from": u32::MAX, "ms": 3_600_000 }));
        assert_eq!(self.next()["method"], "notifications/progress");
    }

    /// Sends it a signal, by its name without `SIG`.
    pub(crate) fn signal(&self, name: &str) {
        // what the standard library cannot do, every shell can
        let kill = format!("kill -{name} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh runs").success());
    }

    /// Waits for it to end by itself, with its stdin as it is.
    pub(crate) fn ended(mut self) -> Ended {
        let start = Instant::now();
        let cpu = loop {
            let (state, cpu) = self.stat();
            // ended, and not yet waited for: the last moment to ask what it took
            if state == 'Z' {
                break cpu;
            }
            if start.elapsed() > PATIENCE {
                self.process.kill().expect("it can be killed");
                panic!("the example does not end");
            }
            pause();
        };
        let status = self.process.wait().expect("it can be waited for");
        let rest = self.lines.take().into_iter().flatten().collect();
        Ended { status, rest, stderr: self.stderr.join().expect("no panic"), cpu }
    }

    /// Its state and the processor time it took, as `/proc/PID/stat` says.
    pub(crate) fn stat(&self) -> (char, Duration) {
        let stat = self.proc("stat");
        // the name, in parentheses, may hold anything
        let (_, fields) = stat.rsplit_once(") ").expect("proc(5)");
        let fields: Vec<_> = fields.split(' ').collect();
        let ticks = |nth: usize| fields[nth].parse::<u64>().expect("proc(5)");
        // state is field 3, utime and stime are 14 and 15, in hundredths of a second
        (fields[0].chars().next().expect("proc(5)"), Duration::from_millis((ticks(11) + ticks(12)) * 10))
    }

    /// The most memory it ever had, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = self.proc("status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("proc(5)");
        peak.trim().trim_end_matches(" kB").parse().expect("proc(5)")
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.process.id())).expect("Linux")
    }
}

impl Ended {
    /// Asserts that it ended by itself, well, without a panic and without spinning.
    pub(crate) fn well(self) -> Vec<String> {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(self.cpu < Duration::from_secs(1), "{:?} of processor time", self.cpu);
        self.rest
    }
}

/// A moment in which something else may happen.
#[expect(clippy::disallowed_methods, reason = "there is no runtime here whose worker it could block")]
pub(crate) fn pause() {
    thread::sleep(LOOK);
}

/// The lines of a stream, read by a thread.
pub(crate) fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            if send.send(line.expect("stdout is UTF-8")).is_err() {
                break;
            }
        }
    });
    lines
}

/// A line of stdout, which must be a message.
pub(crate) fn message(line: &str) -> Value {
    let message: Value =
        serde_json::from_str(line).unwrap_or_else(|err| panic!("{line:?} is no JSON: {err}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

/// `initialize` at the newest revision.
pub(crate) fn hello() -> Value {
    let client = json!({ "name": "process", "version": "1" });
    let capabilities = json!({ "elicitation": {}, "sampling": {} });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": "initialize", "method": "initialize", "params": params })
}
