//! Questions that the official conformance suite answers: forms for the user, and one to the model.
//!
//! The suite requires these names and texts. One form is a type; the others are schemas written by hand, as the suite
//! expects them.

use actix_mcp::{QuestionError, prelude::*, question::SamplingRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Asks the client's model.
#[tool]
async fn test_sampling(prompt: String, client: Client) -> Result<String, QuestionError> {
    let answer = client.sample(SamplingRequest::text(prompt).max_tokens(100)).await?;
    Ok(format!("LLM response: {}", answer.text()))
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// Asks the user for a name and an address.
#[tool]
async fn test_elicitation(message: String, client: Client) -> Result<String, QuestionError> {
    let answer = client.elicit::<User>(message).await;
    told("User response", answer.map(|user| json!(user)))
}

/// Asks the user, with a default for every field.
#[tool]
async fn test_elicitation_sep1034_defaults(client: Client) -> Result<String, QuestionError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    });
    told("Elicitation completed", client.elicit_with("Please review your profile", schema).await)
}

/// Asks the user to choose, with every kind of enum.
#[tool]
async fn test_elicitation_sep1330_enums(client: Client) -> Result<String, QuestionError> {
    let titled = |choices: [&str; 3]| {
        let choices = choices.iter().zip(1..);
        choices.map(|(title, n)| json!({ "const": format!("value{n}"), "title": title })).collect::<Value>()
    };
    let options = ["option1", "option2", "option3"];
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled(["First", "Second", "Third"]) },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled(["First", "Second", "Third"]) } },
        },
    });
    told("Elicitation completed", client.elicit_with("Please choose", schema).await)
}

/// The user's action, in the words that the suite expects.
fn told(what: &str, answer: Result<Value, QuestionError>) -> Result<String, QuestionError> {
    let (action, content) = match answer {
        Ok(content) => ("accept", content),
        Err(QuestionError::Declined) => ("decline", json!({})),
        Err(QuestionError::Cancelled) => ("cancel", json!({})),
        Err(err) => return Err(err),
    };
    Ok(format!("{what}: action={action}, content={content}"))
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(test_sampling)
        .tool(test_elicitation)
        .tool(test_elicitation_sep1034_defaults)
        .tool(test_elicitation_sep1330_enums)
}
