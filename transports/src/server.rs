//! The server: what it offers, to whom it is shown, and within which limits.

use std::{io, sync::Arc, time::Duration};

use actix_mcp_router::{
    content::Icon,
    definition::ServerInfo,
    era::Eras,
    handle::Handle,
    jsonrpc::ReadLimits,
    prompt::Prompt,
    resource::Resource,
    resource_template::ResourceTemplate,
    router::{Capability, Router},
    seal::{StateKey, StateLimits},
    stamp::Cache,
    tool::IntoTool,
};
use actix_mcp_session::{
    bus::{Bus, Node},
    limits::Limits,
    sessions::Sessions,
    stats::Snapshot,
};

use crate::{stdio::LINE_MAX, streamable_http::HttpOptions};

/// An MCP server: built once, then served by a transport.
///
/// ```no_run
/// # mod actix_mcp { pub use actix_mcp_router::tool::Tool; pub use actix_mcp_transports::server::Server; }
/// use actix_mcp::{Server, Tool};
///
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// # async fn run() -> std::io::Result<()> {
/// Server::new("greeter", "1.0.0").tool(Tool::new("hello", hello)).stdio().await
/// # }
/// ```
///
/// Clones are the same server. Configure it before it is cloned or its handle is taken: the methods that build it panic
/// afterwards. What it offers can still change then, through its [`handle`](Self::handle).
#[derive(Clone, Debug)]
pub struct Server {
    router: Arc<Router>,
    sessions: Sessions,
    limits: Arc<Limits>,
    line_limit: usize,
    pub(crate) http: HttpOptions,
}

impl Server {
    /// A server that offers nothing yet, under this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let (router, sessions) = (Router::new(name, version), Sessions::default());
        router.set_announce(Arc::new(sessions.clone()));
        Self {
            router: Arc::new(router),
            sessions,
            limits: Arc::default(),
            line_limit: LINE_MAX,
            http: HttpOptions::default(),
        }
    }

    /// Offers a tool: a function with `#[tool]`, or a `Tool`.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a tool of this name is there already, or the tool cannot be offered.
    #[must_use]
    #[track_caller]
    pub fn tool<M>(mut self, tool: impl IntoTool<M>) -> Self {
        self.build().tool(tool);
        self
    }

    /// Offers a prompt.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a prompt of this name is there already, or the prompt cannot be offered.
    #[must_use]
    #[track_caller]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.build().prompt(prompt);
        self
    }

    /// Offers a resource.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a resource with this URI is there already, or the resource cannot be offered.
    #[must_use]
    #[track_caller]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.build().resource(resource);
        self
    }

    /// Offers a family of resources.
    ///
    /// # Panics
    ///
    /// With the caller's line, if this template is there already, or cannot be offered.
    #[must_use]
    #[track_caller]
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.build().resource_template(template);
        self
    }

    /// Declares a capability although nothing is registered for it yet, so that it can be added at run time.
    ///
    /// What is registered declares itself: a tool declares `tools`, a handler that takes a `Log` declares `logging`.
    #[must_use]
    #[track_caller]
    pub fn offer(mut self, capability: Capability) -> Self {
        self.build().offer(capability);
        self
    }

    /// Gives a value to handlers: what `web::Data<T>` extracts. An application's own `app_data` comes first.
    ///
    /// # Panics
    ///
    /// With the caller's line, if a value of this type was given already: it would be lost.
    #[must_use]
    #[track_caller]
    pub fn data<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.data_arc(Arc::new(value))
    }

    /// Gives a shared value to handlers, as [`data`](Self::data) does; `T` may be a trait object.
    ///
    /// # Panics
    ///
    /// As [`data`](Self::data) does.
    #[must_use]
    #[track_caller]
    pub fn data_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.build().settings_mut().insert_data(value);
        self
    }

    /// Tells clients how to use the server; many show it to the model.
    #[must_use]
    #[track_caller]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.build().settings_mut().instructions = Some(instructions.into());
        self
    }

    /// The name to show to people.
    #[must_use]
    #[track_caller]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.info(|info| info.title = Some(title.into()))
    }

    /// What the server is for.
    #[must_use]
    #[track_caller]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.info(|info| info.description = Some(description.into()))
    }

    /// Where to read more about the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is not an absolute URL.
    #[must_use]
    #[track_caller]
    pub fn website_url(self, url: impl Into<String>) -> Self {
        self.info(|info| info.website_url = Some(url.into()))
    }

    /// Adds an icon for the server.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is not at an `https:`, `http:` or `data:` URI.
    #[must_use]
    #[track_caller]
    pub fn icon(self, icon: Icon) -> Self {
        self.info(|info| info.icons.push(icon))
    }

    #[track_caller]
    #[expect(clippy::panic, reason = "a mistake of the author, told at start with the author's line")]
    fn info(mut self, change: impl FnOnce(&mut ServerInfo)) -> Self {
        let info = &mut self.build().settings_mut().info;
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
    #[must_use]
    #[track_caller]
    pub fn page_size(mut self, entries: usize) -> Self {
        self.build().set_page_size(Some(entries));
        self
    }

    /// Sets what one session may take; see [`Limits`] for units and defaults.
    #[must_use]
    pub fn session_limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// How long a request to the client may stay unanswered. 60 s by default, 10 min at most.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        Arc::make_mut(&mut self.limits).client_request_timeout = timeout;
        self
    }

    /// Sets how large the parts of a message may be; see [`ReadLimits`] for units and defaults.
    #[must_use]
    #[track_caller]
    pub fn read_limits(mut self, limits: ReadLimits) -> Self {
        self.build().settings_mut().limits = limits;
        self
    }

    /// Sets the longest line that is read from a byte stream, in bytes. 16 MiB by default.
    #[must_use]
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets how long a session may be idle. 30 min by default.
    #[must_use]
    pub fn session_idle(mut self, time: Duration) -> Self {
        Arc::make_mut(&mut self.limits).idle = time;
        self
    }

    /// Sets after how long a call over HTTP that has said nothing turns its answer into a stream. 200 ms by default.
    #[must_use]
    pub fn sse_after(mut self, delay: Duration) -> Self {
        Arc::make_mut(&mut self.limits).sse_after = delay;
        self
    }

    /// Sets how many sessions may be open at once, and how many requests over HTTP that are sessions of their own (from
    /// 2026-07-28 on) beside them. 100 000 of each by default; one more is refused with 503. Subscriptions have
    /// [their own limit](Self::max_listens).
    #[must_use]
    pub fn max_sessions(self, sessions: usize) -> Self {
        self.sessions.set_limit(sessions);
        self
    }

    /// Sets how many subscriptions (`subscriptions/listen`) may be open at once. 50 000 by default; one more is refused. What
    /// a client can ask to hear of, [`Handle`] says.
    #[must_use]
    pub fn max_listens(self, subscriptions: usize) -> Self {
        self.sessions.set_listens(subscriptions);
        self
    }

    /// Joins the other nodes of the server: changes on this one go to the bus, and what it delivers goes to this one's
    /// clients. Without it a server has one node.
    ///
    /// ```
    /// # use actix_mcp_transports::server::Server;
    /// # use actix_mcp_session::bus::Node;
    /// # fn publish(change: &str) {}
    /// # fn on_message(deliver: impl Fn(&actix_mcp_router::change::Change)) {}
    /// let server = Server::new("prices", "1.0.0").bus(|node: Node| {
    ///     on_message(move |change| drop(node.deliver(change)));
    ///     |change| publish(&format!("{change:?}"))
    /// });
    /// ```
    #[must_use]
    pub fn bus<B: Bus>(self, join: impl FnOnce(Node) -> B) -> Self {
        self.sessions.set_bus(join(self.sessions.node()));
        self
    }

    /// Sets which kinds of revision are served: by default all, on one endpoint and on one pipe.
    #[must_use]
    #[track_caller]
    pub fn eras(mut self, eras: Eras) -> Self {
        self.build().settings_mut().eras = eras;
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
    #[must_use]
    #[track_caller]
    pub fn extension(mut self, id: &str, settings: impl serde::Serialize) -> Self {
        if let Err(wrong) = self.build().settings_mut().add_extension(id, settings) {
            panic!("{wrong}");
        }
        self
    }

    /// Sets how long lists and the answer to `server/discover` may be kept, and by whom. By default they may not.
    // MCP 2026-07-28 server/utilities/caching
    #[must_use]
    #[track_caller]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.build().settings_mut().cache = cache;
        self
    }

    /// Leaves out of results who the server is; from 2026-07-28 on every result says so.
    #[must_use]
    #[track_caller]
    pub fn anonymous(mut self) -> Self {
        self.build().settings_mut().omit_info = true;
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
    /// # use actix_mcp_transports::server::Server;
    /// let new = "a secret of at least 32 random characters";
    /// let old = "the secret before, which is as long";
    /// let server = Server::new("shop", "1.0.0").state_keys([new, old]);
    /// let server = Server::new("shop", "1.0.0").state_keys([[7; 32]]);
    /// ```
    // MCP 2026-07-28 basic/patterns/mrtr, Server Requirements 4: MUST protect its integrity
    #[must_use]
    #[track_caller]
    pub fn state_keys(mut self, keys: impl IntoIterator<Item = impl Into<StateKey>>) -> Self {
        self.build().settings_mut().seal.set_keys(keys.into_iter().map(Into::into));
        self
    }

    /// Sets how large a `requestState` may be, and how long it is good for; see [`StateLimits`] for units and defaults.
    #[must_use]
    #[track_caller]
    pub fn state_limits(mut self, limits: StateLimits) -> Self {
        self.build().settings_mut().seal.limits = limits;
        self
    }

    /// Sets for whom a `requestState` is good: servers of the same audience and the same key take each other's. The server's
    /// name by default.
    #[must_use]
    #[track_caller]
    pub fn state_audience(mut self, audience: impl Into<String>) -> Self {
        self.build().settings_mut().audience = Some(audience.into());
        self
    }

    /// The way to change what the server offers while it runs, from anywhere.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(self.router.clone())
    }

    /// What runs at this moment.
    #[must_use]
    pub fn stats(&self) -> Snapshot {
        self.sessions.stats().snapshot()
    }

    /// How many messages of calls (progress and logs) were dropped so far: to make room on a stream that stands still or
    /// is full, or because the client reads plain JSON only. Answers and questions never are.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.sessions.stats().dropped()
    }

    /// How many tool handlers were started so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.router.calls()
    }

    /// What the server offers.
    pub(crate) fn router(&self) -> &Arc<Router> {
        &self.router
    }

    /// The server's sessions.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(crate) fn http(&self) -> &HttpOptions {
        &self.http
    }

    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    pub(crate) fn line_limit(&self) -> usize {
        self.line_limit
    }

    /// Finds values that handlers need and nobody gave, where no `App` can have them.
    pub(crate) fn check_data(&self) -> io::Result<()> {
        let missing = self.router.missing_data();
        if missing.is_empty() {
            return Ok(());
        }
        let list = missing.iter().map(|(name, missing)| format!("`{name}` needs web::Data<{missing}>"));
        let list = list.collect::<Vec<_>>().join(", ");
        Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{list}: give it with `Server::data`")))
    }

    /// The router, while this is the only server that has it.
    #[track_caller]
    #[expect(clippy::panic, reason = "a mistake of the author, told at start with the author's line")]
    fn build(&mut self) -> &mut Router {
        match Arc::get_mut(&mut self.router) {
            Some(router) => router,
            None => panic!(
                "a server cannot be configured any more once it was cloned or its handle was taken: do it before, or \
                 add and remove through the handle"
            ),
        }
    }
}
