//! Media types as HTTP writes them: `type/subtype` with parameters, and lists of them.
//!
//! Nearly every client sends one spelling, which is compared directly; this parser is for the others. The crate `mime`
//! refuses spaces before a semicolon, which the grammar allows, and actix-web's lists split at a comma inside quotes.
// RFC 9110, 8.3.1 and 5.6.6

use std::borrow::Cow;

use actix_web::http::header::HeaderValue;

/// Names of UTF-8 and of its subset US-ASCII: those of the IANA registry, and others that clients send.
const UTF_8: [&str; 16] = [
    // an empty name
    "",
    "utf-8",
    "utf8",
    "csutf8",
    "us-ascii",
    "ascii",
    "csascii",
    "us",
    "iso646-us",
    "iso_646.irv:1991",
    "iso-ir-6",
    "ansi_x3.4-1968",
    "ansi_x3.4-1986",
    "ibm367",
    "cp367",
    "unicode-1-1-utf-8",
];

/// A media type or range.
#[derive(Debug)]
pub(super) struct Media<'a> {
    kind: &'a str,
    subtype: &'a str,
    /// The rest, not parsed yet.
    parameters: &'a str,
}

impl<'a> Media<'a> {
    /// Reads `type/subtype *( OWS ";" OWS [ name "=" value ] )`; `None` if it is not that.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let media = Self::range(text)?;
        media.parameters().all(|parameter| parameter.is_some()).then_some(media)
    }

    /// Reads a range of an `Accept` header, whose parameters may be malformed.
    pub(super) fn range(text: &'a str) -> Option<Self> {
        let (kind, rest) = token(trim(text))?;
        let (subtype, parameters) = token(rest.strip_prefix('/')?)?;
        Some(Self { kind, subtype, parameters })
    }

    /// Whether it is this type, in upper or lower case.
    pub(super) fn is(&self, kind: &str, subtype: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind) && self.subtype.eq_ignore_ascii_case(subtype)
    }

    /// The values of a parameter, unquoted.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = String> {
        let named = self.parameters().flatten().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| unquoted(value))
    }

    /// Whether its text can be UTF-8: no `charset` names another encoding.
    pub(super) fn is_utf_8(&self) -> bool {
        self.values("charset").all(|charset| UTF_8.iter().any(|name| charset.eq_ignore_ascii_case(name)))
    }

    /// The parameters: names, and values that are still quoted; the last one is `None` if it is malformed.
    fn parameters(&self) -> impl Iterator<Item = Option<(&'a str, &'a str)>> + use<'a> {
        let mut rest = Some(self.parameters);
        std::iter::from_fn(move || {
            loop {
                let text = rest.take()?.trim_start_matches(OWS);
                if text.is_empty() {
                    return None;
                }
                let Some(text) = text.strip_prefix(';') else { return Some(None) };
                let text = text.trim_start_matches(OWS);
                // a semicolon with nothing after it is allowed
                if text.is_empty() || text.starts_with(';') {
                    rest = Some(text);
                    continue;
                }
                let Some((name, value, after)) = parameter(text) else { return Some(None) };
                rest = Some(after);
                return Some(Some((name, value)));
            }
        })
    }
}

const OWS: [char; 2] = [' ', '\t'];

fn trim(text: &str) -> &str {
    text.trim_matches(OWS)
}

/// A header's value. A byte that is not ASCII may stand in a quoted string, where its value does not matter here.
// RFC 9110, 5.6.4: obs-text
pub(super) fn text(value: &HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

/// Whether a weight is more than 0. One that is malformed counts as not given.
// RFC 9110, 12.4.2
pub(super) fn is_taken(weight: &str) -> bool {
    let zero = weight.strip_prefix('0').is_some_and(|rest| {
        let decimals = rest.strip_prefix('.').unwrap_or(rest);
        decimals.len() <= 3 && decimals.bytes().all(|digit| digit == b'0')
    });
    !zero
}

/// The elements of a comma-separated list; a comma in a quoted string is part of its element.
pub(super) fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = text.bytes().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b',' => return !quoted,
                _ => {}
            }
            false
        });
        rest = end.and_then(|end| text.get(end + 1..));
        Some(trim(text.get(..end.unwrap_or(text.len()))?))
    })
}

/// Whether it is a token, as the name of a header is.
pub(super) fn is_token(text: &str) -> bool {
    token(text).is_some_and(|(_, rest)| rest.is_empty())
}

/// A token, and what comes after it.
// RFC 9110, 5.6.2
fn token(text: &str) -> Option<(&str, &str)> {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let end = text.bytes().position(|byte| !is_tchar(byte)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(token, _)| !token.is_empty())
}

/// `name "=" ( token / quoted-string )`, and what comes after it.
fn parameter(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = token(text)?;
    let rest = rest.strip_prefix('=')?;
    let (value, rest) = if rest.starts_with('"') { quoted(rest)? } else { token(rest)? };
    Some((name, value, rest))
}

/// A quoted string with its quotes, and what comes after it.
// RFC 9110, 5.6.4
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| match byte {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        byte => byte == b'"',
    })?;
    text.split_at_checked(end + 2)
}

/// A parameter's value without its quotes and escapes.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(next) = chars.next() {
        text.extend(if next == '\\' { chars.next() } else { Some(next) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_json(text: &str) -> bool {
        Media::parse(text).is_some_and(|media| media.is("application", "json") && media.is_utf_8())
    }

    // C100
    #[test]
    fn json_in_utf_8_is_recognized_in_every_spelling_of_the_grammar() {
        for text in [
            "application/json",
            "APPLICATION/Json",
            " application/json\t",
            "application/json;",
            "application/json ;",
            "application/json; ; ;charset=utf-8;",
            "application/json;charset=utf-8",
            "application/json ; charset=utf-8",
            "application/json\t;\tCharset=UTF-8",
            "application/json; charset=utf8",
            "application/json; charset=us-ascii",
            "application/json; charset=\"utf-8\"",
            "application/json; charset=\"\\u\\tf-8\"",
            "application/json; profile=\"a;b, \\\" c\"; charset=utf-8",
            "application/json; profile=\"charset=utf-16\"",
            "application/json; charset=utf-8; charset=UTF-8",
            "application/json; charset=\"\"",
        ] {
            assert!(is_json(text), "{text}");
        }
    }

    // C100
    #[test]
    fn another_type_another_charset_and_what_is_malformed_is_not() {
        for text in [
            "",
            "application",
            "application/",
            "/json",
            "application /json",
            "application/ json",
            "application/json charset=utf-8",
            "application/json, application/json",
            "application/json; charset",
            "application/json; charset=",
            "application/json; charset = utf-8",
            "application/json; charset=\"utf-8",
            "application/json; charset=\"utf-8\\\"",
            "application/json; charset=\"utf-8\"x",
            "application/json; charset=utf 8",
            "application/json; =utf-8",
            "application/json; charset=utf-16",
            "application/json; charset=iso-8859-1",
            "application/json; charset=utf-8; charset=utf-16",
            "application/json; charset='utf-8'",
            "application/jsonp",
            "application/vnd.api+json",
            "text/json",
            "text/plain",
        ] {
            assert!(!is_json(text), "{text}");
        }
    }

    // C100
    #[test]
    fn a_quoted_string_may_have_bytes_that_are_not_ascii() {
        for bytes in [
            &b"application/json;x=\"\xe9\""[..],
            b"application/json;x=\"\xc3\xa9\"; charset=utf-8",
            b"application/json;x=\"\\\xe9\"",
        ] {
            let value = HeaderValue::from_bytes(bytes).unwrap();
            assert!(is_json(&text(&value)), "{value:?}");
        }
        for bytes in [&b"application/json;x=\xe9"[..], b"application/json\xe9", b"application/json;\xe9=1"] {
            let value = HeaderValue::from_bytes(bytes).unwrap();
            assert!(!is_json(&text(&value)), "{value:?}");
        }
    }

    #[test]
    fn only_a_weight_of_zero_takes_a_type_away() {
        for weight in ["0", "0.", "0.0", "0.000"] {
            assert!(!is_taken(weight), "{weight}");
        }
        for weight in ["1", "0.001", "0.5", "1.000", "", "inf", "nan", "-1", "0.0000"] {
            assert!(is_taken(weight), "{weight}");
        }
    }

    #[test]
    fn a_comma_in_a_quoted_string_does_not_end_an_element() {
        let of = |list| elements(list).collect::<Vec<_>>();
        assert_eq!(of("a/b, c/d;p=\"x,\\\",y\" ,,e/f"), ["a/b", "c/d;p=\"x,\\\",y\"", "", "e/f"]);
        assert_eq!(of(""), [""]);
        assert_eq!(of("a/b;p=\"x,c/d"), ["a/b;p=\"x,c/d"]);
    }
}
