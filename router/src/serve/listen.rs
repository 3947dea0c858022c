//! `subscriptions/listen`: the filter that a client sends, and the messages of a subscription.
//!
//! Every message of a subscription carries the id of the request that opened it, with the same JSON type.

use std::collections::HashSet;

use bytes::Bytes;
use bytestring::ByteString;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::json;

use crate::{
    serve::router::Router,
    wire::{
        capability::Capability,
        change::Change,
        content::MetaMap,
        era::Revision,
        error::McpError,
        id::{ErrorId, RequestId},
        jsonrpc::{Parameters, encode_error, encode_notification, try_encode_result},
        params::{Members, Params},
        result_meta::ResultType,
        uri,
    },
};

/// The key of `_meta` under which a message names its subscription.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

const TOOLS: &str = "toolsListChanged";
const PROMPTS: &str = "promptsListChanged";
const RESOURCES: &str = "resourcesListChanged";
const URIS: &str = "resourceSubscriptions";

/// The changes that a subscription reports: those its client asked for and the server supports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Whether `notifications/tools/list_changed` is sent.
    pub tools: bool,
    /// Whether `notifications/prompts/list_changed` is sent.
    pub prompts: bool,
    /// Whether `notifications/resources/list_changed` is sent.
    pub resources: bool,
    /// The resources for which `notifications/resources/updated` is sent; each once, in the client's order, as it wrote
    /// them.
    pub uris: Vec<ByteString>,
}

impl Filter {
    /// The changes that it selects; resources by the normal form of their URI.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        let lists = [
            self.tools.then_some(Change::Tools),
            self.prompts.then_some(Change::Prompts),
            self.resources.then_some(Change::Resources),
        ];
        lists.into_iter().flatten().chain(self.uris.iter().map(Change::resource))
    }
}

/// The filter as it is acknowledged. A missing member means that the notification is not sent.
impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, told) in [(TOOLS, self.tools), (PROMPTS, self.prompts), (RESOURCES, self.resources)] {
            if told {
                map.serialize_entry(name, &true)?;
            }
        }
        if !self.uris.is_empty() {
            map.serialize_entry(URIS, &self.uris.iter().map(|uri| &**uri).collect::<Vec<_>>())?;
        }
        map.end()
    }
}

impl Router {
    /// The part of a requested filter that is honoured: lists whose capability is declared, and resources that exist
    /// now or match a template. A resource that is added later is not included; its list has changed then.
    ///
    /// # Errors
    ///
    /// -32602 that names the member: `notifications` is missing, a member is mistyped, a URI is too long, or there are
    /// more than `most` of them.
    // MCP 2026-07-28 basic/patterns/subscriptions, Notification Filter and Acknowledgment
    pub fn listen_filter(&self, params: &Parameters, most: usize) -> Result<Filter, McpError> {
        let wanted = params.members()?.object("notifications")?;
        let wanted = Params::read(Some(wanted), "notifications.", [TOOLS, PROMPTS, RESOURCES, URIS])?;
        let flag = |name, needs| Ok(wanted.flag(name)? && self.declares(needs));
        Ok(Filter {
            tools: flag(TOOLS, Capability::Tools)?,
            prompts: flag(PROMPTS, Capability::Prompts)?,
            resources: flag(RESOURCES, Capability::Resources)?,
            uris: self.honoured_uris(&wanted, most)?,
        })
    }

    fn honoured_uris<const N: usize>(
        &self,
        wanted: &Params<'_, N>,
        most: usize,
    ) -> Result<Vec<ByteString>, McpError> {
        let Some(uris) = wanted.optional(URIS) else { return Ok(Vec::new()) };
        let uris: Vec<String> =
            serde_json::from_str(uris).map_err(|_| wanted.mistyped(URIS, "an array of strings"))?;
        let refuse = |what| Err(McpError::invalid_params(format!("`notifications.{URIS}` has {what}")));
        let bytes = self.limits().name_bytes;
        if uris.iter().any(|uri| uri.len() > bytes) {
            return refuse(format!("a URI longer than {bytes} bytes"));
        }
        // a duplicate, in any spelling, is notified under the first one
        let mut seen = HashSet::new();
        let uris = uris.into_iter().filter(|uri| seen.insert(uri::normal(uri).into_owned()));
        let uris = uris.map(ByteString::from).collect::<Vec<_>>();
        if uris.len() > most {
            return refuse(format!("more than {most} resources"));
        }
        let declared = self.declares(Capability::Resources);
        Ok(uris.into_iter().filter(|uri| declared && self.has_resource(uri)).collect())
    }

    /// Whether a URI names a resource, or matches a template: then only its reader could tell.
    pub(crate) fn has_resource(&self, uri: &str) -> bool {
        let fits = || self.templates.snapshot().iter().any(|template| template.matches(uri));
        self.resources.get(uri).is_some() || fits()
    }

    /// The response that ends a subscription gracefully.
    // MCP 2026-07-28 basic/patterns/subscriptions, Graceful Closure
    #[must_use]
    pub fn listen_result(&self, id: &RequestId, revision: Revision) -> Bytes {
        let mut meta = MetaMap::new();
        meta.insert(SUBSCRIPTION_ID.to_owned(), json!(id));
        let head = self.result_meta().prefix(ResultType::Complete, Some(&mut meta), revision);
        try_encode_result(id, &head, &json!({ "_meta": meta })).unwrap_or_else(|error| {
            log::error!("the end of a subscription does not serialize: {error}");
            encode_error(ErrorId::Given(id), &McpError::internal())
        })
    }
}

/// The first message of a subscription: the part of its filter that is honoured.
#[must_use]
pub fn acknowledged(id: &RequestId, filter: &Filter) -> Bytes {
    let params = json!({ "_meta": { SUBSCRIPTION_ID: id }, "notifications": filter });
    encode_notification("notifications/subscriptions/acknowledged", &params)
}

/// The notification of a change, for a subscription.
#[must_use]
pub fn notice(id: &RequestId, change: &Change) -> Bytes {
    let meta = json!({ SUBSCRIPTION_ID: id });
    match change.uri() {
        None => encode_notification(change.method(), &json!({ "_meta": meta })),
        Some(uri) => encode_notification(change.method(), &json!({ "_meta": meta, "uri": uri })),
    }
}

/// The notification, over stdio, that a subscription has ended. It is sent after the response; otherwise clients
/// would consider the subscription lost.
// MCP 2026-07-28 basic/patterns/cancellation: MUST send it when it tears down a subscription
#[must_use]
pub fn torn_down(id: &RequestId) -> Bytes {
    let params = json!({ "requestId": id, "reason": "the server has ended the subscription" });
    encode_notification("notifications/cancelled", &params)
}

#[cfg(test)]
#[path = "listen_tests.rs"]
mod tests;
