//! Checks at registration: icons, keys of `_meta`, names of tools, literals of URI templates.

use serde_json::Value;

use crate::{
    catalog::add_error::AddError,
    wire::{
        content::{Icon, MetaMap},
        names::{is_icon, wrong_key},
    },
};

/// The longest name of a tool that the specification recommends, in bytes.
const RECOMMENDED_NAME_BYTES: usize = 128;

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

/// The first character of a template's literals that is not allowed in a URI and is not escaped automatically. Spaces
/// and non-ASCII characters are escaped.
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

/// Whether a URI of this template can begin with a scheme. Only the text before the first expression can rule it out.
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

/// Warns about a name that clients may refuse.
// MCP 2025-11-25 server/tools, Tool Names: SHOULD
pub(crate) fn warn_of_name(name: &str) {
    let common = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.len() > RECOMMENDED_NAME_BYTES || !name.bytes().all(common) {
        log::warn!(
            "tool {:?}: clients may refuse this name; the specification recommends 1 to {RECOMMENDED_NAME_BYTES} of `A-Z`, `a-z`, `0-9`, `_`, `-` and `.`",
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
