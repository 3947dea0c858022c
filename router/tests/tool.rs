//! Tools as an author writes them, called as dispatch calls them.
use actix_mcp_router::{
    call::{Call, Origin},
    data::DataMap,
    tool,
    tool::IntoTool,
};
use std::sync::Arc;

/// Adds two integers.
#[tool(crate = "actix_mcp_router", read_only)]
async fn add(
    /// The one.
    a: i64,
    b: Option<i64>,
) -> i64 {
    a + b.unwrap_or(1)
}

#[tokio::test]
async fn add_is_a_plain_function_and_a_tool() {
    assert_eq!(add(1, Some(2)).await, 3);
    let tool = add.into_tool();
    println!("{}", serde_json::to_string(tool.definition()).unwrap());
    let call = Call::new(
        Origin::detached(),
        Arc::new(DataMap::default()),
        "add".into(),
        Some("{\"a\":1}".into()),
        None,
        None,
    );
    println!("{:?}", Arc::new(tool).call(call).await);
}
