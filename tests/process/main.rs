//! The examples as processes of their own: how they end, what they take, and what they write where.
//!
//! Whatever is waited for is an event (a line, the end of a process); [`PATIENCE`](program::PATIENCE) only keeps a test
//! that fails from hanging. The processor time and the memory of a process are what Linux says of it.

mod ends;
mod http;
mod interview;
mod logs;
mod program;
mod readers;
mod readme;
mod served;
mod tries;
