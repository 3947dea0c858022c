//! What one call costs exactly: allocations, and instructions.
//!
//! Nothing here is timed. One call is made after another on one connection, so that the counts are the same in every run.

mod allocations;
mod drive;
mod figures;
mod instructions;

pub(crate) use self::{allocations::allocations, figures::check, instructions::instructions};

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `echo` in a session.
    Session,
    /// `echo` at revision 2026-07-28.
    Stateless,
    /// A session is opened, used for one call of `echo`, and deleted.
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

    /// How many units one step of the drive is worth.
    fn units(self) -> u64 {
        match self {
            Self::Progress => drive::NOTIFICATIONS,
            Self::Session | Self::Stateless | Self::Churn | Self::Stdio => 1,
        }
    }
}

/// What one unit needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
}
