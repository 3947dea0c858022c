//! Questions to the client: elicitation, sampling, roots, and the rounds that carry them where there is no session.
//!
//! Never reads a request. Read next: `client`, then `question`.

pub mod client;
pub mod elicit;
pub(crate) mod input_required;
pub(crate) mod question;
pub(crate) mod responses;
pub mod roots;
pub mod sample;
