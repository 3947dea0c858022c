//! Comparing a message with what a test says of it.

use serde_json::Value;

/// Compares a message with what a test says of it: `Ok` if every member that `expected` names is equal in `actual`, where
/// others may be there too.
///
/// `"$absent"` says that a member is not there, `"$any"` that it is. Arrays have the same length.
///
/// # Errors
///
/// Where they differ first, and how.
pub fn contains(actual: &Value, expected: &Value) -> Result<(), String> {
    compare(actual, expected, "")
}

fn compare(actual: &Value, expected: &Value, at: &str) -> Result<(), String> {
    match (actual, expected) {
        (_, Value::String(any)) if any == "$any" => Ok(()),
        (Value::Object(actual), Value::Object(expected)) => {
            for (name, expected) in expected {
                let at = format!("{at}.{name}");
                match actual.get(name) {
                    None if expected == "$absent" => {}
                    Some(actual) if expected == "$absent" => return Err(format!("{at} is there: {actual}")),
                    Some(actual) => compare(actual, expected, &at)?,
                    None => return Err(format!("{at} is missing, {expected} was expected")),
                }
            }
            Ok(())
        }
        (Value::Array(actual), Value::Array(expected)) if actual.len() == expected.len() => {
            let pairs = actual.iter().zip(expected).enumerate();
            pairs.into_iter().try_for_each(|(index, (actual, expected))| {
                compare(actual, expected, &format!("{at}[{index}]"))
            })
        }
        _ if actual == expected => Ok(()),
        _ => Err(format!("{at} is {actual}, {expected} was expected")),
    }
}
