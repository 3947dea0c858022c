//! A field that is a choice of one or several strings.

use serde_json::{Map, Value, json};

use super::field::Unfit;
use crate::wire::era::{Feature, Revision};

/// How titles of a choice are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// No titles: `enum`.
    Bare,
    /// `oneOf` (of one) or `anyOf` (of several) with `const` and `title`: from 2025-11-25 on.
    Titled,
    /// `enum` and `enumNames`.
    Named,
}

#[derive(Debug)]
pub(super) struct Choice {
    value: String,
    title: Option<String>,
}

pub(super) fn has_titles(revision: Revision) -> bool {
    revision.has(Feature::ElicitationEnumTitles)
}

/// A type's enum is a `oneOf` of constants as soon as one variant is documented. Documentation is not a title: without
/// titles it becomes a bare choice, which every revision has.
pub(super) fn merge_options(schema: &mut Map<String, Value>) {
    if let Some(value @ Value::String(_)) = schema.remove("const") {
        schema.insert("enum".to_owned(), Value::Array(vec![value]));
    }
    let Some(Value::Array(parts)) = schema.get("oneOf") else { return };
    let mut choices = Vec::new();
    for part in parts {
        match (part.get("const"), part.get("enum")) {
            (Some(value @ Value::String(_)), None) => {
                choices.push((value.clone(), part.get("title").cloned()));
            }
            (None, Some(Value::Array(values))) => {
                choices.extend(values.iter().map(|value| (value.clone(), None)));
            }
            // a variant with data: reported later, as a `oneOf` that is not a choice
            _ => return,
        }
    }
    if choices.iter().any(|(_, title)| title.is_some()) {
        let choices = choices.into_iter().map(|(value, title)| {
            let title = title.unwrap_or_else(|| value.clone());
            json!({ "const": value, "title": title })
        });
        let choices = choices.collect();
        schema.insert("oneOf".to_owned(), choices);
    } else {
        schema.remove("oneOf");
        schema.insert("enum".to_owned(), choices.into_iter().map(|(value, _)| value).collect());
    }
    schema.insert("type".to_owned(), "string".into());
}

/// The options of a choice, if the schema is one; `titled` is the keyword of its titled form.
pub(super) fn options(
    name: &str,
    schema: &mut Map<String, Value>,
    titled: &str,
) -> Result<Option<(Vec<Choice>, Style)>, Unfit> {
    if let Some(parts) = schema.remove(titled) {
        let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
        let choices = parts.iter().map(|part| {
            let value = part.get("const").and_then(Value::as_str)?.to_owned();
            let title = part.get("title").and_then(Value::as_str)?.to_owned();
            Some(Choice { value, title: Some(title) })
        });
        let choices: Option<Vec<_>> = choices.collect();
        let fault = || Unfit::new(name, format!("`{titled}` must list `const` and `title`, both strings"));
        return choices.map(|choices| Some((choices, Style::Titled))).ok_or_else(fault);
    }
    let Some(values) = schema.remove("enum") else { return Ok(None) };
    let values = texts(values).ok_or_else(|| Unfit::new(name, "the values of a choice must be strings"))?;
    let (titles, style) = match schema.remove("enumNames") {
        None => (Vec::new(), Style::Bare),
        Some(names) => match texts(names) {
            Some(names) if names.len() == values.len() => (names, Style::Named),
            Some(_) | None => {
                return Err(Unfit::new(name, "`enumNames` must have one string for each value"));
            }
        },
    };
    let mut titles = titles.into_iter();
    let choices = values.into_iter().map(|value| Choice { value, title: titles.next() }).collect();
    Ok(Some((choices, style)))
}

/// The options of a choice of several values.
pub(super) fn items(name: &str, items: Option<Value>) -> Result<(Vec<Choice>, Style), Unfit> {
    let fault = || Unfit::new(name, "a list in a form must be a choice of several strings");
    let Some(Value::Object(mut items)) = items else { return Err(fault()) };
    // a type's titled choice has `oneOf` here, as in a choice of one
    let titled = if items.contains_key("anyOf") { "anyOf" } else { "oneOf" };
    if items.get("type").is_some_and(|kind| kind != "string") {
        return Err(fault());
    }
    let (options, style) = options(name, &mut items, titled)?.ok_or_else(fault)?;
    if style == Style::Named {
        return Err(Unfit::new(name, "`enumNames` is only supported in a choice of one value"));
    }
    Ok((options, style))
}

fn texts(list: Value) -> Option<Vec<String>> {
    serde_json::from_value(list).ok()
}

pub(super) fn write_options(
    schema: &mut Map<String, Value>,
    options: &[Choice],
    style: Style,
    revision: Revision,
    titled: &str,
) {
    let title = |option: &Choice| option.title.clone().unwrap_or_else(|| option.value.clone());
    if style == Style::Titled && has_titles(revision) {
        let options = options.iter().map(|option| json!({ "const": option.value, "title": title(option) }));
        let options = options.collect();
        schema.insert(titled.to_owned(), options);
        return;
    }
    schema.insert("enum".to_owned(), options.iter().map(|option| option.value.as_str()).collect());
    if style != Style::Bare {
        schema.insert("enumNames".to_owned(), options.iter().map(title).collect());
    }
}
