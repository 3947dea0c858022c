//! The replay ring: the events sent on a session's streams, so that a client whose stream broke can fetch the rest.
//!
//! It has no clock: every call passes in the current time.
//!
//! **Invariant:** an event is replayed only as part of the stream on which it was sent.
//!
//! Read next: `state/streams` (which uses it).
// MCP 2025-11-25 basic/transports, Resumability and Redelivery: MUST NOT replay messages of a different stream

use std::{collections::VecDeque, fmt, str::FromStr, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use tokio::time::Instant;

/// The id of an event: the stream it was sent on, and its position there. The priming event is event 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventId {
    /// The stream: the generation it was opened with, which is never reused in a session.
    pub stream: u64,
    /// The event's position on its stream, from 0.
    pub event: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.event)
    }
}

/// The error for a text that is not an event id of this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an event id of this server")]
pub struct NoEventId;

impl FromStr for EventId {
    type Err = NoEventId;

    fn from_str(text: &str) -> Result<Self, NoEventId> {
        let (stream, event) = text.split_once('-').ok_or(NoEventId)?;
        let id = Self {
            stream: stream.parse().map_err(|_| NoEventId)?,
            event: event.parse().map_err(|_| NoEventId)?,
        };
        // only our own spelling: no sign, no leading zero
        if id.to_string() == text { Ok(id) } else { Err(NoEventId) }
    }
}

/// How much of its streams a session keeps for clients that resume one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReplayLimits {
    /// Maximum number of events of a session. 512 by default; 0 keeps nothing.
    pub events: usize,
    /// Maximum number of bytes of these events. 1 MiB by default.
    pub bytes: usize,
    /// How long an event is kept. 5 minutes by default.
    #[serde(with = "humantime_serde")]
    pub life: Duration,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self { events: 512, bytes: 1024 * 1024, life: Duration::from_secs(300) }
    }
}

impl fmt::Display for ReplayLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, bytes, life } = self;
        write!(f, "the limits of a session are {events} events, {bytes} bytes and {life:?}")
    }
}

#[derive(Debug)]
struct KeptEvent {
    id: EventId,
    json: Bytes,
    at: Instant,
    /// An answer that no client has been sent yet: it is evicted last.
    unfetched: bool,
}

/// The events of all streams of one session, oldest first.
#[derive(Debug)]
pub(crate) struct Replay {
    limits: ReplayLimits,
    kept: VecDeque<KeptEvent>,
    bytes: usize,
}

impl Replay {
    pub(crate) fn new(limits: ReplayLimits) -> Self {
        Self { limits, kept: VecDeque::new(), bytes: 0 }
    }

    /// Keeps an event. `unfetched` marks an answer whose stream has no reader.
    pub(crate) fn keep(&mut self, id: EventId, json: Bytes, unfetched: bool, now: Instant) {
        self.expire(now);
        if json.len() > self.limits.bytes {
            // only its own stream, which has a gap now, loses its events; other streams keep theirs
            return self.forget(id.stream);
        }
        self.bytes += json.len();
        self.kept.push_back(KeptEvent { id, json, at: now, unfetched });
        while self.kept.len() > self.limits.events || self.bytes > self.limits.bytes {
            let victim = self.kept.iter().position(|kept| !kept.unfetched).unwrap_or(0);
            match self.kept.remove(victim) {
                Some(gone) => self.bytes -= gone.json.len(),
                None => break,
            }
        }
    }

    /// All kept events after `last` on its stream, in order; `None` if one in between is missing. An answer that no
    /// client has been sent yet is returned even then, with what is left before it.
    ///
    /// `sent` is how many events the stream has had so far, if the stream is still known.
    pub(crate) fn after(
        &mut self,
        last: EventId,
        sent: Option<u64>,
        now: Instant,
    ) -> Option<Vec<(EventId, Bytes)>> {
        self.expire(now);
        let is_next = |kept: &KeptEvent| kept.id.stream == last.stream && kept.id.event > last.event;
        let mut next = last.event.checked_add(1)?;
        let (mut whole, mut answer) = (true, None);
        let mut events = Vec::new();
        for (at, kept) in self.kept.iter().enumerate().filter(|(_, kept)| is_next(kept)) {
            whole &= kept.id.event == next;
            next = kept.id.event + 1;
            answer = kept.unfetched.then_some(at);
            events.push((kept.id, kept.json.clone()));
        }
        whole &= sent.is_none_or(|sent| sent == next);
        if let Some(answer) = answer.and_then(|at| self.kept.get_mut(at)) {
            answer.unfetched = false;
            return Some(events);
        }
        whole.then_some(events)
    }

    /// The bytes of all events kept for a stream.
    pub(crate) fn bytes_of(&self, stream: u64) -> usize {
        self.kept.iter().filter(|kept| kept.id.stream == stream).map(|kept| kept.json.len()).sum()
    }

    fn forget(&mut self, stream: u64) {
        let bytes = &mut self.bytes;
        self.kept.retain(|kept| {
            let stays = kept.id.stream != stream;
            if !stays {
                *bytes -= kept.json.len();
            }
            stays
        });
    }

    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }

    fn expire(&mut self, now: Instant) {
        while let Some(oldest) = self.kept.front() {
            if now.saturating_duration_since(oldest.at) < self.limits.life {
                break;
            }
            self.bytes -= oldest.json.len();
            self.kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(stream: u64, event: u64) -> EventId {
        EventId { stream, event }
    }

    fn ring(events: usize, bytes: usize) -> Replay {
        Replay::new(ReplayLimits { events, bytes, life: Duration::from_secs(300) })
    }

    fn events(replay: &mut Replay, last: EventId) -> Option<Vec<u64>> {
        let now = Instant::now();
        Some(replay.after(last, None, now)?.into_iter().map(|(id, _)| id.event).collect())
    }

    #[test]
    fn a_stream_gets_its_own_events_in_order_and_no_others() {
        let mut replay = ring(10, 1000);
        let now = Instant::now();
        for event in 1..4 {
            replay.keep(id(1, event), Bytes::from_static(b"a"), false, now);
            replay.keep(id(2, event), Bytes::from_static(b"b"), false, now);
        }
        assert_eq!(events(&mut replay, id(1, 1)), Some(vec![2, 3]));
        assert_eq!(events(&mut replay, id(2, 0)), Some(vec![1, 2, 3]));
        assert_eq!(events(&mut replay, id(3, 0)), Some(vec![]));
    }

    #[test]
    fn a_gap_is_told_apart_from_an_end() {
        let mut replay = ring(2, 1000);
        let now = Instant::now();
        for event in 1..4 {
            replay.keep(id(1, event), Bytes::from_static(b"a"), false, now);
        }
        assert_eq!(events(&mut replay, id(1, 0)), None, "event 1 was evicted");
        assert_eq!(events(&mut replay, id(1, 1)), Some(vec![2, 3]));
        assert!(replay.after(id(1, 3), Some(4), now).is_some_and(|events| events.is_empty()));
        assert!(replay.after(id(1, 3), Some(9), now).is_none(), "events 4 to 8 were evicted");
    }

    #[test]
    fn bytes_and_age_are_bounded_and_an_unfetched_answer_goes_last() {
        let mut replay = ring(100, 10);
        let now = Instant::now();
        replay.keep(id(1, 1), Bytes::from_static(b"answer"), true, now);
        for event in 1..20 {
            replay.keep(id(2, event), Bytes::from_static(b"xxx"), false, now);
        }
        assert!(replay.bytes <= 10);
        assert_eq!(events(&mut replay, id(1, 0)), Some(vec![1]));
        replay.keep(id(2, 20), Bytes::from_static(b"xxx"), false, now + Duration::from_secs(300));
        assert_eq!(replay.kept.len(), 1, "all that is 5 minutes old is gone");
    }

    #[test]
    fn an_answer_that_nobody_was_given_can_be_fetched_although_events_before_it_are_gone() {
        let mut replay = ring(3, 1000);
        let now = Instant::now();
        for event in 1..6 {
            replay.keep(id(1, event), Bytes::from_static(b"a"), false, now);
        }
        replay.keep(id(1, 6), Bytes::from_static(b"answer"), true, now);
        assert_eq!(events(&mut replay, id(1, 2)), Some(vec![4, 5, 6]), "event 3 was evicted");
        assert_eq!(events(&mut replay, id(1, 2)), None, "the answer was given out");
        assert_eq!(
            events(&mut replay, id(1, 3)),
            Some(vec![4, 5, 6]),
            "and can be again where nothing is gone"
        );
    }

    #[test]
    fn an_event_that_is_too_large_for_the_ring_leaves_the_other_streams_theirs() {
        let mut replay = ring(10, 10);
        let now = Instant::now();
        replay.keep(id(1, 1), Bytes::from_static(b"a"), false, now);
        replay.keep(id(2, 1), Bytes::from_static(b"b"), false, now);
        replay.keep(id(2, 2), Bytes::from_static(b"more than ten bytes"), true, now);
        assert_eq!(events(&mut replay, id(1, 0)), Some(vec![1]));
        assert_eq!(events(&mut replay, id(2, 0)), Some(vec![]), "a part without its end is not given out");
        assert_eq!(replay.bytes, 1);
    }

    #[test]
    fn an_event_after_the_last_possible_one_is_not_found_and_no_panic() {
        assert_eq!(events(&mut ring(10, 10), id(1, u64::MAX)), None);
    }

    #[test]
    fn only_our_own_spelling_is_an_event_id() {
        assert_eq!("3-7".parse(), Ok(id(3, 7)));
        for text in
            ["", "3", "-", "3-", "-7", "+3-7", "03-7", "3-7-1", "3-x", " 3-7", "99999999999999999999-1"]
        {
            assert_eq!(text.parse::<EventId>(), Err(NoEventId), "{text:?}");
        }
    }
}
