//! The command line.

use std::{fmt::Display, num::NonZeroUsize, str::FromStr, time::Duration};

use actix_mcp::{Eras, Limits, prelude::*};

use crate::bearer::Tokens;

pub(crate) const USAGE: &str = "\
usage: everything [--http ADDR:PORT | --stdio] [FLAG]...

  --http ADDR:PORT           serve Streamable HTTP at /mcp; 127.0.0.1:8080 by default
  --stdio                    serve standard input and output
  --session-idle SECONDS     how long an HTTP session may be idle
  --keep-alive SECONDS       how long an event stream may be silent before it gets a comment
  --request-timeout SECONDS  how long a tool waits for the client's answer
  --max-body BYTES           the largest HTTP request body
  --max-line BYTES           the longest line of standard input
  --page-size N              entries per page of a list; by default all are on one page
  --allow-origin ORIGIN      allow a web origin in addition to those of this machine; repeatable
  --allow-host HOST          allow a host in addition to those of this machine; repeatable
  --bearer NAME=TOKEN        require a bearer token; this one acts for NAME; repeatable
  --state-key HEX            64 hex digits: a key for `requestState`; repeatable, the first seals, all open
  --json-response            answer in plain JSON if the client accepts both JSON and event streams
  --odd-names                register two tools with unusual names
  --stateless-only           serve revision 2026-07-28 only: no handshake, no sessions
";

/// The parsed command line.
pub(crate) enum Command {
    Run(Box<Args>),
    Help,
}

/// A server to run.
pub(crate) struct Args {
    pub(crate) transport: Transport,
    pub(crate) odd_names: bool,
    pub(crate) tokens: Tokens,
    pub(crate) options: Options,
}

/// How clients reach the server.
pub(crate) enum Transport {
    Http(String),
    Stdio,
}

/// The server's settings; an absent one has the framework's default.
#[derive(Default)]
pub(crate) struct Options {
    session_idle: Option<Duration>,
    keep_alive: Option<Duration>,
    request_timeout: Option<Duration>,
    max_body: Option<usize>,
    max_line: Option<usize>,
    page_size: Option<NonZeroUsize>,
    origins: Vec<String>,
    hosts: Vec<String>,
    state_keys: Vec<[u8; 32]>,
    json_response: bool,
    stateless_only: bool,
}

impl Command {
    /// Parses the arguments after the program's name; the error is a message for the user.
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut words = words;
        let (mut transport, mut odd_names) = (None, false);
        let (mut tokens, mut options) = (Tokens::default(), Options::default());
        while let Some(word) = words.next() {
            let flag = word.as_str();
            let mut value = || words.next().ok_or_else(|| format!("{flag} needs a value"));
            match flag {
                "--http" => choose(&mut transport, Transport::Http(value()?))?,
                "--stdio" => choose(&mut transport, Transport::Stdio)?,
                "--session-idle" => options.session_idle = Some(seconds(flag, &value()?)?),
                "--keep-alive" => options.keep_alive = Some(seconds(flag, &value()?)?),
                "--request-timeout" => options.request_timeout = Some(seconds(flag, &value()?)?),
                "--max-body" => options.max_body = Some(number(flag, &value()?)?),
                "--max-line" => options.max_line = Some(number(flag, &value()?)?),
                "--page-size" => options.page_size = Some(number(flag, &value()?)?),
                "--allow-origin" => options.origins.push(value()?),
                "--allow-host" => options.hosts.push(value()?),
                "--bearer" => tokens.add(&value()?)?,
                "--state-key" => options.state_keys.push(key(&value()?)?),
                "--json-response" => options.json_response = true,
                "--odd-names" => odd_names = true,
                "--stateless-only" => options.stateless_only = true,
                "--help" | "-h" => return Ok(Self::Help),
                _ => return Err(format!("unknown flag {flag:?}")),
            }
        }
        let transport = transport.unwrap_or_else(|| Transport::Http("127.0.0.1:8080".to_owned()));
        Ok(Self::Run(Box::new(Args { transport, odd_names, tokens, options })))
    }
}

impl Options {
    /// Applies the settings and builds the server; the error names a rejected value.
    pub(crate) fn apply(self, mut server: ServerBuilder) -> Result<Server, String> {
        let mut limits = Limits::default();
        set(&mut limits.session.idle, self.session_idle);
        set(&mut limits.session.client_request_timeout, self.request_timeout);
        set(&mut limits.http.keep_alive, self.keep_alive);
        set(&mut limits.http.body_bytes, self.max_body);
        set(&mut limits.message.line_bytes, self.max_line);
        server = server.limits(limits);
        if let Some(entries) = self.page_size {
            server = server.page_size(entries.get());
        }
        if self.stateless_only {
            server = server.eras(Eras::Modern);
        }
        if !self.state_keys.is_empty() {
            server = server.state_keys(self.state_keys);
        }
        if self.json_response {
            server = server.json_response();
        }
        for origin in &self.origins {
            server = server.try_allow_origin(origin).map_err(|err| format!("--allow-origin: {err}"))?;
        }
        for host in &self.hosts {
            server = server.try_allow_host(host).map_err(|err| format!("--allow-host: {err}"))?;
        }
        Ok(server.build())
    }
}

fn choose(transport: &mut Option<Transport>, choice: Transport) -> Result<(), String> {
    match transport.replace(choice) {
        None => Ok(()),
        Some(_) => Err("give --http or --stdio only once, and not both".to_owned()),
    }
}

fn seconds(flag: &str, text: &str) -> Result<Duration, String> {
    let seconds = number(flag, text)?;
    Duration::try_from_secs_f64(seconds).map_err(|err| format!("{flag} {text}: {err}"))
}

fn number<T: FromStr<Err: Display>>(flag: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|err| format!("{flag} {text}: {err}"))
}

/// Parses a key of two hex digits per byte.
fn key(hex: &str) -> Result<[u8; 32], String> {
    let digits: Option<Vec<_>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let bytes: Option<Vec<_>> = digits.and_then(|digits| {
        digits.chunks(2).map(|byte| u8::try_from(byte[0] * 16 + byte.get(1)?).ok()).collect()
    });
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| "--state-key takes 64 hex digits".to_owned())
}

/// Sets a limit if the command line has it.
fn set<T>(limit: &mut T, to: Option<T>) {
    if let Some(to) = to {
        *limit = to;
    }
}
