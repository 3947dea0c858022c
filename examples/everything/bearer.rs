//! Authentication: bearer tokens, checked by the application's own middleware.
//!
//! The framework uses the [`Principal`] that middleware puts into the request's extensions, and binds sessions to it.
//! Here a list of tokens determines the principal; a real server would ask its identity provider.

use std::collections::HashMap;

use actix_mcp::prelude::*;
use actix_web::{
    Error, HttpMessage, HttpResponse,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    error::InternalError,
    http::header::{AUTHORIZATION, WWW_AUTHENTICATE},
    middleware::Next,
};

/// The principal of each token.
#[derive(Default)]
pub(crate) struct Tokens(HashMap<String, Principal>);

impl Tokens {
    /// Adds a `NAME=TOKEN`. A name may have several tokens.
    pub(crate) fn add(&mut self, pair: &str) -> Result<(), String> {
        match pair.split_once('=') {
            Some((name, token)) if !name.is_empty() && !token.is_empty() => {
                self.0.insert(token.to_owned(), Principal::new(name));
                Ok(())
            }
            _ => Err("--bearer takes NAME=TOKEN".to_owned()),
        }
    }

    /// Whether there are no tokens, so that none is required.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The principal of a request, by its `Authorization` header.
    fn find(&self, request: &ServiceRequest) -> Option<&Principal> {
        let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
        // RFC 9110, 11.1: the scheme is case-insensitive
        let (scheme, token) = header.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") { self.0.get(token.trim()) } else { None }
    }
}

/// Passes requests with a known token on, with its principal; others get 401.
pub(crate) async fn check(
    tokens: web::Data<Tokens>,
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let Some(principal) = tokens.find(&request) else {
        let refusal = HttpResponse::Unauthorized().insert_header((WWW_AUTHENTICATE, "Bearer")).finish();
        return Err(InternalError::from_response("no known bearer token", refusal).into());
    };
    request.extensions_mut().insert(principal.clone());
    next.call(request).await
}
