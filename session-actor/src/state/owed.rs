//! The ids of batches whose answers were not handed over yet.
//!
//! The answers of a batch leave together, so that an id stays taken after its own answer is there. The answers are not here:
//! the batch has them.
//!
//! **Invariant:** an id is taken until its batch has gone, which is when the array is handed over, or its call was
//! cancelled. How it was answered does not matter.
//!
//! Read next: `reply_to` (the batch).

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use actix_mcp_router::RequestId;

use crate::reply_to::Batch;

/// Fewer ids than this are never searched for those that can go.
const MIN_SWEEP: usize = 128; // ids

/// The ids that are taken by a batch of one session.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    /// Of each, the batch that it came in. A batch that has gone leaves its ids free, although they are still here.
    ids: HashMap<RequestId, Weak<Batch>>,
    /// How many ids there are when those of batches that have gone are removed next.
    sweep_at: usize,
}

impl Owed {
    /// Whether an id is taken.
    pub(crate) fn holds(&self, id: &RequestId) -> bool {
        // most sessions have no batch, ever
        !self.ids.is_empty() && self.ids.get(id).is_some_and(|batch| batch.strong_count() > 0)
    }

    /// Takes an id until its batch has gone.
    pub(crate) fn take(&mut self, id: RequestId, batch: &Arc<Batch>) {
        if self.ids.len() >= self.sweep_at {
            self.sweep();
            // each sweep is paid for by as many ids that came since the last one
            self.sweep_at = (self.ids.len() * 2).max(MIN_SWEEP);
        }
        self.ids.insert(id, Arc::downgrade(batch));
    }

    /// Frees an id whose call was cancelled.
    pub(crate) fn free(&mut self, id: &RequestId) {
        self.ids.remove(id);
    }

    /// Removes what no longer is taken, where it is worth a look: ids can be long.
    pub(crate) fn tidy(&mut self) {
        if !self.ids.is_empty() && self.ids.len() <= MIN_SWEEP {
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        self.ids.retain(|_, batch| batch.strong_count() > 0);
        if self.ids.is_empty() {
            self.ids = HashMap::new();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn batch() -> Arc<Batch> {
        Batch::in_response(oneshot::channel().0)
    }

    // C111
    #[test]
    fn an_id_is_taken_until_its_batch_has_gone_or_its_call_was_cancelled() {
        let mut owed = Owed::default();
        let (a, b) = (batch(), batch());
        owed.take(1_i64.into(), &a);
        owed.take(2_i64.into(), &a);
        owed.take(3_i64.into(), &b);
        owed.free(&2_i64.into());
        assert!(owed.holds(&1_i64.into()) && !owed.holds(&2_i64.into()) && owed.holds(&3_i64.into()));
        drop(a);
        assert!(!owed.holds(&1_i64.into()) && owed.holds(&3_i64.into()));
        drop(b);
        assert!(!owed.holds(&3_i64.into()));
        owed.tidy();
        assert_eq!(owed.ids.capacity(), 0, "ids of a batch that has gone are kept");
    }

    #[test]
    fn what_is_kept_of_batches_that_have_gone_is_bounded() {
        let mut owed = Owed::default();
        let live = batch();
        for id in 0..100_000_i64 {
            let gone = batch();
            owed.take(id.into(), if id % 1000 == 0 { &live } else { &gone });
        }
        assert!(owed.ids.len() <= 2 * MIN_SWEEP, "{} ids", owed.ids.len());
        assert!((0..100_i64).all(|id| owed.holds(&(id * 1000).into())));
    }
}
