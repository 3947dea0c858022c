//! The judge of every message a server sends: the schema of the session's revision, as a schema crate carries it.
//!
//! `rust-mcp-schema` generates Rust types from the specification's schemas and keeps the schema each type came from
//! in its doc comment. Its types are no judge: they ignore members they do not know, and cargo builds them for one
//! revision at a time. The schemas in the comments say everything, so they are read from the crate's source (cargo
//! knows where that is) and put together again to one schema a revision. A release that lays them out otherwise
//! fails [`Oracle::of`] with the reason, never by accepting more; the version is pinned for that.
//!
//! The specification leaves most objects open, so by the letter a member of a later revision passes. Here it does
//! not: an object schema that lists its members and says nothing of others is closed ([`close`]). What stays open is
//! what the specification opens in words: `_meta`, `experimental`, JSON-RPC `params`, and the schemas of tools.
//!
//! **Invariant:** nothing of the crate under test takes part in a verdict.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::{Map, Value, json};

/// Which definition the result of a request is, by the request's method.
const RESULTS: [(&str, &str); 15] = [
    ("initialize", "InitializeResult"),
    ("ping", "EmptyResult"),
    ("tools/list", "ListToolsResult"),
    ("tools/call", "CallToolResult"),
    ("resources/list", "ListResourcesResult"),
    ("resources/templates/list", "ListResourceTemplatesResult"),
    ("resources/read", "ReadResourceResult"),
    ("resources/subscribe", "EmptyResult"),
    ("resources/unsubscribe", "EmptyResult"),
    ("prompts/list", "ListPromptsResult"),
    ("prompts/get", "GetPromptResult"),
    ("completion/complete", "CompleteResult"),
    ("logging/setLevel", "EmptyResult"),
    ("server/discover", "DiscoverResult"),
    ("subscriptions/listen", "SubscriptionsListenResult"),
];

/// The schema of one revision.
pub(crate) struct Oracle {
    revision: &'static str,
    /// Definition by name in lower case: the crate writes `JsonrpcRequest` for the specification's `JSONRPCRequest`.
    definitions: Map<String, Value>,
    /// Compiled when first asked for, by the same key.
    validators: BTreeMap<String, jsonschema::Validator>,
}

impl Oracle {
    /// Reads the schema of `revision`, `2024-11-05` for example.
    ///
    /// # Panics
    ///
    /// When the crate's source cannot be found or does not hold what is expected of it.
    pub(crate) fn of(revision: &'static str) -> Self {
        let file = source_of_schemas()
            .join("src/generated_schema")
            .join(revision.replace('-', "_"))
            .join("mcp_schema.rs");
        let source = std::fs::read_to_string(&file).unwrap_or_else(|err| panic!("{}: {err}", file.display()));
        let mut definitions = definitions_in(&source);
        // The one type whose Rust name is another word.
        if let Some(error) = definitions.get("rpcerror").cloned() {
            definitions.insert("error".to_owned(), error);
        }
        // An empty result is `Result`, which is open for its subtypes; the result itself has `_meta` and nothing else.
        let mut empty = definitions["result"].clone();
        empty.as_object_mut().expect("Result is an object schema").remove("additionalProperties");
        definitions.insert("emptyresult".to_owned(), empty);
        for (name, schema) in &mut definitions {
            // the objects of `_meta`, which are open: they are definitions of their own from 2026-07-28 on
            if !name.ends_with("metaobject") {
                close(schema);
            }
            lower_refs(schema);
        }
        Self { revision, definitions, validators: BTreeMap::new() }
    }

    /// Whether `value` is a `definition` of this revision.
    ///
    /// # Errors
    ///
    /// What does not fit and where; also when the revision has no such definition.
    pub(crate) fn check(&mut self, definition: &str, value: &Value) -> Result<(), String> {
        let key = definition.to_lowercase();
        if !self.definitions.contains_key(&key) {
            return Err(format!("{} has no {definition}", self.revision));
        }
        let definitions = &self.definitions;
        let validator = self.validators.entry(key.clone()).or_insert_with(|| {
            let schema = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$ref": format!("#/$defs/{key}"),
                "$defs": definitions,
            });
            jsonschema::options()
                .should_validate_formats(true)
                .build(&schema)
                .expect("the definitions compile")
        });
        let faults: Vec<_> =
            validator.iter_errors(value).map(|err| format!("at `{}`: {err}", err.instance_path())).collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(format!("no {definition} of {}: {}\n  {value}", self.revision, faults.join("; ")))
        }
    }

    /// Whether `message` is a whole message that a server may send at this revision. `answered` tells the method of
    /// the request with the message's id, if the message is an answer.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub(crate) fn check_message(
        &mut self,
        message: &Value,
        answered: impl FnOnce(&Value) -> Option<String>,
    ) -> Result<(), String> {
        if message.get("error").is_some() {
            return self.check(self.either("JSONRPCErrorResponse", "JSONRPCError"), message);
        }
        if let Some(result) = message.get("result") {
            self.check(self.either("JSONRPCResultResponse", "JSONRPCResponse"), message)?;
            let id = &message["id"];
            let method =
                answered(id).ok_or_else(|| format!("an answer to {id}, which nobody asked: {message}"))?;
            let (_, definition) = RESULTS
                .iter()
                .find(|(of, _)| *of == method)
                .ok_or_else(|| format!("`{method}` has no result that is known here"))?;
            let asks = result["resultType"] == "input_required";
            return self.check(if asks { "InputRequiredResult" } else { definition }, result);
        }
        let (envelope, union) = if message.get("id").is_some() {
            ("JSONRPCRequest", "ServerRequest")
        } else {
            ("JSONRPCNotification", "ServerNotification")
        };
        self.check(envelope, message)?;
        let definition = self
            .member_for(union, &message["method"])
            .ok_or_else(|| format!("no {union} of {} has this method: {message}", self.revision))?;
        // Until 2025-06-18 the definition of a method describes `method` and `params` only.
        let mut body = message.clone();
        if self.definitions[&definition]["properties"].get("jsonrpc").is_none()
            && let Some(members) = body.as_object_mut()
        {
            members.remove("jsonrpc");
            members.remove("id");
        }
        self.check(&definition, &body)
    }

    /// `new` where the revision has it, else `old`.
    fn either(&self, new: &'static str, old: &'static str) -> &'static str {
        if self.definitions.contains_key(&new.to_lowercase()) { new } else { old }
    }

    /// The member of a union of requests or notifications whose `method` is `method`.
    fn member_for(&self, union: &str, method: &Value) -> Option<String> {
        let members = self.definitions.get(&union.to_lowercase())?["anyOf"].as_array()?;
        members
            .iter()
            .filter_map(|member| member["$ref"].as_str()?.strip_prefix("#/$defs/"))
            .find(|name| self.definitions[*name]["properties"]["method"]["const"] == *method)
            .map(str::to_owned)
    }
}

/// Every schema that stands in a doc comment of `source`, by the lower-case name of the item under it.
fn definitions_in(source: &str) -> Map<String, Value> {
    let mut definitions = Map::new();
    let mut block: Option<String> = None;
    let mut schema: Option<Value> = None;
    for line in source.lines() {
        if let Some(text) = &mut block {
            let doc = line.strip_prefix("///").expect("a schema ends inside its doc comment");
            if doc.trim_start() == "```" {
                schema = Some(serde_json::from_str(text).expect("the block is a schema in JSON"));
                block = None;
            } else {
                text.push_str(doc);
                text.push('\n');
            }
        } else if line.starts_with("/// ```json") {
            block = Some(String::new());
        } else if let Some(item) = line.strip_prefix("pub ")
            && let Some(schema) = schema.take()
        {
            let name =
                item.split(|c: char| !c.is_alphanumeric()).nth(1).expect("an item has a name").to_lowercase();
            assert!(definitions.insert(name.clone(), schema).is_none(), "two items are called {name}");
        }
    }
    assert!(
        definitions.len() > 70,
        "found only {} definitions: is the crate laid out anew?",
        definitions.len()
    );
    definitions
}

/// Refuses members that an object schema does not list, unless it speaks of others itself.
///
/// The schemas of a tool are JSON Schemas of the author's own: the specification lists the members it needs and means
/// more. Parts of an `allOf` describe one object together, so none of them can be closed alone.
fn close(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if members.contains_key("properties") && !members.contains_key("additionalProperties") {
        members.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties
                .iter_mut()
                .filter(|(name, _)| !matches!(name.as_str(), "inputSchema" | "outputSchema"))
                .for_each(|(_, schema)| close(schema)),
            ("anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter_mut().for_each(close),
            ("items" | "additionalProperties", schema) => close(schema),
            _ => {}
        }
    }
}

/// Rewrites each `$ref` to where the definitions stand here.
fn lower_refs(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                if let ("$ref", Value::String(target)) = (name.as_str(), &mut *value) {
                    let definition =
                        target.rsplit('/').next().expect("a split has a last part").to_lowercase();
                    *target = format!("#/$defs/{definition}");
                }
                lower_refs(value);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(lower_refs),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The folder of the schema crate's source, as cargo tells it.
fn source_of_schemas() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", "host-tuple"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
        let manifest = metadata["packages"]
            .as_array()
            .and_then(|packages| packages.iter().find(|package| package["name"] == "rust-mcp-schema"))
            .and_then(|package| package["manifest_path"].as_str())
            .expect("rust-mcp-schema is a dev-dependency");
        Path::new(manifest).parent().expect("a manifest is in a folder").to_owned()
    })
}
