//! The in-flight map: which requests of this session are running.
//!
//! **Invariant:** a wire id is looked up in two methods only, [`InFlight::claim`] and [`InFlight::find`]; a call enters
//! by a claim and leaves by [`InFlight::take`], or by [`InFlight::drain`] at the session's end.
//!
//! Read next: `calls` (who claims), `token`.

use std::collections::{
    HashMap,
    hash_map::{Entry, VacantEntry},
};

use actix_mcp_router::RequestId;

use crate::token::{Generations, Slots, Token, Vacancy};

/// The running requests of one session, each with a value of type `C`.
#[derive(Debug)]
pub(crate) struct InFlight<C> {
    calls: Slots<(RequestId, C)>,
    /// The live token of each id. An entry here and its call are added and removed together.
    ids: HashMap<RequestId, Token>,
}

impl<C> Default for InFlight<C> {
    fn default() -> Self {
        Self { calls: Slots::default(), ids: HashMap::new() }
    }
}

impl<C> InFlight<C> {
    /// Claims an id; `None` if it is taken. The claim stands once it is filled, and nothing else can happen in between.
    pub(crate) fn claim(&mut self, generations: &mut Generations, id: RequestId) -> Option<VacantId<'_, C>> {
        match self.ids.entry(id) {
            Entry::Occupied(_) => None,
            Entry::Vacant(id) => Some(VacantId { call: self.calls.vacancy(generations.next()), id }),
        }
    }

    /// The live call under an id.
    pub(crate) fn find(&self, id: &RequestId) -> Option<Token> {
        self.ids.get(id).copied()
    }

    /// Takes a call out, and frees its id.
    pub(crate) fn take(&mut self, token: Token) -> Option<(RequestId, C)> {
        let (id, call) = self.calls.remove(token)?;
        self.ids.remove(&id);
        Some((id, call))
    }

    pub(crate) fn get(&self, token: Token) -> Option<&C> {
        self.calls.get(token).map(|(_, call)| call)
    }

    pub(crate) fn get_mut(&mut self, token: Token) -> Option<&mut C> {
        self.calls.get_mut(token).map(|(_, call)| call)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Token, &C)> {
        self.calls.iter().map(|(token, (_, call))| (token, call))
    }

    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes every call, at the session's end.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (RequestId, C)> + '_ {
        self.ids.clear();
        self.calls.drain()
    }
}

/// An id that is free, and the token its call will have.
#[derive(Debug)]
pub(crate) struct VacantId<'a, C> {
    call: Vacancy<'a, (RequestId, C)>,
    id: VacantEntry<'a, RequestId, Token>,
}

impl<C> VacantId<'_, C> {
    pub(crate) fn token(&self) -> Token {
        self.call.token()
    }

    /// Puts the call there: from here on it is in flight.
    pub(crate) fn fill(self, call: C) -> Token {
        let token = self.call.fill((self.id.key().clone(), call));
        self.id.insert(token);
        token
    }
}
