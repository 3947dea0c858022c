//! Lines from a byte stream, however it is split into reads.
//!
//! **Invariant:** memory is bounded by the line limit; a longer line is skipped to its end, and later lines are not
//! affected.
//!
//! By hand: `LinesCodec` of `tokio_util` copies each line into a `String`, and its reader ends at a line that is too
//! long or not UTF-8.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

const CHUNK: usize = 64 * 1024; // bytes
/// Minimum room for a read; with less, the buffer grows by a chunk.
const MIN_FREE_BYTES: usize = 8 * 1024;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Bytes),
    /// It was longer than the limit; `json` tells whether it began like a message.
    TooLong {
        json: bool,
    },
}

/// Whether a line may be a message: its first byte after a BOM and white space opens an object or an array.
pub(super) fn begins_like_json(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Cuts lines out of a byte stream.
pub(super) struct Lines<R> {
    input: R,
    buffer: BytesMut,
    /// How many bytes of the buffer are known to have no line end.
    scanned: usize,
    limit: usize,
    /// Set while the rest of a line that is too long is skipped.
    skipping: Option<bool>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input, buffer: BytesMut::new(), scanned: 0, limit, skipping: None, ended: false }
    }

    /// Whether the next line is already in the buffer.
    pub(super) fn has_line(&mut self) -> bool {
        self.find_end().is_some()
    }

    /// The next line; `None` at the end of the stream. A last line needs no end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(end) = self.find_end() {
                let mut line = self.buffer.split_to(end + 1);
                self.scanned = 0;
                line.truncate(end);
                return Ok(Some(self.finish(line)));
            }
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                self.scanned = 0;
                let last = !rest.is_empty() || self.skipping.is_some();
                return Ok(last.then(|| self.finish(rest)));
            }
            if self.buffer.len() > self.limit {
                self.skip();
            }
            // lines that are being served still hold this buffer: it is filled before another is allocated
            if self.buffer.capacity() - self.buffer.len() < MIN_FREE_BYTES {
                self.buffer.reserve(CHUNK);
            }
            self.ended = self.input.read_buf(&mut self.buffer).await? == 0;
        }
    }

    fn find_end(&mut self) -> Option<usize> {
        let end = memchr::memchr(b'\n', &self.buffer[self.scanned..]).map(|end| self.scanned + end);
        self.scanned = end.unwrap_or(self.buffer.len());
        end
    }

    /// Drops the buffered part of a line that is too long.
    fn skip(&mut self) {
        let json = self.skipping.unwrap_or_else(|| begins_like_json(&self.buffer));
        self.skipping = Some(json);
        self.buffer.clear();
        self.scanned = 0;
    }

    fn finish(&mut self, line: BytesMut) -> Line {
        match self.skipping.take() {
            Some(json) => Line::TooLong { json },
            None if line.len() > self.limit => Line::TooLong { json: begins_like_json(&line) },
            None => Line::Text(line.freeze()),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    async fn all(input: &[u8], limit: usize, piece: usize) -> Vec<Line> {
        let (mut near, far) = tokio::io::duplex(piece);
        let input = input.to_vec();
        let write = async move {
            tokio::io::AsyncWriteExt::write_all(&mut near, &input).await.unwrap();
        };
        let read = async {
            let mut lines = Lines::new(far, limit);
            let mut all = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                all.push(line);
            }
            all
        };
        tokio::join!(write, read).1
    }

    fn text(line: &str) -> Line {
        Line::Text(Bytes::copy_from_slice(line.as_bytes()))
    }

    #[actix_rt::test]
    async fn lines_do_not_depend_on_how_the_stream_is_cut() {
        let input = "{\"a\":\"é世😀\"}\r\n\n  \nlast".as_bytes();
        for piece in [1, 2, 3, 7, 4096] {
            let expected = vec![text("{\"a\":\"é世😀\"}\r"), text(""), text("  "), text("last")];
            assert_eq!(all(input, 100, piece).await, expected, "pieces of {piece}");
        }
    }

    #[actix_rt::test]
    async fn a_line_at_the_limit_is_read_and_one_over_it_is_skipped_alone() {
        for piece in [1, 5, 4096] {
            let expected = vec![text("{2345678"), Line::TooLong { json: true }, text("{}")];
            assert_eq!(all(b"{2345678\n{23456789\n{}\n", 8, piece).await, expected, "pieces of {piece}");
        }
    }

    #[actix_rt::test]
    async fn an_endless_line_takes_no_more_memory_than_the_limit() {
        let (mut near, far) = tokio::io::duplex(1 << 20);
        let mut lines = Lines::new(far, 1000);
        for _ in 0..50 {
            tokio::io::AsyncWriteExt::write_all(&mut near, &[b'a'; 1 << 20]).await.unwrap();
            // each turn may read so much only
            tokio::task::yield_now().await;
            // looked at while the line still comes: at its end the buffer is let go
            assert!(lines.next().now_or_never().is_none(), "it has no end yet");
            assert!(lines.buffer.capacity() <= 4 * CHUNK, "{} bytes", lines.buffer.capacity());
        }
        drop(near);
        assert_eq!(lines.next().await.unwrap(), Some(Line::TooLong { json: false }));
    }

    #[test]
    fn only_objects_and_arrays_begin_like_a_message() {
        for line in ["{", " \t{}", "[1]", "\u{FEFF}{}"] {
            assert!(begins_like_json(line.as_bytes()), "{line:?}");
        }
        for line in ["", "   ", "hello", "42", "\"x\"", "null"] {
            assert!(!begins_like_json(line.as_bytes()), "{line:?}");
        }
    }
}
