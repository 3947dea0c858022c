//! Everything that differs by revision of the protocol, in one place.
//!
//! A table says in which revisions each [`Feature`] exists; one function per kind of outgoing value removes what the
//! client's revision lacks. To add a revision, add a variant of [`Revision`], an entry in `ALL`, and its bounds here.
//!
//! **Invariant:** no other module compares revisions. They ask [`Revision::has`].

use serde_json::value::RawValue;

use crate::wire::{
    content::{Annotations, Content, ResourceContents, ResourceLink, TextContent},
    definition::{PromptDefinition, ResourceDefinition, ServerInfo, TemplateDefinition, ToolDefinition},
    error::{ErrorCode, McpError},
    id::ErrorId,
    peer::{ClientCapabilities, ClientCapability},
    tool_result::ToolResult,
};

/// A revision of the protocol.
///
/// Deliberately not `Ord`: only this module may compare revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28: no handshake and no session, every request is self-contained
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// A feature that some revisions have and others lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Several messages in one array.
    Batching,
    /// Audio content.
    Audio,
    /// `annotations` of tools.
    ToolAnnotations,
    /// The `completions` capability; the method itself is older.
    CompletionsCapability,
    /// `message` in progress notifications.
    ProgressMessage,
    /// `title` of definitions and of the server.
    Title,
    /// `_meta` of content, of resource contents and of definitions. That of results is older.
    Meta,
    /// `lastModified` in annotations.
    LastModified,
    /// Resource links in content.
    ResourceLink,
    /// `outputSchema` and `structuredContent`.
    StructuredContent,
    /// Structured content, and output schemas, that are not an object.
    AnyStructuredContent,
    /// `elicitation/create`, in form mode.
    Elicitation,
    /// `elicitation/create` in url mode.
    UrlElicitation,
    /// The error -32042 that requests an elicitation in url mode, its `elicitationId`, and the notification that it is
    /// complete.
    UrlElicitationId,
    /// Enums with a title per value (`oneOf`) in elicitation schemas; before, `enumNames`.
    ElicitationEnumTitles,
    /// Multiple-choice enums in elicitation schemas.
    ElicitationMultiSelect,
    /// `default` of strings, numbers and enums in elicitation schemas; that of booleans is as old as elicitation.
    ElicitationDefaults,
    /// `tools` and `toolChoice` of `sampling/createMessage`.
    SamplingTools,
    /// `sampling.context`, without which `includeContext` must not request context. Before, it needed no capability.
    SamplingContextCapability,
    /// `icons` of definitions, resource links and the server.
    Icons,
    /// `description` and `websiteUrl` of the server.
    ServerDescription,
    /// Error responses without an `id` member; before, it is `null`.
    ErrorWithoutId,
    /// Streams that begin with an event without data, and that a server may close for polling.
    StreamPolling,
    /// `extensions` of capabilities.
    Extensions,
    /// The handshake and what depends on it: sessions, `ping`, `logging/setLevel`, `resources/subscribe`, requests to
    /// the client, resumable streams.
    Handshake,
    /// The error -32002 for a resource that does not exist; -32602 without this feature.
    ResourceNotFoundCode,
    /// No session: each request states its client and the client's capabilities, and each result its type, its server
    /// and how long it may be cached. `server/discover`, `subscriptions/listen`, and results that ask for input.
    Stateless,
}

impl Feature {
    /// The first and the last revision that has it.
    const fn span(self) -> (Revision, Revision) {
        const fn from(first: Revision) -> (Revision, Revision) {
            (first, V2026_07_28)
        }
        match self {
            Self::Batching => (V2025_03_26, V2025_03_26),
            Self::Audio | Self::ToolAnnotations | Self::CompletionsCapability | Self::ProgressMessage => {
                from(V2025_03_26)
            }
            Self::Title
            | Self::Meta
            | Self::LastModified
            | Self::ResourceLink
            | Self::StructuredContent
            | Self::Elicitation => from(V2025_06_18),
            Self::UrlElicitation
            | Self::ElicitationEnumTitles
            | Self::ElicitationMultiSelect
            | Self::ElicitationDefaults
            | Self::SamplingTools
            | Self::SamplingContextCapability
            | Self::Icons
            | Self::ServerDescription
            | Self::ErrorWithoutId => from(V2025_11_25),
            Self::UrlElicitationId | Self::StreamPolling => (V2025_11_25, V2025_11_25),
            Self::Handshake | Self::ResourceNotFoundCode => (V2024_11_05, V2025_11_25),
            Self::AnyStructuredContent | Self::Extensions | Self::Stateless => from(V2026_07_28),
        }
    }
}

/// The error for a batch at a revision without batches.
#[must_use]
pub fn no_batch() -> McpError {
    let with = Revision::ALL.iter().filter(|revision| revision.has(Feature::Batching));
    let with = with.map(|revision| revision.as_str()).collect::<Vec<_>>().join(", ");
    McpError::invalid_request(format!("the message must not be a batch: batches are served at {with} only"))
}

impl Revision {
    /// All that are served, oldest first.
    pub const ALL: &[Self] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
    /// The newest.
    pub const LATEST: Self = V2026_07_28;
    /// The newest with a handshake: the answer to an `initialize` that requests an unknown revision.
    pub const LATEST_HANDSHAKE: Self = V2025_11_25;

    /// The revision as it is written in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of this name, if it is served.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|revision| revision.as_str() == text)
    }

    /// The revision of this name, if it is served and has this feature.
    #[doc(hidden)]
    #[must_use]
    pub fn parse_with(text: &str, feature: Feature) -> Option<Self> {
        Self::parse(text).filter(|revision| revision.has(feature))
    }

    /// Whether it has this feature.
    #[doc(hidden)]
    #[must_use]
    pub fn has(self, feature: Feature) -> bool {
        let (first, last) = feature.span();
        (first.index()..=last.index()).contains(&self.index())
    }

    /// Its place in [`Revision::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// Which kinds of revision a server serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eras {
    /// All, on the same endpoint or pipe: each request shows which kind it is.
    #[default]
    Both,
    /// Those without a handshake: 2026-07-28.
    Modern,
    /// Those with a handshake: 2025-11-25 and before.
    Legacy,
}

impl Eras {
    /// Whether a revision is among them.
    #[must_use]
    pub fn serve(self, revision: Revision) -> bool {
        match self {
            Self::Both => true,
            Self::Modern => revision.has(Feature::Stateless),
            Self::Legacy => revision.has(Feature::Handshake),
        }
    }

    /// The names of the revisions that are among them, newest first.
    pub fn versions(self) -> impl Iterator<Item = &'static str> {
        Revision::ALL
            .iter()
            .rev()
            .filter(move |revision| self.serve(**revision))
            .map(|revision| revision.as_str())
    }

    /// Whether self-contained requests are served.
    #[must_use]
    pub fn serve_modern(self) -> bool {
        self != Self::Legacy
    }

    /// Whether the handshake is served.
    #[must_use]
    pub fn serve_legacy(self) -> bool {
        self != Self::Modern
    }
}

/// The revision that answers `initialize`: the requested one if it has a handshake, otherwise the latest that has one.
// MCP 2025-11-25 lifecycle, Version Negotiation
#[must_use]
pub(crate) fn negotiate(requested: &str) -> Revision {
    Revision::parse_with(requested, Feature::Handshake).unwrap_or(Revision::LATEST_HANDSHAKE)
}

/// The id of an error response if the request's id could not be read or must not be echoed.
#[must_use]
pub fn unreadable_id(revision: Revision) -> ErrorId<'static> {
    if revision.has(Feature::ErrorWithoutId) { ErrorId::Absent } else { ErrorId::Null }
}

/// Adjusts a client's declared capabilities to its revision, so that no other code needs to check.
pub(crate) fn client_capabilities(
    mut declared: ClientCapabilities,
    revision: Revision,
) -> ClientCapabilities {
    let has = |capability: ClientCapability| capability.feature().is_none_or(|feature| revision.has(feature));
    declared.elicitation_form &= has(ClientCapability::ElicitationForm);
    declared.elicitation_url &= has(ClientCapability::ElicitationUrl);
    declared.sampling_tools &= has(ClientCapability::SamplingTools);
    if !revision.has(Feature::SamplingContextCapability) {
        declared.sampling_context = declared.sampling;
    }
    declared
}

impl ClientCapability {
    /// The feature that a revision must have for this capability to count; `None` if it counts in all.
    #[must_use]
    pub fn feature(self) -> Option<Feature> {
        match self {
            Self::ElicitationForm => Some(Feature::Elicitation),
            Self::ElicitationUrl => Some(Feature::UrlElicitation),
            Self::SamplingTools => Some(Feature::SamplingTools),
            Self::Sampling | Self::Roots => None,
        }
    }
}

/// The error for a URI that names no resource.
// MCP 2025-11-25 server/resources, Error Handling: SHOULD be -32002; MCP 2026-07-28: MUST be -32602
#[must_use]
pub(crate) fn resource_not_found(uri: &str, revision: Revision) -> McpError {
    let code = if revision.has(Feature::ResourceNotFoundCode) {
        ErrorCode::RESOURCE_NOT_FOUND
    } else {
        ErrorCode::INVALID_PARAMS
    };
    McpError::new(code, "resource not found").with_data(serde_json::json!({ "uri": uri }))
}

/// Changes the code of a handler's error to one that the revision defines; `false` if there is none, since the code is
/// reserved.
// MCP 2026-07-28 basic, Error Codes: of -32020 to -32099 MUST NOT emit what is not defined, MUST use the others only
// with their specified meanings; -32000 to -32019 SHOULD NOT be used at all
#[must_use]
pub(crate) fn error(error: &mut McpError, revision: Revision) -> bool {
    match error.code {
        ErrorCode::RESOURCE_NOT_FOUND => {
            if !revision.has(Feature::ResourceNotFoundCode) {
                error.code = ErrorCode::INVALID_PARAMS;
            }
            true
        }
        ErrorCode::URL_ELICITATION_REQUIRED => revision.has(Feature::UrlElicitationId),
        ErrorCode::MISSING_CLIENT_CAPABILITY => {
            if !revision.has(Feature::Stateless) {
                error.code = ErrorCode::INVALID_REQUEST;
            }
            true
        }
        // -32020 and -32022 are found before a handler runs, which must not use them
        ErrorCode(code) => !(-32_099..=-32_000).contains(&code),
    }
}

/// One content block. A kind that the revision lacks becomes a text block that says so.
pub(crate) fn content(block: &mut Content, revision: Revision) {
    match block {
        Content::Audio(audio) if !revision.has(Feature::Audio) => {
            let (kind, bytes) = (&audio.mime_type, audio.data.0.len());
            let text = format!(
                "[audio left out: {kind}, {bytes} bytes; protocol revision {} has no audio]",
                revision.as_str()
            );
            *block = instead(text, audio.annotations.take());
        }
        Content::ResourceLink(link) if !revision.has(Feature::ResourceLink) => {
            *block = instead(link_text(link), link.annotations.take());
        }
        Content::Text(_)
        | Content::Image(_)
        | Content::Audio(_)
        | Content::ResourceLink(_)
        | Content::Resource(_) => {}
    }
    let (hints, meta) = match block {
        Content::Text(text) => (&mut text.annotations, &mut text.meta),
        Content::Image(media) | Content::Audio(media) => (&mut media.annotations, &mut media.meta),
        Content::ResourceLink(link) => {
            unless(revision, Feature::Icons, &mut link.icons);
            (&mut link.annotations, &mut link.meta)
        }
        Content::Resource(embedded) => {
            contents(&mut embedded.resource, revision);
            (&mut embedded.annotations, &mut embedded.meta)
        }
    };
    unless(revision, Feature::Meta, meta);
    annotations(hints, revision);
}

fn instead(text: String, annotations: Option<Annotations>) -> Content {
    Content::Text(TextContent { text, annotations, meta: None })
}

fn link_text(link: &ResourceLink) -> String {
    let title = link.title.as_deref().unwrap_or(&link.name);
    match &link.description {
        Some(description) => format!("[resource: {title}, {}] {description}", link.uri),
        None => format!("[resource: {title}, {}]", link.uri),
    }
}

/// The contents of a resource.
pub(crate) fn contents(contents: &mut ResourceContents, revision: Revision) {
    unless(revision, Feature::Meta, &mut contents.meta);
}

/// A tool in a list.
pub(crate) fn tool(tool: &mut ToolDefinition, revision: Revision) {
    if !revision.has(Feature::Title)
        && let Some(title) = tool.title.take()
    {
        // where clients looked for it before `title` existed
        tool.annotations.get_or_insert_default().title.get_or_insert(title);
    }
    unless(revision, Feature::ToolAnnotations, &mut tool.annotations);
    unless(revision, Feature::StructuredContent, &mut tool.output_schema);
    if !revision.has(Feature::AnyStructuredContent)
        && !tool.output_schema.as_deref().is_none_or(describes_object)
    {
        tool.output_schema = None;
    }
    unless(revision, Feature::Icons, &mut tool.icons);
    unless(revision, Feature::Meta, &mut tool.meta);
}

/// Whether a schema's `type` is `"object"`.
fn describes_object(schema: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct CompletionRequest {
        r#type: Option<serde_json::Value>,
    }
    serde_json::from_str::<CompletionRequest>(schema.get())
        .is_ok_and(|schema| schema.r#type.is_some_and(|kind| kind == "object"))
}

/// The result of a tool. Structured content that is removed stays as text in the content.
pub(crate) fn tool_result(result: &mut ToolResult, revision: Revision) {
    result.content.iter_mut().for_each(|block| content(block, revision));
    result.structured = result.structured.take().filter(|json| sends_structured(json.get(), revision));
}

/// Whether structured content of this JSON text may be sent.
fn sends_structured(json: &str, revision: Revision) -> bool {
    revision.has(Feature::StructuredContent)
        && (revision.has(Feature::AnyStructuredContent) || json.trim_start().starts_with('{'))
}

/// A prompt in a list.
pub(crate) fn prompt(prompt: &mut PromptDefinition, revision: Revision) {
    unless(revision, Feature::Title, &mut prompt.title);
    for argument in &mut prompt.arguments {
        unless(revision, Feature::Title, &mut argument.title);
    }
    unless(revision, Feature::Icons, &mut prompt.icons);
    unless(revision, Feature::Meta, &mut prompt.meta);
}

/// A resource in a list.
pub(crate) fn resource(resource: &mut ResourceDefinition, revision: Revision) {
    unless(revision, Feature::Title, &mut resource.title);
    annotations(&mut resource.annotations, revision);
    unless(revision, Feature::Icons, &mut resource.icons);
    unless(revision, Feature::Meta, &mut resource.meta);
}

/// A template in a list.
pub(crate) fn template(template: &mut TemplateDefinition, revision: Revision) {
    unless(revision, Feature::Title, &mut template.title);
    annotations(&mut template.annotations, revision);
    unless(revision, Feature::Icons, &mut template.icons);
    unless(revision, Feature::Meta, &mut template.meta);
}

/// What the server calls itself.
pub(crate) fn server_info(info: &mut ServerInfo, revision: Revision) {
    unless(revision, Feature::Title, &mut info.title);
    unless(revision, Feature::ServerDescription, &mut info.description);
    unless(revision, Feature::ServerDescription, &mut info.website_url);
    unless(revision, Feature::Icons, &mut info.icons);
}

fn annotations(hints: &mut Option<Annotations>, revision: Revision) {
    if let Some(hints) = hints {
        unless(revision, Feature::LastModified, &mut hints.last_modified);
    }
}

/// Empties a field that the revision lacks.
fn unless<T: Default>(revision: Revision, feature: Feature, field: &mut T) {
    if !revision.has(feature) {
        *field = T::default();
    }
}

#[cfg(test)]
#[path = "era_tests.rs"]
mod tests;
