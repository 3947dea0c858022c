//! The attribute macros of actix-mcp; use them through the facade crate.
