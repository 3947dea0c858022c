//! A compiled schema, and the reason why a value does not match it.
//!
//! To explain why a value matches no branch of an `anyOf` or a `oneOf`, `jsonschema` collects the errors of every
//! branch, of their branches, and so on, without a limit: for a recursive type, a few hundred bytes would take all
//! memory. So where a schema has branches, the validator only says whether a value matches, and the place of the
//! mismatch is searched for in `mismatch`, one step at a time.

use jsonschema::{Validator, ValidatorMap};
use serde_json::{Map, Value};

use super::mismatch::{Mismatch, ROOT, Search, mismatch};

/// A compiled schema.
pub(crate) enum Compiled {
    /// An object without members. It needs no validator: a tool without arguments is called with the same two bytes
    /// every time.
    Nothing,
    /// The validator explains a mismatch.
    Plain(Validator),
    /// The place of a mismatch is searched for.
    Branching {
        schema: Value,
        /// By the pointer to each subschema; the root's is [`ROOT`].
        parts: ValidatorMap,
    },
}

impl Compiled {
    /// Compiles a schema. Nothing is fetched.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().offline();
        // the parts are compiled one by one, and a dead reference in one is only found when it is followed; compiling
        // the whole schema finds it now
        let whole = options.build(schema).map_err(|error| error.to_string())?;
        if !has_branches(schema) {
            return Ok(Self::Plain(whole));
        }
        let parts = options.build_map(schema).map_err(|error| error.to_string())?;
        Ok(Self::Branching { schema: schema.clone(), parts })
    }

    /// Checks JSON text against it.
    ///
    /// # Errors
    ///
    /// The mismatch; its text does not quote the value.
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

/// Refuses an object with members and names the first.
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
