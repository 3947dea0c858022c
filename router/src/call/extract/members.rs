//! Which members a type reads, as its own `Deserialize` says it: names that a schema does not have, such as an alias.

use serde::{
    Deserializer,
    de::{DeserializeOwned, Visitor, value::Error},
    forward_to_deserialize_any,
};

use crate::call::catch_panic::contain;

/// Finds the names of a type's members, aliases included; `None` for what asks for no fixed ones.
pub(crate) type Members = fn() -> Option<&'static [&'static str]>;

/// The [`Members`] of a type.
pub(crate) fn members<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let mut members = None;
    // it fails in any case: what counts is what it asked for
    contain("reading the names of arguments", || drop(T::deserialize(Asked(&mut members)))).ok()?;
    members
}

/// Has nothing to read, and keeps what it is asked for.
struct Asked<'a>(&'a mut Option<&'static [&'static str]>);

fn nothing() -> Error {
    serde::de::Error::custom("nothing to read")
}

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        members: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(members);
        Err(nothing())
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// What a reader takes of its template's variables.
#[derive(Clone, Debug)]
pub(crate) struct Takes {
    pub(crate) schema: serde_json::Value,
    /// Asked where the schema alone would refuse: it is code of the author's.
    pub(crate) members: Option<Members>,
}

/// A name that a template and its reader do not share.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// The reader cannot do without it, and it is not a variable.
    Argument(String),
    /// It is a variable, and the reader refuses what it does not know.
    Variable(String),
}

impl Takes {
    /// The schema itself: that of a type round another one is a reference to it.
    fn root(&self) -> &serde_json::Value {
        let reference = self.schema.get("$ref").and_then(serde_json::Value::as_str);
        let definition = reference.and_then(|reference| self.schema.pointer(reference.strip_prefix('#')?));
        definition.unwrap_or(&self.schema)
    }

    /// Holds the names of the variables against those of the arguments; of what a schema says otherwise than by
    /// `properties`, nothing is known.
    pub(crate) fn unmatched(&self, variables: &[&str]) -> Option<Unmatched> {
        let schema = self.root();
        let list = |name: &str| schema.get(name).and_then(serde_json::Value::as_array);
        let required = list("required").into_iter().flatten().filter_map(serde_json::Value::as_str);
        let has_property =
            |name: &str| schema.get("properties").and_then(|properties| properties.get(name)).is_some();
        let closed = schema.get("additionalProperties") == Some(&serde_json::Value::Bool(false));
        let missing: Vec<_> = required.filter(|name| !variables.contains(name)).collect();
        let others: Vec<_> = variables.iter().copied().filter(|name| !has_property(name)).collect();
        if missing.is_empty() && (!closed || others.is_empty()) {
            return None;
        }
        let members = self.members.and_then(|members| members()).unwrap_or_default();
        let (aliases, unknown): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|name| members.contains(name));
        // an alias stands for one of them, and nothing says for which
        if let Some(argument) = missing.get(aliases.len()) {
            return Some(Unmatched::Argument((*argument).to_owned()));
        }
        unknown.first().filter(|_| closed).map(|variable| Unmatched::Variable((*variable).to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::call::extract::{About, Args, FromCall};

    fn unmatched<A: FromCall>(variables: &[&str]) -> Option<Unmatched> {
        About::of::<A>().takes().0.unwrap()?.unmatched(variables)
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the names count")]
    struct Open {
        id: String,
        lang: Option<String>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the names count")]
    struct Closed {
        #[serde(alias = "key", alias = "ident")]
        id: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the names count")]
    struct Flat {
        #[serde(rename = "row-id")]
        row: String,
        #[serde(flatten)]
        open: Open,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the names count")]
    struct New(Open);

    #[test]
    fn what_a_reader_needs_must_be_a_variable() {
        let argument = |name: &str| Some(Unmatched::Argument(name.to_owned()));
        let variable = |name: &str| Some(Unmatched::Variable(name.to_owned()));
        assert_eq!(unmatched::<Args<Open>>(&["id"]), None);
        assert_eq!(unmatched::<Args<Open>>(&["id", "more"]), None, "unknown ones are ignored");
        assert_eq!(unmatched::<Args<Open>>(&["key"]), argument("id"));
        assert_eq!(unmatched::<Args<New>>(&["key"]), argument("id"));
        assert_eq!(unmatched::<Args<Flat>>(&["row-id"]), argument("id"));
        assert_eq!(unmatched::<Args<Flat>>(&["row-id", "id"]), None);
        assert_eq!(unmatched::<Args<Closed>>(&["id"]), None);
        for alias in ["key", "ident"] {
            assert_eq!(unmatched::<Args<Closed>>(&[alias]), None, "serde knows an alias");
        }
        assert_eq!(unmatched::<Args<Closed>>(&["name"]), argument("id"));
        assert_eq!(unmatched::<Args<Closed>>(&["id", "more"]), variable("more"));
        assert_eq!(unmatched::<Args<std::collections::HashMap<String, String>>>(&["any"]), None);
        assert_eq!(unmatched::<Args<serde_json::Value>>(&["any"]), None);
        assert_eq!(unmatched::<Option<Args<Open>>>(&["key"]), None, "it can do without");
        assert_eq!(unmatched::<()>(&["any"]), None, "or takes none");
    }
}
