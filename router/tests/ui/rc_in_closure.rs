//! A handler that cannot be shared between workers.
use std::rc::Rc;

use actix_mcp_router::Tool;

fn main() {
    let n = Rc::new(1);
    Tool::new("n", move || {
        let n = n.clone();
        async move { *n }
    });
}
