//! What came back and what did not.

use std::cell::{Cell, RefCell};

/// Counts of one measurement, shared by its clients. They run on one thread.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) ok: Cell<u64>,
    /// Answers and notifications that belong to another request.
    pub(crate) misrouted: Cell<u64>,
    /// Those that never came.
    pub(crate) lost: Cell<u64>,
    /// Those that came again.
    pub(crate) duplicated: Cell<u64>,
    /// Clients that could not go on.
    pub(crate) failed: Cell<u64>,
    /// What the first of these met.
    pub(crate) first: RefCell<Option<String>>,
}

/// Adds to a count.
pub(crate) fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}

impl Tally {
    /// Counts an answer as right or as another's.
    pub(crate) fn routed(&self, right: bool) {
        add(if right { &self.ok } else { &self.misrouted }, 1);
    }

    pub(crate) fn fail(&self, error: &anyhow::Error) {
        add(&self.failed, 1);
        self.first.borrow_mut().get_or_insert_with(|| format!("{error:#}"));
    }

    /// What went wrong, in words; `None` if nothing did.
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
