//! The rules of the wire, over the real transport and the real session actor, in this process and on paused time.
//!
//! `fixture` is the server that is spoken to. Scripts are in the words of `actix_mcp::testing::script`.

mod answers;
mod arguments;
mod asks;
mod batches;
mod blocking;
mod cancel;
mod checks;
mod collided;
mod collisions;
mod completions;
mod declared;
mod end;
mod eras;
#[path = "../schemas/everything.rs"]
mod everything;
mod fixture;
mod gate;
mod handshake;
mod ids;
mod interview;
mod layers;
mod limits;
mod lines;
mod listens;
mod metadata;
mod model;
mod modern;
mod notices;
mod output;
mod owed;
mod pages;
mod panics;
mod progress;
mod puppet;
mod revisions;
mod rounds;
mod sessions;
mod shapes;
mod sizes;
mod standalone;
mod streams;
mod structured;
mod turns;
mod unanswerable;
mod uris;
mod values;
