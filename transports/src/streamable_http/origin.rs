//! Who may speak to the endpoint from a web page: the Origin and Host headers.
//!
//! **Invariant:** origins are compared as parsed scheme, host and port, never as text.
// MCP 2025-11-25 basic/transports, Security Warning: MUST validate the Origin header; 403 if it is invalid

use std::net::IpAddr;

use actix_web::{
    HttpRequest,
    http::{
        Uri,
        header::{HOST, HeaderValue, ORIGIN},
        uri::Authority,
    },
};

use super::{
    refusal::{Refusal, Refused},
    sockets,
};

/// The names of this machine's loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Which origins and hosts are allowed beside those of the loopback interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    origins: Vec<Origin>,
    hosts: Vec<String>,
    any_host: bool,
}

/// A web origin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    https: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// Reads `scheme://host[:port]` of http or https; nothing else is an origin of a web page.
    fn parse(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let authority = uri.authority()?;
        let https = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let (host, port) = split(authority)?;
        let default = if https { 443 } else { 80 };
        // no path, not even an empty one, nor anything else after the authority
        let plain = text.split_once("://").is_some_and(|(_, rest)| rest == authority.as_str());
        plain.then(|| Self { https, host, port: port.unwrap_or(default) })
    }
}

impl Allowed {
    /// Allows an origin; `false` if it is none.
    #[must_use]
    pub(crate) fn origin(&mut self, text: &str) -> bool {
        let origin = Origin::parse(text);
        let valid = origin.is_some();
        self.origins.extend(origin);
        valid
    }

    /// Allows a host, under any port; `false` if it is none.
    #[must_use]
    pub(crate) fn host(&mut self, text: &str) -> bool {
        let host = host(text);
        let valid = host.is_some();
        self.hosts.extend(host);
        valid
    }

    pub(crate) fn any_host(&mut self) {
        self.any_host = true;
    }

    /// What is checked, for the start-up line.
    pub(super) fn policy(&self) -> String {
        let hosts = match (self.any_host, self.hosts.is_empty()) {
            (true, _) => "any Host".to_owned(),
            (false, true) => "loopback Hosts on loopback sockets, any elsewhere".to_owned(),
            (false, false) => format!("loopback Hosts and {:?}", self.hosts),
        };
        format!("loopback Origins and {} more; {hosts}", self.origins.len())
    }

    /// Refuses a request from a page that is not allowed. Gives the Origin header, where there is one.
    pub(super) fn check_origin(&self, request: &HttpRequest) -> Result<Option<HeaderValue>, Refused> {
        let mut origins = request.headers().get_all(ORIGIN);
        let origin = origins.next();
        if origins.next().is_some() || !origin.is_none_or(|origin| self.takes_origin(origin)) {
            log::warn!("refused a request of an Origin that is not allowed");
            return Err(Refusal::forbidden("`Origin` is not allowed").into());
        }
        Ok(origin.cloned())
    }

    /// Refuses a request through a name that is not allowed.
    pub(super) fn check_host(&self, request: &HttpRequest) -> Result<(), Refused> {
        if self.takes_host(request) {
            return Ok(());
        }
        log::warn!("refused a request for a Host that is not allowed");
        Err(Refusal::forbidden("`Host` is not allowed").into())
    }

    fn takes_origin(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(Origin::parse);
        origin.is_some_and(|origin| LOOPBACK.contains(&&*origin.host) || self.origins.contains(&origin))
    }

    /// Whether the Host header matters on a socket with this address of its own.
    fn checks_host(&self, local: IpAddr) -> bool {
        // on a socket of both families, 127.0.0.1 is ::ffff:127.0.0.1
        !self.any_host && (!self.hosts.is_empty() || local.to_canonical().is_loopback())
    }

    /// Against DNS rebinding: a name of somebody else's that points to the loopback interface is not taken.
    fn takes_host(&self, request: &HttpRequest) -> bool {
        if !self.checks_host(sockets::local_addr(request).ip()) {
            return true;
        }
        // HTTP/2 names it in the request line, HTTP/1 may there too, and then both count, whichever of them an application
        // would go by; a browser always names it somewhere
        let target = request.uri().authority().is_none_or(|target| self.takes(target.as_str()));
        let mut hosts = request.headers().get_all(HOST);
        let header = hosts.next().is_none_or(|header| header.to_str().is_ok_and(|header| self.takes(header)))
            && hosts.next().is_none();
        target && header
    }

    fn takes(&self, named: &str) -> bool {
        is_loopback(named) || host(named).is_some_and(|host| self.hosts.contains(&host))
    }
}

/// Whether `host[:port]` names the loopback interface. Every request on such a socket is asked this, and nothing is copied
/// for it.
fn is_loopback(named: &str) -> bool {
    LOOPBACK.iter().any(|name| {
        let Some((host, rest)) = named.split_at_checked(name.len()) else { return false };
        let is_port =
            |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        host.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
    })
}

/// The host of `host[:port]`, in lower case.
fn host(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    split(&authority).map(|(host, _)| host)
}

/// The host in lower case, and the port if there is one: no user before the one, nothing but digits in the other, which
/// the parser of `Authority` does not see to.
fn split(authority: &Authority) -> Option<(String, Option<u16>)> {
    let host = authority.host().to_ascii_lowercase();
    let port = match authority.as_str().strip_prefix(authority.host())? {
        "" => None,
        rest => {
            let digits =
                rest.strip_prefix(':').filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))?;
            Some(digits.parse().ok()?)
        }
    };
    Some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(allowed: &Allowed, origin: &str) -> bool {
        allowed.takes_origin(&HeaderValue::from_str(origin).unwrap())
    }

    #[test]
    fn loopback_origins_are_allowed_with_any_port_and_nothing_that_only_looks_like_one() {
        let allowed = Allowed::default();
        for origin in [
            "http://localhost",
            "http://localhost:6274",
            "https://127.0.0.1:9",
            "http://[::1]:5173",
            "HTTP://LOCALHOST:1",
        ] {
            assert!(allows(&allowed, origin), "{origin}");
        }
        for origin in [
            "null",
            "%%",
            "",
            "localhost",
            "http://localhost/",
            "http://localhost/path",
            "http://localhost/localhost",
            "http://localhost?localhost",
            "http://localhost#localhost",
            "http://user@localhost",
            "http://localhost.evil.example",
            "http://evil.example",
            "ftp://localhost",
            "http://localhost:",
            "http://localhost:99999",
            "http://localhost:+80",
            "http://127.0.0.1.evil.example",
            "file://",
            "http://localhost:80 http://evil.example",
        ] {
            assert!(!allows(&allowed, origin), "{origin}");
        }
    }

    #[test]
    fn the_host_matters_on_loopback_and_wherever_one_was_allowed() {
        let checks = |allowed: &Allowed, local: &str| allowed.checks_host(local.parse().unwrap());
        let mut allowed = Allowed::default();
        for (local, checked) in [
            ("127.0.0.1", true),
            ("127.0.0.53", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("172.17.0.2", false),
            ("::ffff:172.17.0.2", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(checks(&allowed, local), checked, "{local}");
        }
        assert!(allowed.host("mcp.example"));
        assert!(checks(&allowed, "172.17.0.2"));
        allowed.any_host();
        assert!(!checks(&allowed, "127.0.0.1"));
    }

    #[test]
    fn only_the_names_of_the_loopback_interface_are_taken_for_them() {
        for named in ["localhost", "LocalHost:80", "127.0.0.1:8080", "[::1]", "[::1]:1"] {
            assert!(is_loopback(named), "{named}");
        }
        for named in [
            "localhost.",
            "localhost.evil.example",
            "localhost@evil.example",
            "127.0.0.10",
            "localhost:a",
            "",
            "é",
        ] {
            assert!(!is_loopback(named), "{named}");
        }
    }

    #[test]
    fn an_allowed_origin_is_compared_by_scheme_host_and_port() {
        let mut allowed = Allowed::default();
        assert!(allowed.origin("https://App.example"));
        assert!(!allowed.origin("https://app.example/path"));
        for (origin, taken) in [
            ("https://app.example", true),
            ("https://app.example:443", true),
            ("http://app.example", false),
            ("https://app.example:8443", false),
            ("https://app.example.evil.example", false),
            ("https://xapp.example", false),
        ] {
            assert_eq!(allows(&allowed, origin), taken, "{origin}");
        }
    }
}
