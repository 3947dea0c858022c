//! What an author names and clients take apart: URIs, icons, keys of `_meta`, names of tools. Looked at when it is offered.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    catalog::register::AddError,
    serve::extension,
    wire::content::{Icon, MetaMap},
};

/// The longest name of a tool that the specification recommends, in bytes.
const LONGEST_NAME: usize = 128;

/// Whether this is an absolute URI (RFC 3986).
pub(crate) fn is_uri(text: &str) -> bool {
    static URI: OnceLock<Option<Validator>> = OnceLock::new();
    let uri = URI.get_or_init(|| {
        jsonschema::options().should_validate_formats(true).build(&json!({ "format": "uri" })).ok()
    });
    uri.as_ref().is_some_and(|uri| uri.is_valid(&Value::from(text)))
}

/// Why this is not a key of `_meta` that an author may use.
// MCP 2026-07-28 basic, _meta: Key name format
pub(crate) fn wrong_key(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix {
        if !prefix.split('.').all(extension::is_label) {
            return Some(
                "its prefix is not made of labels, such as `com.example`, that begin with a letter and hold letters, digits and inner hyphens",
            );
        }
        if matches!(prefix.split('.').nth(1), Some("modelcontextprotocol" | "mcp")) {
            return Some("its prefix is reserved for the protocol");
        }
    }
    let is_name = name.is_empty() || extension::is_name(name);
    (!is_name).then_some(
        "its name does not begin and end with a letter or digit, or holds more than letters, digits, `-`, `_` and `.`",
    )
}

/// Refuses wrong icons and keys of `_meta` in a definition.
pub(crate) fn check(
    kind: &'static str,
    key: &str,
    icons: &[Icon],
    meta: Option<&MetaMap>,
) -> Result<(), AddError> {
    if let Some(icon) = icons.iter().find(|icon| !is_icon(&icon.src)) {
        return Err(AddError::Icon { kind, key: key.to_owned(), src: short(&icon.src) });
    }
    let wrong = |(member, _): (&String, &Value)| wrong_key(member).map(|why| (member.clone(), why));
    match meta.into_iter().flatten().find_map(wrong) {
        Some((member, why)) => Err(AddError::Meta { kind, key: key.to_owned(), member, why }),
        None => Ok(()),
    }
}

/// Whether an icon may be there.
// MCP 2025-11-25 basic, icons: an HTTP or HTTPS URL, or a data URI
pub(crate) fn is_icon(src: &str) -> bool {
    let scheme = src.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "data")) && is_uri(src)
}

/// The first character of a template's literals that can stand in no URI, not even escaped for the author. A space and
/// what is not ASCII are taken for their escapes.
// RFC 6570, 2.1
pub(crate) fn wrong_literal(template: &str) -> Option<char> {
    let mut is_literal = true;
    let mut rest = template.chars();
    while let Some(next) = rest.next() {
        match next {
            '{' => is_literal = false,
            '}' => is_literal = true,
            _ if !is_literal => {}
            '%' => {
                let mut escape = rest.clone().take(2);
                if !(0..2).all(|_| escape.next().is_some_and(|digit| digit.is_ascii_hexdigit())) {
                    return Some('%');
                }
            }
            '"' | '<' | '>' | '\\' | '^' | '`' | '|' => return Some(next),
            _ if next.is_control() => return Some(next),
            _ => {}
        }
    }
    None
}

/// Whether what a template stands for can begin with a scheme: what comes before its first expression is not in the way.
// RFC 3986, 3.1
pub(crate) fn may_have_scheme(template: &str) -> bool {
    let is_scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let (literal, expression) = match template.split_once('{') {
        Some((literal, _)) => (literal, true),
        None => (template, false),
    };
    match literal.split_once(':') {
        Some((scheme, _)) => is_scheme(scheme),
        None => expression && (literal.is_empty() || is_scheme(literal)),
    }
}

/// Warns of a name that clients may not take.
// MCP 2025-11-25 server/tools, Tool Names: SHOULD
pub(crate) fn warn_of_name(name: &str) {
    let common = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.len() > LONGEST_NAME || !name.bytes().all(common) {
        log::warn!(
            "tool {:?}: clients may refuse this name; the specification recommends 1 to {LONGEST_NAME} of `A-Z`, `a-z`, `0-9`, `_`, `-` and `.`",
            short(name)
        );
    }
}

/// At most 100 characters: a data URI may be large.
fn short(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
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

    // C117
    #[test]
    fn a_template_has_literals_that_can_stand_in_a_uri() {
        for template in
            ["file:///{+path}", "file:///größe/{name}", "a:my file/{x}", "a:%20/{x}", "{+uri}", "a:{x}#'()!"]
        {
            assert_eq!(wrong_literal(template), None, "{template}");
        }
        for (template, wrong) in [
            ("a:<{x}>", '<'),
            ("a:%zz{x}", '%'),
            ("a:{x}%2", '%'),
            ("a:\"{x}", '"'),
            ("a:\n{x}", '\n'),
            ("a|{x}", '|'),
        ] {
            assert_eq!(wrong_literal(template), Some(wrong), "{template}");
        }
    }

    // C117
    #[test]
    fn a_template_begins_with_a_scheme_or_may_be_given_one() {
        for template in ["mem://{x}", "urn:a:{x}", "{+uri}", "{scheme}://h/a", "git+{kind}://h"] {
            assert!(may_have_scheme(template), "{template}");
        }
        for template in ["not a uri {x}", "/a/{x}", "a/{x}:b", "1a:{x}", ":{x}", "a b:{x}", "name", "#{x}"] {
            assert!(!may_have_scheme(template), "{template}");
        }
    }
}
