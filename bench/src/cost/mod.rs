//! The exact cost of one call: allocations and instructions.
//!
//! Nothing here is timed. Calls run one after another on one connection, so that the counts are the same in every run.

mod allocations;
mod drive;
mod figures;
mod instructions;

pub(crate) use self::{allocations::allocations, figures::check, instructions::instructions};

/// The kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `echo` in a session.
    Session,
    /// `echo` at revision 2026-07-28.
    Stateless,
    /// Opens a session, calls `echo` once, and deletes the session.
    Churn,
    /// One progress notification, of many in a call.
    Progress,
    /// `echo` over stdio.
    Stdio,
}

impl Mode {
    pub(crate) const ALL: [Self; 5] =
        [Self::Session, Self::Stateless, Self::Churn, Self::Progress, Self::Stdio];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Stateless => "stateless",
            Self::Churn => "churn",
            Self::Progress => "progress",
            Self::Stdio => "stdio",
        }
    }

    /// The number of units in one step of the drive.
    fn units(self) -> u64 {
        match self {
            Self::Progress => drive::NOTIFICATIONS,
            Self::Session | Self::Stateless | Self::Churn | Self::Stdio => 1,
        }
    }
}

/// The cost of one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
}
