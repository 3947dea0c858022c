//! The router: everything a server has registered, and its settings.
//!
//! Built once, then shared as `Arc<Router>`. Its settings (`&mut self`) are fixed from then on; the registered tools,
//! prompts and resources (`&self`) may change while it runs.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use actix_web::HttpRequest;
use bytestring::ByteString;

use crate::{
    call::CallServer,
    call::{data::DataMap, extract::Requirements},
    catalog::{Catalog, prompt::Prompt, resource::Resource, resource_template::ResourceTemplate, tool::Tool},
    serve::settings::Settings,
    wire::{
        capability::Capability,
        change::{Change, ChangeListener},
        era::Eras,
        jsonrpc::ReadLimits,
        result_meta::ResultMeta,
    },
};

/// Everything a server has registered, and its settings.
pub struct Router {
    settings: Settings,
    pub(crate) tools: Catalog<Tool>,
    pub(crate) prompts: Catalog<Prompt>,
    pub(crate) resources: Catalog<Resource>,
    pub(crate) templates: Catalog<ResourceTemplate>,
    pub(crate) declared: Declared,
    /// Set once, by the server that has sessions; nothing is announced before.
    listener: OnceLock<Arc<dyn ChangeListener>>,
    /// Tool handlers started so far.
    calls: AtomicU64,
    /// Made for the first result; the settings are fixed by then.
    result_meta: OnceLock<ResultMeta>,
    /// Set after the warning that a handler logs although `logging` is not declared, which is given once.
    unheard: AtomicBool,
}

/// The declared capabilities. They remain when the last entry of a kind is removed: clients know of them, and get an
/// empty list.
#[derive(Debug, Default)]
pub(crate) struct Declared([AtomicBool; 5]);

impl Declared {
    fn flag(&self, capability: Capability) -> &AtomicBool {
        let [tools, prompts, resources, completions, logging] = &self.0;
        match capability {
            Capability::Tools => tools,
            Capability::Prompts => prompts,
            Capability::Resources => resources,
            Capability::Completions => completions,
            Capability::Logging => logging,
        }
    }
}

impl Router {
    /// An empty router for a server of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            settings: Settings::new(name.into(), version.into()),
            tools: Catalog::default(),
            prompts: Catalog::default(),
            resources: Catalog::default(),
            templates: Catalog::default(),
            declared: Declared::default(),
            listener: OnceLock::new(),
            calls: AtomicU64::new(0),
            result_meta: OnceLock::new(),
            unheard: AtomicBool::new(false),
        }
    }

    /// The settings, which are fixed once the router is shared.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same, to be changed before the router is shared.
    pub fn settings_mut(&mut self) -> &mut Settings {
        self.result_meta = OnceLock::new();
        &mut self.settings
    }

    /// Which kinds of revision are served.
    #[must_use]
    pub fn eras(&self) -> Eras {
        self.settings.eras
    }

    /// The first members of results.
    pub(crate) fn result_meta(&self) -> &ResultMeta {
        let Settings { info, omit_info, cache, .. } = &self.settings;
        self.result_meta.get_or_init(|| ResultMeta::new((!omit_info).then_some(info), *cache))
    }

    /// The audience that a `requestState` is valid for.
    pub(crate) fn audience(&self) -> &str {
        self.settings.audience.as_deref().unwrap_or(&self.settings.info.name)
    }

    /// The limits that messages are read with.
    #[must_use]
    pub fn limits(&self) -> &ReadLimits {
        &self.settings.limits
    }

    /// The values that were added to the server for `web::Data`.
    #[must_use]
    pub fn data(&self) -> &Arc<DataMap> {
        &self.settings.data
    }

    /// Sets the listener that notifies clients of changes. Only the first one is used: a router belongs to one server.
    pub fn set_change_listener(&self, listener: Arc<dyn ChangeListener>) {
        if self.listener.set(listener).is_err() {
            log::warn!("a router can serve one server only; changes are announced to the first");
        }
    }

    /// Notifies the clients that subscribed to a resource that its contents have changed.
    pub fn resource_updated(&self, uri: impl Into<ByteString>) {
        self.announce(Change::Resource(uri.into()));
    }

    /// The number of tool handlers started so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn announce(&self, change: Change) {
        if let Some(listener) = self.listener.get() {
            listener.announce(change);
        }
    }

    /// Sets the number of entries per page of a list, at least one. By default a list is one page.
    pub fn set_page_size(&mut self, entries: usize) {
        self.tools.set_page_size(entries);
        self.prompts.set_page_size(entries);
        self.resources.set_page_size(entries);
        self.templates.set_page_size(entries);
    }

    /// Declares a capability before anything is registered for it; its lists are then empty at first.
    ///
    /// Clients learn of capabilities only at `initialize`, so a server that adds its first tool later calls this when
    /// it is built.
    pub fn declare(&self, capability: Capability) {
        self.declared.flag(capability).store(true, Ordering::Release);
    }

    /// Whether this capability is declared.
    #[must_use]
    pub fn declares(&self, capability: Capability) -> bool {
        self.declared.flag(capability).load(Ordering::Acquire)
    }

    /// The `web::Data` that registered handlers need and the server lacks: the name of the tool, prompt or resource,
    /// and the missing type. Over stdio there is no `App` that could have it, so this is known at startup.
    #[must_use]
    pub fn missing_data(&self) -> Vec<(String, &'static str)> {
        self.missing(|needs| needs.missing(self.data()))
    }

    /// The `web::Data` that registered handlers need and neither the application of this request nor the server has, in
    /// the form of [`missing_data`](Self::missing_data).
    #[must_use]
    pub fn missing_data_for(&self, request: &HttpRequest) -> Vec<(String, &'static str)> {
        self.missing(|needs| needs.missing_in(request, self.data()))
    }

    fn missing(&self, of: impl Fn(&Requirements) -> Vec<&'static str>) -> Vec<(String, &'static str)> {
        let missing = |name: &str, needs: &Requirements| {
            let types = of(needs).into_iter();
            types.map(|missing| (name.to_owned(), missing)).collect::<Vec<_>>()
        };
        let tools = self.tools.snapshot();
        let prompts = self.prompts.snapshot();
        let resources = self.resources.snapshot();
        let templates = self.templates.snapshot();
        let tools = tools.iter().flat_map(|tool| missing(tool.name(), tool.needs()));
        let prompts = prompts.iter().flat_map(|prompt| missing(&prompt.definition().name, prompt.needs()));
        let resources =
            resources.iter().flat_map(|resource| missing(&resource.definition().uri, resource.needs()));
        let templates = templates
            .iter()
            .flat_map(|template| missing(&template.definition().uri_template, template.needs()));
        tools.chain(prompts).chain(resources).chain(templates).collect()
    }
}

impl CallServer for Router {
    /// Whether log messages may be sent to clients: not without the declared capability. Warns about the first one that
    /// is dropped.
    // MCP 2025-11-25 server/utilities/logging, Capabilities: servers that emit log messages MUST declare it
    fn may_log(&self) -> bool {
        let may = self.declares(Capability::Logging);
        if !may && !self.unheard.swap(true, Ordering::Relaxed) {
            log::warn!(
                "a handler logs to its client, but `logging` is not declared, so nothing is sent: the `describe` of its \
                 extractor must call `Log::describe`, or the server must declare `Capability::Logging`"
            );
        }
        may
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("name", &self.settings.info.name)
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}
