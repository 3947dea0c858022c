//! Counts of wrong, missing and duplicate messages.

use std::cell::{Cell, RefCell};

/// Counts of one measurement, shared by its clients. They run on one thread.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) ok: Cell<u64>,
    /// Answers and notifications that were meant for another request.
    pub(crate) misrouted: Cell<u64>,
    /// Those that never arrived.
    pub(crate) lost: Cell<u64>,
    /// Those that arrived twice.
    pub(crate) duplicated: Cell<u64>,
    /// Clients that failed.
    pub(crate) failed: Cell<u64>,
    /// The error of the first failed client.
    pub(crate) first: RefCell<Option<String>>,
}

/// Adds to a count.
pub(crate) fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}

impl Tally {
    /// Counts a message, as misrouted if it is not right.
    pub(crate) fn routed(&self, right: bool) {
        add(if right { &self.ok } else { &self.misrouted }, 1);
    }

    pub(crate) fn fail(&self, error: &anyhow::Error) {
        add(&self.failed, 1);
        self.first.borrow_mut().get_or_insert_with(|| format!("{error:#}"));
    }

    /// A summary of the errors; `None` if there were none.
    pub(crate) fn wrong(&self) -> Option<String> {
        let counts = [
            ("misrouted", &self.misrouted),
            ("lost", &self.lost),
            ("duplicated", &self.duplicated),
            ("failed", &self.failed),
        ];
        let counts = counts.iter().filter(|(_, count)| count.get() > 0);
        let mut words = counts.map(|(what, count)| format!("{} {what}", count.get())).collect::<Vec<_>>();
        words.extend(self.first.borrow().clone());
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_mistakes_has_nothing_to_say_and_others_name_each() {
        let tally = Tally::default();
        tally.routed(true);
        assert_eq!(tally.wrong(), None);
        tally.routed(false);
        add(&tally.lost, 2);
        tally.fail(&anyhow::anyhow!("the end"));
        tally.fail(&anyhow::anyhow!("a later one"));
        assert_eq!(tally.wrong().as_deref(), Some("1 misrouted, 2 lost, 2 failed, the end"));
    }
}
