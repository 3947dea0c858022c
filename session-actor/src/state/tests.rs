//! The rules of a session in the pure model: no runtime, no clock but the one that is passed in.

use std::{cell::Cell, rc::Rc, time::Duration};

use actix_mcp_router::{Change, QuestionError, RequestId};
use bytes::Bytes;
use bytestring::ByteString;
use tokio::{sync::oneshot, time::Instant};

use super::{ClientRequest, NotAdmitted, Phase, SessionState};
use crate::{
    limits::SessionLimits,
    replay::{EventId, ReplayLimits},
    stats::{Counter, Stats},
    token::Token,
};

type State = SessionState<&'static str, &'static str>;

fn state() -> State {
    SessionState::new(SessionLimits::default(), Instant::now())
}

fn now() -> Instant {
    Instant::now()
}

fn admit(state: &mut State, id: i64, call: &'static str) -> Result<Token, NotAdmitted> {
    state.admit(RequestId::Integer(id), now()).map(|claim| claim.fill(call))
}

fn finish(state: &mut State, call: Token) -> Option<(&'static str, Option<&'static str>)> {
    state.finish(call, |_| Bytes::from_static(b"answer"), now()).map(|(taken, _)| (taken.kept, taken.reader))
}

fn open(state: &mut State, call: Token, reader: &'static str) -> Token {
    state.open_stream(call, true, |_, _| reader).unwrap()
}

#[test]
fn a_second_claim_of_a_live_id_is_refused_and_the_first_keeps_everything() {
    let mut state = state();
    let first = admit(&mut state, 7, "first").unwrap();
    open(&mut state, first, "its stream");

    assert_eq!(admit(&mut state, 7, "second"), Err(NotAdmitted::Duplicate));
    assert_eq!(state.find(&RequestId::Integer(7)), Some(first));
    let (event, reader) = state.emit(first, &Bytes::from_static(b"progress"), now()).unwrap();
    assert_eq!((event.event, reader), (1, Some(&"its stream")));
    assert_eq!(finish(&mut state, first), Some(("first", Some("its stream"))));
}

#[test]
fn of_two_hundred_claims_of_one_id_exactly_one_wins() {
    let mut state = state();
    let won = (0..200).filter(|_| admit(&mut state, 7, "call").is_ok()).count();
    assert_eq!(won, 1);
    assert_eq!(state.in_flight(), 1);
}

/// What one of the interleaved parties does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    ClaimA,
    ClaimB,
    /// Names the wire id, as the client does.
    Cancel,
    /// Names the token of A, as A's task does; nothing if A was refused.
    FinishA,
    FinishB,
}

#[test]
fn in_every_interleaving_of_two_claims_a_cancel_and_two_finishes_each_admitted_call_is_taken_exactly_once() {
    use Step::{Cancel, ClaimA, ClaimB, FinishA, FinishB};

    let mut orders = 0;
    permutations(&mut vec![ClaimA, ClaimB, Cancel, FinishA, FinishB], 0, &mut |order| {
        let at = |step| order.iter().position(|other| *other == step);
        // a task can only report a call that it was told was admitted
        if at(FinishA) < at(ClaimA) || at(FinishB) < at(ClaimB) {
            return;
        }
        orders += 1;
        let mut state = state();
        let (mut a, mut b) = (None, None);
        let mut live = None;
        for step in order {
            match step {
                ClaimA | ClaimB => {
                    let name = if *step == ClaimA { "a" } else { "b" };
                    let claim = admit(&mut state, 7, name);
                    assert_eq!(claim.is_ok(), live.is_none(), "{order:?} at {step:?}");
                    if let Ok(token) = claim {
                        live = Some(name);
                        *(if *step == ClaimA { &mut a } else { &mut b }) = Some(token);
                    }
                }
                Cancel => {
                    let taken = state.find(&RequestId::Integer(7)).and_then(|call| state.cancel(call, now()));
                    assert_eq!(taken.map(|taken| taken.kept), live.take(), "{order:?} at {step:?}");
                }
                FinishA | FinishB => {
                    let (name, token) = if *step == FinishA { ("a", a) } else { ("b", b) };
                    let taken = token.and_then(|token| finish(&mut state, token)).map(|(name, _)| name);
                    let expected = (live == Some(name)).then_some(name);
                    assert_eq!(taken, expected, "{order:?} at {step:?}");
                    if taken.is_some() {
                        live = None;
                    }
                }
            }
        }
        assert_eq!(state.in_flight(), usize::from(live.is_some()), "{order:?}");
    });
    assert_eq!(orders, 30, "5! orders, a quarter of which keep both tasks behind their claims");
}

fn permutations<S>(steps: &mut Vec<S>, from: usize, visit: &mut impl FnMut(&[S])) {
    if from == steps.len() {
        return visit(steps);
    }
    for at in from..steps.len() {
        steps.swap(from, at);
        permutations(steps, from + 1, visit);
        steps.swap(from, at);
    }
}

/// Events that can meet on one call, in addition to a second call with its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    /// Each claim opens a stream, if it is admitted.
    ClaimA,
    ClaimB,
    /// Names the wire id, as the client does.
    Cancel,
    FinishA,
    FinishB,
    /// The first reader of A's stream has disconnected; stale if the stream has another one by then.
    Disconnect,
    /// The client resumes A's stream from the beginning.
    Resume,
    /// The server shuts down.
    Drain,
}

/// The calls as the rules have them: one may be live, and A may have ended.
#[derive(Debug, Default)]
struct Expected {
    live: Option<&'static str>,
    /// Who reads the live call's stream.
    reader: Option<&'static str>,
    draining: bool,
    a_answered: bool,
}

impl Expected {
    fn take(&mut self) -> Option<(&'static str, Option<&'static str>)> {
        let reader = self.reader.take();
        self.live.take().map(|live| (live, reader))
    }
}

#[test]
fn in_every_interleaving_of_claims_a_cancel_a_disconnect_a_resume_a_shutdown_and_finishes_the_rules_hold() {
    use Event::{Cancel, ClaimA, ClaimB, Disconnect, Drain, FinishA, FinishB, Resume};

    let (mut orders, mut stale, mut fetched) = (0, 0, 0);
    let mut all = vec![ClaimA, ClaimB, Cancel, FinishA, FinishB, Disconnect, Resume, Drain];
    permutations(&mut all, 0, &mut |order| {
        let at = |step| order.iter().position(|other| *other == step);
        // a task, and a stream, can only report after the claim
        if at(FinishA).min(at(Disconnect)) < at(ClaimA) || at(FinishB) < at(ClaimB) {
            return;
        }
        orders += 1;
        let mut state = state();
        let mut expected = Expected::default();
        let (mut a, mut b, mut first_reader) = (None, None, None);
        for step in order {
            match step {
                ClaimA | ClaimB => {
                    let name = if *step == ClaimA { "a" } else { "b" };
                    let claim = admit(&mut state, 7, name);
                    let refused = match (expected.live, expected.draining) {
                        (Some(_), _) => Some(NotAdmitted::Duplicate),
                        (None, true) => Some(NotAdmitted::Draining),
                        (None, false) => None,
                    };
                    assert_eq!(claim.err(), refused, "{order:?} at {step:?}");
                    let Ok(call) = claim else { continue };
                    let stream = open(&mut state, call, name);
                    (expected.live, expected.reader) = (Some(name), Some(name));
                    if *step == ClaimA {
                        (a, first_reader) = (Some(call), Some(stream));
                    } else {
                        b = Some(call);
                    }
                }
                Cancel => {
                    let taken = state.find(&RequestId::Integer(7)).and_then(|call| state.cancel(call, now()));
                    let taken = taken.map(|taken| (taken.kept, taken.reader));
                    assert_eq!(taken, expected.take(), "{order:?} at {step:?}");
                }
                FinishA | FinishB => {
                    let (name, call) = if *step == FinishA { ("a", a) } else { ("b", b) };
                    let due = if expected.live == Some(name) { expected.take() } else { None };
                    expected.a_answered |= due.is_some() && name == "a";
                    let taken = call.and_then(|call| finish(&mut state, call));
                    assert_eq!(taken, due, "{order:?} at {step:?}");
                }
                Disconnect => {
                    let gone = first_reader.and_then(|stream| state.drop_broken_stream(stream, now()));
                    let reads = expected.live == Some("a") && expected.reader == Some("a");
                    stale += usize::from(first_reader.is_some() && !reads);
                    assert_eq!(gone, reads.then_some("a"), "{order:?} at {step:?}");
                    if reads {
                        expected.reader = None;
                    }
                }
                Resume => {
                    let stream = first_reader.map_or(u64::MAX, Token::generation);
                    let resumed = state.resume(EventId { stream, event: 0 }, now(), |_, _| "a again");
                    let missed = resumed.as_ref().map(|resumed| resumed.events.len());
                    let due = match (expected.live, expected.a_answered) {
                        (Some("a"), _) => Some(0),
                        (_, true) => Some(1),
                        (_, false) => None,
                    };
                    assert_eq!(missed, due, "{order:?} at {step:?}");
                    let replaced = resumed.and_then(|resumed| resumed.replaced);
                    if expected.live == Some("a") {
                        assert_eq!(replaced, expected.reader.replace("a again"), "{order:?} at {step:?}");
                    } else {
                        assert_eq!(replaced, None, "{order:?} at {step:?}");
                    }
                    fetched += usize::from(missed == Some(1));
                }
                Drain => {
                    state.drain();
                    expected.draining = true;
                }
            }
            // after each step: one call at most, found under its id, with its own reader, and nothing else
            let live = if expected.live == Some("a") { a } else { b.filter(|_| expected.live.is_some()) };
            assert_eq!(state.find(&RequestId::Integer(7)), live, "{order:?} at {step:?}");
            assert_eq!(state.in_flight(), usize::from(live.is_some()), "{order:?} at {step:?}");
            let reader = live.and_then(|call| state.handle_of(call)).copied();
            assert_eq!(reader, expected.reader, "{order:?} at {step:?}");
            let reads = live.and_then(|call| state.reader_of(call));
            assert_eq!(reads.is_some(), reader.is_some(), "{order:?} at {step:?}");
            let idle = state.expires_at().is_some();
            assert_eq!(idle, live.is_none(), "a reader was left: {order:?} at {step:?}");
            for dead in [a, b].into_iter().flatten().filter(|call| Some(*call) != live) {
                let late = state.emit(dead, &Bytes::from_static(b"late"), now());
                assert!(late.is_none(), "{order:?} at {step:?}");
            }
        }
        let (calls, readers) = state.close();
        let calls = calls.into_iter().map(|(_, kept)| kept).collect::<Vec<_>>();
        assert_eq!(calls, expected.live.into_iter().collect::<Vec<_>>(), "{order:?}");
        assert_eq!(readers, expected.reader.into_iter().collect::<Vec<_>>(), "{order:?}");
        assert_eq!((state.in_flight(), state.expires_at().is_some()), (0, true), "{order:?}");
    });
    // ClaimA is the first of three in a third of 8! orders, and ClaimB comes before FinishB in half of these
    assert_eq!(orders, 6720);
    assert!(stale > 1000 && fetched > 500, "{stale} late disconnects, {fetched} answers were fetched");
}

#[test]
fn an_id_is_free_again_after_its_answer_and_the_new_call_is_another() {
    let mut state = state();
    let first = admit(&mut state, 7, "first").unwrap();
    open(&mut state, first, "first stream");
    assert!(finish(&mut state, first).is_some());
    let second = admit(&mut state, 7, "second").unwrap();
    open(&mut state, second, "second stream");

    assert_ne!(first, second);
    assert!(state.emit(first, &Bytes::from_static(b"late"), now()).is_none(), "a dead token reaches nobody");
    assert!(finish(&mut state, first).is_none(), "a call is taken once");
    assert_eq!(finish(&mut state, second), Some(("second", Some("second stream"))));
}

#[test]
fn finishing_one_call_leaves_the_stream_of_another_alone() {
    let mut state = state();
    let one = admit(&mut state, 1, "one").unwrap();
    let two = admit(&mut state, 2, "two").unwrap();
    open(&mut state, one, "stream one");
    open(&mut state, two, "stream two");

    assert_eq!(finish(&mut state, one), Some(("one", Some("stream one"))));
    let (_, reader) = state.emit(two, &Bytes::from_static(b"x"), now()).unwrap();
    assert_eq!(reader, Some(&"stream two"));
}

#[test]
fn dropping_a_broken_stream_with_a_stale_generation_removes_nothing_although_the_slot_is_reused() {
    let mut state = state();
    let call = admit(&mut state, 1, "call").unwrap();
    let old = open(&mut state, call, "old");
    assert_eq!(state.drop_broken_stream(old, now()), Some("old"));
    let last = EventId { stream: old.generation(), event: 0 };
    let mut new = None;
    state
        .resume(last, now(), |token, _| {
            new = Some(token);
            "new"
        })
        .unwrap();
    let new = new.unwrap();

    assert_eq!(new.slot(), old.slot(), "the slot must be reused for this to prove anything");
    assert_ne!(new.generation(), old.generation());
    assert_eq!(state.drop_broken_stream(old, now()), None);
    assert_eq!(state.emit(call, &Bytes::from_static(b"x"), now()).unwrap().1, Some(&"new"));
}

#[test]
fn a_broken_stream_leaves_its_call_the_other_streams_and_the_session_alone() {
    let mut state = state();
    let broken = admit(&mut state, 1, "broken").unwrap();
    let other = admit(&mut state, 2, "other").unwrap();
    let stream = open(&mut state, broken, "broken stream");
    open(&mut state, other, "other stream");
    state.drop_broken_stream(stream, now());

    assert_eq!(state.in_flight(), 2);
    assert_eq!(state.emit(other, &Bytes::from_static(b"x"), now()).unwrap().1, Some(&"other stream"));
    assert_eq!(state.emit(broken, &Bytes::from_static(b"x"), now()).unwrap().1, None);
    assert_eq!(finish(&mut state, broken), Some(("broken", None)));
}

#[test]
fn a_resume_gets_the_rest_of_its_own_stream_once_and_in_order_and_an_answer_waits_for_it() {
    let mut state = state();
    let one = admit(&mut state, 1, "one").unwrap();
    let two = admit(&mut state, 2, "two").unwrap();
    let stream = open(&mut state, one, "stream one");
    open(&mut state, two, "stream two");
    let number = stream.generation();
    state.emit(one, &Bytes::from_static(b"1"), now());
    state.emit(two, &Bytes::from_static(b"other"), now());
    state.drop_broken_stream(stream, now());
    state.emit(one, &Bytes::from_static(b"2"), now());
    finish(&mut state, one).unwrap();

    let resumed = state.resume(EventId { stream: number, event: 1 }, now(), |_, _| "back").unwrap();
    let bodies = resumed.events.iter().map(|(id, json)| (id.event, &**json)).collect::<Vec<_>>();
    assert_eq!(bodies, [(2, &b"2"[..]), (3, &b"answer"[..])]);
    for unservable in [
        EventId { stream: number, event: 3 },
        EventId { stream: number, event: 9 },
        EventId { stream: 99, event: 0 },
    ] {
        assert!(state.resume(unservable, now(), |_, _| "back").is_none(), "{unservable}");
    }
}

#[test]
fn a_call_has_one_stream_to_which_others_are_not_added() {
    let mut state = state();
    let call = admit(&mut state, 1, "call").unwrap();
    open(&mut state, call, "its stream");
    assert_eq!(state.open_stream(call, true, |_, _| "another"), None);
    assert_eq!(finish(&mut state, call), Some(("call", Some("its stream"))));
    assert!(state.expires_at().is_some(), "no reader is left");
}

#[test]
fn an_answer_that_found_no_reader_outlives_what_other_streams_are_sent() {
    let limits = SessionLimits {
        replay: ReplayLimits { events: 3, ..ReplayLimits::default() },
        ..SessionLimits::default()
    };
    let mut state: State = SessionState::new(limits, Instant::now());
    let (broken, other) = (admit(&mut state, 1, "broken").unwrap(), admit(&mut state, 2, "other").unwrap());
    let stream = open(&mut state, broken, "broken stream");
    open(&mut state, other, "other stream");
    state.drop_broken_stream(stream, now());
    finish(&mut state, broken).unwrap();
    for _ in 0..10 {
        state.emit(other, &Bytes::from_static(b"x"), now());
    }
    let last = EventId { stream: stream.generation(), event: 0 };
    assert_eq!(state.resume(last, now(), |_, _| "back").map(|resumed| resumed.events.len()), Some(1));
}

fn ask(call: Token, nth: u64, reply: oneshot::Sender<Result<ByteString, QuestionError>>) -> ClientRequest {
    ClientRequest { call, nth, due: now() + Duration::from_secs(60), reply }
}

#[test]
fn a_standalone_stream_that_broke_goes_on_for_a_client_that_comes_back_although_it_has_missed_nothing() {
    let mut state = state();
    let old = state.open_standalone(true, now(), |_, _| "old").unwrap();
    let last = EventId { stream: old.generation(), event: 0 };
    state.drop_broken_stream(old, now());

    let mut new = None;
    let resumed = state.resume(last, now(), |token, _| {
        new = Some(token);
        "new"
    });
    assert!(resumed.unwrap().events.is_empty());
    let (event, reader) = state.emit_standalone(&Bytes::from_static(b"x"), now(), |_| true).unwrap();
    assert_eq!((event, *reader), (EventId { event: 1, ..last }, "new"));
    state.drop_broken_stream(new.unwrap(), now());
    let resumed = state.resume(last, now(), |_, _| "again").unwrap();
    assert_eq!(resumed.events.iter().map(|(id, _)| id.event).collect::<Vec<_>>(), [1], "what it has missed");
    let ahead = EventId { event: 9, ..last };
    assert!(state.resume(ahead, now(), |_, _| "new").is_none(), "an event that was never sent");
}

#[test]
fn as_many_broken_standalone_streams_are_remembered_as_may_be_open() {
    let limits = SessionLimits { streams: 1, ..SessionLimits::default() };
    let mut state: State = SessionState::new(limits, Instant::now());
    let mut broken = || {
        let stream = state.open_standalone(true, now(), |_, _| "get").unwrap();
        state.drop_broken_stream(stream, now());
        EventId { stream: stream.generation(), event: 0 }
    };
    let (first, second) = (broken(), broken());
    assert!(state.resume(first, now(), |_, _| "get").is_none());
    assert!(state.resume(second, now(), |_, _| "get").is_some());
    assert!(state.open_standalone(true, now(), |_, _| "get").is_none(), "one that is come back to is open");
    let third = EventId { stream: second.stream + 1, event: 0 };
    assert!(state.resume(third, now(), |_, _| "get").is_none(), "unknown");
}

#[test]
fn the_limit_of_standalone_streams_holds_for_those_that_are_come_back_to() {
    let limits = SessionLimits { streams: 1, ..SessionLimits::default() };
    let mut state: State = SessionState::new(limits, Instant::now());
    let old = state.open_standalone(true, now(), |_, _| "old").unwrap();
    state.drop_broken_stream(old, now());
    let new = state.open_standalone(true, now(), |_, _| "new").unwrap();
    let last = EventId { stream: old.generation(), event: 0 };
    assert!(state.resume(last, now(), |_, _| "old").is_none(), "another has taken its place");
    state.drop_broken_stream(new, now());
}

#[test]
fn only_the_session_that_asked_can_be_answered_and_only_once() {
    let (mut ours, mut theirs) = (state(), state());
    let call = admit(&mut ours, 1, "call").unwrap();
    let (reply, mut answer) = oneshot::channel();
    let id = RequestId::Integer(ours.ask(ask(call, 0, reply)).unwrap());

    assert!(theirs.answered(&id, now()).is_none());
    assert!(ours.answered(&id.to_string().as_str().into(), now()).is_none(), "a string is another id");
    let ask = ours.answered(&id, now()).unwrap();
    assert!(ours.answered(&id, now()).is_none());
    ask.reply.send(Ok("{}".into())).unwrap();
    assert!(answer.try_recv().is_ok());
}

#[test]
fn the_questions_of_a_call_end_with_it_and_those_of_others_stay() {
    let mut state = state();
    let (one, two) = (admit(&mut state, 1, "one").unwrap(), admit(&mut state, 2, "two").unwrap());
    let (reply_one, mut answer_one) = oneshot::channel();
    let (reply_two, mut answer_two) = oneshot::channel();
    state.ask(ask(one, 0, reply_one)).unwrap();
    let id_two = RequestId::Integer(state.ask(ask(two, 0, reply_two)).unwrap());
    finish(&mut state, one).unwrap();

    assert_eq!(answer_one.try_recv().unwrap_err(), oneshot::error::TryRecvError::Closed);
    assert_eq!(answer_two.try_recv().unwrap_err(), oneshot::error::TryRecvError::Empty);
    assert!(state.answered(&id_two, now()).is_some());
    let (reply, _answer) = oneshot::channel();
    let (_, error) = state.ask(ask(one, 1, reply)).unwrap_err();
    assert!(matches!(error, QuestionError::Gone), "a call that has ended asks nothing");
}

#[test]
fn the_limit_of_calls_holds_on_both_sides() {
    let mut state: State =
        SessionState::new(SessionLimits { in_flight: 2, ..SessionLimits::default() }, Instant::now());
    let one = admit(&mut state, 1, "one").unwrap();
    admit(&mut state, 2, "two").unwrap();
    assert_eq!(admit(&mut state, 3, "three"), Err(NotAdmitted::Full));
    assert_eq!(
        admit(&mut state, 1, "again"),
        Err(NotAdmitted::Duplicate),
        "the duplicate is told before the limit"
    );
    finish(&mut state, one).unwrap();
    assert!(admit(&mut state, 3, "three").is_ok());
}

#[test]
fn a_refused_call_leaves_nothing_behind() {
    let mut state: State =
        SessionState::new(SessionLimits { in_flight: 1, ..SessionLimits::default() }, Instant::now());
    let one = admit(&mut state, 1, "one").unwrap();
    assert_eq!(admit(&mut state, 2, "two"), Err(NotAdmitted::Full));
    assert_eq!(state.find(&RequestId::Integer(2)), None);
    finish(&mut state, one).unwrap();
    assert_eq!(state.in_flight(), 0);
    state.drain();
    assert_eq!(admit(&mut state, 2, "two"), Err(NotAdmitted::Draining));
    assert_eq!(state.find(&RequestId::Integer(2)), None);
}

#[test]
fn the_limits_of_streams_asks_and_subscriptions_hold_on_both_sides() {
    let limits =
        SessionLimits { streams: 1, client_requests: 1, subscriptions: 1, ..SessionLimits::default() };
    let mut state: State = SessionState::new(limits, Instant::now());
    let stream = state.open_standalone(true, now(), |_, _| "get").unwrap();
    assert!(state.open_standalone(true, now(), |_, _| "get").is_none());
    state.drop_broken_stream(stream, now());
    assert!(state.open_standalone(true, now(), |_, _| "get").is_some());

    let call = admit(&mut state, 1, "call").unwrap();
    let nth = |nth| ask(call, nth, oneshot::channel().0);
    let id = state.ask(nth(0)).unwrap();
    let (_, error) = state.ask(nth(1)).unwrap_err();
    assert!(matches!(error, QuestionError::TooMany { limit: 1 }));
    state.answered(&RequestId::Integer(id), now()).unwrap();
    assert!(state.ask(nth(1)).is_ok());

    let stats = Stats::default();
    let count = || stats.count(Counter::Subscriptions);
    assert!(state.subscribe("mem://a".into(), count));
    assert!(state.subscribe("mem://a".into(), count), "a second time is no more than once");
    assert!(!state.subscribe("mem://b".into(), count));
    assert_eq!(stats.snapshot().subscriptions, 1);
    state.unsubscribe(&"mem://a".into());
    assert_eq!(stats.snapshot().subscriptions, 0);
    assert!(state.subscribe("mem://b".into(), count));
}

#[test]
fn a_session_is_idle_only_with_nothing_in_flight_and_no_stream() {
    let mut state = state();
    let start = Instant::now();
    state.touch(start);
    let idle = state.limits.idle;
    assert_eq!(state.expires_at(), Some(start + idle));

    let call = admit(&mut state, 1, "call").unwrap();
    assert_eq!(state.expires_at(), None, "a call is in flight");
    finish(&mut state, call).unwrap();
    assert!(state.expires_at().is_some());

    let stream = state.open_standalone(true, now(), |_, _| "get").unwrap();
    assert_eq!(state.expires_at(), None, "a stream is open");
    let later = start + Duration::from_secs(10);
    state.drop_broken_stream(stream, later);
    assert_eq!(state.expires_at(), Some(later + idle), "the clock starts when the stream closes");
}

#[test]
fn notices_wait_for_the_client_to_be_ready_and_are_one_a_kind_and_uri() {
    let mut state = state();
    let stats = Stats::default();
    let count = || stats.count(Counter::Subscriptions);
    state.subscribe("mem://a".into(), count);
    assert!(state.changed(Change::Tools));
    for _ in 0..1000 {
        state.changed(Change::Tools);
        state.changed(Change::Resource("mem://a".into()));
        state.changed(Change::Resource("mem://unsubscribed".into()));
    }
    assert_eq!(state.next_notice(), None, "the client is not ready");
    state.phase = Phase::Ready;
    let mut notices = Vec::new();
    while let Some(notice) = state.next_notice() {
        notices.push(notice);
    }
    assert_eq!(notices, [Change::Tools, Change::Resource("mem://a".into())]);
    assert!(state.changed(Change::Tools), "what comes later is told again");
}

#[test]
fn the_end_takes_every_call_and_every_stream_and_nothing_comes_after_it() {
    let mut state = state();
    let one = admit(&mut state, 1, "one").unwrap();
    admit(&mut state, 2, "two").unwrap();
    open(&mut state, one, "stream one");
    state.open_standalone(true, now(), |_, _| "get").unwrap();

    let (calls, mut readers) = state.close();
    readers.sort_unstable();
    assert_eq!(calls.len(), 2);
    assert_eq!(readers, ["get", "stream one"]);
    assert_eq!(state.in_flight(), 0);
    assert!(finish(&mut state, one).is_none());
    assert_eq!(admit(&mut state, 1, "late"), Err(NotAdmitted::Draining));
}

#[test]
fn what_a_call_keeps_is_dropped_when_it_is_taken_and_not_before() {
    struct Guard(Rc<Cell<bool>>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let dropped = Rc::new(Cell::new(false));
    let mut state: SessionState<Guard, ()> = SessionState::new(SessionLimits::default(), Instant::now());
    let call =
        state.admit(RequestId::Integer(7), now()).map(|claim| claim.fill(Guard(dropped.clone()))).unwrap();
    assert!(!dropped.get());
    drop(state.finish(call, |_| Bytes::new(), now()));
    assert!(dropped.get());
}
