//! The router: everything a server offers, and who it is.
//!
//! Built once, then shared as `Arc<Router>`. What it is made of (`&mut self`) is fixed from then on; what it offers
//! (`&self`) may change while it runs.

use std::{
    any::Any,
    fmt,
    sync::{Arc, OnceLock},
};

use bytestring::ByteString;

use crate::{
    change::{Announce, Change},
    data::DataMap,
    definition::ServerInfo,
    jsonrpc::ReadLimits,
};

/// Everything a server offers, and who it is.
pub struct Router {
    info: ServerInfo,
    instructions: Option<String>,
    limits: ReadLimits,
    data: Arc<DataMap>,
    /// Set once, by the server that has sessions; nobody is told before.
    announce: OnceLock<Arc<dyn Announce>>,
}

/// Which capabilities a router has something to offer for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) completions: bool,
}

impl Router {
    /// A router that offers nothing yet, under this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let info = ServerInfo { name: name.into(), version: version.into(), ..ServerInfo::default() };
        Self {
            info,
            instructions: None,
            limits: ReadLimits::default(),
            data: Arc::default(),
            announce: OnceLock::new(),
        }
    }

    /// What the server calls itself.
    #[must_use]
    pub fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// What the server calls itself, to be changed before it runs.
    pub fn info_mut(&mut self) -> &mut ServerInfo {
        &mut self.info
    }

    /// What a client is told at `initialize` on how to use the server.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Sets what a client is told on how to use the server.
    pub fn set_instructions(&mut self, instructions: impl Into<String>) {
        self.instructions = Some(instructions.into());
    }

    /// The limits that messages are read with.
    #[must_use]
    pub fn limits(&self) -> &ReadLimits {
        &self.limits
    }

    /// The limits that messages are read with, to be changed before the server runs.
    pub fn limits_mut(&mut self) -> &mut ReadLimits {
        &mut self.limits
    }

    /// The values given to the server.
    #[must_use]
    pub fn data(&self) -> &Arc<DataMap> {
        &self.data
    }

    /// Gives a value to handlers, by its type.
    pub fn insert_data<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        Arc::make_mut(&mut self.data).insert(value);
    }

    /// Names who passes changes on to clients. Only the first counts: a router has one server.
    pub fn set_announce(&self, announce: Arc<dyn Announce>) {
        if self.announce.set(announce).is_err() {
            log::warn!("a router can serve one server only; changes are announced to the first");
        }
    }

    /// Tells the clients that subscribed to a resource that it has new contents.
    pub fn resource_updated(&self, uri: impl Into<ByteString>) {
        self.announce(Change::Resource(uri.into()));
    }

    pub(crate) fn announce(&self, change: Change) {
        if let Some(announce) = self.announce.get() {
            announce.announce(change);
        }
    }

    pub(crate) fn offers(&self) -> Offers {
        Offers::default()
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("name", &self.info.name)
            .field("offers", &self.offers())
            .finish_non_exhaustive()
    }
}
