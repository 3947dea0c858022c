//! The metadata of a self-contained request in `_meta`: its version, its client, and the client's capabilities.
//!
//! It is read in two steps, because a transport has checks in between: [`RequestMeta::of`] finds out whether the
//! request names a version, [`RequestMeta::peer`] reads the rest. Nothing is kept for other requests.

use std::borrow::Cow;

use serde_json::json;

use crate::{
    serve::{
        initialize::{self, CapabilityPaths},
        router::Router,
    },
    wire::{
        era::{self, Eras, Feature, Revision},
        error::{ErrorCode, McpError},
        id::RequestId,
        jsonrpc::{Parameters, Request},
        level::Level,
        method::Method,
        params::{Members, Params},
        peer::{Implementation, Peer},
    },
};

/// The keys of `_meta` that make up a request's metadata.
// MCP 2026-07-28 basic, _meta: per-request protocol fields
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS: &str = "progressToken";

const CAPABILITY_PATHS: CapabilityPaths = [
    "_meta.clientCapabilities.",
    "_meta.clientCapabilities.elicitation.",
    "_meta.clientCapabilities.sampling.",
];

/// The metadata of a self-contained request.
#[derive(Debug)]
pub struct RequestMeta<'a> {
    meta: Params<'a, 5>,
}

impl<'a> RequestMeta<'a> {
    /// The metadata of a request with these parameters, if its `_meta` names a version, valid or not.
    ///
    /// `None` for parameters that cannot be read; the code that serves the request refuses them.
    #[must_use]
    pub fn of(params: &'a Parameters) -> Option<Self> {
        params.raw("_meta")?;
        Self::read(params).ok().filter(|request| request.meta.raw(VERSION).is_some())
    }

    /// The metadata of a request that must have it.
    ///
    /// # Errors
    ///
    /// -32602 if the parameters or their `_meta` are not an object, or have a duplicate member. -32022, with the
    /// versions that are served, for an `initialize` without a version in `_meta`: its client supports the handshake
    /// only.
    // MCP 2026-07-28 basic/versioning, Backward Compatibility: SHOULD name the versions in any error to `initialize`
    pub fn required(request: &'a Request, router: &Router) -> Result<Self, McpError> {
        let params = &request.params;
        if Method::of(&request.method) == Some(Method::Initialize) && Self::of(params).is_none() {
            let requested = params.text("protocolVersion", usize::MAX);
            return Err(unsupported(&requested.unwrap_or_default(), router.eras()));
        }
        Self::read(params)
    }

    fn read(params: &'a Parameters) -> Result<Self, McpError> {
        let meta = params.members()?.optional_object("_meta")?;
        Ok(Self { meta: Params::read(meta, "_meta.", [VERSION, CAPABILITIES, INFO, LOG_LEVEL, PROGRESS])? })
    }

    /// The version it names.
    ///
    /// # Errors
    ///
    /// -32602 if it is missing or not a string.
    pub fn version(&self) -> Result<Cow<'a, str>, McpError> {
        self.meta.text(VERSION, usize::MAX)
    }

    /// The client that sends the request, as its metadata describes it.
    ///
    /// # Errors
    ///
    /// -32022, with all versions that are served, for one that needs a handshake or is unknown; -32602 that names the
    /// member that is missing, mistyped or too long.
    pub fn peer(&self, router: &Router) -> Result<Peer, McpError> {
        let version = self.version()?;
        let revision = Revision::parse_with(&version, Feature::Stateless)
            .ok_or_else(|| unsupported(&version, router.eras()))?;
        let most = router.limits().name_bytes;
        let declared = self.meta.object(CAPABILITIES)?;
        let (capabilities, extensions) = initialize::capabilities(declared, CAPABILITY_PATHS)?;
        let capabilities = era::client_capabilities(capabilities, revision);
        let info = match self.meta.optional_object(INFO)? {
            Some(info) => initialize::implementation(info, "_meta.clientInfo.", most)?,
            None => Implementation::default(),
        };
        let level = match self.meta.optional_text(LOG_LEVEL, usize::MAX)? {
            Some(level) => {
                Some(Level::read(&level).ok_or_else(|| self.meta.mistyped(LOG_LEVEL, "a log level"))?)
            }
            None => None,
        };
        // errors in `_meta` are found before the request is served
        if let Some(token) = self.meta.raw(PROGRESS) {
            RequestId::read(token).ok_or_else(|| self.meta.mistyped(PROGRESS, "a string or an integer"))?;
        }
        if extensions.is_some_and(|json| !json.starts_with('{')) {
            return Err(McpError::invalid_params("`_meta.clientCapabilities.extensions` is not an object"));
        }
        Ok(Peer::of_request(revision, capabilities, info, level, extensions.map(Into::into)))
    }
}

/// The error for a version that cannot be named in `_meta`. It lists all versions that are served, newest first,
/// including those with a handshake, since a client may support no other.
// MCP 2026-07-28 basic/versioning, Protocol Version Negotiation
fn unsupported(requested: &str, eras: Eras) -> McpError {
    let supported: Vec<_> = eras.versions().collect();
    let asks = |version: &&str| Revision::parse_with(version, Feature::Stateless).is_some();
    let (modern, legacy): (Vec<_>, Vec<_>) = supported.iter().copied().partition(asks);
    let mut message = format!("unsupported protocol version: a request can name {}", modern.join(", "));
    if !legacy.is_empty() {
        message += &format!("; {} start with `initialize`", legacy.join(", "));
    }
    McpError::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, message)
        .with_data(json!({ "supported": supported, "requested": requested }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(meta: &str) -> Result<Peer, McpError> {
        let params = format!(r#"{{"_meta":{meta}}}"#);
        let id = serde_json::from_str("1").unwrap();
        let request = Request { id, method: "tools/list".into(), params: Parameters::read(params).unwrap() };
        let router = Router::new("test", "1");
        RequestMeta::required(&request, &router)?.peer(&router)
    }

    fn whole(more: &str) -> String {
        format!(r#"{{"{VERSION}":"2026-07-28","{CAPABILITIES}":{{}}{more}}}"#)
    }

    #[test]
    fn a_request_speaks_for_itself_if_its_meta_names_a_version_whatever_its_value() {
        for (meta, claims) in [
            (r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#, true),
            (r#"{"io.modelcontextprotocol/protocolVersion":7}"#, true),
            (r#"{"io.modelcontextprotocol/protocolVersion":null}"#, true),
            (r#"{"io.modelcontextprotocol\/protocolVersion":"2026-07-28"}"#, true),
            (r#"{"i\u006f.modelcontextprotocol/protocolVersion":"x"}"#, true),
            (r#"{"progressToken":"io.modelcontextprotocol/protocolVersion"}"#, false),
            ("{}", false),
            ("null", false),
        ] {
            let params = Parameters::read(format!(r#"{{"_meta":{meta}}}"#)).unwrap();
            assert_eq!(RequestMeta::of(&params).is_some(), claims, "{meta}");
        }
        let elsewhere = r#"{"arguments":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        assert!(
            RequestMeta::of(&Parameters::read(elsewhere).unwrap()).is_none(),
            "in its arguments it says nothing of itself"
        );
        assert!(RequestMeta::of(&Parameters::default()).is_none());
    }

    #[test]
    fn the_version_comes_first_and_then_what_else_is_required() {
        let error = read(r#"{"io.modelcontextprotocol/protocolVersion":"v999.0.0"}"#).unwrap_err();
        assert_eq!(error.code, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION);
        let data: serde_json::Value = serde_json::from_str(error.data.unwrap().get()).unwrap();
        // C119
        let supported = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
        assert_eq!(data, json!({ "supported": supported, "requested": "v999.0.0" }));
        let handshake = read(r#"{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#).unwrap_err();
        assert_eq!(handshake.code, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, "it is served, but not so");
        for (meta, named) in [
            ("{}".to_owned(), VERSION),
            (format!(r#"{{"{VERSION}":7}}"#), VERSION),
            (format!(r#"{{"{VERSION}":"2026-07-28"}}"#), CAPABILITIES),
            (format!(r#"{{"{VERSION}":"2026-07-28","{CAPABILITIES}":[]}}"#), CAPABILITIES),
            (whole(&format!(r#","{INFO}":"me""#)), INFO),
            (whole(&format!(r#","{INFO}":{{"name":"me"}}"#)), "version"),
            (whole(&format!(r#","{LOG_LEVEL}":"loud""#)), LOG_LEVEL),
            (whole(&format!(r#","{LOG_LEVEL}":{{"info":null}}"#)), LOG_LEVEL),
            (whole(r#","progressToken":1.5"#), PROGRESS),
            (whole(r#","progressToken":{}"#), PROGRESS),
        ] {
            let error = read(&meta).unwrap_err();
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{meta}");
            assert!(error.message.contains(named), "{meta}: {}", error.message);
        }
    }

    #[test]
    fn nothing_is_logged_for_a_request_that_names_no_level() {
        assert!(!read(&whole("")).unwrap().wants(Level::Emergency));
        let warned = read(&whole(&format!(r#","{LOG_LEVEL}":"warning""#))).unwrap();
        assert!(warned.wants(Level::Error) && !warned.wants(Level::Notice));
    }

    #[test]
    fn who_sends_it_and_what_they_can_do_is_read() {
        let meta = format!(
            r#"{{"{VERSION}":"2026-07-28","{INFO}":{{"name":"me","version":"2"}},"{CAPABILITIES}":
            {{"elicitation":{{}},"sampling":{{"tools":{{}}}},"extensions":{{"com.example/x":{{"a":1}}}}}}}}"#
        );
        let peer = read(&meta).unwrap();
        assert_eq!((&*peer.info.name, &*peer.info.version), ("me", "2"));
        assert!(peer.capabilities.elicitation_form && peer.capabilities.sampling_tools);
        assert!(!peer.capabilities.roots);
        assert_eq!(peer.extension("com.example/x").as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(peer.extension("com.example/y"), None);
    }
}
