//! The handshake: the client's `initialize`, and the answer.
//!
//! Read leniently: members we do not know are ignored at every level, and an optional member that is `null` is absent.

use std::borrow::Cow;

use serde::Serialize;

use crate::{
    serve::{extension::Extensions, router::Router},
    wire::{
        capability::Capability,
        definition::ServerInfo,
        era::{self, Feature, Revision},
        error::McpError,
        jsonrpc::Parameters,
        params::{Members, Params},
        peer::{ClientCapabilities, Implementation},
    },
};

/// The members of `initialize` that the server uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The revision the session will have: the one asked for, or our counter-offer.
    pub revision: Revision,
    /// The capabilities of the client, without those that the revision lacks.
    pub capabilities: ClientCapabilities,
    /// The name and version of the client.
    pub info: Implementation,
}

impl Opening {
    /// Reads the parameters of `initialize`. The client's name, version and title are kept as long as the
    /// session, so each may have at most `name_bytes` bytes.
    ///
    /// # Errors
    ///
    /// -32602 that names the member that is missing, mistyped or too long; no session opens then.
    pub fn read(params: &Parameters, name_bytes: usize) -> Result<Self, McpError> {
        const ANY_LENGTH: usize = usize::MAX;
        let params = params.members()?;
        let revision = era::negotiate(&params.text("protocolVersion", ANY_LENGTH)?);
        let (declared, _) = capabilities(params.object("capabilities")?, IN_HANDSHAKE)?;
        let info = implementation(params.object("clientInfo")?, "clientInfo.", name_bytes)?;
        Ok(Self { revision, capabilities: era::client_capabilities(declared, revision), info })
    }
}

/// The name, version and title of a client, at `path`.
pub(crate) fn implementation(
    info: &str,
    path: &'static str,
    name_bytes: usize,
) -> Result<Implementation, McpError> {
    let info = Params::read(Some(info), path, ["name", "version", "title"])?;
    Ok(Implementation {
        name: info.string("name", name_bytes)?,
        version: info.string("version", name_bytes)?,
        title: info.optional_text("title", name_bytes).ok().flatten().map(Cow::into_owned),
    })
}

/// The paths to the client's capabilities, and to those of `elicitation` and `sampling` in them.
pub(crate) type CapabilityPaths = [&'static str; 3];

const IN_HANDSHAKE: CapabilityPaths =
    ["capabilities.", "capabilities.elicitation.", "capabilities.sampling."];

/// A capability is declared by an object. Any other value declares nothing: the client then gets no request that it
/// may not support, and is not refused for a capability that we do not need. `extensions` is returned as received.
pub(crate) fn capabilities(
    declared: &str,
    [path, elicitation_path, sampling_path]: CapabilityPaths,
) -> Result<(ClientCapabilities, Option<&str>), McpError> {
    let names = ["elicitation", "sampling", "roots", "extensions"];
    let declared = Params::read(Some(declared), path, names)?;
    let object = |name| declared.raw(name).filter(|text| text.starts_with('{'));
    let elicitation = object("elicitation");
    let (form, url) = members(elicitation, elicitation_path, ["form", "url"])?;
    let sampling = object("sampling");
    let (tools, context) = members(sampling, sampling_path, ["tools", "context"])?;
    let capabilities = ClientCapabilities {
        // MCP 2025-11-25 client/elicitation, Capabilities: an empty object means form mode
        elicitation_form: elicitation.is_some() && (form || !url),
        elicitation_url: url,
        sampling: sampling.is_some(),
        sampling_tools: tools,
        sampling_context: context,
        roots: object("roots").is_some(),
    };
    Ok((capabilities, declared.optional("extensions")))
}

/// Whether each of two members is an object.
fn members(
    text: Option<&str>,
    path: &'static str,
    names: [&'static str; 2],
) -> Result<(bool, bool), McpError> {
    let params = Params::read(text, path, names)?;
    let declared = |name| params.raw(name).is_some_and(|json| json.starts_with('{'));
    Ok((declared(names[0]), declared(names[1])))
}

/// The result of `initialize`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    protocol_version: &'static str,
    capabilities: ServerCapabilities,
    server_info: ServerInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
}

/// The capabilities that a server declares.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ServerCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    completions: Option<Empty>,
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    extensions: Extensions,
    #[serde(skip_serializing_if = "Option::is_none")]
    logging: Option<Empty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Lists>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Resources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Lists>,
}

#[derive(Debug, Default, Serialize)]
struct Empty {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Lists {
    list_changed: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources {
    list_changed: bool,
    subscribe: bool,
}

impl Router {
    /// The result of `initialize`: the declared capabilities, and the server's name and version.
    #[must_use]
    pub fn initialize_result(&self, revision: Revision) -> InitializeResult {
        let mut server_info = self.settings().info.clone();
        era::server_info(&mut server_info, revision);
        InitializeResult {
            protocol_version: revision.as_str(),
            capabilities: self.capabilities(revision),
            server_info,
            instructions: self.settings().instructions.clone(),
        }
    }

    /// The declared capabilities.
    pub(crate) fn capabilities(&self, revision: Revision) -> ServerCapabilities {
        let lists = |capability| self.declares(capability).then_some(Lists { list_changed: true });
        let completions =
            self.declares(Capability::Completions) && revision.has(Feature::CompletionsCapability);
        let resources = self.declares(Capability::Resources);
        ServerCapabilities {
            completions: completions.then_some(Empty {}),
            extensions: self.settings().extensions(revision),
            logging: self.declares(Capability::Logging).then_some(Empty {}),
            prompts: lists(Capability::Prompts),
            resources: resources.then_some(Resources { list_changed: true, subscribe: true }),
            tools: lists(Capability::Tools),
        }
    }
}

#[cfg(test)]
#[path = "initialize_tests.rs"]
mod tests;
