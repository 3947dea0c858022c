//! What a type's `Deserialize` reveals about its members and a schema does not: all names, aliases included, and
//! whether it refuses unknown ones.

use std::iter;

use serde::{
    Deserializer,
    de::{
        DeserializeOwned, Visitor,
        value::{Error, MapDeserializer},
    },
    forward_to_deserialize_any,
};

use crate::call::catch_panic::catch_panic;

/// What a type reveals when it is read.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The names it asks for; `None` for a type that asks for no fixed ones.
    names: Option<&'static [&'static str]>,
    /// Whether it refuses unknown members.
    pub(crate) is_closed: bool,
}

/// Asks a type for its members. Runs the type's own `Deserialize`, which may panic.
pub(crate) type Ask = fn() -> Said;

/// The [`Ask`] of a type.
pub(crate) fn ask<T: DeserializeOwned>() -> Said {
    let mut names = None;
    let read =
        catch_panic("reading the names of arguments", || T::deserialize(NamesOnly(&mut names)).map(drop));
    // serde refuses the first unknown member before it reports a missing one.
    match read {
        Err(_) => Said::default(),
        Ok(read) => {
            let is_closed = read.is_err_and(|error| error.to_string().starts_with("unknown field"));
            Said { names, is_closed }
        }
    }
}

/// An object with one member, whose name no type has. Records the names it is asked for.
struct NamesOnly<'a>(&'a mut Option<&'static [&'static str]>);

impl<'de> Deserializer<'de> for NamesOnly<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(MapDeserializer::new(iter::once(("\u{1}", ()))))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(names);
        self.deserialize_any(visitor)
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

/// What a reader takes from its template's variables.
#[derive(Clone, Debug)]
pub(crate) struct Takes {
    pub(crate) schema: serde_json::Value,
    /// Only called if the schema alone would refuse, since it runs the type's own code.
    pub(crate) ask: Option<Ask>,
}

/// A name that a template and its reader do not share.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// The reader requires it, and it is not a variable.
    Argument(String),
    /// It is a variable, and the reader refuses unknown arguments.
    Variable(String),
}

impl Takes {
    /// The schema itself: a newtype's schema is a reference to the inner one.
    fn root(&self) -> &serde_json::Value {
        let reference = self.schema.get("$ref").and_then(serde_json::Value::as_str);
        let definition = reference.and_then(|reference| self.schema.pointer(reference.strip_prefix('#')?));
        definition.unwrap_or(&self.schema)
    }

    /// Compares the names of the variables with those of the arguments. Of the schema, only `properties`, `required`
    /// and `additionalProperties` count.
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
        let members = self.ask.and_then(|ask| ask().names).unwrap_or_default();
        let (aliases, unknown): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|name| members.contains(name));
        // an alias stands for one of the missing names; which one is unknown
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
    use crate::call::extract::{Args, FromCall, HandlerSpec};

    fn unmatched<A: FromCall>(variables: &[&str]) -> Option<Unmatched> {
        HandlerSpec::of::<A>().takes().0.unwrap()?.unmatched(variables)
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

    #[test]
    fn a_type_is_closed_if_it_refuses_a_name_that_it_does_not_know() {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only the names count")]
        struct ClosedFlat {
            row: String,
            #[serde(flatten)]
            open: Open,
        }
        #[derive(Deserialize)]
        #[serde(transparent)]
        #[expect(dead_code, reason = "only the names count")]
        struct Around(Closed);
        struct Panics;
        impl<'de> Deserialize<'de> for Panics {
            fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                panic!("it cannot be read")
            }
        }
        assert!(ask::<Closed>().is_closed);
        assert!(!ask::<ClosedFlat>().is_closed, "it misses members first: the schema has to refuse");
        assert!(ask::<Around>().is_closed);
        for open in [ask::<Open>(), ask::<Flat>(), ask::<serde_json::Value>(), ask::<Panics>()] {
            assert!(!open.is_closed);
        }
        let names = ask::<Closed>().names.unwrap();
        assert!(["id", "key", "ident"].iter().all(|name| names.contains(name)));
        assert_eq!(ask::<Panics>().names, None);
    }
}
