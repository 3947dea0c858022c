//! Extractors that know the client.

use std::{
    future::{Future, ready},
    sync::Arc,
};

use bytestring::ByteString;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec, args::cut, whole},
    },
    wire::{
        era::Revision,
        error::McpError,
        peer::{ClientCapabilities, Implementation, Peer},
        principal::Principal,
    },
};

/// The session of the call, as far as a handler may know it.
///
/// From 2026-07-28 on there is none, and each request says all of this of itself: two requests may differ in it although
/// they come over one connection. What is to be known again later must be named by an argument.
#[derive(Clone, Debug)]
pub struct Session(Arc<Peer>);

impl Session {
    /// The revision that was agreed on, or that the request names.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// What the client calls itself. It may call itself anything, and from 2026-07-28 on nothing: the name is empty then.
    #[must_use]
    pub fn client(&self) -> &Implementation {
        &self.0.info
    }

    /// What the client can do.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.capabilities
    }

    /// The session's id, where the transport has one; never from 2026-07-28 on. Whoever knows it and the principal can act in the session: do not
    /// log it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.0.session_id.as_deref()
    }

    /// The client's settings for an extension, such as `com.example/feature`; `None` where it did not declare it. From
    /// 2026-07-28 on; no older revision has extensions.
    ///
    /// An extension is in use if both sides declare it: `Server::extension` does so for the server.
    ///
    /// # Errors
    ///
    /// -32602 if they are there and are no `T`.
    // MCP 2026-07-28 basic/versioning, Extension Negotiation
    pub fn extension<T: DeserializeOwned>(&self, id: &str) -> Result<Option<T>, McpError> {
        let Some(settings) = self.0.extension(id) else { return Ok(None) };
        let wrong =
            |error| McpError::invalid_params(cut(&format!("settings of the extension {id}: {error}")));
        whole::read(&settings).map(Some).map_err(wrong)
    }
}

impl FromCall for Session {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self(call.peer().clone())))
    }
}

/// Refuses a call that acts for nobody with -32600; take an `Option<Principal>` to serve it.
impl FromCall for Principal {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let principal = call.principal().cloned();
        ready(principal.ok_or_else(|| McpError::invalid_request("the request has no principal")))
    }
}

/// The request's `_meta` object; empty where there is none.
///
/// From 2026-07-28 on it also says who sends the request and what they can do, which [`Session`] reads. The trace that the
/// request is part of is in it at every revision: [`trace`](Self::trace).
#[derive(Clone, Debug)]
pub struct Meta(Option<ByteString>);

impl Meta {
    pub(crate) fn of(call: &Call) -> Self {
        Self(call.meta().cloned())
    }

    /// The member `key`; `None` where it is absent.
    ///
    /// # Errors
    ///
    /// -32602 if it is there and is no `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, McpError> {
        let wrong =
            |error: serde_json::Error| McpError::invalid_params(cut(&format!("_meta, {key}: {error}")));
        let Some(text) = &self.0 else { return Ok(None) };
        let members: std::collections::HashMap<String, &RawValue> =
            serde_json::from_str(text).map_err(wrong)?;
        members.get(key).map(|value| whole::read(value.get())).transpose().map_err(wrong)
    }

    /// The whole object as JSON text.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.as_deref().unwrap_or("{}")
    }
}

impl FromCall for Meta {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self::of(call)))
    }
}
