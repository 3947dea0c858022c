//! Comparing a message with the members that a test expects.

use serde_json::Value;

/// Compares a message with the members that a test expects: `Ok` if every member of `expected` is equal in `actual`.
/// `actual` may have further members.
///
/// The value `"$absent"` expects that a member is absent, `"$any"` that it has any value. Arrays must have the same
/// length.
///
/// # Errors
///
/// The first difference: its path, the actual and the expected value.
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
                    Some(actual) if expected == "$absent" => {
                        return Err(format!("{at} is present: {actual}"));
                    }
                    Some(actual) => compare(actual, expected, &at)?,
                    None => return Err(format!("{at} is missing, expected {expected}")),
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
        _ => Err(format!("{at} is {actual}, expected {expected}")),
    }
}
