//! How a change on one node of a server reaches the clients of the others.
//!
//! A server on one node needs nothing of this: its own clients are told without it, whether a bus works or not. No message of
//! a session or a call ever goes through a bus.
//!
//! Read next: `sessions` (which publishes, and gives out the [`Node`]).

use std::{fmt, sync::Arc};

use actix_mcp_router::Change;

/// Carries the changes of one node to the other nodes of the same server, such as over a message broker.
///
/// One value serves one node. It gets the node's [`Node`] when it is made, and gives it what happens on other nodes.
///
/// ```
/// # use actix_mcp_router::Change;
/// # use actix_mcp_session::bus::{Bus, Node};
/// # use std::sync::mpsc::Sender;
/// struct Broker {
///     out: Sender<Change>,
/// }
///
/// impl Bus for Broker {
///     fn publish(&self, change: Change) {
///         // a broker that is gone is no reason to stop
///         self.out.send(change).ok();
///     }
/// }
/// ```
pub trait Bus: Send + Sync + 'static {
    /// Takes a change that happened on this node, for the others. Its own clients have been told: it must not come back.
    ///
    /// Never waits. Called from any thread, many times in a row, by whoever made the change: one that is waiting to be sent
    /// and the same again are worth one.
    fn publish(&self, change: Change);
}

/// For tests and small things: a function that takes the changes.
impl<F: Fn(Change) + Send + Sync + 'static> Bus for F {
    fn publish(&self, change: Change) {
        self(change);
    }
}

/// The clients of one node, for its [`Bus`]. It keeps no server alive.
#[derive(Clone)]
pub struct Node(Arc<dyn Fn(&Change) -> bool + Send + Sync>);

impl Node {
    /// `tell` tells this node's clients, and is `false` if the server is gone.
    pub(crate) fn new(tell: impl Fn(&Change) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells this node's clients of a change that happened on another. It is not published again. Never waits.
    ///
    /// `false` if the server is gone.
    pub fn deliver(&self, change: &Change) -> bool {
        (self.0)(change)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}
