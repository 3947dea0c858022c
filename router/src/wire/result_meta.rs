//! The members that a result without a session has in addition to its content: its type, its server, how long it may be
//! cached.
//!
//! Written as the first members of the result's object, encoded once per server.

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::wire::{
    content::MetaMap,
    definition::ServerInfo,
    era::{self, Feature, Revision},
    jsonrpc::to_json,
};

/// The key in `_meta` for the server that a result comes from.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Who may cache a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Only the caller.
    #[default]
    Private,
    /// Anyone: the result does not depend on the caller.
    Public,
}

/// How long a result may be cached, and by whom: `ttlMs` and `cacheScope`, from 2026-07-28 on.
///
/// By default it may not be cached: `ttlMs` is 0 and `cacheScope` is `private`.
// MCP 2026-07-28 server/utilities/caching
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// How long it is fresh, in whole milliseconds.
    pub ttl: Duration,
    /// Who may cache it.
    pub scope: CacheScope,
}

impl Cache {
    /// Cacheable for this long, by the caller only.
    #[must_use]
    pub fn private(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Private }
    }

    /// Cacheable for this long, by anyone. Only for results that are the same for every caller: a proxy may serve them
    /// to others, whatever their permissions.
    ///
    /// The framework's lists do not depend on the caller, so they may all be public. If your middleware answers callers
    /// differently, use [`private`](Self::private).
    #[must_use]
    pub fn public(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Public }
    }

    /// As members of a result at a revision; empty before 2026-07-28.
    pub(crate) fn hints(self, revision: Revision) -> String {
        if revision.has(Feature::Stateless) { self.members() } else { String::new() }
    }

    /// As members of a result.
    pub(crate) fn members(self) -> String {
        let scope = match self.scope {
            CacheScope::Private => "private",
            CacheScope::Public => "public",
        };
        // clients may not read larger numbers exactly
        let ttl = self.ttl.as_millis().min((1 << 53) - 1);
        format!(r#""ttlMs":{ttl},"cacheScope":"{scope}""#)
    }
}

/// The encoded first members of a server's results.
#[derive(Debug)]
pub(crate) struct ResultMeta {
    /// `_meta` of a result that has none of its own; empty if the server's info is left out.
    meta: Bytes,
    /// The server's info, for a result with a `_meta` of its own.
    info: Option<Value>,
    lists: String,
}

/// The type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    Complete,
    InputRequired,
}

impl ResultType {
    fn member(self) -> &'static [u8] {
        match self {
            Self::Complete => br#""resultType":"complete""#,
            Self::InputRequired => br#""resultType":"input_required""#,
        }
    }
}

impl ResultMeta {
    /// For a server with this info and these cache hints for its lists.
    pub(crate) fn new(info: Option<&ServerInfo>, lists: Cache) -> Self {
        // the info contains only strings, so it serializes
        let json = info.cloned().and_then(|mut info| {
            era::server_info(&mut info, Revision::LATEST);
            to_json(&info).ok()
        });
        let meta = json
            .as_ref()
            .map(|json| [br#""_meta":{""#, SERVER_INFO.as_bytes(), br#"":"#, json, b"}"].concat().into());
        Self {
            meta: meta.unwrap_or_default(),
            info: json.and_then(|json| serde_json::from_slice(&json).ok()),
            lists: lists.members(),
        }
    }

    /// The first members of a result of this type at a revision. `own` is the result's own `_meta`, to which the
    /// server's info is added.
    pub(crate) fn prefix(
        &self,
        kind: ResultType,
        own: Option<&mut MetaMap>,
        revision: Revision,
    ) -> [&[u8]; 2] {
        if !revision.has(Feature::Stateless) {
            return [b"", b""];
        }
        match (own, &self.info) {
            (None, _) => [kind.member(), &self.meta],
            (Some(own), Some(info)) => {
                own.insert(SERVER_INFO.to_owned(), info.clone());
                [kind.member(), b""]
            }
            (Some(_), None) => [kind.member(), b""],
        }
    }

    /// The cache hints of a list, as members of its result.
    pub(crate) fn list_hints(&self, revision: Revision) -> &[u8] {
        if revision.has(Feature::Stateless) { self.lists.as_bytes() } else { b"" }
    }
}
