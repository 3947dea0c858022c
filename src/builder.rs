//! Building a server.

use std::{fmt, sync::Arc};

use actix_mcp_router::Principal;
use actix_mcp_router::{
    Cache, Capability, Eras, Icon, IntoTool, Prompt, Resource, ResourceTemplate, StateKey,
    internal::{Router, ServerInfo},
};
use actix_mcp_session::{Bus, Node, internal::Sessions};
use actix_mcp_transports::{
    NotAllowable,
    internal::{Backend, HttpOptions},
};
use actix_web::HttpRequest;

use crate::{Limits, Server};

/// What makes the way to other nodes of a way back from them.
type Join = Box<dyn FnOnce(&Sessions)>;

/// Builds a [`Server`]: [`Server::builder`] begins, [`build`](Self::build) ends.
///
/// Mistakes of the author panic with the author's line.
#[must_use = "a server is built by `build`"]
pub struct ServerBuilder {
    router: Router,
    http: HttpOptions,
    limits: Limits,
    join: Option<Join>,
}

impl ServerBuilder {
    pub(crate) fn new(name: String, version: String) -> Self {
        let (http, limits) = (HttpOptions::default(), Limits::default());
        Self { router: Router::new(name, version), http, limits, join: None }
    }

    /// Offers a tool: a function with `#[tool]`, or a `Tool`.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a tool of this name is there already, or the tool cannot be offered.
    #[track_caller]
    pub fn tool<M>(mut self, tool: impl IntoTool<M>) -> Self {
        self.router.tool(tool);
        self
    }

    /// Offers a prompt.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a prompt of this name is there already, or the prompt cannot be offered.
    #[track_caller]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.router.prompt(prompt);
        self
    }

    /// Offers a resource.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a resource with this URI is there already, or the resource cannot be offered.
    #[track_caller]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.router.resource(resource);
        self
    }

    /// Offers a family of resources.
    ///
    /// # Panics
    ///
    /// With the caller's line, if this template is there already, or cannot be offered.
    #[track_caller]
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.router.resource_template(template);
        self
    }

    /// Declares a capability although nothing is registered for it yet, so that it can be added at run time.
    ///
    /// What is registered declares itself: a tool declares `tools`, a handler that takes a `Log` declares `logging`.
    #[track_caller]
    pub fn declare(self, capability: Capability) -> Self {
        self.router.declare(capability);
        self
    }

    /// Gives a value to handlers: what `web::Data<T>` extracts. An application's own `app_data` comes first.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a value of this type was given already: it would be lost.
    #[track_caller]
    pub fn data<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.data_arc(Arc::new(value))
    }

    /// Gives a shared value to handlers, as [`data`](Self::data) does; `T` may be a trait object.
    ///
    /// # Panics
    ///
    /// As [`data`](Self::data) does.
    #[track_caller]
    pub fn data_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.router.settings_mut().insert_data(value);
        self
    }

    /// Tells clients how to use the server; many show it to the model.
    #[track_caller]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.router.settings_mut().instructions = Some(instructions.into());
        self
    }

    /// The name to show to people.
    #[track_caller]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.info(|info| info.title = Some(title.into()))
    }

    /// What the server is for.
    #[track_caller]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.info(|info| info.description = Some(description.into()))
    }

    /// Where to read more about the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is not an absolute URL.
    #[track_caller]
    pub fn website_url(self, url: impl Into<String>) -> Self {
        self.info(|info| info.website_url = Some(url.into()))
    }

    /// Adds an icon for the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is not at an `https:`, `http:` or `data:` URI.
    #[track_caller]
    pub fn icon(self, icon: Icon) -> Self {
        self.info(|info| info.icons.push(icon))
    }

    #[track_caller]
    #[expect(clippy::panic, reason = "a mistake of the author, told at start with the author's line")]
    fn info(mut self, change: impl FnOnce(&mut ServerInfo)) -> Self {
        let info = &mut self.router.settings_mut().info;
        change(info);
        if let Some(mistake) = info.mistake() {
            panic!("{mistake}");
        }
        self
    }

    /// Splits lists into pages of so many entries. By default a list is one page.
    ///
    /// A cursor is good as long as the list up to its place is what it was: on every node, after a restart, and when
    /// something was added or removed behind it. Otherwise it is refused with -32602, and the client begins anew.
    #[track_caller]
    pub fn page_size(mut self, entries: usize) -> Self {
        self.router.set_page_size(Some(entries));
        self
    }

    /// Sets the limits; see [`Limits`] for units and defaults.
    pub fn limits(mut self, limits: Limits) -> Self {
        let settings = self.router.settings_mut();
        settings.limits = limits.message;
        settings.seal.limits = limits.state;
        self.limits = limits;
        self
    }

    /// Joins the other nodes of the server: changes on this one go to the bus, and what it delivers goes to this one's
    /// clients. Without it a server has one node.
    ///
    /// ```
    /// # use actix_mcp::{Server, bus::Node};
    /// # fn publish(change: &str) {}
    /// # fn on_message(deliver: impl Fn(&actix_mcp::bus::Change)) {}
    /// let server = Server::builder("prices", "1.0.0").bus(|node: Node| {
    ///     on_message(move |change| drop(node.deliver(change)));
    ///     |change| publish(&format!("{change:?}"))
    /// });
    /// ```
    pub fn bus<B: Bus>(mut self, join: impl FnOnce(Node) -> B + 'static) -> Self {
        self.join = Some(Box::new(|sessions| sessions.set_bus(join(sessions.node()))));
        self
    }

    /// Sets which kinds of revision are served: by default all, on one endpoint and on one pipe.
    #[track_caller]
    pub fn eras(mut self, eras: Eras) -> Self {
        self.router.settings_mut().eras = eras;
        self
    }

    /// Declares an extension of the protocol, such as `com.example/feature`, with its settings: a value that serializes to a
    /// JSON object. None is declared by default. Clients are told from 2026-07-28 on; their own settings are read by
    /// `Session::extension`.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is no id, is declared already, or the settings are no object.
    // MCP 2026-07-28 basic/versioning, Extension Negotiation
    #[track_caller]
    pub fn extension(mut self, id: &str, settings: impl serde::Serialize) -> Self {
        if let Err(wrong) = self.router.settings_mut().add_extension(id, settings) {
            panic!("{wrong}");
        }
        self
    }

    /// Sets how long lists and the answer to `server/discover` may be kept, and by whom. By default they may not.
    // MCP 2026-07-28 server/utilities/caching
    #[track_caller]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.router.settings_mut().cache = cache;
        self
    }

    /// Omits the server's name and version from results. By default every result has them, from 2026-07-28 on.
    #[track_caller]
    pub fn omit_server_info(mut self) -> Self {
        self.router.settings_mut().omit_info = true;
        self
    }

    /// Sets the keys under which `requestState` is sealed, which carries a call that asked something through the client: the
    /// first seals, all open. A server of several nodes gives all of them the same; to change a key, put the new one first
    /// and leave the old one for as long as states live.
    ///
    /// Without a key, the process makes one: then no other process can serve a retry, and none after this one. A secret text
    /// of fewer than 32 bytes is taken, and warned of in the log, so install a logger before.
    ///
    /// ```
    /// # use actix_mcp::Server;
    /// let new = "a secret of at least 32 random characters";
    /// let old = "the secret before, which is as long";
    /// let server = Server::builder("shop", "1.0.0").state_keys([new, old]);
    /// let server = Server::builder("shop", "1.0.0").state_keys([[7; 32]]);
    /// ```
    // MCP 2026-07-28 basic/patterns/mrtr, Server Requirements 4: MUST protect its integrity
    #[track_caller]
    pub fn state_keys(mut self, keys: impl IntoIterator<Item = impl Into<StateKey>>) -> Self {
        self.router.settings_mut().seal.set_keys(keys.into_iter().map(Into::into));
        self
    }

    /// Sets for whom a `requestState` is good: servers of the same audience and the same key take each other's. The server's
    /// name by default.
    #[track_caller]
    pub fn state_audience(mut self, audience: impl Into<String>) -> Self {
        self.router.settings_mut().audience = Some(audience.into());
        self
    }

    /// Allows pages of this origin, such as `https://app.example`, beside the web pages of the loopback interface; pages of
    /// any other are refused with 403. The scheme may be any: `chrome-extension://ID`, `moz-extension://ID`,
    /// `vscode-webview://ID`, `tauri://localhost` and `app://.` are origins, too (RFC 6454). Scheme, host and port must be
    /// the same; case does not matter, and the port of http and https may be left out where it is 80 or 443.
    ///
    /// # Panics
    ///
    /// With the caller's line, if no request can have such an origin: `null`, a wildcard, a path, a slash at the end, a user.
    #[track_caller]
    pub fn allow_origin(self, origin: &str) -> Self {
        self.try_allow_origin(origin).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows an origin that a configuration or a command line names, as [`allow_origin`](Self::allow_origin) does.
    ///
    /// # Errors
    ///
    /// If no request can have such an origin.
    pub fn try_allow_origin(mut self, origin: &str) -> Result<Self, NotAllowable> {
        self.http.allow_origin(origin)?;
        Ok(self)
    }

    /// Allows pages of every origin, and those that have none (`Origin: null`).
    ///
    /// Only for a server where every request is authenticated by something that a page must have been given, such as a bearer
    /// token in `Authorization`. On any other, every page that a user opens can call the tools: a cookie, a client certificate,
    /// an address of the local network or a loopback socket is not such a thing, since a browser brings it along by itself.
    pub fn allow_any_origin(mut self) -> Self {
        self.http.allow_any_origin();
        self
    }

    /// Allows requests for this host, under any port, beside the names of the loopback interface, and checks the Host header
    /// on every socket; without it, on loopback sockets only. A Unix socket is not one of these.
    ///
    /// # Panics
    ///
    /// With the caller's line, if no request can be for such a host: a wildcard, a URL, a path, a user.
    #[track_caller]
    pub fn allow_host(self, host: &str) -> Self {
        self.try_allow_host(host).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows a host that a configuration or a command line names, as [`allow_host`](Self::allow_host) does.
    ///
    /// # Errors
    ///
    /// If no request can be for such a host.
    pub fn try_allow_host(mut self, host: &str) -> Result<Self, NotAllowable> {
        self.http.allow_host(host)?;
        Ok(self)
    }

    /// Does not check the Host header: for a server behind a proxy that has checked it.
    pub fn allow_any_host(mut self) -> Self {
        self.http.allow_any_host();
        self
    }

    /// Finds out who a request acts for. By default it is the [`Principal`] that middleware put into the request's
    /// extensions. Where no request has one, sessions are bound to nobody: who knows the id of one can use it. If such
    /// requests carry `Authorization`, that is warned of, once.
    pub fn principal(
        mut self,
        find: impl Fn(&HttpRequest) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.http.principal = Arc::new(find);
        self
    }

    /// Answers with plain JSON where the client takes both: what calls say before their answer is dropped.
    pub fn json_response(mut self) -> Self {
        self.http.prefer_json = true;
        self
    }

    /// The server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a name is longer than the [limit](Limits) for names that was set after it was given.
    #[must_use]
    #[track_caller]
    pub fn build(self) -> Server {
        let Self { router, mut http, limits, join } = self;
        if let Some(error) = router.overlong() {
            panic!("{error}");
        }
        http.limits = limits.http;
        let sessions = Sessions::new(&limits.process);
        if let Some(join) = join {
            join(&sessions);
        }
        router.set_change_listener(Arc::new(sessions.clone()));
        let (router, http) = (Arc::new(router), Arc::new(http));
        Server { backend: Backend { router, sessions, limits: Arc::new(limits.session), http } }
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder").field("router", &self.router).finish_non_exhaustive()
    }
}
