//! Questions to the client: elicitation, sampling, roots, and the rounds that carry them where there is no session.
//!
//! Never reads a request. Read next: `client`, then `question`.

pub(crate) mod client;
pub(crate) mod elicit;
pub(crate) mod input_required;
pub(crate) mod question;
pub(crate) mod responses;
pub(crate) mod roots;
pub(crate) mod sample;
