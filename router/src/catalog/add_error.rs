//! Why something cannot be registered.

use crate::{
    catalog::{tool::InvalidTool, uri_template::InvalidTemplate},
    schema::SchemaError,
};

/// Why something cannot be registered: an author's mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The name, URI or template is taken.
    #[error("{kind} {key:?} is registered already")]
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
    #[error("a {kind} has a name of {bytes} bytes, more than {most}")]
    LongName {
        /// What it is.
        kind: &'static str,
        /// How long the name is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// The tool itself.
    #[error(transparent)]
    Tool(#[from] InvalidTool),
    /// The arguments that a prompt's handler takes.
    #[error("prompt {prompt:?}, its arguments: {why}")]
    Arguments {
        /// The prompt's name.
        prompt: String,
        /// What is wrong.
        why: SchemaError,
    },
    /// An argument of a prompt that its handler does not take as a string, as clients send all of them.
    #[error("prompt {prompt:?}: argument {argument:?} is not a string, and clients send nothing else")]
    NoString {
        /// The prompt's name.
        prompt: String,
        /// The argument.
        argument: String,
    },
    /// The URI template.
    #[error("resource template {template:?}: {why}")]
    Template {
        /// The template.
        template: String,
        /// What is wrong.
        why: InvalidTemplate,
    },
    /// The URI of a resource is not a URI (RFC 3986).
    #[error(
        "resource {uri:?}: it is not a URI with a scheme, such as `file:///a.txt`; spaces and what is not ASCII are escaped (RFC 3986)"
    )]
    Uri {
        /// What was given.
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
    /// A literal of a URI template has a character that no URI can have.
    #[error("resource template {template:?}: {wrong:?} cannot stand in a URI (RFC 6570, 2.1)")]
    Literal {
        /// The template.
        template: String,
        /// The character.
        wrong: char,
    },
    /// An icon that is not at an `https:`, `http:` or `data:` URI.
    #[error("{kind} {key:?}: the icon {src:?} is not an https:, http: or data: URI")]
    Icon {
        /// What it is.
        kind: &'static str,
        /// Its name, URI or template.
        key: String,
        /// What was given, cut.
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
    /// The arguments that a reader takes.
    #[error("{kind} {key:?}, what its reader takes: {why}")]
    Reader {
        /// What it is.
        kind: &'static str,
        /// Its URI or template.
        key: String,
        /// What is wrong.
        why: SchemaError,
    },
    /// An argument that a reader cannot do without, and that no variable of its template gives it.
    #[error(
        "{kind} {key:?}: its reader takes the argument {argument:?}, which is not a variable of it ({variables})"
    )]
    NoVariable {
        /// What it is.
        kind: &'static str,
        /// Its URI or template.
        key: String,
        /// The argument.
        argument: String,
        /// The variables there are, in words.
        variables: String,
    },
    /// A variable that a reader refuses, since it knows no such argument.
    #[error(
        "resource template {template:?}: its reader refuses the variable {variable:?} (`deny_unknown_fields`)"
    )]
    Refused {
        /// The template.
        template: String,
        /// The variable.
        variable: String,
    },
    /// A completer of an argument or variable that does not exist.
    #[error("{kind} {key:?} completes {argument:?}, which it does not have")]
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

    /// An error whose chain is printed (`{:#}` of an `anyhow::Error`) says everything once.
    #[test]
    fn no_error_repeats_what_its_source_says() {
        let schema = SchemaError::NoJson("cut".to_owned());
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
