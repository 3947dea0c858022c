//! Finds out why a value does not match a schema with branches, one step at a time.
//!
//! Each step only asks the validator whether a part matches. The search takes at most [`MAX_STEPS`] steps and reports
//! at most [`MAX_REPORTED`] places, all of which are known not to match.
//!
//! **Invariant:** a message quotes names of the client's members, never their values.

use jsonschema::{ValidationError, Validator, ValidatorMap, error::ValidationErrorKind};
use serde_json::{Map, Value, json};

/// The maximum number of steps: enough for the deepest value and the references in between.
const MAX_STEPS: usize = 256;
/// The maximum number of places that are reported.
const MAX_REPORTED: usize = 3;
/// The maximum number of branches of one `anyOf` or `oneOf` that are reported if it is unclear which was meant.
const MAX_BRANCHES: usize = 8;
/// The maximum number of members that are removed, one at a time, to see whether the value matches without them.
const MAX_TRIED: usize = 64;

pub(super) const ROOT: &str = "#";

/// Keywords that restrict the value itself and contain no schema.
const ASSERTIONS: [&str; 20] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "$schema",
    "format",
];

/// Why a value does not match: the path to the place, and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Such as `a.b[0]`; empty for the root.
    pub(crate) path: String,
    pub(crate) what: String,
}

/// A part of a value, and the pointer to the subschema it is checked against.
#[derive(Clone)]
struct Place<'v> {
    schema: String,
    value: &'v Value,
    /// The path to the value, as a JSON pointer.
    path: String,
}

/// The search for the mismatches of one value.
pub(super) struct Search<'s> {
    schema: &'s Value,
    /// By the pointer to each subschema; the root's is [`ROOT`].
    parts: &'s ValidatorMap,
    /// Steps taken.
    pub(super) steps: usize,
    /// Set while it searches branches of which any may be meant: branches inside them are not reported one by one.
    is_guessing: bool,
}

impl<'s> Search<'s> {
    pub(super) fn new(schema: &'s Value, parts: &'s ValidatorMap) -> Self {
        Self { schema, parts, steps: 0, is_guessing: false }
    }

    /// Explains why a value does not match the whole schema.
    pub(super) fn explain(&mut self, value: &Value) -> Mismatch {
        let whole = Place { schema: ROOT.to_owned(), value, path: String::new() };
        let mut found = Vec::new();
        self.report(&whole, &mut found);
        let mut found = found.into_iter();
        let Some(mut first) = found.next() else {
            return whole.mismatch("the value does not match its schema");
        };
        for Mismatch { path, what } in found {
            let also = if path == first.path { what } else { format!("`{path}`: {what}") };
            first.what = format!("{}; {also}", first.what);
        }
        first
    }

    /// Reports the mismatches at a place that does not match, innermost first.
    fn report(&mut self, place: &Place<'_>, found: &mut Vec<Mismatch>) {
        if self.steps >= MAX_STEPS || found.len() >= MAX_REPORTED {
            return;
        }
        self.steps += 1;
        let before = found.len();
        let Some(node) = self.members(&place.schema) else {
            return found.push(place.mismatch("no value is allowed here"));
        };
        for inner in self.inner(node, place) {
            self.report(&inner, found);
        }
        // if the steps run out further in, this place is reported instead
        if !self.is_only_a_reference(node) || found.len() == before {
            self.report_own(node, place, found);
        }
        if found.len() == before {
            let unknown = self.unfit_member(place);
            found.push(unknown.unwrap_or_else(|| place.mismatch("the value does not match its schema")));
        }
        found.dedup();
        found.truncate(MAX_REPORTED);
    }

    /// Reports the mismatches of the value itself, and why it matches no branch.
    fn report_own(&mut self, node: &Map<String, Value>, place: &Place<'_>, found: &mut Vec<Mismatch>) {
        if let Some(validator) = self.assertions(node, &ASSERTIONS) {
            let errors = validator.iter_errors(place.value).take(MAX_REPORTED);
            found.extend(errors.map(|error| mismatch(&error, &place.path)));
        }
        if self.fits(place, "not") == Some(true) {
            found.push(place.mismatch("the value is forbidden by `not`"));
        }
        if let (Some(names), Value::Object(members)) =
            (self.parts.get(&place.at("propertyNames")), place.value)
        {
            let wrong = members.keys().filter(|name| !names.is_valid(&Value::from(name.as_str())));
            found.extend(
                wrong.take(1).map(|name| place.member(name).mismatch("no member may have this name")),
            );
        }
        if let (Some(contains), Value::Array(items)) = (self.parts.get(&place.at("contains")), place.value)
            && !node.contains_key("minContains")
            && !items.iter().any(|item| contains.is_valid(item))
        {
            found.push(place.mismatch("no item matches `contains`"));
        }
        for keyword in ["oneOf", "anyOf"] {
            let branches = node.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
            if branches > 0 && found.len() < MAX_REPORTED {
                found.extend(self.branches(node, place, keyword, branches));
            }
        }
    }

    /// Explains why a value matches no branch, if it is unclear which was meant.
    fn branches(
        &mut self,
        node: &Map<String, Value>,
        place: &Place<'_>,
        keyword: &str,
        branches: usize,
    ) -> Option<Mismatch> {
        let all: Vec<_> = (0..branches).map(|at| place.by(format!("{}/{at}", place.at(keyword)))).collect();
        let fitting = all.iter().filter(|branch| self.mismatches(branch) == Some(false)).count();
        match (keyword, fitting) {
            ("oneOf", 2..) => {
                return Some(place.mismatch("the value matches more than one branch of `oneOf`"));
            }
            (_, 1..) => return None,
            _ if self.meant(node, place).is_some() => return None,
            _ if self.is_guessing => {
                return Some(place.mismatch(&format!("the value matches no branch of `{keyword}`")));
            }
            _ => {}
        }
        self.is_guessing = true;
        let mut each: Vec<Mismatch> = Vec::new();
        for branch in all.iter().take(MAX_BRANCHES) {
            let mut found = Vec::new();
            self.report(branch, &mut found);
            each.extend(found.into_iter().next());
        }
        self.is_guessing = false;
        each.dedup();
        let first = each.first()?.path.clone();
        // if all branches fail at the same place, that place is reported
        let here = if each.iter().all(|other| other.path == first) { first } else { dotted(&place.path) };
        let what: Vec<_> = each
            .into_iter()
            .map(|Mismatch { path, what }| if path == here { what } else { format!("`{path}`: {what}") })
            .collect();
        Some(Mismatch { path: here, what: what.join(", or ") })
    }

    /// The places one step further in that do not match.
    fn inner<'v>(&self, node: &Map<String, Value>, place: &Place<'v>) -> Vec<Place<'v>> {
        let mut found = Vec::new();
        let reference = node.get("$ref").and_then(Value::as_str).and_then(|target| self.target(target));
        self.add(&mut found, reference.map(|schema| place.by(schema)));
        match place.value {
            Value::Object(members) => self.inner_members(node, place, members, &mut found),
            Value::Array(items) => self.inner_items(node, place, items, &mut found),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        let same = |keyword: &str| Some(place.by(place.at(keyword)));
        let all = node.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
        (0..all).for_each(|at| self.add(&mut found, same(&format!("allOf/{at}"))));
        if node.contains_key("if") {
            let branch = if self.fits(place, "if") == Some(true) { "then" } else { "else" };
            self.add(&mut found, same(branch));
        }
        self.add(&mut found, self.meant(node, place).map(|schema| place.by(schema)));
        found
    }

    fn inner_members<'v>(
        &self,
        node: &Map<String, Value>,
        place: &Place<'v>,
        members: &'v Map<String, Value>,
        found: &mut Vec<Place<'v>>,
    ) {
        let known = node.get("properties").and_then(Value::as_object);
        let patterns: Vec<_> = named(node, "patternProperties")
            .filter_map(|pattern| Some((pattern, matcher(pattern)?)))
            .collect();
        let matching = |name: &str| {
            let object = json!({ name: null });
            patterns
                .iter()
                .filter(move |(_, matcher)| !matcher.is_valid(&object))
                .map(|(pattern, _)| *pattern)
        };
        for (name, value) in members {
            if found.len() >= MAX_REPORTED {
                return;
            }
            let member = |schema: String| Some(Place { schema, value, path: place.member(name).path });
            let of_name =
                |keyword: &str, name: &str| member(format!("{}/{}", place.at(keyword), escape(name)));
            let is_known = known.is_some_and(|known| known.contains_key(name));
            if is_known {
                self.add(found, of_name("properties", name));
            }
            matching(name).for_each(|pattern| self.add(found, of_name("patternProperties", pattern)));
            let is_other = !is_known && matching(name).next().is_none();
            if is_other && node.get("additionalProperties").is_some_and(Value::is_object) {
                self.add(found, member(place.at("additionalProperties")));
            }
            if node.get("dependentSchemas").is_some_and(|schemas| schemas.get(name).is_some()) {
                self.add(found, Some(place.by(format!("{}/{}", place.at("dependentSchemas"), escape(name)))));
            }
        }
    }

    fn inner_items<'v>(
        &self,
        node: &Map<String, Value>,
        place: &Place<'v>,
        items: &'v [Value],
        found: &mut Vec<Place<'v>>,
    ) {
        let first = node.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        for (at, value) in items.iter().enumerate() {
            if found.len() >= MAX_REPORTED {
                return;
            }
            let schema = if at < first {
                format!("{}/{at}", place.at("prefixItems"))
            } else if node.get("items").is_some_and(|items| !items.is_array()) {
                place.at("items")
            } else {
                return;
            };
            self.add(found, Some(Place { schema, value, path: format!("{}/{at}", place.path) }));
        }
    }

    /// Adds a place if it is known not to match.
    fn add<'v>(&self, found: &mut Vec<Place<'v>>, place: Option<Place<'v>>) {
        found.extend(place.filter(|place| self.mismatches(place) == Some(true)));
    }

    fn mismatches(&self, place: &Place<'_>) -> Option<bool> {
        self.parts.get(&place.schema).map(|validator| !validator.is_valid(place.value))
    }

    /// Whether the value matches the schema of this keyword; `None` if there is none.
    fn fits(&self, place: &Place<'_>, keyword: &str) -> Option<bool> {
        self.parts.get(&place.at(keyword)).map(|validator| validator.is_valid(place.value))
    }

    /// The members of the subschema at a pointer that begins with `#`.
    fn members(&self, pointer: &str) -> Option<&'s Map<String, Value>> {
        members(self.schema, pointer)
    }

    /// The pointer to the target of a `$ref` inside the schema.
    fn target(&self, target: &str) -> Option<String> {
        let inner = target.strip_prefix('#')?;
        if inner.is_empty() || inner.starts_with('/') {
            return Some(target.to_owned());
        }
        anchor(self.schema, inner, ROOT)
    }

    /// Finds a member without which the object matches, as `unevaluatedProperties` and the like require.
    fn unfit_member(&self, place: &Place<'_>) -> Option<Mismatch> {
        let (validator, members) = (self.parts.get(&place.schema)?, place.value.as_object()?);
        let name = members.keys().take(MAX_TRIED).find(|name| {
            let mut rest = members.clone();
            rest.remove(*name);
            validator.is_valid(&Value::Object(rest))
        })?;
        Some(place.mismatch(&not_allowed(name)))
    }

    /// The branch that a value was meant for: the only one with its tag, the only one that is not null, or the only
    /// one whose own keywords, or at least whose `type`, the value matches.
    fn meant(&self, node: &Map<String, Value>, place: &Place<'_>) -> Option<String> {
        let keyword = ["oneOf", "anyOf"].into_iter().find(|keyword| node.contains_key(*keyword))?;
        let branches = node.get(keyword)?.as_array()?;
        let pointer = |at: usize| format!("{}/{at}", place.at(keyword));
        let branch = |at: usize| {
            let named = self.members(&pointer(at));
            let target = named.and_then(|named| self.members(&self.target(named.get("$ref")?.as_str()?)?));
            target.or(named)
        };
        let tagged =
            (0..branches.len()).filter(|at| branch(*at).is_some_and(|branch| has_tag(branch, place.value)));
        let null = Some(&Value::from("null"));
        let no_null =
            (0..branches.len()).filter(|at| branches[*at].get("type") != null && !place.value.is_null());
        let fitting = |keywords: &'static [&'static str]| {
            let fits = move |at: &usize| {
                let own = branch(*at).filter(|branch| branch.contains_key("type"));
                let own = own.and_then(|branch| self.assertions(branch, keywords));
                own.is_some_and(|own| own.is_valid(place.value))
            };
            only((0..branches.len().min(MAX_BRANCHES)).filter(fits))
        };
        let one = only(tagged).or_else(|| only(no_null));
        one.or_else(|| fitting(&ASSERTIONS)).or_else(|| fitting(&["type"])).map(pointer)
    }

    /// Whether keywords next to a `$ref` are ignored, as they are up to draft 7.
    fn is_only_a_reference(&self, node: &Map<String, Value>) -> bool {
        let dialect = self.schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        node.contains_key("$ref")
            && ["draft-04", "draft-06", "draft-07"].iter().any(|old| dialect.contains(old))
    }

    /// A validator for the node's own keywords, without those that contain schemas.
    fn assertions(&self, node: &Map<String, Value>, keywords: &[&str]) -> Option<Validator> {
        let mut own: Map<String, Value> = node
            .iter()
            .filter(|(keyword, _)| keywords.contains(&keyword.as_str()))
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .collect();
        if keywords.len() > 1 && node.get("additionalProperties") == Some(&Value::Bool(false)) {
            own.insert("additionalProperties".to_owned(), Value::Bool(false));
            for keyword in ["properties", "patternProperties"] {
                let open = named(node, keyword).map(|name| (name.to_owned(), json!({})));
                own.insert(keyword.to_owned(), Value::Object(open.collect()));
            }
        }
        if let Some(dialect) = self.schema.get("$schema") {
            own.insert("$schema".to_owned(), dialect.clone());
        }
        jsonschema::options().offline().build(&Value::Object(own)).ok()
    }
}

impl<'v> Place<'v> {
    fn mismatch(&self, what: &str) -> Mismatch {
        Mismatch { path: dotted(&self.path), what: what.to_owned() }
    }

    /// The same part, checked against another schema.
    fn by(&self, schema: String) -> Self {
        Self { schema, ..self.clone() }
    }

    /// The pointer to a keyword's schema.
    fn at(&self, keyword: &str) -> String {
        format!("{}/{keyword}", self.schema)
    }

    fn member(&self, name: &str) -> Place<'v> {
        Place { path: format!("{}/{}", self.path, escape(name)), ..self.clone() }
    }
}

/// An error of the validator, below a path.
pub(super) fn mismatch(error: &ValidationError<'_>, path: &str) -> Mismatch {
    let what = missing_or_unknown(error.kind()).unwrap_or_else(|| error.masked_with("the value").to_string());
    Mismatch { path: dotted(&format!("{path}{}", error.instance_path().as_str())), what }
}

/// A message that names the missing or unexpected members of the value.
fn missing_or_unknown(kind: &ValidationErrorKind) -> Option<String> {
    if let ValidationErrorKind::Required { property: Value::String(name) } = kind {
        return Some(format!("`{name}` is missing"));
    }
    let (ValidationErrorKind::AdditionalProperties { unexpected }
    | ValidationErrorKind::UnevaluatedProperties { unexpected }) = kind
    else {
        return None;
    };
    let names: Vec<_> = unexpected.iter().take(MAX_REPORTED).map(|name| not_allowed(name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn not_allowed(name: &str) -> String {
    format!("`{name}` is not allowed")
}

/// The names for which a keyword has schemas.
fn named<'s>(node: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s str> {
    node.get(keyword).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

/// A validator that refuses an object if the name of a member matches the pattern.
fn matcher(pattern: &str) -> Option<Validator> {
    jsonschema::options().offline().build(&json!({ "patternProperties": { pattern: false } })).ok()
}

fn members<'s>(schema: &'s Value, pointer: &str) -> Option<&'s Map<String, Value>> {
    schema.pointer(pointer.strip_prefix('#')?)?.as_object()
}

/// The pointer to the schema with this anchor.
fn anchor(schema: &Value, name: &str, here: &str) -> Option<String> {
    let inner = |(step, schema): (String, &Value)| anchor(schema, name, &format!("{here}/{}", escape(&step)));
    match schema {
        Value::Object(members) => {
            if members.get("$anchor").is_some_and(|anchor| anchor == name) {
                return Some(here.to_owned());
            }
            members.iter().map(|(step, schema)| (step.clone(), schema)).find_map(inner)
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, schema)| (at.to_string(), schema)).find_map(inner)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The item, if there is exactly one.
fn only(mut meant: impl Iterator<Item = usize>) -> Option<usize> {
    meant.next().filter(|_| meant.next().is_none())
}

/// Whether a branch requires constants, and the value has all of them.
fn has_tag(branch: &Map<String, Value>, value: &Value) -> bool {
    let Some(properties) = branch.get("properties").and_then(Value::as_object) else { return false };
    let mut tags =
        properties.iter().filter_map(|(name, schema)| Some((name, schema.get("const")?))).peekable();
    tags.peek().is_some() && tags.all(|(name, tag)| value.get(name) == Some(tag))
}

/// A name as a step of a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a step of a JSON pointer stands for.
pub(crate) fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A JSON pointer in the notation of serde's paths: `/a/0/b` is `a[0].b`.
pub(super) fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = unescape(step);
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str(&format!("[{step}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&step);
        }
    }
    path
}
