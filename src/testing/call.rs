//! A call without a server.

use std::sync::Arc;

use actix_mcp_router::{
    Call, Peer, Principal,
    internal::{CallContext, DataMap},
};
use actix_web::HttpRequest;
use serde_json::Value;

/// Builds a call without a server or session, for unit tests of extractors and handlers. It is to a call what
/// `actix_web::test::TestRequest` is to a request.
///
/// Progress and logs of the call are discarded. Questions to its client fail with `Unsupported`; a test that answers
/// questions connects a [`Pipe`](super::Pipe).
///
/// ```
/// # mod actix_web { pub use ::actix_web::main as test; }
/// use actix_mcp::{Call, FromCall, McpError, Principal, testing::TestCall};
///
/// /// The shop that the request acts for.
/// struct Shop(String);
///
/// impl FromCall for Shop {
///     async fn from_call(call: &Call) -> Result<Self, McpError> {
///         let principal = Principal::from_call(call).await?;
///         let (_, shop) = principal.name().split_once('@').ok_or_else(|| McpError::invalid_request("no shop"))?;
///         Ok(Self(shop.to_owned()))
///     }
/// }
///
/// #[actix_web::test]
/// async fn the_shop_is_behind_the_at() {
///     let call = TestCall::new().principal(Principal::new("ada@tea")).call();
///     assert_eq!(Shop::from_call(&call).await.unwrap().0, "tea");
///     assert!(Shop::from_call(&TestCall::new().call()).await.is_err());
/// }
/// # fn main() { the_shop_is_behind_the_at() }
/// ```
#[derive(Clone, Debug)]
pub struct TestCall {
    context: CallContext,
    data: DataMap,
    arguments: Option<Value>,
    meta: Option<Value>,
}

impl TestCall {
    /// A call without arguments, from a client that declared no capabilities.
    #[must_use]
    pub fn new() -> Self {
        Self { context: CallContext::detached(), data: DataMap::default(), arguments: None, meta: None }
    }

    /// Sets its arguments, an object.
    #[must_use]
    pub fn arguments(mut self, arguments: Value) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Sets its `_meta`, an object.
    #[must_use]
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Adds a value that `web::Data<T>` extracts, as `ServerBuilder::data` does.
    #[must_use]
    pub fn data<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.data.insert(Arc::new(value));
        self
    }

    /// Sets the principal that it acts for.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.context.principal = Some(principal);
        self
    }

    /// Sets its HTTP request, such as one built by `actix_web::test::TestRequest`.
    #[must_use]
    pub fn http(mut self, request: HttpRequest) -> Self {
        self.context.http = Some(request);
        self
    }

    /// Sets its client: revision, capabilities and name.
    #[must_use]
    pub fn peer(mut self, peer: Peer) -> Self {
        self.context.peer = Arc::new(peer);
        self
    }

    /// Builds the call.
    #[must_use]
    pub fn call(self) -> Call {
        let text = |value: Value| value.to_string().into();
        let (arguments, meta) = (self.arguments.map(text), self.meta.map(text));
        self.context.into_call(Arc::new(self.data), "test".into(), arguments, meta, None)
    }
}

impl Default for TestCall {
    fn default() -> Self {
        Self::new()
    }
}
