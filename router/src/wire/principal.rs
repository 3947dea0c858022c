//! Whom a request acts for.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
    time::SystemTime,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

/// Whom a request acts for, as determined by your application's middleware.
///
/// Two principals are equal if their names and clients are, regardless of their other contents. A session belongs to
/// the principal that opened it, and does not exist for requests of other principals. Scopes, expiry, claims and values
/// belong to one request.
///
/// Clones share their contents. The contents are for the server's own code and are never sent to a client.
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_router::*; }
/// use actix_mcp::Principal;
///
/// struct User {
///     shop: u32,
/// }
///
/// let principal = Principal::new("ada").scopes(["notes:read"]).with(User { shop: 7 });
/// assert!(principal.has_scope("notes:read") && !principal.has_scope("notes:write"));
/// assert_eq!(principal.get::<User>().map(|user| user.shop), Some(7));
/// assert_eq!(principal, Principal::new("ada"));
/// ```
#[derive(Clone)]
pub struct Principal(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    name: Arc<str>,
    client: Option<Arc<str>>,
    scopes: Vec<Arc<str>>,
    expires: Option<SystemTime>,
    claims: Option<Arc<RawValue>>,
    values: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl Principal {
    /// A principal with the name by which your application knows it: a user id, never a token.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let (scopes, values) = (Vec::new(), HashMap::new());
        Self(Arc::new(Parts { name: name.into(), client: None, scopes, expires: None, claims: None, values }))
    }

    /// Sets the client program, such as the client id of a token. The same name with another client is another
    /// principal.
    #[must_use]
    pub fn with_client(self, client: impl Into<Arc<str>>) -> Self {
        self.change(|parts| parts.client = Some(client.into()))
    }

    /// Sets the scopes that the request was granted.
    #[must_use]
    pub fn scopes(self, scopes: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        self.change(|parts| parts.scopes = scopes.into_iter().map(Into::into).collect())
    }

    /// Sets the time at which all this expires, such as that of a token.
    #[must_use]
    pub fn expires_at(self, time: SystemTime) -> Self {
        self.change(|parts| parts.expires = Some(time))
    }

    /// Adds the verified claims of a token, for [`claims`](Self::claims).
    ///
    /// # Errors
    ///
    /// If the claims do not serialize to JSON.
    pub fn with_claims(self, claims: &impl Serialize) -> serde_json::Result<Self> {
        let claims = to_raw_value(claims)?;
        Ok(self.change(|parts| parts.claims = Some(claims.into())))
    }

    /// Adds a value, such as your application's own user type. An earlier value of the same type is replaced.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.change(|parts| drop(parts.values.insert(TypeId::of::<T>(), Arc::new(value))))
    }

    fn change(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The client program, if it is known.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        self.0.client.as_deref()
    }

    /// Whether the request was granted this scope.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.iter().any(|granted| **granted == *scope)
    }

    /// All scopes that the request was granted.
    pub fn granted(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(|scope| &**scope)
    }

    /// The time at which all this expires, if it is known.
    #[must_use]
    pub fn expiry(&self) -> Option<SystemTime> {
        self.0.expires
    }

    /// The verified claims as a type of your application; `None` if there are none, or if they do not deserialize.
    #[must_use]
    pub fn claims<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.0.claims.as_ref()?.get()).ok()
    }

    /// The value of this type that was [added](Self::with).
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.values.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name && self.0.client == other.0.client
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
        self.0.client.hash(state);
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Principal(..)")
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_principal_is_its_name_and_its_client_and_nothing_else() {
        let ada = Principal::new("ada").with_client("editor");
        let again = Principal::new("ada")
            .with_client("editor")
            .scopes(["a", "b"])
            .expires_at(SystemTime::UNIX_EPOCH)
            .with(7_u32)
            .with_claims(&json!({ "tenant": 1 }))
            .unwrap();
        assert_eq!(ada, again);
        let state = std::hash::RandomState::new();
        use std::hash::BuildHasher;
        assert_eq!(state.hash_one(&ada), state.hash_one(&again));
        for other in [
            Principal::new("ada"),
            Principal::new("ada").with_client("other"),
            Principal::new("bob").with_client("editor"),
            Principal::new("adaeditor"),
        ] {
            assert_ne!(ada, other);
        }
    }

    #[test]
    fn a_clone_keeps_what_it_held_when_the_original_is_changed() {
        let reader = Principal::new("ada").scopes(["read"]).with("one");
        let writer = reader.clone().scopes(["write"]).with("two");
        assert!(reader.has_scope("read") && !reader.has_scope("write"));
        assert!(writer.granted().eq(["write"]));
        assert_eq!((reader.get::<&str>(), writer.get::<&str>()), (Some(&"one"), Some(&"two")));
        assert_eq!(reader.get::<u8>(), None);
    }

    #[test]
    fn claims_are_read_as_the_type_of_the_application() {
        #[derive(Deserialize)]
        struct Tenant {
            tenant: u32,
        }
        let principal = Principal::new("ada").with_claims(&json!({ "tenant": 7, "iss": "x" })).unwrap();
        assert_eq!(principal.claims::<Tenant>().map(|claims| claims.tenant), Some(7));
        assert!(principal.claims::<Vec<u32>>().is_none());
        assert!(Principal::new("ada").claims::<Tenant>().is_none());
        assert_eq!(format!("{principal:?}"), "Principal(..)", "nothing of it is for a log");
    }
}
