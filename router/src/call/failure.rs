//! How a handler's failure is reported: to its client, and in one line of the log.
//!
//! **Invariant:** a line holds a bounded part of the errors' texts, none of their line breaks, and nothing that a
//! client said instead of an answer.

use std::{
    any::Any,
    error::Error,
    fmt::{self, Display, Write},
};

use crate::{
    call::{Call, question_error::QuestionError, result::within},
    wire::{
        error::{ErrorCode, McpError, Shown},
        peer::missing_capabilities,
        tool_result::ToolResult,
    },
};

/// The longest text of one failure in the log.
const MAX_LINE_BYTES: usize = 2_000;
/// The most causes that are followed.
const MAX_CAUSES: usize = 32;

/// The client's error if a handler, or one of its extractors, failed with this error. Without a session, a capability
/// that the handler needed and the client did not declare takes precedence over any other error.
// MCP 2026-07-28 basic, Per-request protocol fields: MUST be -32021 if a request needs a capability that it lacks
pub(crate) fn ended(call: &Call, error: McpError) -> McpError {
    let Some(round) = call.shared_round() else { return error };
    let missing = round.missing();
    if !missing.is_empty() {
        return missing_capabilities(&missing);
    }
    let declared = error.code == ErrorCode::MISSING_CLIENT_CAPABILITY && !call.can_ask();
    if declared {
        log::error!("{}: a completer cannot ask the client a question", Shown(call.target()));
        return McpError::internal();
    }
    error
}

/// Logs a tool's failure and returns what the client gets.
pub(crate) fn of_tool(
    call: &Call,
    why: &str,
    result: Result<ToolResult, McpError>,
) -> Result<ToolResult, McpError> {
    log::warn!(method = "tools/call"; "tool {} failed: {}", Shown(call.target()), discreet(call, why));
    // a missing capability takes precedence over a result with `isError`, too
    let lacks = call.shared_round().is_some_and(|round| !round.missing().is_empty());
    match result {
        Ok(result) if !lacks => Ok(result),
        Ok(_) => Err(ended(call, McpError::internal())),
        Err(error) => Err(ended(call, error)),
    }
}

/// The client's error for an error that a prompt, a reader or a completer returned: an [`McpError`] is the answer, and
/// so is the error of a question. Any other is an internal error, whose text goes to the log: only a tool's failure is
/// for the model to read.
// MCP 2025-11-25 server/prompts and server/resources, Error Handling: internal errors are -32603
pub(crate) fn failed(call: &Call, error: &(impl Display + 'static)) -> McpError {
    if let Some(error) = within::<McpError>(error).cloned().or_else(|| unanswered(error)) {
        return error;
    }
    log::error!("{} failed: {}", Shown(call.target()), discreet(call, &chain(error)));
    McpError::internal()
}

/// The line without anything that the client said in this call, whatever error the handler made of it.
fn discreet(call: &Call, line: &str) -> String {
    const INSTEAD: &str = "[said by the client]";
    let mut line = line.to_owned();
    let said = call.shared_round().map(|round| round.said()).unwrap_or_default();
    // shorter ones occur in every other word
    for said in said.iter().map(text).filter(|said| said.len() > 2) {
        line = line.replace(&said, INSTEAD);
        // if the line was cut, so may be what the client said
        let Some(end) = line.strip_suffix("..").map(str::len) else { continue };
        let cut = line.char_indices().map(|(at, _)| at).take_while(|at| at + 2 < end);
        if let Some(at) = { cut }.find(|at| said.starts_with(&line[*at..end])) {
            line.replace_range(at..end, INSTEAD);
        }
    }
    line
}

/// The client's error for a question without an answer.
fn unanswered(error: &dyn Any) -> Option<McpError> {
    within::<QuestionError>(error)?.to_client_error()
}

/// The text of an error and of all its causes, outermost first. For a type that is known here only by its `Display`,
/// the causes are unknown.
pub(crate) fn chain(error: &(impl Display + 'static)) -> String {
    match source(error) {
        Some(error) => causes(error),
        None => text(error),
    }
}

/// The value as an error: the content of an `anyhow::Error` or a box, or one of the usual types.
fn source(error: &dyn Any) -> Option<&(dyn Error + 'static)> {
    fn is<E: Error + 'static>(error: &dyn Any) -> Option<&(dyn Error + 'static)> {
        error.downcast_ref::<E>().map(|error| error as _)
    }
    #[cfg(feature = "anyhow")]
    if let Some(error) = error.downcast_ref::<anyhow::Error>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Box<dyn Error>>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Box<dyn Error + Send>>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Box<dyn Error + Send + Sync>>() {
        return Some(&**error);
    }
    is::<QuestionError>(error)
        .or_else(|| is::<std::io::Error>(error))
        .or_else(|| is::<serde_json::Error>(error))
}

/// The whole chain in one line. A cause that the error above it already quotes is not repeated.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut line = Line::default();
    let mut last = text(error);
    let mut room = line.raw(&last);
    let mut cause = error.source();
    for _ in 0..MAX_CAUSES {
        let (Some(error), Ok(())) = (cause, room) else { break };
        let text = text(error);
        if !text.is_empty() && !last.contains(&text) {
            room = line.write_str(": ").and_then(|()| line.raw(&text));
            last = text;
        }
        cause = error.source();
    }
    line.end()
}

/// A value's `Display`, in one line.
pub(crate) fn text(value: &(impl Display + ?Sized)) -> String {
    let mut line = Line::default();
    // fails when the line is full: the rest is not wanted
    write!(line, "{value}").ok();
    line.end()
}

/// One line of at most [`MAX_LINE_BYTES`] bytes, with control characters escaped. Writing more fails.
#[derive(Default)]
struct Line {
    text: String,
    full: bool,
}

impl Line {
    fn push(&mut self, part: fmt::Arguments<'_>, bytes: usize) -> fmt::Result {
        if self.text.len() + bytes > MAX_LINE_BYTES {
            self.full = true;
            return Err(fmt::Error);
        }
        self.text.write_fmt(part)
    }

    /// Adds text that is already escaped.
    fn raw(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|char| self.push(format_args!("{char}"), char.len_utf8()))
    }

    fn end(mut self) -> String {
        if self.full {
            self.text.push_str("..");
        }
        self.text
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|char| {
            // some log readers end a line at these, and some terminals obey them
            if char.is_control() || matches!(char, '\u{2028}' | '\u{2029}') {
                let escaped = char.escape_default();
                self.push(format_args!("{escaped}"), escaped.len())
            } else {
                self.push(format_args!("{char}"), char.len_utf8())
            }
        })
    }
}

/// Finds whether a tool's error is an [`Error`] with causes, where the macro knows the type of the output. The compiler
/// picks the first trait that fits: [`WithCauses`] for an `Err` that is an `Error`, [`WithoutCauses`] for everything
/// else.
#[derive(Debug)]
pub struct Probe<'a, O>(pub &'a O);

/// See [`Probe`].
pub trait WithCauses<'a> {
    /// The error.
    fn cause(&self) -> Option<&'a (dyn Error + 'static)>;
}

impl<'a, T, E: Error + 'static> WithCauses<'a> for Probe<'a, Result<T, E>> {
    fn cause(&self) -> Option<&'a (dyn Error + 'static)> {
        self.0.as_ref().err().map(|error| error as _)
    }
}

/// See [`Probe`].
pub trait WithoutCauses<'a> {
    /// Nothing.
    fn cause(&self) -> Option<&'a (dyn Error + 'static)>;
}

impl<'a, O> WithoutCauses<'a> for &Probe<'a, O> {
    fn cause(&self) -> Option<&'a (dyn Error + 'static)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fake::{ALL, Fake},
        wire::era::Revision,
    };

    #[derive(Debug, thiserror::Error)]
    #[error("cannot count")]
    struct Count(#[source] Query);

    #[derive(Debug, thiserror::Error)]
    #[error("query failed:\nselect 1\r\u{1b}[2J")]
    struct Query(#[source] std::io::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("outer: {0}")]
    struct Stutters(#[source] std::io::Error);

    fn io(text: &str) -> std::io::Error {
        std::io::Error::other(text.to_owned())
    }

    #[test]
    fn a_line_has_every_cause_once_and_no_line_break() {
        let line = r"cannot count: query failed:\nselect 1\r\u{1b}[2J: the disk is full";
        let count = || Count(Query(io("the disk is full")));
        assert_eq!(causes(&count()), line);
        assert_eq!(chain(&Box::<dyn Error>::from(count())), line);
        assert_eq!(chain(&Box::<dyn Error + Send + Sync>::from(count())), line);
        assert_eq!(causes(&Stutters(io("no"))), "outer: no");
        assert_eq!(chain(&"a\nb"), r"a\nb");
    }

    #[cfg(feature = "anyhow")]
    #[test]
    fn an_anyhow_error_has_all_its_contexts_in_the_line() {
        let error = anyhow::Error::from(io("root")).context("middle").context("outermost");
        assert_eq!(chain(&error), "outermost: middle: root");
    }

    #[test]
    fn what_the_client_said_is_not_in_the_line() {
        let fake = Fake::new(Revision::V2025_11_25, ALL);
        let call = fake.call(None);
        assert_eq!(discreet(&call, "a reason"), "a reason");
        call.round().note_said("a re\nason");
        call.round().note_said("e");
        assert_eq!(discreet(&call, r"failed: a re\nason (-1)"), "failed: [said by the client] (-1)");
        assert_eq!(discreet(&call, r"failed: a re\nas.."), "failed: [said by the client]..");
        assert_eq!(discreet(&call, "failed: a.."), "failed: a..");
    }

    #[test]
    fn a_line_is_bounded_whatever_an_error_says() {
        struct Endless;
        impl Display for Endless {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                loop {
                    f.write_str("ä\n")?;
                }
            }
        }
        let line = chain(&Endless);
        assert!(line.len() <= MAX_LINE_BYTES + 2 && line.ends_with(".."), "{}", line.len());
        let deep = Count(Query(io(&"x".repeat(10_000))));
        assert!(causes(&deep).len() <= MAX_LINE_BYTES + 2);
    }

    #[test]
    #[expect(clippy::needless_borrow, reason = "as the macro writes it")]
    fn the_compiler_finds_whether_an_output_has_causes() {
        let failed: Result<u8, Query> = Err(Query(io("x")));
        assert_eq!((&Probe(&failed)).cause().unwrap().source().unwrap().to_string(), "x");
        let fine: Result<u8, Query> = Ok(1);
        assert!((&Probe(&fine)).cause().is_none());
        let text: Result<u8, String> = Err("x".to_owned());
        assert!((&Probe(&text)).cause().is_none());
        assert!((&Probe(&7)).cause().is_none());
    }
}
