//! How the files of a crate use each other, read from their sources.
//!
//! A file uses another if it names something that the other defines, by a `use` or by a path. A name that a module only
//! re-exports counts for the file that defines it. Tests are not read.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]
#![expect(clippy::wildcard_enum_match_arm, reason = "syn adds kinds of items in any release")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

/// A path from the root of the crate.
type Names = Vec<String>;

/// One crate: what each file re-exports, and the paths that it names.
#[derive(Default)]
struct Crate {
    /// The files by the path of their module.
    files: BTreeMap<Names, String>,
    /// By module and name.
    exports: BTreeMap<(Names, String), Names>,
    named: BTreeMap<Names, Vec<Names>>,
}

impl Crate {
    fn read(src: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(src);
        let mut all = Self::default();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                if path.is_dir() {
                    folders.push(path);
                } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "fake.rs" {
                    all.add(&root, &path);
                }
            }
        }
        assert!(all.files.len() > 5, "{src}: only {} files", all.files.len());
        all
    }

    fn add(&mut self, root: &Path, path: &Path) {
        let file = path.strip_prefix(root).unwrap().to_str().unwrap();
        let mut module: Names = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(module.last().unwrap().as_str(), "mod" | "lib") {
            module.pop();
        }
        let source = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        let mut named = Vec::new();
        for item in source.items {
            match item {
                Item::Use(item) if !is_test(&item.attrs) => {
                    let mut leaves = Vec::new();
                    flatten(&item.tree, &mut Vec::new(), &mut leaves);
                    let exported = !matches!(item.vis, Visibility::Inherited);
                    for (path, alias) in leaves {
                        let Some(path) = absolute(&module, &path) else { continue };
                        if exported {
                            self.exports.insert((module.clone(), alias), path);
                        } else {
                            named.push(path);
                        }
                    }
                }
                // the crate's own face, which hands names on
                Item::Mod(item) if item.content.is_some() && module.is_empty() => {}
                item if is_test(attributes(&item)) => {}
                item => paths(item.to_token_stream(), &module, &mut named),
            }
        }
        self.named.insert(module.clone(), named);
        self.files.insert(module, file.to_owned());
    }

    /// The module of the file that defines this.
    fn home(&self, path: &[String]) -> Option<&Names> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let at = (0..=path.len()).rev().find(|at| self.files.contains_key(&path[..*at]))?;
            let (module, rest) = path.split_at(at);
            let export = rest.first().and_then(|name| self.exports.get(&(module.to_vec(), name.clone())));
            match export {
                Some(export) => path = export.iter().chain(&rest[1..]).cloned().collect(),
                None => return self.files.get_key_value(module).map(|(module, _)| module),
            }
        }
        None
    }

    /// Which file uses which others.
    fn uses(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let file = |module: &Names| self.files[module].as_str();
        let uses = self.named.iter().map(|(module, named)| {
            let homes = named.iter().filter_map(|path| self.home(path));
            (file(module), homes.filter(|home| *home != module && !home.is_empty()).map(file).collect())
        });
        uses.collect()
    }
}

/// Whether this is there in tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => &[],
    }
}

/// The paths of a `use`, each with the name that it has from there on.
fn flatten(tree: &UseTree, before: &mut Names, leaves: &mut Vec<(Names, String)>) {
    let mut leaf = |name: &syn::Ident, alias: &syn::Ident| {
        let name = (name != "self").then(|| name.to_string());
        leaves.push((before.iter().cloned().chain(name).collect(), alias.to_string()));
    };
    match tree {
        UseTree::Name(name) => leaf(&name.ident, &name.ident),
        UseTree::Rename(rename) => leaf(&rename.ident, &rename.rename),
        UseTree::Glob(_) => {}
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, leaves)),
    }
}

/// The path from the root of the crate; `None` for one into another crate.
fn absolute(module: &[String], path: &[String]) -> Option<Names> {
    let mut from = module.to_vec();
    let mut rest = path.iter().peekable();
    match rest.peek()?.as_str() {
        "crate" => from.clear(),
        "self" | "super" => {}
        _ => return None,
    }
    for name in rest {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => drop(from.pop()),
            _ => from.push(name.clone()),
        }
    }
    Some(from)
}

/// The paths that begin with `crate`, `self` or `super` in code, that of macros included.
fn paths(tokens: TokenStream, module: &[String], named: &mut Vec<Names>) {
    // `pub(super)` and `self.field` name nothing
    let whole = |path: &Names| (path.len() > 1).then(|| absolute(module, path)).flatten();
    let mut path = Names::new();
    let mut after_colons = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if path.is_empty() || after_colons => {
                path.push(name.to_string());
                after_colons = false;
            }
            TokenTree::Punct(colon) if colon.as_char() == ':' && !path.is_empty() => after_colons = true,
            other => {
                named.extend(whole(&path));
                path.clear();
                after_colons = false;
                match other {
                    TokenTree::Group(group) => paths(group.stream(), module, named),
                    TokenTree::Ident(name) => path.push(name.to_string()),
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
        }
    }
    named.extend(whole(&path));
}

/// All that a file uses, and what these use, and so on.
fn reached<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>, file: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut left = vec![file];
    while let Some(file) = left.pop() {
        left.extend(uses[file].iter().filter(|used| reached.insert(**used)));
    }
    reached
}

#[test]
fn no_more_than_three_files_of_a_crate_use_each_other_in_a_circle() {
    for src in ["src", "router/src", "session-actor/src", "transports/src"] {
        let all = Crate::read(src);
        let uses = all.uses();
        let reached: BTreeMap<_, _> = uses.keys().map(|file| (*file, reached(&uses, file))).collect();
        for (file, others) in &reached {
            let circle: Vec<_> = others.iter().filter(|other| reached[**other].contains(file)).collect();
            assert!(circle.len() <= 3, "{src}: {circle:?}");
        }
    }
}

/// The first folder or file of a path.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file)
}

#[test]
fn a_room_of_the_router_uses_those_before_it_alone() {
    const ROOMS: [&str; 6] = ["wire", "schema", "call", "ask", "catalog", "serve"];
    let all = Crate::read("router/src");
    let floor = |file: &str| ROOMS.iter().position(|name| *name == room(file));
    for (file, used) in all.uses() {
        let Some(from) = floor(file) else { continue };
        for other in used {
            assert!(floor(other).is_some_and(|to| to <= from), "{file} uses {other}");
        }
    }
}

#[test]
fn the_rules_of_a_session_know_neither_its_actor_nor_its_streams() {
    let all = Crate::read("session-actor/src");
    let uses = all.uses();
    for file in uses.keys().filter(|file| room(file) == "state") {
        let reached = reached(&uses, file);
        let knows = reached.iter().find(|other| {
            matches!(
                room(other),
                "session" | "link.rs" | "stream.rs" | "sessions.rs" | "exchange.rs" | "task.rs" | "hub.rs"
            )
        });
        assert_eq!(knows, None, "{file} reaches it");
    }
    let hub = reached(&uses, "hub.rs");
    assert!(!hub.iter().any(|other| room(other) == "session"), "the hub knows the actor: {hub:?}");
}

#[test]
fn what_is_served_knows_no_transport() {
    let all = Crate::read("transports/src");
    let uses = all.uses();
    let backend = reached(&uses, "backend.rs");
    assert!(!backend.iter().any(|file| room(file) == "stdio" || file.ends_with("post.rs")), "{backend:?}");
}
