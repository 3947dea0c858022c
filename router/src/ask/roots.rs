//! The client's roots: the directories it wants the server to work in.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::FutureExt;
use serde::Deserialize;

use crate::{
    ask::question::{self, Asker, NewQuestion},
    call::{
        lazy::{Lazy, Start},
        question_error::QuestionError,
        round::Misfit,
    },
    wire::{content::MetaMap, peer::ClientCapability},
};

/// One root.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Its location, a `file:` URI. It comes from the client: do not trust it as a path.
    pub uri: String,
    /// The name to show to people.
    #[serde(default)]
    pub name: Option<String>,
    /// `_meta`. From 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Option<MetaMap>,
}

/// A request for the client's roots: await it. Nothing is sent before the first poll.
#[must_use = "a question is asked when it is awaited"]
#[derive(Debug)]
pub struct Roots(Lazy<Parts, Result<Vec<Root>, QuestionError>>);

#[derive(Debug)]
struct Parts {
    asker: Asker,
    key: Option<String>,
}

impl Roots {
    pub(crate) fn new(asker: Asker) -> Self {
        Self(Lazy::Idle(Parts { asker, key: None }))
    }

    /// Sets the key under which the client gets the question and answers it, instead of one made from its content. Has
    /// no effect before 2026-07-28.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        if let Some(parts) = self.0.idle() {
            parts.key = Some(key.into());
        }
        self
    }
}

impl Future for Roots {
    type Output = Result<Vec<Root>, QuestionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(cx, |parts| Start::Work(parts.ask().boxed()))
    }
}

pub(crate) const NEEDS: &[ClientCapability] = &[ClientCapability::Roots];
/// The parameters of the question.
pub(crate) const PARAMS: Bytes = Bytes::from_static(b"{}");

impl Parts {
    async fn ask(self) -> Result<Vec<Root>, QuestionError> {
        let Self { asker, key } = self;
        let (method, key) = ("roots/list", key.as_deref());
        let question =
            NewQuestion { method, params: PARAMS, needs: NEEDS, timeout: None, key, about: method };
        let answer = asker.ask(question).await?;
        match read(&answer.json) {
            Ok(roots) => Ok(roots),
            Err(misfit) => Err(asker.misfit(&answer, misfit).await),
        }
    }
}

/// Reads the roots in an answer.
pub(crate) fn read(json: &str) -> Result<Vec<Root>, Misfit> {
    #[derive(Deserialize)]
    struct Answer {
        roots: Vec<Root>,
    }

    question::read(json, "roots").map(|Answer { roots }| roots)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{
        ask::client::Client,
        fake::{ALL, Fake},
        wire::{era::Revision::V2024_11_05, peer::ClientCapabilities},
    };

    #[tokio::test]
    async fn the_clients_roots_are_asked_for_and_read() {
        let fake = Fake::new(V2024_11_05, ALL);
        fake.will_answer(
            r#"{"roots":[{"uri":"file:///a","name":"A","more":1},{"uri":"file:///b"}],"_meta":{}}"#,
        );
        let roots = Client::new(&fake.call(None)).roots().await.unwrap();
        assert_eq!(roots[0].name.as_deref(), Some("A"));
        assert_eq!((roots[1].uri.as_str(), &roots[1].name), ("file:///b", &None));
        let asked = &fake.asked()[0];
        assert_eq!((asked.method, asked.text.as_str()), ("roots/list", "{}"));
        assert_eq!(asked.needs, [ClientCapability::Roots]);
    }

    #[tokio::test]
    async fn roots_that_do_not_fit_name_the_member() {
        let fake = Fake::new(V2024_11_05, ALL);
        let client = Client::new(&fake.call(None));
        for (answer, member) in [(r#"{"roots":[{"uri":7}]}"#, "roots[0].uri"), ("{}", "roots")] {
            fake.will_answer(answer);
            let error = client.roots().await.unwrap_err();
            assert!(matches!(&error, QuestionError::Invalid { field, .. } if field == member), "{error}");
        }
    }

    #[tokio::test]
    async fn a_client_without_roots_is_not_asked() {
        let fake = Fake::new(V2024_11_05, ClientCapabilities { roots: false, ..ALL });
        let client = Client::new(&fake.call(None));
        let error = client.roots().now_or_never().expect("nothing to wait for").unwrap_err();
        assert!(matches!(error, QuestionError::Unsupported(ClientCapability::Roots)));
        assert!(fake.asked().is_empty());
    }
}
