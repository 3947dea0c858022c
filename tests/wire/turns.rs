//! Races without a clock: a task that waits for so many turns of its executor, and a call that ends so.

use std::{future::poll_fn, mem::replace, task::Poll, time::Duration};

use actix_mcp::prelude::*;
use actix_web::rt::time::sleep;

/// Gives way so many times: each time, every task that is ready runs once.
///
/// Only of use in a spawned task, which takes its place in the queue with the others; what is not spawned waits for many
/// of them at a time, and so does `yield_now` anywhere.
pub(crate) async fn turns(turns: u32) {
    for _ in 0..turns {
        let mut woken = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if replace(&mut woken, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Waits for so many milliseconds, then for so many turns, and answers with `A`.
#[tool]
pub(crate) async fn linger(ms: u64, turns: u32) -> &'static str {
    if ms > 0 {
        sleep(Duration::from_millis(ms)).await;
    }
    crate::turns::turns(turns).await;
    "A"
}

/// What a round varies: the call ends after `ms` milliseconds and `lag` turns, it is cancelled after `wait` milliseconds and
/// `before` turns, and `after` so many turns more its id is used again. In a turn everything that is ready runs once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) ms: u64,
    pub(crate) lag: u32,
    pub(crate) wait: u64,
    pub(crate) before: u32,
    pub(crate) after: u32,
}

impl Round {
    /// 10 000 of them, each another interleaving.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..10_000).map(|nth| Self {
            ms: u64::from(nth % 4),
            wait: u64::from(nth / 4 % 4),
            lag: nth / 16 % 5,
            after: nth / 80 % 5,
            before: nth / 400,
        })
    }

    /// Asserts that these were races: of the rounds in which a call ends in the millisecond of its cancel, some were answered
    /// and some stopped, whatever its lag.
    pub(crate) fn assert_raced(answered: &[(bool, Self)]) {
        assert_eq!(answered.len(), 10_000);
        for (ms, lag) in (0..4).flat_map(|ms| (1..5).map(move |lag| (ms, lag))) {
            let alike =
                answered.iter().filter(|(_, round)| (round.ms, round.wait, round.lag) == (ms, ms, lag));
            let (won, all) = (alike.clone().filter(|(answered, _)| *answered).count(), alike.count());
            assert!(
                (1..all).contains(&won),
                "{won} of {all} were answered: no race at {ms} ms and {lag} turns"
            );
        }
    }
}
