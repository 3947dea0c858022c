//! Protocol extensions that a server declares. There are none by default.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::wire::names;

/// Settings by id, as JSON objects.
pub(crate) type Extensions = BTreeMap<String, Box<RawValue>>;

/// Why an extension cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidExtension {
    /// The text is not an extension id.
    #[error("{0:?} is not an extension id: write prefix/name, such as com.example/feature")]
    Id(String),
    /// The settings are not a JSON object.
    #[error("the settings of the extension {0:?} are not a JSON object")]
    Settings(String),
    /// The extension is already declared.
    #[error("the extension {0:?} is already declared")]
    Taken(String),
}

/// Declares an extension with these settings.
pub(crate) fn add(
    extensions: &mut Extensions,
    id: &str,
    settings: impl Serialize,
) -> Result<(), InvalidExtension> {
    if !is_id(id) {
        return Err(InvalidExtension::Id(id.to_owned()));
    }
    let settings = serde_json::value::to_raw_value(&settings).ok();
    let settings = settings.filter(|settings| settings.get().starts_with('{'));
    let settings = settings.ok_or_else(|| InvalidExtension::Settings(id.to_owned()))?;
    if extensions.contains_key(id) {
        return Err(InvalidExtension::Taken(id.to_owned()));
    }
    extensions.insert(id.to_owned(), settings);
    Ok(())
}

/// Whether this is an extension id: a key of `_meta` with a prefix.
// MCP 2026-07-28 basic, _meta: Key name format; basic/versioning, Extension Negotiation: a mandatory prefix
fn is_id(id: &str) -> bool {
    let Some((prefix, name)) = id.split_once('/') else { return false };
    prefix.split('.').all(names::is_label) && names::is_name(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{serve::router::Router, wire::era::Revision};

    #[test]
    fn an_id_is_a_prefix_and_a_name() {
        for id in
            ["com.example/feature", "io.modelcontextprotocol/ui", "a/b", "a-b.c1/d_e.f-1", "com.example/1"]
        {
            assert!(is_id(id), "{id}");
        }
        for id in [
            "",
            "feature",
            "/feature",
            "com.example/",
            "com..example/a",
            ".com/a",
            "com./a",
            "1com/a",
            "com-/a",
            "-com/a",
            "com.example/a/b",
            "com.example/-a",
            "com.example/a-",
            "com.example/a b",
            "com.exa_mple/a",
            "c\u{f6}m/a",
            "com/\u{e4}",
        ] {
            assert!(!is_id(id), "{id}");
        }
    }

    #[test]
    fn an_extension_is_declared_once_with_an_object_and_where_the_revision_has_them() {
        let mut router = Router::new("s", "1");
        let capabilities =
            |router: &Router, revision| serde_json::to_value(router.capabilities(revision)).unwrap();
        let newest = Revision::LATEST;
        assert!(capabilities(&router, newest).get("extensions").is_none(), "none is there by default");
        router.settings_mut().add_extension("com.example/a", json!({ "b": 1 })).unwrap();
        let error = router.settings_mut().add_extension("com.example/a", json!({})).unwrap_err();
        assert_eq!(error, InvalidExtension::Taken("com.example/a".to_owned()));
        let error = router.settings_mut().add_extension("com.example/b", json!([])).unwrap_err();
        assert_eq!(error, InvalidExtension::Settings("com.example/b".to_owned()));
        assert!(matches!(router.settings_mut().add_extension("b", json!({})), Err(InvalidExtension::Id(_))));
        assert_eq!(capabilities(&router, newest)["extensions"], json!({ "com.example/a": { "b": 1 } }));
        assert!(capabilities(&router, Revision::LATEST_HANDSHAKE).get("extensions").is_none());
    }
}
