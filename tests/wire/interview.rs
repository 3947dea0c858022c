//! Tools that ask the user, with each kind of error a tool can have: their bodies know nothing of eras. And a client from
//! 2026-07-28 on, which says in each request who it is.

use actix_mcp::{
    InputRequired, InputResponses, Outcome, QuestionError, ServerBuilder, StateKey, client::ClientCapability,
    prelude::*,
};
use futures_util::future::try_join;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn name(client: &Client, message: &str) -> Result<String, QuestionError> {
    client.elicit::<Name>(message).await.map(|form| form.name)
}

#[tool]
async fn text(client: Client) -> Result<String, String> {
    Ok(format!("{} {}", name(&client, "a?").await?, name(&client, "b?").await?))
}

#[tool]
async fn any(client: Client) -> anyhow::Result<String> {
    Ok(format!("{} {}", name(&client, "a?").await?, name(&client, "b?").await?))
}

#[derive(Debug, thiserror::Error)]
enum Own {
    #[error("no answer")]
    Elicit(#[from] QuestionError),
}

#[tool]
async fn own(client: Client) -> Result<String, Own> {
    Ok(format!("{} {}", name(&client, "a?").await?, name(&client, "b?").await?))
}

#[tool]
async fn ignored(client: Client) -> String {
    let a = name(&client, "a?").await.ok().unwrap_or_default();
    format!("{a} {}", name(&client, "b?").await.unwrap_or_default())
}

#[tool]
async fn joined(client: Client, progress: Progress) -> Result<String, QuestionError> {
    let (a, b) = try_join(name(&client, "a?"), name(&client, "b?")).await?;
    progress.report(1).await.ok();
    Ok(format!("{a} {b}"))
}

#[tool]
async fn late(client: Client, progress: Progress) -> Result<String, QuestionError> {
    progress.report(1).await.ok();
    name(&client, "late?").await
}

#[tool]
pub(crate) async fn one(item: Option<String>, client: Client) -> Result<String, QuestionError> {
    let Name { name } = client.elicit(format!("a name for {item:?}?")).key("user_name").await?;
    Ok(name)
}

#[tool]
async fn needs(client: Client) -> Result<&'static str, McpError> {
    client.require(ClientCapability::Sampling)?;
    Ok("fine")
}

#[tool]
async fn by_hand(answers: InputResponses) -> Result<Outcome<String>, QuestionError> {
    let Some(Name { name }) = answers.elicited("who")? else {
        return Ok(InputRequired::new().elicit::<Name>("who", "who?").state("asked").into());
    };
    Ok(Outcome::Complete(format!("{name} {}", answers.state().unwrap_or_default())))
}

async fn prompt(client: Client) -> Result<String, QuestionError> {
    name(&client, "who?").await
}

/// The tools that ask `a?` and `b?` one after the other.
pub(crate) const IN_A_ROW: [&str; 4] = ["text", "any", "own", "ignored"];

pub(crate) fn server(key: impl Into<StateKey>) -> Server {
    builder(key).build()
}

pub(crate) fn builder(key: impl Into<StateKey>) -> ServerBuilder {
    Server::builder("interview", "1")
        .state_keys([key])
        .tool(text)
        .tool(any)
        .tool(own)
        .tool(ignored)
        .tool(joined)
        .tool(late)
        .tool(one)
        .tool(needs)
        .tool(by_hand)
        .prompt(Prompt::new("one", prompt))
}

/// What the user fills in.
pub(crate) fn named(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// The parameters of a retry.
pub(crate) fn retry(mut params: Value, state: &Value, answers: Value) -> Value {
    params["requestState"] = state.clone();
    params["inputResponses"] = answers;
    params
}

/// Answers each question of a result with its own message.
pub(crate) fn echo(result: &Value) -> Value {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let answer = |(key, asked): (&String, &Value)| {
        assert_eq!(asked["method"], "elicitation/create");
        (key.clone(), named(asked["params"]["message"].as_str().expect("a message")))
    };
    result["inputRequests"].as_object().expect("questions").iter().map(answer).collect()
}
