//! Extractors about the client.

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

/// What a handler may know about the session of its call.
///
/// From 2026-07-28 on there are no sessions, and each request carries this information: two requests may differ in it
/// even over one connection. To find something again in a later call, take its id as an argument.
#[derive(Clone, Debug)]
pub struct Session(Arc<Peer>);

impl Session {
    /// The revision that was negotiated, or that the request states.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// The client's own description of itself, which is not verified. From 2026-07-28 on a client may omit it: the name
    /// is then empty.
    #[must_use]
    pub fn client(&self) -> &Implementation {
        &self.0.info
    }

    /// The capabilities that the client declared.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.capabilities
    }

    /// The session's id, if the transport has one; always `None` from 2026-07-28 on. Do not log it: with it and the
    /// principal, anyone can act in the session.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.0.session_id.as_deref()
    }

    /// The client's settings for an extension, such as `com.example/feature`; `None` if it did not declare the
    /// extension. From 2026-07-28 on: older revisions have no extensions.
    ///
    /// An extension is in use if both sides declare it: for the server, `ServerBuilder::extension` does so.
    ///
    /// # Errors
    ///
    /// -32602 if the settings are not a valid `T`.
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

/// A call without a principal fails with -32600; take an `Option<Principal>` to serve it.
impl FromCall for Principal {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let principal = call.principal().cloned();
        ready(principal.ok_or_else(|| McpError::invalid_request("the request has no principal")))
    }
}

/// The request's `_meta` object; empty if there is none.
///
/// From 2026-07-28 on it also identifies the client and its capabilities, which [`Session`] reads. At every revision it
/// holds the trace that the request belongs to: [`trace`](Self::trace).
#[derive(Clone, Debug)]
pub struct Meta(Option<ByteString>);

impl Meta {
    pub(crate) fn of(call: &Call) -> Self {
        Self(call.meta().cloned())
    }

    /// The member `key`; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// -32602 if the member is not a valid `T`.
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
