//! Tokens: the internal names of calls and streams.
//!
//! **Invariant:** a generation is used once in the life of a session, for a call or a stream, and never again. So a
//! late report about generation 1 matches nothing, although its slot belongs to generation 2 by then, and a stream's
//! token matches no call.
//!
//! Read next: `state` (what is kept under tokens).

use std::fmt;

use slab::Slab;

/// The internal name of one call or stream of a session. It is not a wire id, and means nothing in another session.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    slot: usize,
    generation: u64,
}

impl Token {
    /// A token that matches nothing.
    pub(crate) fn spent(generation: u64) -> Self {
        Self { slot: usize::MAX, generation }
    }

    /// The part that never repeats; for logs.
    pub(crate) fn generation(self) -> u64 {
        self.generation
    }

    /// The part that is reused; for tests that must see the reuse.
    #[cfg(test)]
    pub(crate) fn slot(self) -> usize {
        self.slot
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.slot, self.generation)
    }
}

/// Issues generations; one instance for all [`Slots`] of a session.
#[derive(Debug, Default)]
pub(crate) struct Generations(u64);

impl Generations {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// Values in reusable slots, each stored with the generation of its token.
#[derive(Debug)]
pub(crate) struct Slots<T>(Slab<(u64, T)>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Slab::new())
    }
}

impl<T> Slots<T> {
    /// A free slot, for a value that must know its token.
    pub(crate) fn vacancy(&mut self, generation: u64) -> Vacancy<'_, T> {
        // most sessions have one stream, and one call at a time
        if self.0.capacity() == 0 {
            self.0.reserve_exact(1);
        }
        Vacancy { entry: self.0.vacant_entry(), generation }
    }

    pub(crate) fn get(&self, token: Token) -> Option<&T> {
        match self.0.get(token.slot) {
            Some((generation, value)) if *generation == token.generation => Some(value),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, token: Token) -> Option<&mut T> {
        match self.0.get_mut(token.slot) {
            Some((generation, value)) if *generation == token.generation => Some(value),
            _ => None,
        }
    }

    /// Takes the value, if the slot still holds this generation.
    pub(crate) fn remove(&mut self, token: Token) -> Option<T> {
        self.get(token)?;
        Some(self.0.remove(token.slot).1)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Token, &T)> {
        self.0.iter().map(|(slot, (generation, value))| (Token { slot, generation: *generation }, value))
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.0.drain().map(|(_, value)| value)
    }
}

/// A slot that is free until it is filled.
#[derive(Debug)]
pub(crate) struct Vacancy<'a, T> {
    entry: slab::VacantEntry<'a, (u64, T)>,
    generation: u64,
}

impl<T> Vacancy<'_, T> {
    pub(crate) fn token(&self) -> Token {
        Token { slot: self.entry.key(), generation: self.generation }
    }

    pub(crate) fn fill(self, value: T) -> Token {
        let token = self.token();
        self.entry.insert((self.generation, value));
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_token_finds_nothing_in_a_reused_slot() {
        let mut generations = Generations::default();
        let mut slots = Slots::default();
        let old = slots.vacancy(generations.next()).fill("old");
        assert_eq!(slots.remove(old), Some("old"));
        let new = slots.vacancy(generations.next()).fill("new");

        assert_eq!(old.slot(), new.slot(), "the slot must be reused for this to prove anything");
        assert_eq!(slots.get(old), None);
        assert_eq!(slots.remove(old), None);
        assert_eq!(slots.get(new), Some(&"new"));
    }

    #[test]
    fn a_spent_token_finds_nothing_even_of_its_generation() {
        let mut slots = Slots::default();
        let live = slots.vacancy(1).fill("live");
        assert_eq!(slots.get(Token::spent(live.generation())), None);
        assert_eq!(slots.remove(Token::spent(live.generation())), None);
        assert_eq!(slots.get(live), Some(&"live"));
    }
}
