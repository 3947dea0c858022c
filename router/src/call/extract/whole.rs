//! A second look at arguments that serde refused: `10.0` is an integer, which serde_json gives to no integer type.
//!
//! A type says which numbers it wants as integers only while it is read. So it is read once more, to no other end, by a
//! [`Probe`] that takes down the places, and the text is rewritten there and nowhere else: what an `f64` or a
//! `serde_json::Value` is read from keeps its text.
//!
//! What serde reads into a buffer first (`flatten`, `untagged`, an internally tagged enum) asks for anything at all. There
//! every whole number is rewritten for a start, and then written back wherever the type can do without.
//!
//! **Invariant:** arguments that serde takes as they are never come here.

use serde::de::DeserializeOwned;
use serde_json::Error;

use super::probe::Probe;
use crate::wire::number::integer_of;

/// Bytes that are read again, at most, to write numbers in buffers back. What is left then stays rewritten.
const MOST_REREAD: usize = 4 * 1024 * 1024;

/// The text with whole numbers written as integers where `T` wants integers, if there are any.
///
/// Whether `T` takes it is for the caller to see; if not, what it says then is what is wrong.
pub(crate) fn rewritten<T: DeserializeOwned>(text: &str) -> Option<String> {
    if !text.contains(['.', 'e', 'E']) && !text.contains("-0") {
        return None;
    }
    let (asked, fits) = Probe::read::<T>(text, false);
    if fits {
        return (!asked.is_empty()).then(|| rewrite(text, &asked));
    }
    let (places, fits) = Probe::read::<T>(text, true);
    let mut places = Places { text, places, trials: MOST_REREAD / text.len().max(1) };
    if fits {
        let buffered: Vec<_> = (0..places.places.len()).filter(|at| places.places[*at].buffered).collect();
        places.write_back::<T>(&buffered);
    }
    (!places.places.is_empty()).then(|| rewrite(text, &places.places))
}

/// Reads what is not an argument and yet a client's value, such as a member of `_meta`.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let again = |error| rewritten::<T>(text).map_or(Err(error), |text| serde_json::from_str(&text));
    serde_json::from_str(text).or_else(again)
}

/// A whole number that is written as a float.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Nobody has asked for an integer.
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
    /// How often the text may be read again.
    trials: usize,
}

impl Places<'_> {
    /// Writes numbers back without which `T` still takes the text: all of these at once, or else each half of them.
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
