//! Resource templates: families of resources that share a reader.

use std::borrow::Cow;

use bytes::Bytes;
use bytestring::ByteString;
use serde_json::{Map, Value};

use crate::{
    catalog::{
        Entry,
        completion::{Completer, Completers},
        definition_json,
        resource::{ErasedReader, Reader},
        setters::{definition_setters, reader_setters},
        uri_template::{InvalidTemplate, UriTemplate},
    },
    wire::{
        definition::TemplateDefinition,
        era::{self, Revision},
        result_meta::Cache,
    },
};

/// A family of resources: a URI with variables, a name, and an async function of extractors that reads them.
///
/// `{var}` stands for one or more characters other than `/`, `{+var}` for one or more of any. The values are the
/// reader's arguments, so that an [`Args<T>`](crate::call::extract::Args) of strings takes them; those of `{var}` are
/// percent-decoded once, so that they may hold anything, `/` and `..` included. Every URI that matches counts as
/// existing until the reader returns `None`.
///
/// Registration compares the names: every required argument of the reader must be a variable, and a reader with
/// `deny_unknown_fields` must take every variable.
///
/// Equivalent spellings of a URI match (RFC 3986, 6.2.2): `file:///größe/{name}` is read as
/// `file:///gr%C3%B6%C3%9Fe/a.txt` and as `file:///größe/a.txt`. `%2F` is not `/`, and `..` stays as it is. Schemes and
/// hosts are compared without case, so put a case-sensitive id into the path: `note://1/{id}`.
#[derive(Clone, Debug)]
pub struct ResourceTemplate {
    definition: TemplateDefinition,
    /// The parsed template, or the error that registration reports.
    template: Result<UriTemplate, InvalidTemplate>,
    completers: Completers,
    reader: ErasedReader,
    cache: Cache,
}

impl ResourceTemplate {
    /// The resources of this template, such as `mem://item/{id}`.
    #[must_use]
    pub fn new<F, A>(uri_template: impl Into<String>, name: impl Into<String>, reader: F) -> Self
    where
        F: Reader<A>,
        A: 'static,
    {
        let definition = TemplateDefinition {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
        };
        Self {
            template: UriTemplate::parse(&definition.uri_template),
            definition,
            completers: Completers::default(),
            reader: reader.into_reader(),
            cache: Cache::default(),
        }
    }

    definition_setters!(TemplateDefinition, "template", "What its resources are.");
    reader_setters!(
        "The MIME type of all of them, which is also the default for their contents.",
        "Hints on how its resources are to be used."
    );

    /// Completes the values of a variable.
    #[must_use]
    pub fn complete<F, A>(mut self, variable: impl Into<String>, completer: F) -> Self
    where
        F: Completer<A>,
        A: 'static,
    {
        self.completers.add(variable.into(), completer.into_completer());
        self
    }

    pub(crate) fn template(&self) -> Result<&UriTemplate, &InvalidTemplate> {
        self.template.as_ref()
    }

    pub(crate) fn completers(&self) -> &Completers {
        &self.completers
    }

    fn values(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        self.template.as_ref().ok()?.match_uri(uri)
    }

    /// Whether a URI matches.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        self.values(uri).is_some()
    }

    /// The variables of a matching URI, as a JSON object.
    pub(crate) fn arguments(&self, uri: &str) -> Option<ByteString> {
        let values = self.values(uri)?;
        let object: Map<String, Value> =
            values.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        Some(Value::Object(object).to_string().into())
    }
}

impl Entry for ResourceTemplate {
    const LIST: &'static str = "resourceTemplates";

    fn key(&self) -> &str {
        &self.definition.uri_template
    }

    fn normal(key: &str) -> Cow<'_, str> {
        UriTemplate::normal(key)
    }

    fn definition_json(&self, revision: Revision) -> serde_json::Result<Bytes> {
        definition_json(&self.definition, era::template, revision)
    }
}
