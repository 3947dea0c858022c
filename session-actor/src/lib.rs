//! The session of actix-mcp.
//!
//! Every session is an actor that owns its in-flight map; every SSE stream is a child of it. From the outside in:
//!
//! - `sessions`: all sessions of a server; `hub`: the state they share; `registry`: the sessions by id
//! - `task`: the task of one request in a session; `exchange`: a self-contained request, from 2026-07-28 on
//! - `session`: the actor, one file per kind of event: `admit`, `own`, `refuse`, `emit`, `ask`, `finish`,
//!   `streams`, ..
//! - `state`: the session's rules, without I/O; `replay`: the events kept for clients that resume
//! - `token`: the internal names of calls and streams
//! - `link`: a call's way back to its session; `stream`: the writer of one SSE stream
//! - `reply_to`: where an answer goes; `queue` and `budget`: the bounded queue in between
//! - `listen`: `subscriptions/listen`; `listeners`: the open subscriptions; `changes`: changes not passed on yet
//! - `bus`: how a change reaches the clients of other nodes
//! - `limits`, `stats`: the limits and the counters
//!
//! Apart from re-exports, the only files that use each other's names in a circle are those of the actor with `link` and
//! `stream`, which hold weak addresses of it.
//!
//! **Invariant:** only the session touches its in-flight map, and no handler code runs inside an actor.
//!
//! # The invariants and their tests
//!
//! Each of these tests was seen to fail with a guard of its invariant removed (where two guards enforce the same, with
//! both). `model` is the state machine test of `tests/wire/model.rs`, which drives two real sessions against a model of
//! them. Not tried: `no_module_but_era_names_a_revision`, which reads the source, and
//! `dropping_a_pending_handler_contains_its_destructors`.
//!
//! 1. Only the session touches its in-flight map, from which an id and its call are removed together: `model`,
//!    `an_id_is_free_again_after_its_answer_and_the_new_call_is_another`,
//!    `an_id_is_taken_until_a_cancel_takes_effect_and_free_from_then_on` (`tests/wire`)
//! 2. Internally, everything is keyed by a token whose generation is never reused:
//!    `a_stale_token_finds_nothing_in_a_reused_slot`, `a_stale_close_leaves_the_newer_stream_open`,
//!    `the_late_report_of_a_cancelled_call_leaves_the_next_one_under_its_id_alone` (`tests/wire`)
//! 3. One claim decides, before there is a stream and before the handler runs; the request's task only waits for it:
//!    `a_second_request_is_refused_before_a_stream_or_a_handler_exists_and_the_first_keeps_everything`,
//!    `a_second_claim_of_a_live_id_is_refused_and_the_first_keeps_everything`,
//!    `of_two_hundred_racing_requests_exactly_one_runs`
//! 4. Every admitted request is taken exactly once: `model`,
//!    `in_every_interleaving_of_claims_a_cancel_a_disconnect_a_resume_a_shutdown_and_finishes_the_rules_hold`,
//!    `in_every_order_of_all_four_the_rules_hold` (`tests/wire`, `tests/http`),
//!    `a_request_whose_task_has_gone_with_its_worker_is_answered_and_its_id_is_free`
//! 5. An id and its stream are removed together, when the answer is handed over: `model`,
//!    `a_new_request_under_the_id_during_a_slow_final_write_never_reaches_the_old_stream`
//! 6. Every removal is guarded by the generation:
//!    `dropping_a_broken_stream_with_a_stale_generation_removes_nothing_although_the_slot_is_reused`,
//!    `a_stale_close_leaves_the_newer_stream_open`
//! 7. A broken stream stops only itself: `a_broken_stream_costs_only_itself_and_its_answer_waits_for_a_resume`,
//!    `a_stream_that_stands_still_is_closed_after_thirty_seconds_and_costs_only_itself`
//! 8. No handler code runs inside an actor, and a panic does not leave its task:
//!    `a_panic_is_an_internal_error_without_its_text`, `dropping_a_pending_handler_contains_its_destructors`
//!    (router), and `a_session_that_panics_leaves_no_entry_no_handler_and_no_stream` in case an actor panics all the
//!    same
//! 9. No queue is unbounded and no response is dropped: `what_must_arrive_is_never_dropped_to_make_room`,
//!    `a_slow_reader_gets_everything_in_order` (`tests/http`),
//!    `a_broken_stream_costs_only_itself_and_its_answer_waits_for_a_resume`
//! 10. Everything that differs by revision is in `era`: `no_module_but_era_names_a_revision`,
//!     `streams_begin_with_an_event_to_come_back_to_from_2025_11_25_on_and_never_before`

mod budget;
mod bus;
mod changes;
mod exchange;
mod hub;
mod limits;
mod link;
mod listen;
mod listeners;
mod queue;
mod registry;
mod replay;
mod reply_to;
mod session;
mod sessions;
mod state;
mod stats;
mod stream;
mod task;
mod token;

pub use crate::{
    bus::{Bus, Node},
    limits::{ProcessLimits, ReplayLimits, SessionLimits},
    stats::Snapshot,
};

/// What the other crates of the framework need of this one. It may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        budget::ByteBudget,
        exchange::Exchange,
        hub::Full,
        queue::{Sink, Source, queue},
        replay::{EventId, NoEventId},
        reply_to::{Accepts, Batch, Disposition, HttpReply, ReplyTo, ResponseHead, event},
        session::{
            Answered, Batching, Close, Drain, NoStream, NotResumed, Notified, OpenError, OpenStream, Opening,
            Refuse, Resume, SessionActor, SessionHandle, Stop,
        },
        sessions::{Sessions, WeakSessions},
        stats::Stats,
        task::serve,
    };
}
