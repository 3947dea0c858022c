//! A compiled schema, and what is wrong with a value that does not match it.
//!
//! The validator reports why a value fits no branch of an `anyOf` or a `oneOf` by collecting what is wrong in each of
//! them, in each of theirs, and so on: a few hundred bytes for a recursive type would take all memory. So where a
//! schema has branches, it only says whether a value fits, and the place of the mismatch is looked for here, one step
//! at a time. `jsonschema` has no limit for what it collects.

use jsonschema::{Validator, ValidatorMap};
use serde_json::{Map, Value};

pub(crate) use super::misfit::Mismatch;
use super::misfit::{ROOT, Search, mismatch};

/// A compiled schema.
pub(crate) enum Compiled {
    /// An object without members. It is not the validator's: a tool without arguments is called with the same two bytes
    /// every time.
    Nothing,
    /// The validator reports what is wrong with a value.
    Plain(Validator),
    /// It is looked for.
    Branching {
        schema: Value,
        /// By the pointer of each subschema; that of the whole is [`ROOT`].
        parts: ValidatorMap,
    },
}

impl Compiled {
    /// Compiles a schema. Nothing is fetched.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().offline();
        // the parts are compiled one by one, and a dead reference among them is found when it is followed: only the
        // whole shows that it has none
        let whole = options.build(schema).map_err(|error| error.to_string())?;
        if !has_branches(schema) {
            return Ok(Self::Plain(whole));
        }
        let parts = options.build_map(schema).map_err(|error| error.to_string())?;
        Ok(Self::Branching { schema: schema.clone(), parts })
    }

    /// Holds JSON text against it.
    ///
    /// # Errors
    ///
    /// The first mismatch; its text does not quote the value.
    pub(crate) fn check(&self, json: &str) -> Result<(), Mismatch> {
        if matches!(self, Self::Nothing) {
            return no_members(json);
        }
        let value: Value = serde_json::from_str(json)
            .map_err(|error| Mismatch { path: String::new(), what: error.to_string() })?;
        match self {
            Self::Nothing => Ok(()),
            Self::Plain(validator) => validator.validate(&value).map_err(|error| mismatch(&error, "")),
            Self::Branching { schema, parts } => {
                let root = parts.get(ROOT);
                if root.is_some_and(|root| root.is_valid(&value)) {
                    return Ok(());
                }
                Err(Search::new(schema, parts).explain(&value))
            }
        }
    }
}

/// Refuses the first member by its name.
fn no_members(json: &str) -> Result<(), Mismatch> {
    if json == "{}" {
        return Ok(());
    }
    let members: Map<String, Value> = serde_json::from_str(json)
        .map_err(|error| Mismatch { path: String::new(), what: error.to_string() })?;
    members.into_iter().next().map_or(Ok(()), |(path, _)| {
        Err(Mismatch { path, what: "it is not known: the tool takes no arguments".to_owned() })
    })
}

fn has_branches(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => has_any(members, &["anyOf", "oneOf"]) || members.values().any(has_branches),
        Value::Array(items) => items.iter().any(has_branches),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn has_any(members: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().any(|name| members.contains_key(*name))
}

#[cfg(test)]
#[path = "compiled_tests.rs"]
mod tests;
