//! Checks of names that authors choose and clients parse: URIs, icons, keys of `_meta`.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

/// Whether this is an absolute URI (RFC 3986).
pub(crate) fn is_uri(text: &str) -> bool {
    static URI: OnceLock<Option<Validator>> = OnceLock::new();
    let uri = URI.get_or_init(|| {
        jsonschema::options().should_validate_formats(true).build(&json!({ "format": "uri" })).ok()
    });
    uri.as_ref().is_some_and(|uri| uri.is_valid(&Value::from(text)))
}

/// Why an author may not use this key of `_meta`.
// MCP 2026-07-28 basic, _meta: Key name format
pub(crate) fn wrong_key(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix {
        if !prefix.split('.').all(is_label) {
            return Some(
                "its prefix must consist of labels, such as `com.example`, that begin with a letter and contain only \
                 letters, digits and inner hyphens",
            );
        }
        if matches!(prefix.split('.').nth(1), Some("modelcontextprotocol" | "mcp")) {
            return Some("its prefix is reserved for the protocol");
        }
    }
    let is_name = name.is_empty() || is_name(name);
    (!is_name).then_some(
        "its name must begin and end with a letter or digit and contain only letters, digits, `-`, `_` and `.`",
    )
}

/// Whether this is an allowed URI of an icon.
// MCP 2025-11-25 basic, icons: an HTTP or HTTPS URL, or a data URI
pub(crate) fn is_icon(src: &str) -> bool {
    let scheme = src.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "data")) && is_uri(src)
}

/// Whether this is a label of the prefix of a key of `_meta`.
pub(crate) fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic()) && is_made_of(label, b"-")
}

/// Whether this is the name of a key of `_meta`, and not empty.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && is_made_of(name, b"-_.")
}

/// Whether this ends with a letter or digit and contains only those and the bytes in `also`.
fn is_made_of(text: &str, also: &[u8]) -> bool {
    text.ends_with(|last: char| last.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || also.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    // C117
    #[test]
    fn a_key_of_meta_is_a_name_with_a_prefix_that_is_not_reserved() {
        for key in [
            "a",
            "ui",
            "com.example/a",
            "a-b.c1/d_e.f-1",
            "com.example.mcp/x",
            "mcp/x",
            "com.example/",
            "",
            "localhost/1",
            "a.b-c/D",
            "modelcontextprotocol/x",
        ] {
            assert_eq!(wrong_key(key), None, "{key}");
        }
        for key in [
            "what?",
            "a b",
            "-a",
            "a-",
            ".a",
            "ä",
            "com..example/a",
            "1com/a",
            "com-/a",
            "/a",
            "a/b/c",
            "com.exa_mple/a",
            "io.modelcontextprotocol/x",
            "dev.mcp/",
            "org.modelcontextprotocol.api/a",
            "com.mcp.tools/a",
        ] {
            assert!(wrong_key(key).is_some(), "{key}");
        }
    }

    // C117
    #[test]
    fn an_icon_is_a_url_or_data() {
        for src in
            ["https://example.com/a.png", "HTTP://example.com/a.png", "data:,", "data:image/png;base64,AAAA"]
        {
            assert!(is_icon(src), "{src}");
        }
        for src in ["", "a.png", "javascript:alert(1)", "file:///a.png", "https://exa mple.com", "ftp://a/b"]
        {
            assert!(!is_icon(src), "{src}");
        }
    }
}
