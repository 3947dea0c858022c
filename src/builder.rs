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

/// Sets up the bus, once the sessions exist.
type Join = Box<dyn FnOnce(&Sessions)>;

/// Builds a [`Server`]: start with [`Server::builder`], finish with [`build`](Self::build).
///
/// A mistake in your settings panics with the line of your call.
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

    /// Registers a tool: a function with `#[tool]`, or a [`Tool`](crate::Tool).
    ///
    /// # Panics
    ///
    /// With the caller's line, if a tool of this name is already registered, or the tool is invalid.
    #[track_caller]
    pub fn tool<M>(mut self, tool: impl IntoTool<M>) -> Self {
        self.router.tool(tool);
        self
    }

    /// Registers a prompt.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a prompt of this name is already registered, or the prompt is invalid.
    #[track_caller]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.router.prompt(prompt);
        self
    }

    /// Registers a resource.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a resource with this URI is already registered, or the resource is invalid.
    #[track_caller]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.router.resource(resource);
        self
    }

    /// Registers a resource template: a family of resources.
    ///
    /// # Panics
    ///
    /// With the caller's line, if this template is already registered, or is invalid.
    #[track_caller]
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.router.resource_template(template);
        self
    }

    /// Declares a capability before anything is registered for it, so that its first tool, prompt or resource can be
    /// added at run time.
    ///
    /// Registration declares capabilities by itself: a tool declares `tools`, a handler that takes a `Log` declares
    /// `logging`.
    #[track_caller]
    pub fn declare(self, capability: Capability) -> Self {
        self.router.declare(capability);
        self
    }

    /// Adds a value that handlers extract as `web::Data<T>`. The `app_data` of the `App` takes precedence.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a value of this type was already added, since it would be lost.
    #[track_caller]
    pub fn data<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.data_arc(Arc::new(value))
    }

    /// Adds a shared value, as [`data`](Self::data) does; `T` may be a trait object.
    ///
    /// # Panics
    ///
    /// As [`data`](Self::data) does.
    #[track_caller]
    pub fn data_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.router.settings_mut().insert_data(value);
        self
    }

    /// Sets the instructions for clients on how to use the server; many clients show them to the model.
    #[track_caller]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.router.settings_mut().instructions = Some(instructions.into());
        self
    }

    /// Sets the display name.
    #[track_caller]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.info(|info| info.title = Some(title.into()))
    }

    /// Describes what the server is for.
    #[track_caller]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.info(|info| info.description = Some(description.into()))
    }

    /// Sets the URL of a page about the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if `url` is not an absolute URL.
    #[track_caller]
    pub fn website_url(self, url: impl Into<String>) -> Self {
        self.info(|info| info.website_url = Some(url.into()))
    }

    /// Adds an icon for the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if its source is not an `https:`, `http:` or `data:` URI.
    #[track_caller]
    pub fn icon(self, icon: Icon) -> Self {
        self.info(|info| info.icons.push(icon))
    }

    #[track_caller]
    #[expect(clippy::panic, reason = "a mistake of the author, reported at start with the author's line")]
    fn info(mut self, change: impl FnOnce(&mut ServerInfo)) -> Self {
        let info = &mut self.router.settings_mut().info;
        change(info);
        if let Some(mistake) = info.mistake() {
            panic!("{mistake}");
        }
        self
    }

    /// Splits lists into pages of `entries` entries, at least one. By default a list is one page.
    ///
    /// A cursor stays valid as long as the list before its position is unchanged: on every node, after a restart, and
    /// when entries after it were added or removed. Otherwise it is refused with -32602, and the client starts over.
    #[track_caller]
    pub fn page_size(mut self, entries: usize) -> Self {
        self.router.set_page_size(entries);
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

    /// Connects this node with the other nodes of the server: changes on this node are published to the bus, and
    /// changes that the bus delivers are sent to this node's clients. Without a bus, only this node's clients are
    /// notified.
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

    /// Sets which revisions are served: with sessions, without, or both (the default), on one endpoint and on one pipe.
    #[track_caller]
    pub fn eras(mut self, eras: Eras) -> Self {
        self.router.settings_mut().eras = eras;
        self
    }

    /// Declares an extension of the protocol, such as `com.example/feature`, with its settings: a value that serializes
    /// to a JSON object. None is declared by default. Only clients of 2026-07-28 and later see extensions;
    /// [`Session::extension`](crate::Session::extension) reads their own settings.
    ///
    /// # Panics
    ///
    /// With the caller's line, if `id` is not a valid extension id or is already declared, or if `settings` does not
    /// serialize to an object.
    // MCP 2026-07-28 basic/versioning, Extension Negotiation
    #[track_caller]
    pub fn extension(mut self, id: &str, settings: impl serde::Serialize) -> Self {
        if let Err(wrong) = self.router.settings_mut().add_extension(id, settings) {
            panic!("{wrong}");
        }
        self
    }

    /// Sets how long lists and the result of `server/discover` may be cached, and by whom. By default they may not be.
    // MCP 2026-07-28 server/utilities/caching
    #[track_caller]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.router.settings_mut().cache = cache;
        self
    }

    /// Omits the server's name and version from results. By default, from 2026-07-28 on, every result has them.
    #[track_caller]
    pub fn omit_server_info(mut self) -> Self {
        self.router.settings_mut().omit_info = true;
        self
    }

    /// Sets the keys that seal `requestState`, in which the client carries the answers of a call from one round to the
    /// next. The first key seals, and every key opens. Give all nodes of a server the same keys. To change a key, put
    /// the new one first and keep the old one for the lifetime of a state (see
    /// [`StateLimits`](crate::limits::StateLimits)).
    ///
    /// Without a key a random one is generated, so retries fail on other processes and after a restart. A text of fewer
    /// than 32 bytes is accepted with a warning in the log, so install a logger first.
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

    /// Sets the audience of `requestState`: servers with the same audience and the same key accept each other's. By
    /// default the audience is the server's name.
    #[track_caller]
    pub fn state_audience(mut self, audience: impl Into<String>) -> Self {
        self.router.settings_mut().audience = Some(audience.into());
        self
    }

    /// Allows pages of this origin, such as `https://app.example`, in addition to web pages of the loopback interface.
    /// Pages of any other origin are refused with 403. Any scheme is accepted: `chrome-extension://ID`,
    /// `moz-extension://ID`, `vscode-webview://ID`, `tauri://localhost` and `app://.` are origins too (RFC 6454).
    /// Scheme, host and port must match; case does not matter, and the default ports of http (80) and https (443) may
    /// be omitted.
    ///
    /// # Panics
    ///
    /// With the caller's line, if no request can have such an origin: `null`, a wildcard, a path, a trailing slash, a
    /// user.
    #[track_caller]
    pub fn allow_origin(self, origin: &str) -> Self {
        self.try_allow_origin(origin).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows an origin, as [`allow_origin`](Self::allow_origin) does, that comes from a configuration or a command
    /// line.
    ///
    /// # Errors
    ///
    /// If no request can have such an origin.
    pub fn try_allow_origin(mut self, origin: &str) -> Result<Self, NotAllowable> {
        self.http.allow_origin(origin)?;
        Ok(self)
    }

    /// Allows pages of every origin, and pages without one (`Origin: null`).
    ///
    /// Use this only if every request is authenticated by a secret that the page itself must have, such as a bearer
    /// token in `Authorization`. Otherwise every page that a user opens can call the tools. A cookie, a client
    /// certificate, an address in the local network or a loopback socket does not protect you, since the browser
    /// supplies it by itself.
    pub fn allow_any_origin(mut self) -> Self {
        self.http.allow_any_origin();
        self
    }

    /// Allows requests for this host, with any port, in addition to the names of the loopback interface. Once a host is
    /// allowed, the Host header is checked on every socket. Otherwise it is checked on loopback sockets only, which do
    /// not include Unix sockets.
    ///
    /// # Panics
    ///
    /// With the caller's line, if no request can name such a host: a wildcard, a URL, a path, a user.
    #[track_caller]
    pub fn allow_host(self, host: &str) -> Self {
        self.try_allow_host(host).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows a host, as [`allow_host`](Self::allow_host) does, that comes from a configuration or a command line.
    ///
    /// # Errors
    ///
    /// If no request can name such a host.
    pub fn try_allow_host(mut self, host: &str) -> Result<Self, NotAllowable> {
        self.http.allow_host(host)?;
        Ok(self)
    }

    /// Turns off the check of the Host header, for a server behind a proxy that checks it.
    pub fn allow_any_host(mut self) -> Self {
        self.http.allow_any_host();
        self
    }

    /// Sets the function that finds the [`Principal`] of a request. By default it is the one that middleware put into
    /// the request's extensions.
    ///
    /// A session without a principal is not bound to anyone: any client that knows its id can use it. If requests carry
    /// `Authorization` and none has had a principal, the log gets one warning.
    pub fn principal(
        mut self,
        find: impl Fn(&HttpRequest) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.http.principal = Arc::new(find);
        self
    }

    /// Answers with plain JSON if the client accepts both JSON and event streams. A call's progress and logs are then
    /// dropped.
    pub fn json_response(mut self) -> Self {
        self.http.prefer_json = true;
        self
    }

    /// Builds the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a name is longer than the [limit](Limits) for names, which may be set after the name.
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
