//! The request ids of batches that are not answered yet.
//!
//! The answers of a batch are sent together, so an id stays taken after its own answer is ready. The answers
//! themselves are in the batch.
//!
//! **Invariant:** an id is taken until its batch is dropped, which is when the array is handed over, or until its
//! call is cancelled. How it was answered does not matter.
//!
//! Read next: `reply_to` (the batch).

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use actix_mcp_router::RequestId;

use crate::reply_to::Batch;

/// With fewer ids than this, taking one does not remove those that are free again.
const MIN_SWEEP: usize = 128; // ids

/// The ids that the batches of one session have taken.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    /// Each with the batch it came in. Once the batch is dropped its ids are free, although they may still be here.
    ids: HashMap<RequestId, Weak<Batch>>,
    /// The number of ids at which those of dropped batches are removed next.
    sweep_at: usize,
}

impl Owed {
    /// Whether an id is taken.
    pub(crate) fn holds(&self, id: &RequestId) -> bool {
        // most sessions have no batch, ever
        !self.ids.is_empty() && self.ids.get(id).is_some_and(|batch| batch.strong_count() > 0)
    }

    /// Takes an id until its batch is dropped.
    pub(crate) fn take(&mut self, id: RequestId, batch: &Arc<Batch>) {
        if self.ids.len() >= self.sweep_at {
            self.sweep();
            // amortized: the number of ids at least doubles until the next sweep
            self.sweep_at = (self.ids.len() * 2).max(MIN_SWEEP);
        }
        self.ids.insert(id, Arc::downgrade(batch));
    }

    /// Frees an id whose call was cancelled.
    pub(crate) fn free(&mut self, id: &RequestId) {
        self.ids.remove(id);
    }

    /// Removes ids that are free again, if there are few enough to look at: ids can be long.
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
        assert_eq!(owed.ids.capacity(), 0, "ids of a dropped batch are kept");
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
