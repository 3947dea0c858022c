//! URI templates: level 1 of RFC 6570, and `{+var}` of level 2.
//!
//! Written by hand: crates for RFC 6570, such as `iri-string`, expand templates but do not match URIs against them.
//!
//! **Invariant:** equivalent URIs match the same templates: both sides are compared in their normal form
//! ([`crate::wire::uri`]). The values of variables are taken from the URI as the client wrote it.

use std::{borrow::Cow, fmt};

use percent_encoding::percent_decode_str;

use crate::wire::uri::{self, Normal, is_boundary};

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UriTemplate(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// In the normal form.
    Literal(String),
    Variable {
        name: String,
        /// `{+var}`: matches `/` too, and its value is not decoded.
        reserved: bool,
    },
}

/// Why a text is not a supported URI template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTemplate {
    /// An unbalanced brace.
    #[error("an unbalanced `{{` or `}}`")]
    Brace,
    /// An expression other than `{var}` and `{+var}`.
    #[error("the expression {0:?} is neither {{var}} nor {{+var}}")]
    Expression(String),
    /// A duplicate variable.
    #[error("duplicate variable {0:?}")]
    DuplicateVariable(String),
    /// It has no variable, so it is a resource and not a template.
    #[error("it has no variable: register it as a `Resource`")]
    NoVariable,
}

impl UriTemplate {
    /// Parses a template.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, after) = rest.split_at(rest.find(['{', '}']).unwrap_or(rest.len()));
            if !literal.is_empty() {
                let begin = text.len() - rest.len();
                parts.push(Part::Literal(uri::literal(text, begin..begin + literal.len())));
            }
            if after.is_empty() {
                break;
            }
            let (expression, after) = after
                .strip_prefix('{')
                .and_then(|inner| inner.split_once('}'))
                .ok_or(InvalidTemplate::Brace)?;
            parts.push(Part::variable(expression)?);
            rest = after;
        }
        let template = Self(parts);
        let names: Vec<_> = template.variables().collect();
        if names.is_empty() {
            return Err(InvalidTemplate::NoVariable);
        }
        match names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            Some((_, name)) => Err(InvalidTemplate::DuplicateVariable((*name).to_owned())),
            None => Ok(template),
        }
    }

    /// The variables' names, in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The normal form of a template, for comparison. A text that is not a template is normalized as a URI. Variables
    /// are not changed.
    pub(crate) fn normal(text: &str) -> Cow<'_, str> {
        if text.bytes().all(|byte| uri::is_plain(byte) || matches!(byte, b'{' | b'}')) {
            return Cow::Borrowed(text);
        }
        Self::parse(text).map_or_else(|_| uri::normal(text), |template| Cow::Owned(template.to_string()))
    }

    /// The values of the variables in a matching URI. If it matches in several ways, earlier variables are as short as
    /// possible.
    ///
    /// For each part the time is linear in the length of the URI: from the end, each part marks where it may begin.
    pub(crate) fn match_uri<'t>(&'t self, uri: &str) -> Option<Vec<(&'t str, String)>> {
        let normal = Normal::of(uri);
        let text = &*normal.text;
        if let Some(Part::Literal(start)) = self.0.first()
            && !text.starts_with(start.as_str())
        {
            return None;
        }
        let mut fits: Vec<bool> = (0..=text.len()).map(|at| at == text.len()).collect();
        let mut ends = Vec::with_capacity(self.0.len());
        for part in self.0.iter().rev() {
            let next = part.ends(text, &fits);
            fits = next.iter().map(Option::is_some).collect();
            ends.push(next);
        }
        let mut at = 0;
        let mut values = Vec::new();
        for (part, ends) in self.0.iter().zip(ends.iter().rev()) {
            let end = (*ends.get(at)?)?;
            if let Part::Variable { name, reserved } = part {
                let value = &uri[normal.source(at)..normal.source(end)];
                values.push((name.as_str(), if *reserved { value.to_owned() } else { decode(value) }));
            }
            at = end;
        }
        Some(values)
    }
}

impl Part {
    fn variable(expression: &str) -> Result<Self, InvalidTemplate> {
        let (name, reserved) = match expression.strip_prefix('+') {
            Some(name) => (name, true),
            None => (expression, false),
        };
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
        if name.is_empty() || !name.bytes().all(legal) {
            return Err(InvalidTemplate::Expression(format!("{{{expression}}}")));
        }
        Ok(Self::Variable { name: name.to_owned(), reserved })
    }

    /// For each byte of the normalized URI, the earliest end of this part if it begins there. `fits` marks the
    /// positions from which the parts after it match the rest.
    fn ends(&self, uri: &str, fits: &[bool]) -> Vec<Option<usize>> {
        let mut ends = vec![None; fits.len()];
        match self {
            Self::Literal(text) => {
                for (at, end) in ends.iter_mut().enumerate() {
                    let after = at + text.len();
                    let here =
                        fits.get(after) == Some(&true) && uri.as_bytes()[at..].starts_with(text.as_bytes());
                    *end = here.then_some(after);
                }
            }
            Self::Variable { reserved, .. } => {
                for (at, byte) in uri.bytes().enumerate().rev() {
                    let after = at + 1;
                    ends[at] = match byte {
                        b'/' if !reserved => None,
                        _ if fits[after] && is_boundary(uri, after) => Some(after),
                        _ => ends[after],
                    };
                }
            }
        }
        ends
    }
}

/// Percent-decoding; text that does not decode to UTF-8 is left as it is.
fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Literal(text) => f.write_str(text),
            Part::Variable { name, reserved: true } => write!(f, "{{+{name}}}"),
            Part::Variable { name, reserved: false } => write!(f, "{{{name}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<String>> {
        let template = UriTemplate::parse(template).unwrap();
        template.match_uri(uri).map(|values| values.into_iter().map(|(_, value)| value).collect())
    }

    fn matched(template: &str, uri: &str) -> Vec<String> {
        values(template, uri).unwrap_or_else(|| panic!("{uri} does not fit {template}"))
    }

    #[test]
    fn a_variable_takes_one_or_more_characters_up_to_a_slash() {
        assert_eq!(matched("mem://item/{id}", "mem://item/7"), ["7"]);
        assert_eq!(matched("mem://item/{id}", "mem://item/täg"), ["täg"]);
        for other in ["mem://item/", "mem://item/a/b", "mem://item", "mem://items/7", "xmem://item/7", ""] {
            assert_eq!(values("mem://item/{id}", other), None, "{other}");
        }
    }

    #[test]
    fn a_reserved_variable_takes_slashes_too() {
        assert_eq!(matched("file:///{+path}", "file:///a/b%20c"), ["a/b%20c"]);
        assert_eq!(matched("file:///{+path}/meta", "file:///a/meta/meta"), ["a/meta"]);
        assert_eq!(values("file:///{+path}", "file:///"), None);
    }

    #[test]
    fn several_variables_share_a_uri_the_earlier_ones_being_short() {
        assert_eq!(matched("db://{table}/{row}", "db://t/1"), ["t", "1"]);
        assert_eq!(matched("x:{a}-{b}", "x:1-2-3"), ["1", "2-3"]);
        assert_eq!(matched("x:{a}{b}", "x:äö"), ["ä", "ö"]);
        assert_eq!(matched("x:{a}.json", "x:a.json.json"), ["a.json"]);
        assert_eq!(values("x:{a}{b}", "x:a"), None);
    }

    #[test]
    fn a_value_is_percent_decoded_where_it_can_be() {
        assert_eq!(matched("x:{a}", "x:a%20b%2Fc"), ["a b/c"]);
        assert_eq!(matched("x:{a}", "x:100%"), ["100%"]);
        assert_eq!(matched("x:{a}", "x:%ff%zz"), ["%ff%zz"]);
    }

    // C104
    #[test]
    fn a_template_is_read_however_it_and_the_uri_are_written() {
        let uris = ["file:///gr%C3%B6%C3%9Fe/a.txt", "file:///größe/a.txt", "FILE:///gr%c3%b6ße/%61.txt"];
        for template in ["file:///größe/{name}", "file:///gr%c3%b6%C3%9Fe/{name}", "File:///%67röße/{name}"]
        {
            for uri in uris {
                assert_eq!(matched(template, uri), ["a.txt"], "{template} {uri}");
            }
        }
        for (template, uri) in
            [("x:a b/{c}", "x:a%20b/1"), ("x:a%20b/{c}", "x:a b/1"), ("X://H.org/{c}", "x://h.ORG/1")]
        {
            assert_eq!(matched(template, uri), ["1"]);
        }
        assert_eq!(matched("{scheme}://H.org/A", "X://h.ORG/A"), ["X"]);
        assert_eq!(matched("x:{a}ß{b}", "x:ö%c3%9F%C3%A4"), ["ö", "ä"]);
        assert_eq!(matched("x:{a}{b}", "x:%C3%A4%C3%B6"), ["ä", "ö"], "a character stays whole");
        assert_eq!(matched("x:{a}{b}", "x:%41%2f"), ["A", "/"], "and an escape");
        assert_eq!(values("x:{a}{b}", "x:%41"), None);
    }

    // C104
    #[test]
    fn the_value_of_a_variable_is_what_was_written_and_is_decoded_once() {
        assert_eq!(
            matched("db://{table}/{row}", "db://Users/Ä"),
            ["Users", "Ä"],
            "also where case means nothing"
        );
        assert_eq!(matched("x:{a}", "x:%2541"), ["%41"]);
        assert_eq!(matched("x:{a}", "x:%252F"), ["%2F"]);
        assert_eq!(matched("x:{a}", "x:..%2f..%2Fetc"), ["../../etc"]);
        assert_eq!(matched("x:{+a}", "x:%c3%b6/%7E/ö"), ["%c3%b6/%7E/ö"]);
        for (template, uri) in [("x:a/{b}", "x:a%2Fb"), ("x:{b}/c", "x:b%2fc"), ("x:y/{b}", "x:a/../y/b")] {
            assert_eq!(values(template, uri), None, "{template} {uri}");
        }
    }

    // C104
    #[test]
    fn the_normal_form_of_a_template_leaves_its_variables_alone() {
        for text in ["mem://item/{id}", "x:%C3%B6/{+Id}/{b.C_1}"] {
            assert_eq!(UriTemplate::normal(text), text);
        }
        for text in ["MEM://It%65m/{Id}", "mem://ITEM/{Id}"] {
            assert_eq!(UriTemplate::normal(text), "mem://item/{Id}");
        }
        assert_eq!(UriTemplate::normal("mem://A/{"), "mem://a/%7B", "no template");
        assert_eq!(UriTemplate::normal("mem://A/1"), "mem://a/1");
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for (text, error) in [
            ("x:{a", InvalidTemplate::Brace),
            ("x:a}", InvalidTemplate::Brace),
            ("x:{}", InvalidTemplate::Expression("{}".to_owned())),
            ("x:{?q}", InvalidTemplate::Expression("{?q}".to_owned())),
            ("x:{a,b}", InvalidTemplate::Expression("{a,b}".to_owned())),
            ("x:{a*}", InvalidTemplate::Expression("{a*}".to_owned())),
            ("x:{a}{a}", InvalidTemplate::DuplicateVariable("a".to_owned())),
            ("x:a", InvalidTemplate::NoVariable),
        ] {
            assert_eq!(UriTemplate::parse(text), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn matching_never_panics_and_what_it_finds_expands_to_the_uri(
            template in "(\\{a\\}|x|/|ä){0,3}\\{\\+b\\}(-|\\{c\\}|ä|/){0,3}",
            uri in "[-xä/]{0,12}|([-xä/]|%[cC]3%[aA]4|%78){0,8}",
        ) {
            let Ok(template) = UriTemplate::parse(&template) else { return Ok(()) };
            if let Some(values) = template.match_uri(&uri) {
                let mut expanded = template.to_string();
                for (name, value) in values {
                    expanded = expanded.replace(&format!("{{{name}}}"), &value);
                    expanded = expanded.replace(&format!("{{+{name}}}"), &value);
                }
                prop_assert!(uri::same(&expanded, &uri), "{} {}", expanded, uri);
            }
        }
    }
}
