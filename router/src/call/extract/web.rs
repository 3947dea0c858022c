//! Extractors that need actix-web: the app's data, the HTTP request, and values that middleware put into it.

use std::{
    any::type_name,
    future::{Future, ready},
    net::SocketAddr,
};

use actix_web::{
    HttpMessage, HttpRequest,
    dev::RequestHead,
    http::{Uri, header::HeaderMap},
    web,
};

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
    },
    wire::error::{ErrorCode, McpError},
};

/// The application's mistake: logged in full; the client gets "internal error".
fn lacks(what: String) -> McpError {
    McpError::new(ErrorCode::INTERNAL_ERROR, what)
}

/// The app's data, innermost scope first, as in actix-web; otherwise the server's data, which is all there is over
/// stdio.
impl<T: ?Sized + 'static> FromCall for web::Data<T> {
    fn describe(spec: &mut HandlerSpec) {
        spec.data::<T>();
    }

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let app = call.http().and_then(|request| request.app_data::<Self>().cloned());
        let found = app.or_else(|| call.data::<T>().map(Self::from));
        ready(found.ok_or_else(|| {
            lacks(format!("neither the app nor the server has a `web::Data<{}>`", type_name::<T>()))
        }))
    }
}

/// The HTTP request that carries the call.
///
/// Over stdio there is none: the call fails, and an `Option<Http>` is `None`.
#[derive(Clone, Debug)]
pub struct Http(HttpRequest);

impl Http {
    /// Method, URI, version and headers.
    #[must_use]
    pub fn head(&self) -> &RequestHead {
        self.0.head()
    }

    /// The URI.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        self.0.uri()
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// The other end of the connection: the client, or the last proxy before this server.
    #[must_use]
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.0.peer_addr()
    }

    /// The request itself.
    #[must_use]
    pub fn request(&self) -> &HttpRequest {
        &self.0
    }
}

impl FromCall for Http {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let request = call.http().cloned().map(Self);
        ready(request.ok_or_else(|| lacks("there is no HTTP request on this transport".to_owned())))
    }
}

/// A value that middleware inserted into the HTTP request's extensions.
///
/// Without one the call fails with an internal error; an `Option<FromMiddleware<T>>` is then `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromMiddleware<T>(pub T);

impl<T: Clone + 'static> FromCall for FromMiddleware<T> {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let value = call.http().and_then(|request| request.extensions().get::<T>().cloned());
        ready(
            value.map(Self).ok_or_else(|| {
                lacks(format!("no middleware has put a `{}` into the request", type_name::<T>()))
            }),
        )
    }
}
