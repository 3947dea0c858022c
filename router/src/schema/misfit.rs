//! What is wrong with a value that does not fit a schema with branches: looked for one step at a time.
//!
//! Each step asks the validator only whether a part fits. It reports places that are known not to fit, at most
//! [`MOST_TOLD`], and the way to them is cut after [`MOST_STEPS`].
//!
//! **Invariant:** no sentence quotes a value of the client's; names of members are quoted.

use jsonschema::{ValidationError, Validator, ValidatorMap, error::ValidationErrorKind};
use serde_json::{Map, Value, json};

/// More steps than a value may nest, and references in between.
const MOST_STEPS: usize = 256;
/// The most places that are reported.
const MOST_TOLD: usize = 3;
/// Branches of one `anyOf` or `oneOf` that are told, where it cannot be said which of them was meant.
const MOST_BRANCHES: usize = 8;
/// Members of which it is looked whether the value would fit without them.
const MOST_TRIED: usize = 64;

pub(super) const ROOT: &str = "#";

/// Keywords that say something of the value itself, and hold no schema.
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

/// What is wrong with a value: the path to it, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Such as `a.b[0]`; empty for the whole.
    pub(crate) path: String,
    pub(crate) what: String,
}

/// A part of a value that does not fit, and where in the schema that is said.
#[derive(Clone)]
struct Place<'v> {
    schema: String,
    value: &'v Value,
    /// The path to the value, as a JSON pointer.
    path: String,
}

/// The search for what is wrong with one value.
pub(super) struct Search<'s> {
    schema: &'s Value,
    /// By the pointer of each subschema; that of the whole is [`ROOT`].
    parts: &'s ValidatorMap,
    /// Steps taken.
    pub(super) steps: usize,
    /// Whether it looks into branches of which any may be meant: branches in them are not told one by one.
    is_guessing: bool,
}

impl<'s> Search<'s> {
    pub(super) fn new(schema: &'s Value, parts: &'s ValidatorMap) -> Self {
        Self { schema, parts, steps: 0, is_guessing: false }
    }

    /// What is wrong with a value that does not fit the whole schema.
    pub(super) fn explain(&mut self, value: &Value) -> Mismatch {
        let whole = Place { schema: ROOT.to_owned(), value, path: String::new() };
        let mut told = Vec::new();
        self.tell(&whole, &mut told);
        let mut told = told.into_iter();
        let Some(mut first) = told.next() else { return whole.misfit("the value does not fit its schema") };
        for Mismatch { path, what } in told {
            let also = if path == first.path { what } else { format!("`{path}`: {what}") };
            first.what = format!("{}; {also}", first.what);
        }
        first
    }

    /// Reports what is wrong at a place that does not fit, innermost first.
    fn tell(&mut self, place: &Place<'_>, told: &mut Vec<Mismatch>) {
        if self.steps >= MOST_STEPS || told.len() >= MOST_TOLD {
            return;
        }
        self.steps += 1;
        let before = told.len();
        let Some(node) = self.members(&place.schema) else {
            return told.push(place.misfit("nothing is allowed here"));
        };
        for inner in self.inner(node, place) {
            self.tell(&inner, told);
        }
        // where the steps have ended, how far they came is the answer
        if !self.is_only_a_reference(node) || told.len() == before {
            self.tell_own(node, place, told);
        }
        if told.len() == before {
            let unknown = self.unfit_member(place);
            told.push(unknown.unwrap_or_else(|| place.misfit("the value does not fit its schema")));
        }
        told.dedup();
        told.truncate(MOST_TOLD);
    }

    /// What is wrong with the value itself, and with which branch it should fit.
    fn tell_own(&mut self, node: &Map<String, Value>, place: &Place<'_>, told: &mut Vec<Mismatch>) {
        if let Some(validator) = self.assertions(node, &ASSERTIONS) {
            let errors = validator.iter_errors(place.value).take(MOST_TOLD);
            told.extend(errors.map(|error| mismatch(&error, &place.path)));
        }
        if self.fits(place, "not") == Some(true) {
            told.push(place.misfit("the value is what `not` forbids"));
        }
        if let (Some(names), Value::Object(members)) =
            (self.parts.get(&place.at("propertyNames")), place.value)
        {
            let wrong = members.keys().filter(|name| !names.is_valid(&Value::from(name.as_str())));
            told.extend(wrong.take(1).map(|name| place.member(name).misfit("no member may have this name")));
        }
        if let (Some(contains), Value::Array(items)) = (self.parts.get(&place.at("contains")), place.value)
            && !node.contains_key("minContains")
            && !items.iter().any(|item| contains.is_valid(item))
        {
            told.push(place.misfit("no item is what `contains` asks for"));
        }
        for keyword in ["oneOf", "anyOf"] {
            let branches = node.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
            if branches > 0 && told.len() < MOST_TOLD {
                told.extend(self.branches(node, place, keyword, branches));
            }
        }
    }

    /// Why a value fits no branch, where it is not known which was meant.
    fn branches(
        &mut self,
        node: &Map<String, Value>,
        place: &Place<'_>,
        keyword: &str,
        branches: usize,
    ) -> Option<Mismatch> {
        let all: Vec<_> = (0..branches).map(|at| place.by(format!("{}/{at}", place.at(keyword)))).collect();
        let fitting = all.iter().filter(|branch| self.misfits(branch) == Some(false)).count();
        match (keyword, fitting) {
            ("oneOf", 2..) => return Some(place.misfit("the value fits more than one branch of `oneOf`")),
            (_, 1..) => return None,
            _ if self.meant(node, place).is_some() => return None,
            _ if self.is_guessing => {
                return Some(place.misfit(&format!("the value fits no branch of `{keyword}`")));
            }
            _ => {}
        }
        self.is_guessing = true;
        let mut each: Vec<Mismatch> = Vec::new();
        for branch in all.iter().take(MOST_BRANCHES) {
            let mut told = Vec::new();
            self.tell(branch, &mut told);
            each.extend(told.into_iter().next());
        }
        self.is_guessing = false;
        each.dedup();
        let first = each.first()?.path.clone();
        // where all branches fail at one place, that is the place
        let here = if each.iter().all(|other| other.path == first) { first } else { dotted(&place.path) };
        let what: Vec<_> = each
            .into_iter()
            .map(|Mismatch { path, what }| if path == here { what } else { format!("`{path}`: {what}") })
            .collect();
        Some(Mismatch { path: here, what: what.join(", or ") })
    }

    /// The parts that do not fit and can be stepped to.
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
            if found.len() >= MOST_TOLD {
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
            if found.len() >= MOST_TOLD {
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

    /// Adds a place that is known not to fit.
    fn add<'v>(&self, found: &mut Vec<Place<'v>>, place: Option<Place<'v>>) {
        found.extend(place.filter(|place| self.misfits(place) == Some(true)));
    }

    fn misfits(&self, place: &Place<'_>) -> Option<bool> {
        self.parts.get(&place.schema).map(|validator| !validator.is_valid(place.value))
    }

    /// Whether the value fits the schema that this keyword holds.
    fn fits(&self, place: &Place<'_>, keyword: &str) -> Option<bool> {
        self.parts.get(&place.at(keyword)).map(|validator| validator.is_valid(place.value))
    }

    /// The members of the subschema at a pointer with a leading `#`.
    fn members(&self, pointer: &str) -> Option<&'s Map<String, Value>> {
        members(self.schema, pointer)
    }

    /// The pointer of what a `$ref` inside the schema leads to.
    fn target(&self, target: &str) -> Option<String> {
        let inner = target.strip_prefix('#')?;
        if inner.is_empty() || inner.starts_with('/') {
            return Some(target.to_owned());
        }
        anchor(self.schema, inner, ROOT)
    }

    /// What an object is to be without which it fits, as `unevaluatedProperties` and the like ask for.
    fn unfit_member(&self, place: &Place<'_>) -> Option<Mismatch> {
        let (validator, members) = (self.parts.get(&place.schema)?, place.value.as_object()?);
        let name = members.keys().take(MOST_TRIED).find(|name| {
            let mut rest = members.clone();
            rest.remove(*name);
            validator.is_valid(&Value::Object(rest))
        })?;
        Some(place.misfit(&not_allowed(name)))
    }

    /// The one branch that a value was meant for: by its tag, since the other is null, or since it is the only one
    /// that the value itself fits, or its type.
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
            only((0..branches.len().min(MOST_BRANCHES)).filter(fits))
        };
        let one = only(tagged).or_else(|| only(no_null));
        one.or_else(|| fitting(&ASSERTIONS)).or_else(|| fitting(&["type"])).map(pointer)
    }

    /// Up to draft 7, what stands beside a `$ref` means nothing.
    fn is_only_a_reference(&self, node: &Map<String, Value>) -> bool {
        let dialect = self.schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        node.contains_key("$ref")
            && ["draft-04", "draft-06", "draft-07"].iter().any(|old| dialect.contains(old))
    }

    /// What the node says of the value itself.
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
    fn misfit(&self, what: &str) -> Mismatch {
        Mismatch { path: dotted(&self.path), what: what.to_owned() }
    }

    /// The same part, held against another schema.
    fn by(&self, schema: String) -> Self {
        Self { schema, ..self.clone() }
    }

    /// The pointer of a keyword's schema.
    fn at(&self, keyword: &str) -> String {
        format!("{}/{keyword}", self.schema)
    }

    fn member(&self, name: &str) -> Place<'v> {
        Place { path: format!("{}/{}", self.path, escape(name)), ..self.clone() }
    }
}

/// An error of the validator's, below a path.
pub(super) fn mismatch(error: &ValidationError<'_>, path: &str) -> Mismatch {
    let what = missing_or_unknown(error.kind()).unwrap_or_else(|| error.masked_with("the value").to_string());
    Mismatch { path: dotted(&format!("{path}{}", error.instance_path().as_str())), what }
}

/// A sentence that names members of the value's.
fn missing_or_unknown(kind: &ValidationErrorKind) -> Option<String> {
    if let ValidationErrorKind::Required { property: Value::String(name) } = kind {
        return Some(format!("`{name}` is missing"));
    }
    let (ValidationErrorKind::AdditionalProperties { unexpected }
    | ValidationErrorKind::UnevaluatedProperties { unexpected }) = kind
    else {
        return None;
    };
    let names: Vec<_> = unexpected.iter().take(MOST_TOLD).map(|name| not_allowed(name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn not_allowed(name: &str) -> String {
    format!("`{name}` is not allowed")
}

/// The names that a keyword has schemas for.
fn named<'s>(node: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s str> {
    node.get(keyword).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

/// What an object with a member of a name that fits the pattern does not fit.
fn matcher(pattern: &str) -> Option<Validator> {
    jsonschema::options().offline().build(&json!({ "patternProperties": { pattern: false } })).ok()
}

fn members<'s>(schema: &'s Value, pointer: &str) -> Option<&'s Map<String, Value>> {
    schema.pointer(pointer.strip_prefix('#')?)?.as_object()
}

/// The pointer of the schema that has this anchor.
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

/// The one of them, if there is no other.
fn only(mut meant: impl Iterator<Item = usize>) -> Option<usize> {
    meant.next().filter(|_| meant.next().is_none())
}

/// Whether a branch asks for a constant that the value has, and for none that it has not.
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

/// A step of a JSON pointer, as the name it stands for.
pub(crate) fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A JSON pointer as the path that serde would name: `/a/0/b` is `a[0].b`.
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
