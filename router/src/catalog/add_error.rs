//! The errors of registration.

use crate::{
    catalog::{tool::InvalidTool, uri_template::InvalidTemplate},
    schema::SchemaError,
};

/// Why a tool, prompt, resource or template cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The name, URI or template is taken.
    #[error("{kind} {key:?} is already registered")]
    Taken {
        /// What it is: `tool`, `prompt`, `resource`, `resource template`.
        kind: &'static str,
        /// Its name, URI or template.
        key: String,
    },
    /// The name, URI or template is empty.
    #[error("a {kind} has no name")]
    NoName {
        /// What it is.
        kind: &'static str,
    },
    /// The name, URI or template is longer than the router's limit: no client could ask for it.
    #[error("a {kind} has a name of {bytes} bytes (the limit is {limit})")]
    LongName {
        /// What it is.
        kind: &'static str,
        /// The length of the name, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The name or a schema of a tool is invalid.
    #[error(transparent)]
    Tool(#[from] InvalidTool),
    /// The schema of the arguments that a prompt's handler takes is invalid.
    #[error("prompt {prompt:?}, schema of its arguments: {why}")]
    Arguments {
        /// The prompt's name.
        prompt: String,
        /// What is wrong.
        why: SchemaError,
    },
    /// A prompt's handler takes an argument that is not a string. Clients send strings only.
    #[error("prompt {prompt:?}: argument {argument:?} is not a string; clients can send only strings")]
    NotAString {
        /// The prompt's name.
        prompt: String,
        /// The argument.
        argument: String,
    },
    /// The URI template is invalid.
    #[error("resource template {template:?}: {why}")]
    Template {
        /// The template.
        template: String,
        /// What is wrong.
        why: InvalidTemplate,
    },
    /// The URI of a resource is not a URI (RFC 3986).
    #[error(
        "resource {uri:?}: it is not a URI with a scheme, such as `file:///a.txt`; escape spaces and non-ASCII characters (RFC 3986)"
    )]
    Uri {
        /// The invalid URI.
        uri: String,
    },
    /// No URI that matches the template has a scheme.
    #[error(
        "resource template {template:?}: it does not begin with a scheme, such as `file:` (RFC 3986, 3.1)"
    )]
    NoScheme {
        /// The template.
        template: String,
    },
    /// A literal of a URI template has a character that is not allowed in URIs.
    #[error("resource template {template:?}: {wrong:?} is not allowed in a URI (RFC 6570, 2.1)")]
    Literal {
        /// The template.
        template: String,
        /// The character.
        wrong: char,
    },
    /// An icon's source is not an `https:`, `http:` or `data:` URI.
    #[error("{kind} {key:?}: the icon {src:?} is not an https:, http: or data: URI")]
    Icon {
        /// What it is.
        kind: &'static str,
        /// Its name, URI or template.
        key: String,
        /// The source of the icon, truncated.
        src: String,
    },
    /// A key of `_meta` that the specification does not allow.
    #[error("{kind} {key:?}: {member:?} is not a key of `_meta`: {why}")]
    Meta {
        /// What it is.
        kind: &'static str,
        /// Its name, URI or template.
        key: String,
        /// The key of `_meta`.
        member: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The schema of the arguments that a reader takes is invalid.
    #[error("{kind} {key:?}, schema of its reader's arguments: {why}")]
    Reader {
        /// What it is.
        kind: &'static str,
        /// Its URI or template.
        key: String,
        /// What is wrong.
        why: SchemaError,
    },
    /// A reader requires an argument that is not a variable of its template.
    #[error("{kind} {key:?}: its reader requires the argument {argument:?}, but {variables}")]
    NoVariable {
        /// What it is.
        kind: &'static str,
        /// Its URI or template.
        key: String,
        /// The argument.
        argument: String,
        /// The variables of the template, in words.
        variables: String,
    },
    /// A template has a variable that its reader refuses, because no argument has this name.
    #[error(
        "resource template {template:?}: its reader refuses the variable {variable:?} (`deny_unknown_fields`)"
    )]
    Refused {
        /// The template.
        template: String,
        /// The variable.
        variable: String,
    },
    /// A completer is for an argument or variable that does not exist.
    #[error("{kind} {key:?} has a completer for {argument:?}, which does not exist")]
    Completer {
        /// What it is.
        kind: &'static str,
        /// Its name or template.
        key: String,
        /// The argument.
        argument: String,
    },
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::{
        call::{progress::ProgressError, question_error::QuestionError},
        wire::{error::McpError, jsonrpc::Malformed},
    };

    /// Printing an error with its chain of causes (`{:#}` of an `anyhow::Error`) repeats nothing.
    #[test]
    fn no_error_repeats_what_its_source_says() {
        let schema = SchemaError::NotJson("cut".to_owned());
        let name = || "a".to_owned();
        let kind = "resource";
        let input = InvalidTool::Input { tool: name(), why: schema.clone() };
        let errors: [Box<dyn Error>; 9] = [
            Box::new(AddError::Tool(input.clone())),
            Box::new(input),
            Box::new(InvalidTool::Output { tool: name(), why: schema.clone() }),
            Box::new(AddError::Arguments { prompt: name(), why: schema.clone() }),
            Box::new(AddError::Reader { kind, key: name(), why: schema }),
            Box::new(AddError::Template { template: name(), why: InvalidTemplate::NoVariable }),
            Box::new(Malformed::unknown(McpError::internal())),
            Box::new(QuestionError::Refused(McpError::internal())),
            Box::new(ProgressError::Gone),
        ];
        for error in errors {
            let text = error.to_string();
            let repeated = error.source().map(ToString::to_string).filter(|source| text.contains(source));
            assert_eq!(repeated, None, "{text}");
        }
    }
}
