//! The catalog of a router: adding and removing tools, prompts, resources and templates, at any time.
//!
//! The builder uses [`Router::tool`] and its siblings, which panic with the caller's line; code that changes a
//! running server uses [`Router::add_tool`] and its siblings. A change is announced after it has taken effect.

use crate::{
    call::extract::{Takes, Unmatched},
    catalog::{
        Catalog, Entry,
        add_error::AddError,
        authored,
        prompt::Prompt,
        resource::Resource,
        resource_template::ResourceTemplate,
        tool::{IntoTool, Tool},
    },
    schema::SchemaError,
    serve::router::Router,
    wire::{capability::Capability, change::Change, names},
};

macro_rules! panicking {
    ($($(#[$doc:meta])* $name:ident($entry:ident: $kind:ty) => $add:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// With the caller's line, on an [`AddError`].
        #[track_caller]
        pub fn $name(&mut self, $entry: $kind) {
            if let Err(error) = self.$add($entry) {
                panic!("{error}");
            }
        }
    )*};
}

/// Adding while the server is built.
impl Router {
    /// Adds a tool.
    ///
    /// # Panics
    ///
    /// With the caller's line, on an [`AddError`].
    #[track_caller]
    pub fn tool<M>(&mut self, tool: impl IntoTool<M>) {
        if let Err(error) = self.add_tool(tool.into_tool()) {
            panic!("{error}");
        }
    }

    panicking! {
        /// Adds a prompt.
        prompt(prompt: Prompt) => add_prompt;
        /// Adds a resource.
        resource(resource: Resource) => add_resource;
        /// Adds a resource template.
        resource_template(template: ResourceTemplate) => add_resource_template;
    }
}

/// Adding and removing at any time, from any thread.
impl Router {
    /// Adds a tool at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`]; nothing has changed then.
    pub fn add_tool(&self, tool: Tool) -> Result<(), AddError> {
        tool.check()?;
        let definition = tool.definition();
        authored::check("tool", tool.name(), &definition.icons, definition.meta.as_ref())?;
        let logs = tool.needs().logging();
        let name = tool.name().to_owned();
        self.add("tool", &self.tools, tool, Capability::Tools, Change::Tools)?;
        authored::warn_of_name(&name);
        self.declare_if(logs, Capability::Logging);
        Ok(())
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`]; nothing has changed then.
    pub fn add_prompt(&self, prompt: Prompt) -> Result<(), AddError> {
        if let Some(why) = prompt.mistake() {
            return Err(AddError::Arguments { prompt: prompt.key().to_owned(), why: why.clone() });
        }
        if let Some(argument) = prompt.no_string() {
            return Err(AddError::NotAString {
                prompt: prompt.key().to_owned(),
                argument: argument.to_owned(),
            });
        }
        let known = |argument: &str| prompt.definition().arguments.iter().any(|known| known.name == argument);
        check_completers("prompt", prompt.key(), prompt.completers().arguments(), known)?;
        let definition = prompt.definition();
        authored::check("prompt", prompt.key(), &definition.icons, definition.meta.as_ref())?;
        let completes = !prompt.completers().is_empty();
        let logs = prompt.needs().logging() || prompt.completers().logging();
        self.add("prompt", &self.prompts, prompt, Capability::Prompts, Change::Prompts)?;
        self.declare_if(completes, Capability::Completions);
        self.declare_if(logs, Capability::Logging);
        Ok(())
    }

    /// Adds a resource at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`]; nothing has changed then.
    pub fn add_resource(&self, resource: Resource) -> Result<(), AddError> {
        let definition = resource.definition();
        let (uri, most) = (&definition.uri, self.limits().name_bytes);
        // an empty or overlong URI gets its own error below
        if (1..=most).contains(&uri.len()) && !names::is_uri(uri) {
            return Err(AddError::Uri { uri: uri.clone() });
        }
        authored::check("resource", uri, &definition.icons, definition.meta.as_ref())?;
        check_reader("resource", resource.key(), resource.reader().takes(), &[])?;
        let logs = resource.needs().logging();
        self.add("resource", &self.resources, resource, Capability::Resources, Change::Resources)?;
        self.declare_if(logs, Capability::Logging);
        Ok(())
    }

    /// Adds a resource template at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`]; nothing has changed then.
    pub fn add_resource_template(&self, template: ResourceTemplate) -> Result<(), AddError> {
        let key = template.key().to_owned();
        let parsed = match template.template() {
            Ok(parsed) => parsed,
            Err(why) => return Err(AddError::Template { template: key, why: why.clone() }),
        };
        if !authored::may_have_scheme(&key) {
            return Err(AddError::NoScheme { template: key });
        }
        if let Some(wrong) = authored::wrong_literal(&key) {
            return Err(AddError::Literal { template: key, wrong });
        }
        let definition = template.definition();
        authored::check("resource template", &key, &definition.icons, definition.meta.as_ref())?;
        let known = |argument: &str| parsed.variables().any(|variable| variable == argument);
        check_completers("resource template", &key, template.completers().arguments(), known)?;
        let variables: Vec<_> = parsed.variables().collect();
        check_reader("resource template", &key, template.reader().takes(), &variables)?;
        let completes = !template.completers().is_empty();
        let logs = template.needs().logging() || template.completers().logging();
        self.add("resource template", &self.templates, template, Capability::Resources, Change::Resources)?;
        self.declare_if(completes, Capability::Completions);
        self.declare_if(logs, Capability::Logging);
        Ok(())
    }

    /// Removes a tool; `false` if there is none of this name. Running calls continue.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove(&self.tools, name, Change::Tools)
    }

    /// Removes a prompt; `false` if there is none of this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove(&self.prompts, name, Change::Prompts)
    }

    /// Removes a resource; `false` if there is none at this URI. Subscriptions to it remain.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove(&self.resources, uri, Change::Resources)
    }

    /// Removes a resource template; `false` if there is none of this text.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        self.remove(&self.templates, uri_template, Change::Resources)
    }

    /// Whether there is a tool of this name.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.get(name).is_some()
    }

    /// The error for a registered name that exceeds the limit, which may have been set after registration.
    #[must_use]
    pub fn overlong(&self) -> Option<AddError> {
        let limit = self.limits().name_bytes;
        fn longest<T: Entry>(kind: &'static str, catalog: &Catalog<T>) -> Option<(usize, &'static str)> {
            catalog.snapshot().iter().map(|entry| (entry.key().len(), kind)).max()
        }
        let longest = [
            longest("tool", &self.tools),
            longest("prompt", &self.prompts),
            longest("resource", &self.resources),
            longest("resource template", &self.templates),
        ];
        let (bytes, kind) = longest.into_iter().flatten().max()?;
        (bytes > limit).then_some(AddError::LongName { kind, bytes, limit })
    }

    fn add<T: Entry>(
        &self,
        kind: &'static str,
        catalog: &Catalog<T>,
        entry: T,
        capability: Capability,
        change: Change,
    ) -> Result<(), AddError> {
        let (bytes, limit) = (entry.key().len(), self.limits().name_bytes);
        if bytes == 0 {
            return Err(AddError::NoName { kind });
        }
        if bytes > limit {
            return Err(AddError::LongName { kind, bytes, limit });
        }
        catalog.add(entry).map_err(|entry| AddError::Taken { kind, key: entry.key().to_owned() })?;
        self.declare(capability);
        self.announce(change);
        Ok(())
    }

    fn remove<T: Entry>(&self, catalog: &Catalog<T>, key: &str, change: Change) -> bool {
        let removed = catalog.remove(key);
        if removed.is_some() {
            self.announce(change);
        }
        // the entry is dropped last: its `Drop` may run user code
        removed.is_some()
    }

    fn declare_if(&self, needed: bool, capability: Capability) {
        if needed {
            self.declare(capability);
        }
    }
}

/// Checks the arguments that a reader takes against the variables of its template.
fn check_reader(
    kind: &'static str,
    key: &str,
    takes: Result<Option<&Takes>, &SchemaError>,
    variables: &[&str],
) -> Result<(), AddError> {
    let key = || key.to_owned();
    match takes.map(|takes| takes.and_then(|takes| takes.unmatched(variables))) {
        Ok(None) => Ok(()),
        Err(why) => Err(AddError::Reader { kind, key: key(), why: why.clone() }),
        Ok(Some(Unmatched::Variable(variable))) => Err(AddError::Refused { template: key(), variable }),
        Ok(Some(Unmatched::Argument(argument))) => {
            let variables = match variables {
                [] => "a resource has no variables: use a `ResourceTemplate`".to_owned(),
                some => format!("its variables are {}", some.join(", ")),
            };
            Err(AddError::NoVariable { kind, key: key(), argument, variables })
        }
    }
}

fn check_completers<'a>(
    kind: &'static str,
    key: &str,
    mut arguments: impl Iterator<Item = &'a str>,
    known: impl Fn(&str) -> bool,
) -> Result<(), AddError> {
    match arguments.find(|argument| !known(argument)) {
        Some(argument) => {
            Err(AddError::Completer { kind, key: key.to_owned(), argument: argument.to_owned() })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
