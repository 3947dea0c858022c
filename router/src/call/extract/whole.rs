//! A second try for arguments that serde refused: `10.0` is an integer in JSON Schema, but serde_json reads it as a
//! float.
//!
//! A type reveals which numbers it wants as integers only while it is read. So it is read once more, only for this,
//! from a [`Probe`] that records the places, and the text is rewritten only there: numbers for an `f64` or a
//! `serde_json::Value` keep their text.
//!
//! Where serde reads into a buffer first (`flatten`, `untagged`, an internally tagged enum), it asks for a value of any
//! type. There, every whole number is rewritten at first, and then restored wherever the type accepts the original.
//!
//! **Invariant:** arguments that serde accepts unchanged never get here.

use serde::de::DeserializeOwned;
use serde_json::Error;

use super::probe::Probe;
use crate::wire::number::integer_of;

/// The most bytes that are read again to restore numbers in buffers. Numbers not restored by then stay rewritten.
const MAX_REREAD_BYTES: usize = 4 * 1024 * 1024;

/// The text with whole numbers written as integers where `T` wants integers, if there are any.
///
/// The caller has to check whether `T` accepts it; if not, that error is the one to report.
pub(crate) fn rewritten<T: DeserializeOwned>(text: &str) -> Option<String> {
    if !text.contains(['.', 'e', 'E']) && !text.contains("-0") {
        return None;
    }
    let (asked, fits) = Probe::read::<T>(text, false);
    if fits {
        return (!asked.is_empty()).then(|| rewrite(text, &asked));
    }
    let (places, fits) = Probe::read::<T>(text, true);
    let mut places = Places { text, places, trials: MAX_REREAD_BYTES / text.len().max(1) };
    if fits {
        let buffered: Vec<_> = (0..places.places.len()).filter(|at| places.places[*at].buffered).collect();
        places.write_back::<T>(&buffered);
    }
    (!places.places.is_empty()).then(|| rewrite(text, &places.places))
}

/// Reads a client's value that is not an argument, such as a member of `_meta`.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let again = |error| rewritten::<T>(text).map_or(Err(error), |text| serde_json::from_str(&text));
    serde_json::from_str(text).or_else(again)
}

/// A whole number that is written as a float.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    /// It is in a buffer of serde's: no type has asked for an integer.
    pub(super) buffered: bool,
    /// It keeps its text.
    pub(super) kept: bool,
}

fn rewrite(text: &str, places: &[Place]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for place in places.iter().filter(|place| !place.kept) {
        let integer = text.get(place.start..place.end).and_then(integer_of);
        let before = text.get(done..place.start);
        if let (Some(before), Some(integer)) = (before, integer) {
            out.push_str(before);
            out.push_str(&integer);
            done = place.end;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

struct Places<'t> {
    text: &'t str,
    places: Vec<Place>,
    /// How many more times the text may be read.
    trials: usize,
}

impl Places<'_> {
    /// Restores numbers whose original `T` accepts: all of these at once, or else each half of them in turn.
    fn write_back<T: DeserializeOwned>(&mut self, these: &[usize]) {
        if these.is_empty() || self.trials == 0 {
            return;
        }
        self.trials -= 1;
        these.iter().for_each(|at| self.places[*at].kept = true);
        if serde_json::from_str::<T>(&rewrite(self.text, &self.places)).is_ok() {
            return;
        }
        these.iter().for_each(|at| self.places[*at].kept = false);
        if these.len() > 1 {
            let (one, other) = these.split_at(these.len() / 2);
            self.write_back::<T>(one);
            self.write_back::<T>(other);
        }
    }
}

#[cfg(test)]
#[path = "whole_tests.rs"]
mod tests;
