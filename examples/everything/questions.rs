//! Tools that ask: the user, by a form or on a web page, and the client's model.

use std::fmt::Display;

use actix_mcp::{QuestionError, prelude::*, question::SamplingRequest};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Answer {
    x: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Form,
    Url,
}

/// Why a question failed, as a result for the model. From 2026-07-28 on, if the client does not support the question,
/// the framework answers with its own error instead.
type Failed = anyhow::Error;

fn failed(err: impl Display) -> Failed {
    anyhow::anyhow!("ask failed: {err}")
}

/// Asks the user.
#[tool]
async fn ask(
    /// The subject of the question.
    target: Option<String>,
    /// A form (the default), or a web page.
    mode: Option<Mode>,
    client: Client,
) -> Result<String, Failed> {
    let mode = mode.unwrap_or(Mode::Form);
    let message = match &target {
        Some(target) => format!("input wanted for {target}"),
        None => "input wanted".to_owned(),
    };
    let answer = match mode {
        Mode::Form => client.elicit::<Answer>(message).key("k").await.map(|answer| answer.x),
        Mode::Url => {
            client.elicit_url(message, "https://example.com/auth").key("k").await.map(|()| String::new())
        }
    };
    match (answer, target) {
        (Ok(x), None) => Ok(format!("accept:{x}")),
        (Ok(x), Some(target)) => Ok(format!("accept:{x}:{target}")),
        (Err(QuestionError::Declined), _) => Ok("declined".to_owned()),
        (Err(QuestionError::Cancelled), _) => Ok("cancelled".to_owned()),
        (Err(err), _) => Err(failed(err)),
    }
}

/// Asks the client's model.
#[tool]
async fn sample(client: Client) -> Result<String, Failed> {
    let request = SamplingRequest::text("hello").max_tokens(10);
    let answer = client.sample(request).key("k").await.map_err(failed)?;
    Ok(answer.text())
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server.tool(ask).tool(sample)
}
