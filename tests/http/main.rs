//! Streamable HTTP, byte by byte: the real `HttpService` on streams in memory and on paused time, and real sockets where it
//! takes several workers.
//!
//! `client` is the other side of the wire, `served` the server and a client of one session, `fixture` what is served.

mod blocking;
mod bodies;
mod calls;
mod cancels;
mod client;
#[path = "../wire/collided.rs"]
mod collided;
mod collisions;
mod compress;
mod cut;
mod disconnects;
mod duplicates;
mod eras;
mod errors;
mod extractors;
#[path = "../wire/fixture.rs"]
mod fixture;
mod floods;
mod foreign;
#[path = "../wire/gate.rs"]
mod gate;
mod gets;
mod goers;
mod h2c;
mod http_1_0;
#[path = "../wire/interview.rs"]
mod interview;
mod kept;
mod labels;
mod limits;
mod listens;
mod listens_workers;
mod lives;
mod logs;
#[path = "../wire/metadata.rs"]
mod metadata;
mod methods;
mod mirrored;
mod modern;
mod mounts;
mod named;
mod nginx;
mod order;
mod origins;
mod owed;
mod owner;
mod preflights;
mod races;
mod readers;
mod refused;
mod repeated;
mod requests;
mod resumes;
mod rounds;
mod served;
mod sessions;
mod shutdowns;
mod spans;
mod streams;
mod talkers;
mod times;
mod told;
#[path = "../wire/turns.rs"]
mod turns;
mod unanswerable;
mod unix;
mod upgrades;
mod values;
mod workers;
