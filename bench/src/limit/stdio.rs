//! The limit over stdio: one thread, one line in, one line out, a write when no complete line is buffered.

use std::io::{self, BufRead, BufReader, BufWriter, Write};

use crate::message::{Message, opened, result};

const BUFFER: usize = 64 * 1024; // bytes

/// Serves until the input ends.
pub(crate) fn serve() -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, io::stdin().lock());
    let mut output = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Ok(message) = serde_json::from_slice::<Message<'_>>(&line)
            && let Some(id) = message.id
        {
            match &*message.method {
                "initialize" => output.write_all(opened(id.get()).as_bytes())?,
                _ => output.write_all(&result(id.get(), message.text()))?,
            }
            output.write_all(b"\n")?;
        }
        line.clear();
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(())
}
