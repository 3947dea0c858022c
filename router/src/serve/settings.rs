//! The settings of a server, which are fixed once it is built.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    call::data::DataMap,
    serve::extension::{self, Extensions, InvalidExtension},
    wire::{
        definition::ServerInfo,
        era::{Eras, Feature, Revision},
        jsonrpc::ReadLimits,
        result_meta::Cache,
        seal::Seal,
    },
};

/// The settings of a server.
#[derive(Debug)]
pub struct Settings {
    /// The name and version of the server.
    pub info: ServerInfo,
    /// Whether to omit `info` from results, from 2026-07-28 on.
    pub omit_info: bool,
    /// The instructions for clients and models on how to use the server.
    pub instructions: Option<String>,
    /// The limits that messages are read with.
    pub limits: ReadLimits,
    /// Which kinds of revision are served.
    pub eras: Eras,
    /// How long clients may cache lists and the answer to `server/discover`.
    pub cache: Cache,
    /// The key and limits that seal a `requestState`.
    pub seal: Seal,
    /// The audience that a `requestState` is valid for; `None` means the server's name.
    pub audience: Option<String>,
    pub(crate) data: Arc<DataMap>,
    extensions: Extensions,
}

impl Settings {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            info: ServerInfo { name, version, ..ServerInfo::default() },
            omit_info: false,
            instructions: None,
            limits: ReadLimits::default(),
            eras: Eras::default(),
            cache: Cache::default(),
            seal: Seal::default(),
            audience: None,
            data: Arc::default(),
            extensions: Extensions::new(),
        }
    }

    /// Adds a value that handlers can extract by its type.
    ///
    /// # Panics
    ///
    /// With the caller's line, if there already is a value of this type.
    #[track_caller]
    pub fn insert_data<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        let name = std::any::type_name::<T>();
        assert!(self.data.get::<T>().is_none(), "the server already has a value of type `{name}`");
        Arc::make_mut(&mut self.data).insert(value);
    }

    /// Declares an extension with these settings; pass an empty object if it has none.
    ///
    /// # Errors
    ///
    /// An [`InvalidExtension`]; nothing has changed then.
    pub fn add_extension(&mut self, id: &str, settings: impl Serialize) -> Result<(), InvalidExtension> {
        extension::add(&mut self.extensions, id, settings)
    }

    /// The extensions that are declared at a revision.
    pub(crate) fn extensions(&self, revision: Revision) -> Extensions {
        if revision.has(Feature::Extensions) { self.extensions.clone() } else { Extensions::new() }
    }
}
