//! Lines to a byte stream: whole messages only, in the order they were handed over, few writes for many.
//!
//! What is waiting is written as soon as no further input line is ready, at 32 KiB, or 1 ms after its first byte.

use std::{cell::Cell, io, rc::Rc, time::Duration};

use actix_mcp_session::queue::Source;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::Instant,
};

const FLUSH_AT: usize = 32 * 1024; // bytes
const FLUSH_AFTER: Duration = Duration::from_millis(1);
/// A buffer that a large message made larger than this is not kept.
const KEEP: usize = 256 * 1024; // bytes

/// Where lines are written to.
pub(super) trait Output {
    /// Writes all of it and flushes; the buffer is left for reuse.
    async fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()>;
}

/// Any byte stream as an output.
pub(super) struct Stream<W>(pub(super) W);

impl<W: AsyncWrite + Unpin> Output for Stream<W> {
    async fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_all(lines).await?;
        self.0.flush().await
    }
}

/// Writes what the source gives until it ends. `more` tells whether further input lines are ready.
pub(super) async fn write_lines(
    mut source: Source,
    mut output: impl Output,
    more: Rc<Cell<bool>>,
) -> io::Result<()> {
    let mut lines = Vec::new();
    while let Some(message) = source.next().await {
        put(&mut lines, &message);
        gather(&mut source, &mut lines, &more).await;
        output.write(&mut lines).await?;
        lines.clear();
        lines.shrink_to(KEEP);
    }
    Ok(())
}

/// Adds what comes in the meantime, for as long as it is worth waiting.
async fn gather(source: &mut Source, lines: &mut Vec<u8>, more: &Cell<bool>) {
    let first = Instant::now();
    while lines.len() < FLUSH_AT {
        if let Some(message) = source.try_next() {
            put(lines, &message);
            continue;
        }
        if !more.get() || first.elapsed() >= FLUSH_AFTER {
            return;
        }
        tokio::task::yield_now().await;
    }
}

fn put(lines: &mut Vec<u8>, message: &[u8]) {
    lines.extend_from_slice(message);
    lines.push(b'\n');
}
