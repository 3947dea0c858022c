//! Changes to a running server.

use std::{
    any::Any,
    future::{Future, ready},
    sync::Arc,
};

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
    },
    catalog::{
        add_error::AddError, prompt::Prompt, resource::Resource, resource_template::ResourceTemplate,
        tool::IntoTool,
    },
    serve::router::Router,
    wire::error::McpError,
};

/// Changes the tools, prompts and resources of a running server; interested clients are notified.
///
/// A handler extracts it; elsewhere, `Server::handle` returns it, for an actor or another thread. Notifications are
/// coalesced: a burst of changes becomes one notification of each kind and resource, and the last change is always
/// sent.
///
/// A session is notified of list changes, and of the resources that it subscribed to (`resources/subscribe`). From
/// 2026-07-28 on a client selects its notifications by `subscriptions/listen`, and the answer is a stream:
/// `toolsListChanged`, `promptsListChanged` and `resourcesListChanged` are `true` or left out, `resourceSubscriptions`
/// is an array of URIs. The first message lists those that the server supports; closing the connection ends the stream.
/// With the example `feedback` running:
///
/// ```sh
/// curl -N http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: subscriptions/listen' -d '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["shop://stock"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
/// ```
///
/// ```text
/// data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["shop://stock"]}}}
///
/// data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"uri":"shop://stock"}}
/// ```
#[derive(Clone, Debug)]
pub struct Handle {
    router: Arc<Router>,
}

impl Router {
    /// The handle of a router.
    #[must_use]
    pub fn handle(self: &Arc<Self>) -> Handle {
        Handle { router: Arc::clone(self) }
    }
}

impl Handle {
    /// Adds a tool at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`], such as a name that is taken; nothing has changed then.
    pub fn add_tool<M>(&self, tool: impl IntoTool<M>) -> Result<(), AddError> {
        self.router.add_tool(tool.into_tool())
    }

    /// Removes a tool; `false` if there is none of this name. Running calls continue.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.router.remove_tool(name)
    }

    /// Whether there is a tool of this name.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.router.has_tool(name)
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`], such as a name that is taken; nothing has changed then.
    pub fn add_prompt(&self, prompt: Prompt) -> Result<(), AddError> {
        self.router.add_prompt(prompt)
    }

    /// Removes a prompt; `false` if there is none of this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.router.remove_prompt(name)
    }

    /// Adds a resource at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`], such as a URI that is taken; nothing has changed then.
    pub fn add_resource(&self, resource: Resource) -> Result<(), AddError> {
        self.router.add_resource(resource)
    }

    /// Removes a resource; `false` if there is none at this URI. Subscriptions to it remain.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.router.remove_resource(uri)
    }

    /// Adds a resource template at the end of the list.
    ///
    /// # Errors
    ///
    /// An [`AddError`], such as a duplicate template; nothing has changed then.
    pub fn add_resource_template(&self, template: ResourceTemplate) -> Result<(), AddError> {
        self.router.add_resource_template(template)
    }

    /// Removes a resource template; `false` if there is none of this text.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        self.router.remove_resource_template(uri_template)
    }

    /// Notifies the clients that subscribed to a resource that its contents have changed.
    pub fn resource_updated(&self, uri: &str) {
        self.router.resource_updated(uri);
    }
}

/// Fails with -32603 in a call without a server, as in a unit test.
impl FromCall for Handle {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let router =
            call.server().cloned().and_then(|server| (server as Arc<dyn Any + Send + Sync>).downcast().ok());
        ready(router.map(|router| Self { router }).ok_or_else(McpError::internal))
    }
}
