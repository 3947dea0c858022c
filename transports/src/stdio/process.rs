//! This process's own stdin and stdout.
//!
//! Two threads do the blocking reads and writes and are never waited for: a blocked read, or a client that does not
//! read, must not keep the process from ending.
//!
//! By hand: a blocked read of `tokio::io::stdin` keeps the runtime from shutting down.

use std::{
    io::{self, Read, Write},
    pin::Pin,
    sync::mpsc as blocking,
    task::{Context, Poll, ready},
    thread,
};

use bytes::{Buf, Bytes};
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::mpsc,
};

use super::writer::Output;

const CHUNK: usize = 64 * 1024; // bytes
const CHUNKS_AHEAD: usize = 4;

/// This process's stdin.
pub(super) fn stdin() -> io::Result<Stdin> {
    let (send, chunks) = mpsc::channel(CHUNKS_AHEAD);
    thread::Builder::new().name("mcp-stdin".to_owned()).spawn(move || read_all(&send))?;
    Ok(Stdin { chunks, rest: Bytes::new() })
}

fn read_all(send: &mpsc::Sender<io::Result<Bytes>>) {
    let mut input = io::stdin().lock();
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => Ok(Bytes::copy_from_slice(&buffer[..read])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        if send.blocking_send(chunk).is_err() || failed {
            return;
        }
    }
}

/// The chunks that the reading thread has read.
pub(super) struct Stdin {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.rest = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let len = self.rest.len().min(buf.remaining());
        buf.put_slice(&self.rest[..len]);
        self.rest.advance(len);
        Poll::Ready(Ok(()))
    }
}

/// This process's stdout.
pub(super) fn stdout() -> io::Result<Stdout> {
    let (send, lines) = blocking::channel();
    let (report, written) = mpsc::channel(1);
    thread::Builder::new().name("mcp-stdout".to_owned()).spawn(move || write_all(&lines, &report))?;
    Ok(Stdout { send, written })
}

fn write_all(lines: &blocking::Receiver<Vec<u8>>, report: &mpsc::Sender<io::Result<Vec<u8>>>) {
    while let Ok(buffer) = lines.recv() {
        // locked for each buffer only: a handler that prints must not hang
        let mut output = io::stdout().lock();
        let written = output.write_all(&buffer).and_then(|()| output.flush()).map(|()| buffer);
        drop(output);
        if report.blocking_send(written).is_err() {
            return;
        }
    }
}

/// The writing thread; it has one buffer at a time.
pub(super) struct Stdout {
    send: blocking::Sender<Vec<u8>>,
    written: mpsc::Receiver<io::Result<Vec<u8>>>,
}

impl Output for Stdout {
    async fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.send.send(std::mem::take(lines)).map_err(|_| gone())?;
        *lines = self.written.recv().await.ok_or_else(gone)??;
        Ok(())
    }
}
