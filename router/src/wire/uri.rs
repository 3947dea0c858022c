//! The equivalence of URIs: every comparison of URIs goes through the normal form of this module.
//!
//! RFC 3986, 6.2.2: the scheme and the host are lower case, escapes are upper case, and only characters that need it
//! are escaped. Characters of an IRI (RFC 3987) or an expanded template (RFC 6570, 3.1) that a URI cannot contain, such
//! as `ö` or a space, are escaped.
//!
//! It goes no further, since that would make different URIs equal:
//!
//! - `%2F` is not `/`: an escaped delimiter is data, and stays escaped.
//! - Dot segments stay (6.2.2.3 is not done): `file:///a/../b` is not `file:///b`. A reader that opens files must check
//!   which file it opens, whatever the URI looks like.
//! - Nothing that depends on the scheme (6.2.3), such as default ports, and no Unicode normalization.
//!
//! **Invariant:** the normal form is for comparing only. Handlers, responses and notifications have the URI as the
//! client wrote it.

use std::{borrow::Cow, ops::Range};

use bytestring::ByteString;
use percent_encoding::{percent_decode, percent_encode_byte};

/// The normal form of a URI. Borrowed, after one scan, if the URI has no `%`, no upper case, and only characters that a
/// URI can contain.
#[must_use]
pub(crate) fn normal(uri: &str) -> Cow<'_, str> {
    Normal::of(uri).text
}

/// Like `normal`, for an owned text, which is not copied either if it is normal already.
#[must_use]
pub fn normal_of(uri: &ByteString) -> ByteString {
    match normal(uri) {
        Cow::Borrowed(_) => uri.clone(),
        Cow::Owned(normal) => normal.into(),
    }
}

/// Whether two URIs are equivalent.
#[must_use]
pub(crate) fn same(one: &str, other: &str) -> bool {
    one == other || normal(one) == normal(other)
}

/// A URI in its normal form, with the origin of each byte.
pub(crate) struct Normal<'a> {
    pub(crate) text: Cow<'a, str>,
    /// For each byte of the text, and for its end: the position in the URI where its character or escape begins. Empty
    /// if nothing has changed.
    source: Vec<usize>,
}

impl<'a> Normal<'a> {
    pub(crate) fn of(uri: &'a str) -> Self {
        if uri.bytes().all(is_plain) {
            return Self { text: Cow::Borrowed(uri), source: Vec::new() };
        }
        let mut writer = Writer::new(uri);
        writer.write(0..uri.len());
        let Writer { text, mut source, .. } = writer;
        source.push(uri.len());
        Self { text: Cow::Owned(text), source }
    }

    /// The position in the URI of a position in the text.
    pub(crate) fn source(&self, at: usize) -> usize {
        self.source.get(at).copied().unwrap_or(at)
    }
}

/// Whether a part of a URI may begin or end here in a normal form: not inside an escape, nor inside a character that
/// takes several escapes.
pub(crate) fn is_boundary(normal: &str, at: usize) -> bool {
    let bytes = normal.as_bytes();
    let escape = |at: Option<usize>| at.is_some_and(|at| bytes.get(at) == Some(&b'%'));
    let inside = escape(at.checked_sub(1)) || escape(at.checked_sub(2));
    // %80 to %BF continue the character before
    let goes_on = || matches!(bytes.get(at + 1), Some(b'8' | b'9' | b'A' | b'B'));
    let within = || escape(Some(at)) && escape(at.checked_sub(3)) && goes_on();
    !inside && !within()
}

/// The normal form of a literal part of a URI template.
pub(crate) fn literal(template: &str, part: Range<usize>) -> String {
    let mut writer = Writer::new(template);
    if writer.scheme.is_empty() && template.starts_with('{') {
        // the scheme is a variable
        let scheme = template.find('}').map_or(0, |end| end + 1);
        writer.host = host(template, scheme);
    }
    writer.write(part);
    writer.text
}

/// Whether a byte is left as it is in the normal form of every URI.
pub(crate) fn is_plain(byte: u8) -> bool {
    is_legal(byte) && byte != b'%' && !byte.is_ascii_uppercase()
}

/// Whether a URI can contain a byte, `%` included.
// RFC 3986, 2: reserved and unreserved characters
fn is_legal(byte: u8) -> bool {
    is_unreserved(byte) || b":/?#[]@!$&'()*+,;=%".contains(&byte)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Writes the normal form of parts of a URI.
struct Writer<'a> {
    uri: &'a str,
    /// Case-insensitive, like the host.
    scheme: Range<usize>,
    host: Range<usize>,
    /// The part that would become a scheme if its escapes were decoded. They stay, since that would be another URI.
    almost_scheme: Range<usize>,
    text: String,
    source: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(uri: &'a str) -> Self {
        let scheme = 0..scheme(uri);
        let host = host(uri, scheme.end);
        let begin =
            uri.find([':', '/', '?', '#']).filter(|at| scheme.is_empty() && uri[*at..].starts_with(':'));
        let almost_scheme = 0..begin.unwrap_or(0);
        Self {
            uri,
            scheme,
            host,
            almost_scheme,
            text: String::with_capacity(uri.len() + 16),
            source: Vec::new(),
        }
    }

    /// Writes `part`, which begins and ends between characters.
    fn write(&mut self, part: Range<usize>) {
        let mut chars = self.uri[part.clone()].char_indices();
        while let Some((at, char)) = chars.next() {
            let at = part.start + at;
            match (u8::try_from(char), escaped(self.uri.as_bytes(), at).filter(|_| at + 3 <= part.end)) {
                (Ok(b'%'), Some(byte)) => {
                    // skip both digits
                    chars.nth(1);
                    let decodes = is_unreserved(byte) && !self.almost_scheme.contains(&at);
                    if decodes { self.push(byte, at) } else { self.escape(byte, at) }
                }
                // a lone `%` is escaped: it could form an escape with what follows
                (Ok(byte), _) if is_legal(byte) && byte != b'%' => self.push(byte, at),
                _ => {
                    let mut bytes = [0; 4];
                    char.encode_utf8(&mut bytes).bytes().for_each(|byte| self.escape(byte, at));
                }
            }
        }
    }

    fn push(&mut self, byte: u8, at: usize) {
        let folds = self.scheme.contains(&at) || self.host.contains(&at);
        self.text.push(char::from(if folds { byte.to_ascii_lowercase() } else { byte }));
        self.source.push(at);
    }

    fn escape(&mut self, byte: u8, at: usize) {
        for char in percent_encode_byte(byte).chars() {
            self.text.push(char);
            self.source.push(at);
        }
    }
}

/// The byte that an escape at this place stands for.
fn escaped(bytes: &[u8], at: usize) -> Option<u8> {
    let mut decoded = percent_decode(bytes.get(at..at + 3)?);
    let byte = decoded.next()?;
    // without a valid escape there are three bytes
    decoded.next().is_none().then_some(byte)
}

/// The end of the scheme; 0 if there is none.
fn scheme(uri: &str) -> usize {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let end = uri.bytes().position(|byte| !legal(byte)).unwrap_or(0);
    let begins = uri.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if begins && uri[end..].starts_with(':') { end } else { 0 }
}

/// The host and the port; a template's variables may be part of it. Empty if there is none.
fn host(uri: &str, scheme: usize) -> Range<usize> {
    let Some(rest) = uri[scheme..].strip_prefix("://") else { return 0..0 };
    let begin = scheme + 3;
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let user = authority.rfind('@').map_or(0, |at| at + 1);
    begin + user..begin + authority.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // C104
    #[test]
    fn equivalent_uris_have_one_normal_form() {
        for (normal_form, spellings) in [
            (
                "file:///gr%C3%B6%C3%9Fe/a.txt",
                &["file:///größe/a.txt", "file:///gr%c3%b6%c3%9fe/a.txt", "FILE:///gr%C3%B6ße/%61%2Etxt"][..],
            ),
            ("mem://a/b%20c", &["mem://a/b c", "mem://A/b%20c", "MEM://%41/b%20c", "mem://%61/%62 %63"]),
            ("https://me@example.com:80/A?B#C", &["HTTPS://me@EXAMPLE.com:80/A?B#C"]),
            ("http://[fe80::1]/", &["http://[FE80::1]/"]),
            ("x:%7B%22%7D%5C%5E%60%7C%3C%3E", &["x:{\"}\\^`|<>", "x:%7b%22%7d%5c%5e%60%7c%3c%3e"]),
            ("x:a~b-c_d.e", &["x:a%7Eb%2Dc%5Fd%2ee", "X:a~b-c_d.e"]),
            ("x:100%25", &["x:100%", "x:100%25"]),
            ("x:%0A%7F", &["x:\n\u{7f}"]),
        ] {
            assert_eq!(normal(normal_form), normal_form);
            for spelling in spellings {
                assert_eq!(normal(spelling), normal_form, "{spelling}");
                assert!(same(spelling, normal_form));
            }
        }
    }

    // C104
    #[test]
    fn what_is_two_stays_two() {
        for (one, other) in [
            ("x:a%2Fb", "x:a/b"),
            ("x:a%3Fb", "x:a?b"),
            ("x:%2525", "x:%25"),
            ("x:%2541", "x:%41"),
            ("file:///a/../b", "file:///b"),
            ("file:///a/%2E%2E/b", "file:///b"),
            ("file:///a/%2e%2e%2fb", "file:///a/../b"),
            ("file:///a/./b", "file:///a/b"),
            ("file:///A", "file:///a"),
            ("urn:x:A", "urn:x:a"),
            ("http://Me@x/", "http://me@x/"),
            ("http://x:80/", "http://x/"),
            ("http://x", "http://x/"),
            ("x:a#B", "x:a#b"),
            ("x://h?A", "x://h?a"),
            ("x:o\u{308}", "x:ö"),
            ("%%411", "%A1"),
            ("%4C:x", "L:x"),
            ("%61://H", "a://h"),
            ("Not a uri", "not a uri"),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_usual_uri_is_not_copied() {
        for uri in ["mem://item/7", "file:///a/b.txt?x=1&y=[2]#z", "", "urn:x:y"] {
            assert!(matches!(normal(uri), Cow::Borrowed(_)), "{uri}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_ascii_and_normal(uri in "([a-cA-C]{0,3}://)?[a%41C3ö/@:~{ .F]{0,16}") {
            let once = normal(&uri).into_owned();
            prop_assert!(once.bytes().all(is_legal), "{}", once);
            prop_assert_eq!(&normal(&once), &once);
        }
    }
}
