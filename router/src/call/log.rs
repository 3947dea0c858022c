//! Log messages for the client, on the stream of the call that writes them.
//!
//! **Invariant:** a message below the session's level is not even serialized, and no message reaches the server's own
//! log.

use std::{
    future::{Future, ready},
    sync::Arc,
};

use serde::Serialize;

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
        link::Link,
    },
    wire::{error::McpError, jsonrpc::try_encode_notification, level::Level, peer::Peer},
};

/// Sends log messages to the client of this call.
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_router::*; }
/// use actix_mcp::Log;
/// use serde_json::json;
///
/// async fn open(log: Log) {
///     log.info("opened the file");
///     log.named("database").warning(json!({ "retry": 3 }));
/// }
/// ```
///
/// A message goes to the call's own stream if it is at or above the client's level. In a session, `logging/setLevel`
/// sets that level; until then, every message is sent. From 2026-07-28 on, the request sets it; if it does not, nothing
/// is sent.
///
/// Sending never waits: if the stream has no room, the oldest notification in it is dropped. Messages sent after the
/// call has ended are dropped. Clients read them: no secrets, no personal data, nothing that helps an attacker.
///
/// A server with a handler that takes a `Log` declares the capability `logging` and has the method `logging/setLevel`.
/// If your server adds its first such handler while it runs, declare
/// [`Capability::Logging`](crate::wire::capability::Capability::Logging) when you build it: in a session, clients learn
/// the capabilities only at `initialize`.
#[derive(Clone, Debug)]
pub struct Log {
    link: Arc<dyn Link>,
    peer: Arc<Peer>,
    logger: Option<Arc<str>>,
    /// Whether the server declares `logging`.
    declared: bool,
}

#[derive(Serialize)]
struct Params<'a, D> {
    level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    logger: Option<&'a str>,
    data: &'a D,
}

impl Log {
    pub(crate) fn new(call: &Call) -> Self {
        let declared = call.server().is_none_or(|server| server.may_log());
        Self { link: call.link().clone(), peer: call.peer().clone(), logger: None, declared }
    }

    /// The same log with a logger's name, such as `database`.
    #[must_use]
    pub fn named(&self, logger: impl Into<Arc<str>>) -> Self {
        Self { logger: Some(logger.into()), ..self.clone() }
    }

    /// Whether the client wants messages of this level.
    #[must_use]
    pub fn enabled(&self, level: Level) -> bool {
        self.declared && self.peer.wants(level)
    }

    /// Sends `data`: text, or anything else that can be serialized as JSON. If it cannot, the message is dropped, with
    /// a warning in the server's log.
    pub fn send(&self, level: Level, data: impl Serialize) {
        if !self.enabled(level) || !self.link.is_live() {
            return;
        }
        let params = Params { level, logger: self.logger.as_deref(), data: &data };
        match try_encode_notification("notifications/message", &params) {
            Ok(json) => {
                let room = self.link.try_reserve(json.len());
                self.link.emit(json, room);
            }
            // the error's own text may quote the data
            Err(_) => log::warn!("dropped a log message for the client: it cannot be serialized as JSON"),
        }
    }

    /// Detailed, for debugging.
    pub fn debug(&self, data: impl Serialize) {
        self.send(Level::Debug, data);
    }

    /// Normal operation.
    pub fn info(&self, data: impl Serialize) {
        self.send(Level::Info, data);
    }

    /// Normal, but significant.
    pub fn notice(&self, data: impl Serialize) {
        self.send(Level::Notice, data);
    }

    /// Something that needs attention.
    pub fn warning(&self, data: impl Serialize) {
        self.send(Level::Warning, data);
    }

    /// Something failed.
    pub fn error(&self, data: impl Serialize) {
        self.send(Level::Error, data);
    }

    /// A part of the system failed.
    pub fn critical(&self, data: impl Serialize) {
        self.send(Level::Critical, data);
    }

    /// Somebody must act immediately.
    pub fn alert(&self, data: impl Serialize) {
        self.send(Level::Alert, data);
    }

    /// The system is unusable.
    pub fn emergency(&self, data: impl Serialize) {
        self.send(Level::Emergency, data);
    }
}

impl FromCall for Log {
    fn describe(spec: &mut HandlerSpec) {
        spec.logs();
    }

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self::new(call)))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde::ser::Error;
    use serde_json::json;

    use super::*;
    use crate::{
        fake::{ALL, Fake},
        wire::{era::Revision::V2025_11_25, peer},
    };

    /// Counts how often it is serialized.
    struct Counted<'a>(&'a Cell<u32>);

    impl Serialize for Counted<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.set(self.0.get() + 1);
            serializer.serialize_str("counted")
        }
    }

    #[test]
    fn a_message_carries_its_level_its_logger_and_its_data() {
        let fake = Fake::new(V2025_11_25, ALL);
        let log = Log::new(&fake.call(None));
        log.info("opened");
        log.named("database").error(json!({ "retry": 3 }));
        let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":"#;
        assert_eq!(fake.sent()[0], format!(r#"{head}{{"level":"info","data":"opened"}}}}"#));
        assert_eq!(
            fake.notes()[1]["params"],
            json!({ "level": "error", "logger": "database", "data": { "retry": 3 } })
        );
    }

    #[test]
    fn a_message_below_the_sessions_level_is_not_even_serialized() {
        let fake = Fake::new(V2025_11_25, ALL);
        let log = Log::new(&fake.call(None));
        let count = Cell::new(0);
        peer::set_level(fake.peer(), Level::Warning);
        log.debug(Counted(&count));
        log.info(Counted(&count));
        log.notice(Counted(&count));
        assert_eq!((count.get(), fake.sent().len()), (0, 0));
        log.warning(Counted(&count));
        log.error(Counted(&count));
        log.critical(Counted(&count));
        log.alert(Counted(&count));
        log.emergency(Counted(&count));
        assert_eq!(count.get(), 5);
        let levels: Vec<_> = fake.notes().iter().map(|note| note["params"]["level"].clone()).collect();
        assert_eq!(levels, ["warning", "error", "critical", "alert", "emergency"]);
        peer::set_level(fake.peer(), Level::Debug);
        log.debug(Counted(&count));
        assert_eq!(fake.sent().len(), 6);
    }

    #[test]
    fn a_full_stream_does_not_make_a_message_wait() {
        let fake = Fake::with_room(V2025_11_25, ALL, 0);
        Log::new(&fake.call(None)).info("still");
        assert_eq!(fake.sent().len(), 1);
    }

    #[test]
    fn data_without_a_json_form_is_left_out() {
        struct Broken;
        impl Serialize for Broken {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(S::Error::custom("no"))
            }
        }
        let fake = Fake::new(V2025_11_25, ALL);
        Log::new(&fake.call(None)).info(Broken);
        assert!(fake.sent().is_empty());
    }

    #[test]
    fn a_call_that_ended_logs_nothing() {
        let fake = Fake::new(V2025_11_25, ALL);
        let log = Log::new(&fake.call(None));
        let count = Cell::new(0);
        fake.end();
        log.error(Counted(&count));
        assert_eq!((count.get(), fake.sent().len()), (0, 0));
    }
}
