//! How a change on one node of a server reaches the clients of the others.
//!
//! A server on a single node needs no bus: its own clients are notified directly, whether a bus works or not. No
//! message of a session or a call ever goes through a bus.
//!
//! Read next: `sessions` (which publishes, and creates the [`Node`]).

use std::{fmt, sync::Arc};

use actix_mcp_router::Change;

/// Carries the changes of one node to the other nodes of the same server, such as over a message broker.
///
/// One value serves one node. Create it with that node's [`Node`], and call [`Node::deliver`] for changes on other
/// nodes.
///
/// ```
/// # use actix_mcp_router::Change;
/// # use actix_mcp_session::{Bus, Node};
/// # use std::sync::mpsc::Sender;
/// struct Broker {
///     out: Sender<Change>,
/// }
///
/// impl Bus for Broker {
///     fn publish(&self, change: Change) {
///         // a broker that is down must not stop the server
///         self.out.send(change).ok();
///     }
/// }
/// ```
pub trait Bus: Send + Sync + 'static {
    /// Publishes a change on this node to the other nodes. This node's own clients are already notified, so do not
    /// deliver the change to this node again.
    ///
    /// Must not block. It is called on the thread that announced the change, possibly many times in a row. While a
    /// change waits to be sent, an equal one may be dropped.
    fn publish(&self, change: Change);
}

/// A function can be a bus, for tests and simple cases.
impl<F: Fn(Change) + Send + Sync + 'static> Bus for F {
    fn publish(&self, change: Change) {
        self(change);
    }
}

/// The clients of one node, for its [`Bus`]. It does not keep the server alive.
#[derive(Clone)]
pub struct Node(Arc<dyn Fn(&Change) -> bool + Send + Sync>);

impl Node {
    /// `tell` notifies this node's clients; it returns `false` if the server no longer exists.
    pub(crate) fn new(tell: impl Fn(&Change) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Notifies this node's clients of a change on another node. The change is not published again. Never blocks.
    ///
    /// Returns `false` if the server no longer exists.
    pub fn deliver(&self, change: &Change) -> bool {
        (self.0)(change)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}
