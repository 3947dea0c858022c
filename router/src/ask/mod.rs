//! Questions to the client: elicitation, sampling and roots, awaited by a handler or returned in place of a result.
//!
//! Never reads a request. Read next: `client`, then `question`.

pub(crate) mod client;
pub(crate) mod elicit;
pub(crate) mod input_required;
pub(crate) mod question;
pub(crate) mod responses;
pub(crate) mod roots;
pub(crate) mod sample;
