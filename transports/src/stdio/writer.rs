//! Lines to a byte stream: whole messages only, in the order they were handed over, many in one write.
//!
//! Waiting messages are written as soon as no further input line is ready, at 32 KiB, or 1 ms after the first of them.

use std::{cell::Cell, io, rc::Rc, time::Duration};

use actix_mcp_session::internal::Source;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::Instant,
};

const FLUSH_AT: usize = 32 * 1024; // bytes
const FLUSH_AFTER: Duration = Duration::from_millis(1);
/// A buffer that a large message has grown beyond this is shrunk to it.
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

/// Writes the source's messages until it ends. `more` tells whether further input lines are ready.
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

/// Adds messages that come in the meantime, for as long as it is worth waiting.
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use actix_mcp_session::internal::{Batch, ByteBudget, Stats, queue};
    use futures_util::FutureExt;

    use super::*;

    /// Notes how much it is given at once.
    struct Sizes(Rc<RefCell<Vec<usize>>>);

    impl Output for Sizes {
        async fn write(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
            self.0.borrow_mut().push(lines.len());
            Ok(())
        }
    }

    #[test]
    fn many_messages_are_few_writes_and_none_grows_with_what_waits() {
        let (sink, source) = queue(ByteBudget::new(1 << 20, Stats::default()));
        for _ in 0..100 {
            // a line of 1 KiB, its brackets and its end included
            Batch::on_pipe(sink.clone()).push(&[b'0'; 1021]);
        }
        let sizes = Rc::default();
        let write = write_lines(source, Sizes(Rc::clone(&sizes)), Rc::default());
        assert!(write.now_or_never().is_none(), "more could follow");
        assert_eq!(*sizes.borrow(), [FLUSH_AT, FLUSH_AT, FLUSH_AT, 4 * 1024]);
    }
}
