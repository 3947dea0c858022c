//! What the builders of tools, prompts, resources and templates have in common.
//!
//! These are macros inside the `impl` blocks and not a trait, so that users need no import and rustdoc shows the
//! methods on each type.

/// The setters that every definition has. `$definition` is its type, `$name` its name in the docs, and `$description`
/// the doc of its description.
macro_rules! definition_setters {
    ($definition:ty, $name:literal, $description:literal) => {
        /// The name to show to users.
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
        /// prefixes (`io.modelcontextprotocol/`, `dev.mcp/`) are refused at registration.
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

/// The setters that resources and templates share. `$mime_type` and `$annotations` are the docs of these setters.
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

        /// How long clients may cache the contents, and whether shared caches may, from 2026-07-28 on. By default the
        /// contents are not cached.
        #[must_use]
        pub fn cache(mut self, cache: $crate::wire::result_meta::Cache) -> Self {
            self.cache = cache;
            self
        }

        /// The requirements of the reader.
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
