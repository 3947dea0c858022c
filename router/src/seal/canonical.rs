//! A digest of JSON that is the same however the same value is written: a client that retries may write its arguments
//! anew.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use sha2::{Digest, Sha256};

/// The digest of this text: by value where it is JSON, by its bytes otherwise.
pub(super) fn digest(text: &str) -> [u8; 32] {
    match serde_json::from_str::<Canonical>(text) {
        Ok(Canonical(digest)) => digest,
        Err(_) => hash(b'?', &[text.as_bytes()]),
    }
}

/// The digest of one value.
struct Canonical([u8; 32]);

/// One digest of several parts, none of which can pass for another.
fn hash(kind: u8, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update([kind]);
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

impl<'de> Deserialize<'de> for Canonical {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Value)
    }
}

struct Value;

impl<'de> Visitor<'de> for Value {
    type Value = Canonical;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Canonical, E> {
        Ok(Canonical(hash(b'0', &[])))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Canonical, E> {
        Ok(Canonical(hash(b'b', &[&[u8::from(value)]])))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Canonical, E> {
        Ok(integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Canonical, E> {
        Ok(integer(value.into()))
    }

    /// `1.0` and `1e2` are integers to many writers.
    #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range of the type")]
    fn visit_f64<E>(self, value: f64) -> Result<Canonical, E> {
        if value.fract() == 0.0 && value.abs() < 1e30 {
            return Ok(integer(value as i128));
        }
        Ok(Canonical(hash(b'f', &[&value.to_bits().to_be_bytes()])))
    }

    fn visit_str<E>(self, value: &str) -> Result<Canonical, E> {
        Ok(Canonical(hash(b's', &[value.as_bytes()])))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Canonical, A::Error> {
        let mut all = Vec::new();
        while let Some(Canonical(digest)) = list.next_element()? {
            all.push(digest);
        }
        let all: Vec<&[u8]> = all.iter().map(|digest| &digest[..]).collect();
        Ok(Canonical(hash(b'l', &all)))
    }

    /// Members in any order; one that is there twice counts twice.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Canonical, A::Error> {
        let mut all = Vec::new();
        while let Some((name, Canonical(digest))) = map.next_entry::<String, _>()? {
            all.push((name, digest));
        }
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let all: Vec<&[u8]> = all.iter().flat_map(|(name, digest)| [name.as_bytes(), &digest[..]]).collect();
        Ok(Canonical(hash(b'm', &all)))
    }
}

fn integer(value: i128) -> Canonical {
    Canonical(hash(b'i', &[&value.to_be_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_differently_and_means_the_same_has_one_digest() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, "{ \"b\" : [true, null],\n\"a\": 1.0 }"),
            (r#"{"a":"\u00e9\/"}"#, r#"{"a":"é/"}"#),
            ("[1e2, -0.0, 1e18]", "[100, 0, 1000000000000000000]"),
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
