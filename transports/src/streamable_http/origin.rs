//! Which web pages may use the endpoint: the checks of the Origin and Host headers.
//!
//! **Invariant:** origins are compared as parsed scheme, host and port, never as text.
//!
//! By hand: `url::Origin` is opaque for the schemes of browser extensions and apps, and cannot be read from a Host
//! header.
// MCP 2025-11-25 basic/transports, Security Warning: MUST validate the Origin header; 403 if it is invalid

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use actix_web::{
    HttpRequest,
    http::header::{HOST, HeaderValue, ORIGIN},
};

use super::{
    refusal::{Refusal, Refused},
    sockets,
};

/// The names of this machine's loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// How much of a refused header is logged.
const SHOWN: usize = 128; // bytes

/// Which origins and hosts are allowed in addition to those of the loopback interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    origins: Vec<Origin>,
    any_origin: bool,
    hosts: Vec<String>,
    any_host: bool,
}

/// An origin (RFC 6454): of a web page, a browser extension or a desktop app.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    /// Empty for schemes that have none, such as `file`.
    host: String,
    /// The scheme's default port if none is given, or `None` if it has no default.
    port: Option<u16>,
}

/// Why an origin or a host can never match what a client sends.
type Why = &'static str;

impl Origin {
    /// Reads `scheme://host[:port]`, of any scheme.
    fn parse(text: &str) -> Result<Self, Why> {
        if text.eq_ignore_ascii_case("null") {
            return Err(
                "`null` does not identify a page: any page can send it; see `ServerBuilder::allow_any_origin`",
            );
        }
        let (scheme, authority) =
            text.split_once("://").ok_or("it must be scheme://host or scheme://host:port")?;
        if !is_scheme(scheme) {
            return Err("the scheme must be a letter followed by letters, digits, `+`, `-` or `.`");
        }
        let scheme = scheme.to_ascii_lowercase();
        let default = match &*scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ if authority.is_empty() => return Ok(Self { scheme, host: String::new(), port: None }),
            _ => None,
        };
        let (host, port) = host_and_port(authority)?;
        if default.is_some() && !is_written_by_browsers(&host) {
            return Err("browsers never send such a host");
        }
        Ok(Self { scheme, host, port: port.or(default) })
    }

    fn is_loopback(&self) -> bool {
        matches!(&*self.scheme, "http" | "https") && LOOPBACK.contains(&&*self.host)
    }
}

/// Whether the origin of a web page can have this host: browsers decode escapes, and send a number as an IPv4 address
/// in four parts.
// WHATWG URL, 3.5
fn is_written_by_browsers(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let number = match last.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => last.bytes().all(|byte| byte.is_ascii_digit()),
    };
    host.starts_with('[')
        || host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
            && (!number || host.parse::<Ipv4Addr>().is_ok())
}

// RFC 3986, 3.1
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Reads `host[:port]`; the host is returned in lower case, an IPv6 address in its canonical form.
fn host_and_port(authority: &str) -> Result<(String, Option<u16>), Why> {
    if authority.contains('@') {
        return Err("the host must not have a user name before it");
    }
    if authority.contains(['/', '?', '#', '\\']) {
        return Err("nothing may follow the host and port, not even a slash");
    }
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => {
            let address: Ipv6Addr =
                address.parse().map_err(|_| "the brackets must contain an IPv6 address")?;
            (format!("[{address}]"), port)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (host, port) = authority.split_at_checked(end).unwrap_or_default();
            (name(host)?, port)
        }
    };
    Ok((host, read_port(port)?))
}

/// A host that is not an IPv6 address, in lower case.
fn name(host: &str) -> Result<String, Why> {
    if host.contains('*') {
        return Err("`*` is not a wildcard: allow each by its name, or allow any");
    }
    if !host.is_ascii() {
        return Err("the host must be ASCII: write other names as `xn--..`");
    }
    if host.is_empty()
        || !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()+,;=%".contains(&byte))
    {
        return Err("the host is missing or has an invalid character");
    }
    Ok(host.to_ascii_lowercase())
}

/// Reads what comes after a host: nothing, or a colon and a port.
fn read_port(text: &str) -> Result<Option<u16>, Why> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.strip_prefix(':').filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let port = digits.and_then(|digits| digits.parse().ok());
    port.map(Some).ok_or("the port must be a number up to 65535")
}

impl Allowed {
    /// Allows an origin.
    pub(crate) fn origin(&mut self, text: &str) -> Result<(), Why> {
        self.origins.push(Origin::parse(text)?);
        Ok(())
    }

    pub(crate) fn any_origin(&mut self) {
        self.any_origin = true;
    }

    /// Allows a host, under any port.
    pub(crate) fn host(&mut self, text: &str) -> Result<(), Why> {
        if text.contains("://") {
            return Err("a host must be given without a scheme");
        }
        let (host, _) = host_and_port(text)?;
        self.hosts.push(host);
        Ok(())
    }

    pub(crate) fn any_host(&mut self) {
        self.any_host = true;
    }

    /// The allowed origins and hosts, for the start-up line.
    pub(super) fn policy(&self) -> String {
        let hosts = match (self.any_host, self.hosts.is_empty()) {
            (true, _) => "any Host".to_owned(),
            (false, true) => "loopback Hosts on loopback sockets, any elsewhere".to_owned(),
            (false, false) => format!("loopback Hosts and {:?}", self.hosts),
        };
        match self.any_origin {
            true => format!("any Origin; {hosts}"),
            false => format!("loopback Origins and {} more; {hosts}", self.origins.len()),
        }
    }

    /// Refuses a request from a page that is not allowed. Returns the Origin header, if there is one.
    pub(super) fn check_origin(&self, request: &HttpRequest) -> Result<Option<HeaderValue>, Refused> {
        let mut origins = request.headers().get_all(ORIGIN);
        let (origin, another) = (origins.next(), origins.next());
        match origin {
            Some(origin) if another.is_some() || !self.takes_origin(origin) => {
                let origins = shown(request.headers().get_all(ORIGIN).map(HeaderValue::as_bytes));
                log::warn!(
                    "refused a request with the Origin {origins}; allow it with `ServerBuilder::allow_origin`"
                );
                Err(Refusal::forbidden("`Origin` is not allowed").into())
            }
            origin => Ok(origin.cloned()),
        }
    }

    /// Refuses a request for a host that is not allowed.
    pub(super) fn check_host(&self, request: &HttpRequest) -> Result<(), Refused> {
        if self.takes_host(request) {
            return Ok(());
        }
        let target = request.uri().authority().map(|target| target.as_str().as_bytes());
        let hosts =
            shown(target.into_iter().chain(request.headers().get_all(HOST).map(HeaderValue::as_bytes)));
        log::warn!("refused a request for the Host {hosts}; allow it with `ServerBuilder::allow_host`");
        Err(Refusal::forbidden("`Host` is not allowed").into())
    }

    fn takes_origin(&self, origin: &HeaderValue) -> bool {
        if self.any_origin {
            return true;
        }
        let origin = origin.to_str().ok().and_then(|origin| Origin::parse(origin).ok());
        origin.is_some_and(|origin| origin.is_loopback() || self.origins.contains(&origin))
    }

    /// Whether the Host header is checked on a socket with this local address; `None` is a Unix socket, which no page
    /// reaches.
    fn checks_host(&self, local: Option<IpAddr>) -> bool {
        // on a dual-stack socket, 127.0.0.1 is ::ffff:127.0.0.1
        let loopback = local.is_some_and(|local| local.to_canonical().is_loopback());
        !self.any_host && (!self.hosts.is_empty() || loopback)
    }

    /// Against DNS rebinding: a foreign name that points to the loopback interface is not accepted.
    fn takes_host(&self, request: &HttpRequest) -> bool {
        if !self.checks_host(sockets::local_addr(request).map(|local| local.ip())) {
            return true;
        }
        // HTTP/2 names the host in the request target, and HTTP/1 may do so too: then both are checked, since an
        // application may use either. A browser always sends one
        let target = request.uri().authority().is_none_or(|target| self.takes(target.as_str()));
        let mut hosts = request.headers().get_all(HOST);
        let header = hosts.next().is_none_or(|header| header.to_str().is_ok_and(|header| self.takes(header)))
            && hosts.next().is_none();
        target && header
    }

    fn takes(&self, named: &str) -> bool {
        // RFC 3986, 3.2.3: the port after a colon may be empty
        let named = named.strip_suffix(':').unwrap_or(named);
        is_loopback(named)
            || host_and_port(named)
                .is_ok_and(|(host, _)| LOOPBACK.contains(&&*host) || self.hosts.contains(&host))
    }
}

/// Whether `host[:port]` names the loopback interface. This runs for every request on such a socket, and copies
/// nothing.
fn is_loopback(named: &str) -> bool {
    LOOPBACK.iter().any(|name| {
        let Some((host, rest)) = named.split_at_checked(name.len()) else { return false };
        let is_port =
            |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        host.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
    })
}

/// The refused values, for the log: on one line, and of bounded length.
fn shown<'a>(values: impl Iterator<Item = &'a [u8]>) -> String {
    values.take(3).map(quote).collect::<Vec<_>>().join(" and ")
}

/// The beginning of some bytes in quotes; bytes that are not visible ASCII are escaped.
fn quote(bytes: &[u8]) -> String {
    match bytes.split_at_checked(SHOWN) {
        Some((beginning, rest)) if !rest.is_empty() => format!("\"{}..\"", beginning.escape_ascii()),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
