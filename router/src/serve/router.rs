//! The router: everything a server has registered, and its settings.
//!
//! Built once, then shared as `Arc<Router>`. What it is made of (`&mut self`) is fixed from then on; what it offers
//! (`&self`) may change while it runs.

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
    call::Server,
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
    announce: OnceLock<Arc<dyn ChangeListener>>,
    /// Tool handlers started so far.
    calls: AtomicU64,
    /// Made when the first result needs it; what it is made of is fixed by then.
    result_meta: OnceLock<ResultMeta>,
    /// Set when something was to be logged although `logging` is not declared, which is warned of once.
    unheard: AtomicBool,
}

/// The capabilities that something was registered for. None is taken back when the last of its kind is removed: clients
/// were told of it, and an empty list says what there is.
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
    /// A router that offers nothing yet, under this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            settings: Settings::new(name.into(), version.into()),
            tools: Catalog::default(),
            prompts: Catalog::default(),
            resources: Catalog::default(),
            templates: Catalog::default(),
            declared: Declared::default(),
            announce: OnceLock::new(),
            calls: AtomicU64::new(0),
            result_meta: OnceLock::new(),
            unheard: AtomicBool::new(false),
        }
    }

    /// What is fixed once the router is shared.
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

    /// What results begin with.
    pub(crate) fn result_meta(&self) -> &ResultMeta {
        let Settings { info, omit_info, cache, .. } = &self.settings;
        self.result_meta.get_or_init(|| ResultMeta::new((!omit_info).then_some(info), *cache))
    }

    /// For whom a `requestState` is good.
    pub(crate) fn audience(&self) -> &str {
        self.settings.audience.as_deref().unwrap_or(&self.settings.info.name)
    }

    /// The limits that messages are read with.
    #[must_use]
    pub fn limits(&self) -> &ReadLimits {
        &self.settings.limits
    }

    /// The values given to the server.
    #[must_use]
    pub fn data(&self) -> &Arc<DataMap> {
        &self.settings.data
    }

    /// Names who passes changes on to clients. Only the first counts: a router has one server.
    pub fn set_change_listener(&self, announce: Arc<dyn ChangeListener>) {
        if self.announce.set(announce).is_err() {
            log::warn!("a router can serve one server only; changes are announced to the first");
        }
    }

    /// Tells the clients that subscribed to a resource that it has new contents.
    pub fn resource_updated(&self, uri: impl Into<ByteString>) {
        self.announce(Change::Resource(uri.into()));
    }

    /// How many tool handlers were started so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn announce(&self, change: Change) {
        if let Some(announce) = self.announce.get() {
            announce.announce(change);
        }
    }

    /// Sets how many entries a page of a list has, at least one; by default a list is one page.
    pub fn set_page_size(&mut self, entries: Option<usize>) {
        self.tools.set_page_size(entries);
        self.prompts.set_page_size(entries);
        self.resources.set_page_size(entries);
        self.templates.set_page_size(entries);
    }

    /// Offers a capability before anything is registered for it: its lists are then empty at first.
    ///
    /// Clients learn of capabilities only at `initialize`, so a server that adds its first tool later calls this when
    /// it is built.
    pub fn declare(&self, capability: Capability) {
        self.declared.flag(capability).store(true, Ordering::Release);
    }

    /// Whether this capability is offered.
    #[must_use]
    pub fn declares(&self, capability: Capability) -> bool {
        self.declared.flag(capability).load(Ordering::Acquire)
    }

    /// What the handlers registered now need and the server's data lacks: name of the tool, prompt or resource, and the
    /// type of the `web::Data` that is missing. Over stdio, where no `App` could have it, this is known at start.
    #[must_use]
    pub fn missing_data(&self) -> Vec<(String, &'static str)> {
        self.missing(|needs| needs.missing(self.data()))
    }

    /// What the handlers registered now need and neither the application of a request nor the server's data has, as
    /// [`missing_data`](Self::missing_data) names it.
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

impl Server for Router {
    /// Whether messages may be logged to clients: without the declared capability none must be sent. Warns of the first
    /// that is not.
    // MCP 2025-11-25 server/utilities/logging, Capabilities: servers that emit log messages MUST declare it
    fn may_log(&self) -> bool {
        let may = self.declares(Capability::Logging);
        if !may && !self.unheard.swap(true, Ordering::Relaxed) {
            log::warn!(
                "a handler logs to its client, but `logging` is not declared, so nothing is sent: the `describe` of its \
                 extractor must call `Log::describe`, or the server must offer `Capability::Logging`"
            );
        }
        may
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("name", &self.settings.info.name)
            .field("offered", &self.declared)
            .finish_non_exhaustive()
    }
}
