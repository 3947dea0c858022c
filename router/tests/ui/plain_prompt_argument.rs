//! An argument of a prompt that is not an extractor: there is no attribute for prompts.
use actix_mcp_router::Prompt;

async fn thank(times: i32) -> String {
    "thanks ".repeat(times as usize)
}

fn main() {
    Prompt::new("thank", thank);
}
