//! Everything that differs by revision of the protocol, in one place.
//!
//! **Invariant:** no other module compares revisions.

/// A revision of the protocol with the `initialize` handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
}
