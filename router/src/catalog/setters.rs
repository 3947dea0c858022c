//! What the builders of tools, prompts, resources and templates have in common.
//!
//! Macros for the inside of their `impl` blocks, rather than a trait: an author needs no import, and rustdoc shows the
//! methods where they are.

/// The setters of what every definition has. `$definition` is its type, `$name` what it is called, `$description` what
/// its description says.
macro_rules! definition_setters {
    ($definition:ty, $name:literal, $description:literal) => {
        /// The name to show to people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.definition.title = Some(title.into());
            self
        }

        #[doc = $description]
        #[must_use]
        pub fn description(mut self, description: impl Into<String>) -> Self {
            self.definition.description = Some(description.into());
            self
        }

        /// Adds an icon, at an `https:`, `http:` or `data:` URI.
        #[must_use]
        pub fn icon(mut self, icon: $crate::wire::content::Icon) -> Self {
            self.definition.icons.push(icon);
            self
        }

        /// Adds a member of `_meta`. A key is a name, or a prefix such as `com.example/` and a name; the protocol's own
        /// prefixes (`io.modelcontextprotocol/`, `dev.mcp/`) are refused when it is registered.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.definition.meta.get_or_insert_default().insert(key.into(), value.into());
            self
        }

        #[doc = concat!("The ", $name, " as lists show it.")]
        #[must_use]
        pub fn definition(&self) -> &$definition {
            &self.definition
        }
    };
}

/// The setters of what is read: a resource, or those of a template. `$mime_type` and `$annotations` say what is set.
macro_rules! reader_setters {
    ($mime_type:literal, $annotations:literal) => {
        #[doc = $mime_type]
        #[must_use]
        pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
            self.definition.mime_type = Some(mime_type.into());
            self
        }

        #[doc = $annotations]
        #[must_use]
        pub fn annotations(mut self, annotations: $crate::wire::content::Annotations) -> Self {
            self.definition.annotations = Some(annotations);
            self
        }

        /// How long what it reads may be kept, and by whom, from 2026-07-28 on. By default not at all, and for nobody
        /// else.
        #[must_use]
        pub fn cache(mut self, cache: $crate::wire::result_meta::Cache) -> Self {
            self.cache = cache;
            self
        }

        /// What the reader needs from its application.
        pub(crate) fn needs(&self) -> &$crate::call::extract::Requirements {
            &self.reader.needs
        }

        pub(crate) fn hints(&self) -> $crate::wire::result_meta::Cache {
            self.cache
        }

        pub(crate) fn reader(&self) -> &$crate::catalog::resource::ErasedReader {
            &self.reader
        }
    };
}

pub(crate) use {definition_setters, reader_setters};
