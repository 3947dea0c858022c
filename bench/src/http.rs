//! A raw HTTP/1.1 client connection that costs less than the servers it measures.

use std::net::SocketAddr;

use anyhow::{Context, bail, ensure};
use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::message::{INITIALIZE, INITIALIZED};

const HEADERS: usize = 32;

/// The session that a request belongs to, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller<'a> {
    /// None yet: the request opens one.
    New,
    /// The session with this id.
    Session(&'a str),
    /// None, from 2026-07-28 on: a self-contained request, with the method and name that its headers repeat.
    Itself { method: &'a str, name: Option<&'a str> },
}

/// One connection. Requests follow each other on it.
pub(crate) struct Connection {
    stream: TcpStream,
    input: BytesMut,
    output: Vec<u8>,
}

/// The relevant parts of a response's head.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) events: bool,
    body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Body {
    Bytes(usize),
    Chunks,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, input: BytesMut::with_capacity(8 * 1024), output: Vec::with_capacity(1024) })
    }

    /// Sends a request, in one write.
    pub(crate) async fn send(&mut self, verb: &str, caller: Caller<'_>, body: &str) -> anyhow::Result<()> {
        self.output.clear();
        let version = match caller {
            Caller::New | Caller::Session(_) => "2025-11-25",
            Caller::Itself { .. } => "2026-07-28",
        };
        for part in [verb, " /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-protocol-version: ", version, "\r\n"] {
            self.output.extend_from_slice(part.as_bytes());
        }
        self.output.extend_from_slice(match verb {
            "POST" => b"accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n",
            _ => b"accept: text/event-stream\r\n",
        });
        let (session, method, name) = match caller {
            Caller::New => (None, None, None),
            Caller::Session(id) => (Some(id), None, None),
            Caller::Itself { method, name } => (None, Some(method), name),
        };
        let headers = [("mcp-session-id: ", session), ("mcp-method: ", method), ("mcp-name: ", name)];
        for (header, value) in headers.into_iter().filter_map(|(header, value)| Some((header, value?))) {
            for part in [header, value, "\r\n"] {
                self.output.extend_from_slice(part.as_bytes());
            }
        }
        for part in ["content-length: ", &body.len().to_string(), "\r\n\r\n", body] {
            self.output.extend_from_slice(part.as_bytes());
        }
        Ok(self.stream.write_all(&self.output).await?)
    }

    /// Reads a response's head.
    pub(crate) async fn head(&mut self) -> anyhow::Result<Head> {
        loop {
            if let Some((head, length)) = parse(&self.input)? {
                self.input.advance(length);
                return Ok(head);
            }
            self.fill().await?;
        }
    }

    /// Appends the next part of a body to `out`; `false` if it was the last.
    pub(crate) async fn part(&mut self, head: &Head, out: &mut Vec<u8>) -> anyhow::Result<bool> {
        match head.body {
            Body::Bytes(length) => {
                self.take(length, out).await?;
                Ok(false)
            }
            Body::Chunks => self.chunk(out).await,
        }
    }

    /// Reads a whole body into `out`.
    pub(crate) async fn body(&mut self, head: &Head, out: &mut Vec<u8>) -> anyhow::Result<()> {
        out.clear();
        while self.part(head, out).await? {}
        Ok(())
    }

    /// Sends a request and reads the whole response, whose status must be a success.
    pub(crate) async fn exchange(
        &mut self,
        verb: &str,
        caller: Caller<'_>,
        body: &str,
        out: &mut Vec<u8>,
    ) -> anyhow::Result<Head> {
        self.send(verb, caller, body).await?;
        let head = self.head().await?;
        self.body(&head, out).await?;
        ensure!(
            (200..300).contains(&head.status),
            "{verb}: {} {}",
            head.status,
            String::from_utf8_lossy(out)
        );
        Ok(head)
    }

    /// Opens a session.
    pub(crate) async fn initialize(&mut self) -> anyhow::Result<String> {
        let mut body = Vec::new();
        let head = self.exchange("POST", Caller::New, INITIALIZE, &mut body).await?;
        let session = head.session.context("no session id")?;
        self.exchange("POST", Caller::Session(&session), INITIALIZED, &mut body).await?;
        Ok(session)
    }

    /// Whether the server has not closed the connection.
    pub(crate) fn is_open(&self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.try_read(&mut bytes) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    }

    async fn chunk(&mut self, out: &mut Vec<u8>) -> anyhow::Result<bool> {
        let length = loop {
            match httparse::parse_chunk_size(&self.input).map_err(|_| anyhow::anyhow!("invalid chunk"))? {
                httparse::Status::Complete((head, length)) => {
                    self.input.advance(head);
                    break usize::try_from(length)?;
                }
                httparse::Status::Partial => self.fill().await?,
            }
        };
        self.take(length, out).await?;
        while self.input.len() < 2 {
            self.fill().await?;
        }
        self.input.advance(2);
        Ok(length > 0)
    }

    async fn take(&mut self, length: usize, out: &mut Vec<u8>) -> anyhow::Result<()> {
        while self.input.len() < length {
            self.fill().await?;
        }
        out.extend_from_slice(&self.input[..length]);
        self.input.advance(length);
        Ok(())
    }

    async fn fill(&mut self) -> anyhow::Result<()> {
        self.input.reserve(4096);
        ensure!(self.stream.read_buf(&mut self.input).await? > 0, "the server closed the connection");
        Ok(())
    }
}

/// A head and its length, if it is complete.
fn parse(input: &[u8]) -> anyhow::Result<Option<(Head, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(input)? else { return Ok(None) };
    let mut head =
        Head { status: response.code.unwrap_or(0), session: None, events: false, body: Body::Bytes(0) };
    for header in response.headers.iter() {
        let value = std::str::from_utf8(header.value)?;
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            head.body = Body::Bytes(value.parse()?);
        } else if is("transfer-encoding") {
            head.body = Body::Chunks;
        } else if is("content-type") {
            head.events = value.starts_with("text/event-stream");
        } else if is("mcp-session-id") {
            head.session = Some(value.to_owned());
        } else if is("connection") && value.eq_ignore_ascii_case("close") {
            bail!("the server closes the connection: status {}", head.status);
        }
    }
    Ok(Some((head, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_status_session_and_body() {
        let text = b"HTTP/1.1 200 OK\r\nMcp-Session-Id: a\r\nContent-Length: 3\r\n\r\nabc";
        let head = Head { status: 200, session: Some("a".into()), events: false, body: Body::Bytes(3) };
        assert_eq!(parse(text).unwrap(), Some((head, text.len() - 3)));
        assert_eq!(parse(&text[..20]).unwrap(), None);
    }

    #[tokio::test]
    async fn a_body_in_chunks_is_put_together() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = Connection::open(server.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = server.accept().await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\nHTTP/1.1 202 A\r\n\r\n";
        server.write_all(answer).await.unwrap();
        let (head, mut body) = (client.head().await.unwrap(), Vec::new());
        client.body(&head, &mut body).await.unwrap();
        assert_eq!(body, b"abc");
        assert_eq!(client.head().await.unwrap().status, 202, "what follows begins where it should");
    }
}
