//! A digest of JSON that does not depend on how a value is written: a client that retries may write its arguments
//! differently.
//!
//! It is computed from the text in one pass, without building a value. Every digit of a number counts, since a handler
//! may read it exactly, and the cost is little more than that of reading, even for hostile input.
//!
//! Written by hand: crates for JCS (RFC 8785) round numbers to `f64`, and recursion over `serde_json`'s `RawValue`
//! would read nested text once for each level.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::wire::{number::Decimal, params};

/// Maximum nesting depth of arrays and objects; deeper text is digested by its bytes.
const DEPTH: usize = 128;

/// The digest of this text: by value where it is JSON, by its bytes otherwise.
pub(super) fn digest(text: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let mut reader = Reader(text);
    if reader.value(&mut hasher, DEPTH).is_some() && reader.peek().is_none() {
        return hasher.finalize().into();
    }
    let mut hasher = Sha256::new();
    part(&mut hasher, b'?', text);
    hasher.finalize().into()
}

/// Adds a text with its kind and length, so that it cannot be confused with another part.
fn part(hasher: &mut Sha256, kind: u8, text: &str) {
    hasher.update([kind]);
    hasher.update((text.len() as u64).to_be_bytes());
    hasher.update(text);
}

/// The text left to read. The digested form of a value marks its end, so no two values have the same form.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        self.0.bytes().next()
    }

    /// Takes this many bytes.
    fn take(&mut self, bytes: usize) -> Option<&'a str> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.take(1)).flatten().map(drop)
    }

    /// Reads one value; `None` for text that is not JSON, or too deep.
    fn value(&mut self, hasher: &mut Sha256, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => part(hasher, b's', &self.string()?),
            b'[' => self.array(hasher, depth.checked_sub(1)?)?,
            b'{' => self.object(hasher, depth.checked_sub(1)?)?,
            b'-' | b'0'..=b'9' => self.number(hasher)?,
            first => {
                let all = [("null", b'0'), ("true", b't'), ("false", b'f')];
                let (word, kind) = all.into_iter().find(|(word, _)| word.as_bytes()[0] == first)?;
                self.0 = self.0.strip_prefix(word)?;
                hasher.update([kind]);
            }
        }
        Some(())
    }

    fn array(&mut self, hasher: &mut Sha256, depth: usize) -> Option<()> {
        self.expect(b'[')?;
        hasher.update(b"[");
        if self.peek()? != b']' {
            self.value(hasher, depth)?;
            while self.peek()? == b',' {
                self.expect(b',')?;
                self.value(hasher, depth)?;
            }
        }
        hasher.update(b"]");
        self.expect(b']')
    }

    /// Members in any order; each duplicate counts.
    fn object(&mut self, hasher: &mut Sha256, depth: usize) -> Option<()> {
        let mut all: Vec<(Cow<'_, str>, [u8; 32])> = Vec::new();
        self.expect(b'{')?;
        if self.peek()? != b'}' {
            all.push(self.member(depth)?);
            while self.peek()? == b',' {
                self.expect(b',')?;
                all.push(self.member(depth)?);
            }
        }
        self.expect(b'}')?;
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        hasher.update(b"{");
        for (name, digest) in &all {
            part(hasher, b'k', name);
            hasher.update(digest);
        }
        hasher.update(b"}");
        Some(())
    }

    fn member(&mut self, depth: usize) -> Option<(Cow<'a, str>, [u8; 32])> {
        let name = (self.peek()? == b'"').then(|| self.string()).flatten()?;
        self.expect(b':')?;
        let mut hasher = Sha256::new();
        self.value(&mut hasher, depth)?;
        Some((name, hasher.finalize().into()))
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.0.as_bytes();
        let mut end = 1;
        while *bytes.get(end)? != b'"' {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        params::text(self.take(end + 1)?)
    }

    /// Many writers write integers as `1.0` or `1e2`: a number counts by its digits and its power of ten.
    fn number(&mut self, hasher: &mut Sha256) -> Option<()> {
        let end = self.0.find(|next: char| !matches!(next, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let text = self.take(end.unwrap_or(self.0.len()))?;
        let number = Decimal::read(text)?;
        hasher.update(if number.negative { b"-" } else { b"+" });
        hasher.update(number.power.to_be_bytes());
        part(hasher, b'i', &number.digits);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_differently_and_means_the_same_has_one_digest() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, "{ \"b\" : [true, null],\n\"a\": 1.0 }"),
            (r#"{"a":"\u00e9\/"}"#, r#"{"a":"é/"}"#),
            ("[1e2, 0.0, 1e18, -1.50E+1]", "[100, 0, 1000000000000000000, -15]"),
            ("[0e7, 1e400]", "[0.00, 10e399]"),
            ("0e99999999999999999999", "0"),
            ("0.5", "5e-1"),
        ] {
            assert_eq!(digest(one), digest(other), "{one} {other}");
        }
    }

    #[test]
    fn what_means_something_else_has_another_digest() {
        let all = [
            "{}",
            "[]",
            "null",
            "0",
            "1",
            "1.5",
            "true",
            "false",
            r#""""#,
            r#""1""#,
            "[1]",
            "[[1]]",
            "[1,1]",
            r#"{"a":1}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a":2,"a":1}"#,
            r#"{"a":"1"}"#,
            r#"["a",1]"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":[],"b":1}"#,
            r#"[{"a":1}]"#,
            r#"[[],1]"#,
            r#"[[1],[]]"#,
            // what a handler may read exactly: rounded, they would be the same
            "100000000000000000000000",
            "100000000000000000000001",
            "100000000000000000000003",
            "18446744073709551617",
            "18446744073709551619",
            "-18446744073709551617",
            "1e100",
            "0.1",
            "0.10000000000000000001",
            "0.10000000000000000003",
            "9007199254740992.0",
            "9007199254740993.0",
            "-0.0",
            "-1",
            "1 1",
            "{\"a\"}",
            "nul",
            "{",
            "{ ",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[..at] {
                assert_ne!(digest(one), digest(other), "{one} {other}");
            }
        }
    }
}
