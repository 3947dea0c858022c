//! The catalog: entries with unique keys in the order of registration, and their lists as encoded pages.
//!
//! Readers take a snapshot (an `Arc`) and keep it as long as they like; a change makes a new one. Pages are encoded
//! once per snapshot and revision, when they are first requested.
//!
//! **Invariant:** the lock is never held across an await, nor while author code runs (not even its `Drop`).

pub(crate) mod add_error;
pub(crate) mod authored;
pub(crate) mod completion;
pub(crate) mod cursor;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod resource_template;
mod setters;
pub(crate) mod tool;
pub(crate) mod uri_template;

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use bytes::{BufMut, Bytes, BytesMut};

use crate::{
    catalog::cursor::Fingerprint,
    wire::{era::Revision, error::McpError, jsonrpc::to_json},
};

/// Something that is registered and listed.
pub(crate) trait Entry {
    /// The member that holds the list in its result, such as `tools`.
    const LIST: &'static str;

    /// The unique key: a name, a URI or a URI template.
    fn key(&self) -> &str;

    /// The normal form of a key, which all its equivalent spellings share.
    fn normal(key: &str) -> Cow<'_, str> {
        Cow::Borrowed(key)
    }

    /// Its definition at a revision, as JSON.
    fn definition_json(&self, revision: Revision) -> serde_json::Result<Bytes>;
}

/// All entries of one kind.
#[derive(Debug)]
pub(crate) struct Catalog<T> {
    snapshot: RwLock<Arc<Snapshot<T>>>,
    /// Entries per page; `None` puts all of them on one page.
    page_size: Option<usize>,
}

/// The state of a catalog at one point in time.
#[derive(Debug)]
pub(crate) struct Snapshot<T> {
    entries: Vec<Arc<T>>,
    /// By the normal form of the key.
    places: HashMap<Arc<str>, usize>,
    /// By [`Revision::index`].
    pages: [OnceLock<Vec<Bytes>>; Revision::ALL.len()],
    /// The positions at which pages begin; computed when there is more than one page.
    places_of_pages: OnceLock<Vec<Fingerprint>>,
}

impl<T> Default for Snapshot<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: HashMap::new(),
            pages: Default::default(),
            places_of_pages: OnceLock::new(),
        }
    }
}

impl<T> Default for Catalog<T> {
    fn default() -> Self {
        Self { snapshot: RwLock::default(), page_size: None }
    }
}

impl<T: Entry> Snapshot<T> {
    fn of(entries: Vec<Arc<T>>) -> Self {
        let normal = |entry: &Arc<T>| Arc::from(T::normal(entry.key()));
        let places = entries.iter().enumerate().map(|(place, entry)| (normal(entry), place)).collect();
        Self { entries, places, ..Self::default() }
    }

    /// The entry of this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<T>> {
        self.places.get(&*T::normal(key)).and_then(|place| self.entries.get(*place))
    }

    /// All entries, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.entries.iter()
    }

    fn places_of_pages(&self, page_size: usize) -> &[Fingerprint] {
        let keys = || self.entries.iter().map(|entry| entry.key());
        self.places_of_pages.get_or_init(|| Fingerprint::places(T::LIST, page_size, keys()))
    }

    fn encode(&self, revision: Revision, page_size: usize) -> Vec<Bytes> {
        // an empty list is one page too
        let count = self.entries.len().div_ceil(page_size).max(1);
        let page = |number: usize| {
            let entries = self.entries.iter().skip(number * page_size).take(page_size);
            let next = u32::try_from(number + 1).ok().filter(|_| number + 1 < count);
            let next =
                next.and_then(|next| Some(self.places_of_pages(page_size).get(number + 1)?.cursor(next)));
            encode_page(entries, revision, next)
        };
        (0..count).map(page).collect()
    }
}

/// The result that holds one page. The last page has no `nextCursor`.
fn encode_page<'a, T: Entry + 'a>(
    entries: impl Iterator<Item = &'a Arc<T>>,
    revision: Revision,
    next: Option<String>,
) -> Bytes {
    let mut out = BytesMut::with_capacity(256);
    out.put_slice(b"{\"");
    out.put_slice(T::LIST.as_bytes());
    out.put_slice(b"\":[");
    let mut first = true;
    for entry in entries {
        let definition = match entry.definition_json(revision) {
            Ok(definition) => definition,
            Err(error) => {
                log::error!(
                    "the definition of `{}` does not serialize and is not listed: {error}",
                    entry.key()
                );
                continue;
            }
        };
        if !std::mem::take(&mut first) {
            out.put_u8(b',');
        }
        out.put_slice(&definition);
    }
    out.put_u8(b']');
    if let Some(cursor) = next {
        // base64: nothing to escape
        out.put_slice(format!(",\"nextCursor\":\"{cursor}\"").as_bytes());
    }
    out.put_u8(b'}');
    out.freeze()
}

impl<T: Entry> Catalog<T> {
    /// The current state.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot<T>> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The entry of this key.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<T>> {
        self.snapshot().get(key).cloned()
    }

    /// Adds an entry at the end; gives it back if its key is taken.
    pub(crate) fn add(&self, entry: T) -> Result<(), T> {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        if guard.places.contains_key(&*T::normal(entry.key())) {
            drop(guard);
            return Err(entry);
        }
        let entry = Arc::new(entry);
        match Arc::get_mut(&mut guard) {
            // no reader holds it: adding many entries stays linear
            Some(snapshot) => {
                snapshot.places.insert(T::normal(entry.key()).into(), snapshot.entries.len());
                snapshot.entries.push(entry);
                snapshot.pages = Default::default();
                snapshot.places_of_pages = OnceLock::new();
            }
            None => *guard = Arc::new(Snapshot::of(guard.entries.iter().cloned().chain([entry]).collect())),
        }
        Ok(())
    }

    /// Removes the entry. Calls already running keep their copy.
    pub(crate) fn remove(&self, key: &str) -> Option<Arc<T>> {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        let removed = guard.get(key).cloned()?;
        let rest = guard.entries.iter().filter(|entry| !Arc::ptr_eq(entry, &removed)).cloned().collect();
        *guard = Arc::new(Snapshot::of(rest));
        // the entry outlives the lock: the caller drops it
        Some(removed)
    }

    /// Sets the number of entries per page, at least one. Call it before the catalog is used.
    pub(crate) fn set_page_size(&mut self, entries: usize) {
        self.page_size = Some(entries.max(1));
        let snapshot = self.snapshot.get_mut().unwrap_or_else(PoisonError::into_inner);
        *snapshot = Arc::new(Snapshot::of(snapshot.entries.clone()));
    }

    /// The result of a list request with this cursor, as JSON.
    ///
    /// # Errors
    ///
    /// -32602 that names `cursor`, if this list did not issue it, or has changed before its position since then.
    // MCP 2025-11-25 server/utilities/pagination, Error Handling
    pub(crate) fn page(&self, revision: Revision, cursor: Option<&str>) -> Result<Bytes, McpError> {
        let snapshot = self.snapshot();
        let page_size = self.page_size.unwrap_or(usize::MAX);
        let pages = snapshot.pages[revision.index()].get_or_init(|| snapshot.encode(revision, page_size));
        let page = match cursor {
            None => Some(0),
            // page 0 needs no cursor, and none was issued for it
            Some(cursor) => {
                Fingerprint::page(snapshot.places_of_pages(page_size), cursor).filter(|page| *page > 0)
            }
        };
        // a position without a page: all entries after it were removed
        let page = page.map(|page| pages.get(page).cloned());
        page.map(|page| page.unwrap_or_else(|| encode_page::<T>([].iter(), revision, None)))
            .ok_or_else(|| McpError::invalid_params("`cursor` is not valid for the current list"))
    }
}

/// A definition reduced to the members of a revision, as JSON.
pub(crate) fn definition_json<D: Clone + serde::Serialize>(
    definition: &D,
    adapt: fn(&mut D, Revision),
    revision: Revision,
) -> serde_json::Result<Bytes> {
    let mut definition = definition.clone();
    adapt(&mut definition, revision);
    to_json(&definition)
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
