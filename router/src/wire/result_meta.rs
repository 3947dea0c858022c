//! The members of a result in addition to its content, where there is no session: its type, its server, how long it may
//! be kept.
//!
//! Written as the first members of the result's object, encoded once a server.

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

/// Who a result comes from, in its `_meta`.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Who may keep a result, and serve it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Only for the one who asked.
    #[default]
    Private,
    /// For anybody: it holds nothing that depends on who asked.
    Public,
}

/// How long a result may be kept, and by whom: `ttlMs` and `cacheScope`, from 2026-07-28 on.
///
/// By default not at all, and for nobody else.
// MCP 2026-07-28 server/utilities/caching
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// How long it is fresh; whole milliseconds count.
    pub ttl: Duration,
    /// Who may keep it.
    pub scope: CacheScope,
}

impl Cache {
    /// For this long, for the one who asked.
    #[must_use]
    pub fn private(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Private }
    }

    /// For this long, for anybody. Only for results that are the same for every caller: a proxy may serve them to
    /// others, whatever they may see.
    ///
    /// The framework has no list that depends on who asks, so every list may be public. Where middleware of yours
    /// answers different callers differently, say [`private`](Self::private).
    #[must_use]
    pub fn public(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Public }
    }

    /// As members of a result at a revision.
    pub(crate) fn hints(self, revision: Revision) -> String {
        if revision.has(Feature::Stateless) { self.members() } else { String::new() }
    }

    /// As members of a result.
    pub(crate) fn members(self) -> String {
        let scope = match self.scope {
            CacheScope::Private => "private",
            CacheScope::Public => "public",
        };
        // beyond this a client may read another number
        let ttl = self.ttl.as_millis().min((1 << 53) - 1);
        format!(r#""ttlMs":{ttl},"cacheScope":"{scope}""#)
    }
}

/// What a server's results begin with, encoded.
#[derive(Debug)]
pub(crate) struct ResultMeta {
    /// `_meta` of a result that has none of its own; empty if the server does not say who it is.
    meta: Bytes,
    /// The server's info, for a result with a `_meta` of its own.
    info: Option<Value>,
    lists: String,
}

/// What kind of result it is.
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
    /// Of a server with this name and these hints for its lists.
    pub(crate) fn new(info: Option<&ServerInfo>, lists: Cache) -> Self {
        // of strings only: it has a JSON form
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

    /// What a result of this type begins with at a revision. `own` is the `_meta` that it has itself, which is
    /// completed.
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

    /// How long a list may be kept, as members of its result.
    pub(crate) fn list_hints(&self, revision: Revision) -> &[u8] {
        if revision.has(Feature::Stateless) { self.lists.as_bytes() } else { b"" }
    }
}
