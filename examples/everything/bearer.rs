//! Who a request acts for: bearer tokens, checked by middleware of the application.
//!
//! The framework takes whatever [`Principal`] middleware puts into the request, and binds sessions to it. Here a list of
//! tokens says who that is; a real server asks its identity provider in this place.

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

/// Whom each token acts for.
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

    /// Whether there are none: then nobody is asked for one.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whom a request with this header acts for.
    fn find(&self, request: &ServiceRequest) -> Option<&Principal> {
        let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
        // RFC 9110, 11.1: the scheme is matched without regard to case
        let (scheme, token) = header.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") { self.0.get(token.trim()) } else { None }
    }
}

/// Lets requests with a known token through, in the name of its principal; others are 401.
pub(crate) async fn check(
    tokens: web::Data<Tokens>,
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let Some(principal) = tokens.find(&request) else {
        let refusal = HttpResponse::Unauthorized().insert_header((WWW_AUTHENTICATE, "Bearer")).finish();
        return Err(InternalError::from_response("no token that is known", refusal).into());
    };
    request.extensions_mut().insert(principal.clone());
    next.call(request).await
}
