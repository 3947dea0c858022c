//! What is logged, a line each, by the thread of the test that asks.

use std::{cell::RefCell, sync::Once};

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("actix_mcp")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            LINES.with_borrow_mut(|lines| {
                if let Some(lines) = lines {
                    let line = format!("{} {}", record.level(), record.args());
                    crate::spans::note(&line);
                    lines.push(line);
                }
            });
        }
    }

    fn flush(&self) {}
}

/// Keeps what this thread logs from now on.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Lines).expect("no other logger");
        log::set_max_level(LevelFilter::Trace);
    });
    LINES.set(Some(Vec::new()));
}

/// The lines since the last time.
pub(crate) fn take() -> Vec<String> {
    LINES.with_borrow_mut(|lines| std::mem::take(lines.as_mut().expect("installed before")))
}
