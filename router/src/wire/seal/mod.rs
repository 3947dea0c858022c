//! Seals `requestState`, which the client keeps for the server: a call's memory from one round to the next.
//!
//! XChaCha20-Poly1305 under a ring of keys: the first seals, all open. The server, principal, method, target and
//! arguments that a state is bound to are authenticated with it, as associated data, so that a state on another request
//! is refused like one that was tampered with.
//!
//! **Invariant:** whatever is wrong with a state, the error is the same, and nothing is read from the state.
// MCP 2026-07-28 basic/patterns/mrtr, Server Requirements 4 and 5

mod canonical;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::wire::{error::McpError, principal::Principal};

/// The first byte of a state: the version of its format.
const VERSION: u8 = 1;
const NONCE: usize = 24; // bytes
const EXPIRY: usize = 8; // bytes
const TAG: usize = 16; // bytes
const SECRET: usize = 32; // bytes; a shorter secret text causes a warning

/// A key that seals `requestState`, or opens what another node or an earlier process sealed.
///
/// Made from 32 bytes of a secure random source, or from a secret text of any length, which is hashed with SHA-256 (a
/// password that can be guessed makes a key that can be guessed). A text of fewer than 32 bytes is accepted, with a
/// warning in the log.
///
/// ```
/// # use actix_mcp_router::StateKey;
/// let key = StateKey::from([7; 32]);
/// let other = StateKey::from("a secret of 32 bytes or more, from the environment");
/// assert_eq!(format!("{key:?} {other:?}"), "StateKey(..) StateKey(..)");
/// ```
#[derive(Clone)]
pub struct StateKey {
    key: [u8; 32],
    /// Made from a text that is shorter than a key, which causes a warning.
    is_short: bool,
}

impl From<[u8; 32]> for StateKey {
    fn from(key: [u8; 32]) -> Self {
        Self { key, is_short: false }
    }
}

impl From<&str> for StateKey {
    fn from(secret: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"actix-mcp requestState key\0");
        hasher.update(secret.as_bytes());
        Self { key: hasher.finalize().into(), is_short: secret.len() < SECRET }
    }
}

impl From<String> for StateKey {
    fn from(secret: String) -> Self {
        secret.as_str().into()
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(..)")
    }
}

/// How large a `requestState` may be, and how long it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StateLimits {
    /// Maximum bytes of a sent `requestState`; a call whose answers and steps need more fails. 16 KiB by default.
    pub sent: usize,
    /// Maximum bytes of a received `requestState`; a larger one is refused. 64 KiB by default.
    pub accepted: usize,
    /// How long a `requestState` is valid after it was sent. 10 min by default; fractions of a second are ignored.
    #[serde(with = "humantime_serde")]
    pub life: Duration,
}

impl Default for StateLimits {
    fn default() -> Self {
        Self { sent: 16 * 1024, accepted: 64 * 1024, life: Duration::from_secs(600) }
    }
}

/// The clock that decides whether a state has expired.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Seals and opens the states of one server.
pub struct Seal {
    /// The keys; the first seals. Set when the server is built, or generated when first needed.
    ring: OnceLock<Vec<XChaCha20Poly1305>>,
    /// How large a state may be, and how long it is valid.
    pub limits: StateLimits,
    pub(crate) clock: Clock,
}

impl Default for Seal {
    fn default() -> Self {
        Self { ring: OnceLock::new(), limits: StateLimits::default(), clock: Arc::new(SystemTime::now) }
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Why a state cannot be sent.
#[derive(Debug)]
pub(crate) enum Unsealed {
    /// It would have this many bytes.
    TooLarge(usize),
    /// The server failed.
    Failed,
}

impl Seal {
    /// Sets the keys: the first seals, all open. Without keys, a random key of this process is used.
    pub fn set_keys(&mut self, keys: impl IntoIterator<Item = StateKey>) {
        let keys: Vec<_> = keys.into_iter().collect();
        if keys.iter().any(|key| key.is_short) {
            log::warn!(
                "`ServerBuilder::state_keys`: a secret has fewer than {SECRET} bytes; anyone who guesses it can forge a \
                 `requestState`"
            );
        }
        let ring: Vec<_> = keys.iter().map(|key| XChaCha20Poly1305::new(&key.key.into())).collect();
        self.ring = if ring.is_empty() { OnceLock::new() } else { OnceLock::from(ring) };
    }

    /// Seals a text for a retry of the request that it is bound to, valid for [`StateLimits::life`].
    pub(crate) fn seal(&self, text: &[u8], bound: &Binding) -> Result<String, Unsealed> {
        let expiry = self.now().saturating_add(self.limits.life.as_secs());
        let mut plain = Vec::with_capacity(EXPIRY + text.len());
        plain.extend_from_slice(&expiry.to_be_bytes());
        plain.extend_from_slice(text);
        let nonce: [u8; NONCE] = random().ok_or(Unsealed::Failed)?;
        let payload = Payload { msg: &plain, aad: &bound.0 };
        let first = self.ring().and_then(|ring| ring.first()).ok_or(Unsealed::Failed)?;
        let sealed = first.encrypt(&XNonce::from(nonce), payload).map_err(|_| Unsealed::Failed)?;
        let sealed = URL_SAFE_NO_PAD.encode([&[VERSION][..], &nonce, &sealed].concat());
        if sealed.len() > self.limits.sent { Err(Unsealed::TooLarge(sealed.len())) } else { Ok(sealed) }
    }

    /// Opens a state that came with a request. `bound` is called only for a well-formed state, since it reads all
    /// arguments.
    ///
    /// # Errors
    ///
    /// [`refused`], whatever is wrong with it. Only the log has the reason.
    pub(crate) fn open(&self, state: &str, bound: impl FnOnce() -> Binding) -> Result<Vec<u8>, McpError> {
        self.try_open(state, bound).map_err(|why| {
            log::debug!("refused a `requestState`: {why}");
            refused()
        })
    }

    fn try_open(&self, state: &str, bound: impl FnOnce() -> Binding) -> Result<Vec<u8>, String> {
        let most = self.limits.accepted;
        if state.len() > most {
            return Err(format!("it has {} bytes (the limit is {most})", state.len()));
        }
        let bytes = URL_SAFE_NO_PAD.decode(state).map_err(|_| "it is malformed")?;
        let sealed = bytes.strip_prefix(&[VERSION]).ok_or("it is malformed")?;
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or("it is malformed")?;
        if sealed.len() < EXPIRY + TAG {
            return Err("it is malformed".to_owned());
        }
        let nonce = XNonce::from(*nonce);
        let ring = self.ring().ok_or("there is no key")?;
        let bound = bound();
        let open = |key: &XChaCha20Poly1305| key.decrypt(&nonce, Payload { msg: sealed, aad: &bound.0 }).ok();
        let plain = ring.iter().find_map(open).ok_or("no key opens it, or it belongs to another request")?;
        let (expiry, text) = plain.split_first_chunk().ok_or("it is malformed")?;
        if self.now() >= u64::from_be_bytes(*expiry) {
            return Err("it has expired".to_owned());
        }
        Ok(text.to_vec())
    }

    /// The keys; a random key of this process if none was set.
    fn ring(&self) -> Option<&[XChaCha20Poly1305]> {
        if let Some(ring) = self.ring.get() {
            return Some(ring);
        }
        let key: [u8; 32] = random()?;
        Some(self.ring.get_or_init(|| {
            log::info!(
                "`requestState` is sealed with a random key: retries fail on other processes and after a restart; set \
                 common keys with `ServerBuilder::state_keys`"
            );
            vec![XChaCha20Poly1305::new(&key.into())]
        }))
    }

    /// Seconds since 1970.
    fn now(&self) -> u64 {
        (self.clock)().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Some(bytes),
        Err(error) => {
            log::error!("the system has no random bytes: {error}");
            None
        }
    }
}

/// The error for every state that is not valid for a request.
pub(crate) fn refused() -> McpError {
    McpError::invalid_params("`requestState` is not valid for this request")
}

/// A digest of the request that a state is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding([u8; 32]);

impl Binding {
    /// The request of `method` for `target` with these arguments (JSON text; `None` is `{}`), made to `audience` on
    /// behalf of `principal`.
    pub(crate) fn new(
        audience: &str,
        principal: Option<&Principal>,
        method: &str,
        target: &str,
        arguments: Option<&str>,
    ) -> Self {
        let arguments = canonical::digest(arguments.unwrap_or("{}"));
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        part(audience.as_bytes());
        for name in [principal.map(Principal::name), principal.and_then(Principal::client)] {
            part(&[name.is_some().into()]);
            part(name.unwrap_or_default().as_bytes());
        }
        part(method.as_bytes());
        part(target.as_bytes());
        part(&arguments);
        Self(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests;
