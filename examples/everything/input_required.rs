//! Questions of revision 2026-07-28 for the official conformance suite: tools and a prompt that return questions, and
//! continue when the client repeats the request with the answers.
//!
//! The suite requires these names, keys and texts.

use actix_mcp::{QuestionError, client::ClientCapability, prelude::*, question::SamplingRequest};
use futures_util::future::join3;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Asks the user for a name.
#[tool]
async fn test_input_required_result_elicitation(client: Client) -> Result<String, QuestionError> {
    let Name { name } = client.elicit("What is your name?").key("user_name").await?;
    Ok(format!("Hello, {name}!"))
}

fn capital() -> SamplingRequest {
    SamplingRequest::text("What is the capital of France?").max_tokens(100)
}

/// Asks the client's model.
#[tool]
async fn test_input_required_result_sampling(client: Client) -> Result<String, QuestionError> {
    Ok(client.sample(capital()).key("capital_question").await?.text())
}

/// Asks for the client's roots.
#[tool]
async fn test_input_required_result_list_roots(client: Client) -> Result<String, QuestionError> {
    let roots = client.roots().key("client_roots").await?;
    let roots: Vec<_> = roots.iter().map(|root| &*root.uri).collect();
    Ok(format!("Roots: {}", roots.join(", ")))
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    ok: bool,
}

/// Asks the user to confirm; the state of the call is sealed.
#[tool]
async fn test_input_required_result_request_state(client: Client) -> Result<String, QuestionError> {
    let Confirm { ok } = client.elicit("Shall it go on?").key("confirm").await?;
    Ok(format!("state-ok: {ok}"))
}

/// Does the same, for a client that tampers with the sealed state.
#[tool]
async fn test_input_required_result_tampered_state(client: Client) -> Result<String, QuestionError> {
    let Confirm { ok } = client.elicit("Shall it go on?").key("confirm").await?;
    Ok(format!("confirmed: {ok}"))
}

/// Asks the user, the model and the client at once.
#[tool]
async fn test_input_required_result_multiple_inputs(client: Client) -> anyhow::Result<String> {
    let greeting = SamplingRequest::text("Greet the user.").max_tokens(50);
    let (name, greeting, roots) = join3(
        client.elicit::<Name>("What is your name?").key("user_name"),
        client.sample(greeting).key("greeting"),
        client.roots().key("client_roots"),
    )
    .await;
    let (name, greeting, roots) = (name?.name, greeting?.text(), roots?.len());
    Ok(format!("{name}: {greeting} ({roots} roots)"))
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    color: String,
}

/// Asks the user twice, one after the other.
#[tool]
async fn test_input_required_result_multi_round(client: Client) -> Result<String, QuestionError> {
    let Name { name } = client.elicit("Step 1: What is your name?").key("step1").await?;
    let Color { color } = client.elicit("Step 2: What is your favorite color?").key("step2").await?;
    Ok(format!("{name} likes {color}"))
}

/// Asks only questions that the client supports.
#[tool]
async fn test_input_required_result_capabilities(client: Client) -> anyhow::Result<String> {
    if client.supports(ClientCapability::ElicitationForm) {
        let Name { name } = client.elicit("What is your name?").key("user_name").await?;
        return Ok(name);
    }
    Ok(client.sample(capital()).key("capital_question").await?.text())
}

#[derive(Deserialize, JsonSchema)]
struct Context {
    context: String,
}

async fn prompt(client: Client) -> Result<String, QuestionError> {
    let Context { context } = client.elicit("What should the prompt be about?").key("user_context").await?;
    Ok(format!("Tell me about {context}."))
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(test_input_required_result_elicitation)
        .tool(test_input_required_result_sampling)
        .tool(test_input_required_result_list_roots)
        .tool(test_input_required_result_request_state)
        .tool(test_input_required_result_tampered_state)
        .tool(test_input_required_result_multiple_inputs)
        .tool(test_input_required_result_multi_round)
        .tool(test_input_required_result_capabilities)
}

/// Registers the prompt that asks, after the other prompts.
pub(crate) fn offer_prompt(server: ServerBuilder) -> ServerBuilder {
    let prompt = Prompt::new("test_input_required_result_prompt", prompt);
    server.prompt(prompt.description("Asks the user what it should be about."))
}
