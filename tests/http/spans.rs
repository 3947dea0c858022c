//! A call runs in the `tracing` span that was current when its request came: its handler and the log lines about it, in both
//! eras, over HTTP and on a pipe, in batches.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, settle},
};
use actix_web::{App, dev::Service as _, rt::time::sleep};
use serde_json::{Value, json};
use tracing::{
    Event, Id, Instrument, Metadata, Subscriber,
    field::Visit,
    span::{Attributes, Record},
};
use tracing_core::span::Current;

use crate::{
    fixture::builder as fixture,
    served::{Client, Served, call, message, modern_call},
};

thread_local! {
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// Remembers the field `request` of each span.
#[derive(Default)]
struct Spans {
    last: AtomicU64,
    named: Mutex<HashMap<u64, (&'static Metadata<'static>, String)>>,
}

struct First(String);

impl Visit for First {
    fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0 = format!("{value:?}");
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut first = First(String::new());
        span.record(&mut first);
        self.named.lock().unwrap().insert(id, (span.metadata(), first.0));
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.clone()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            let at = entered.iter().rposition(|known| known == span);
            at.map(|at| entered.remove(at));
        });
    }

    fn current_span(&self) -> Current {
        ENTERED.with_borrow(|entered| match entered.last() {
            Some(id) => Current::new(id.clone(), self.named.lock().unwrap()[&id.into_u64()].0),
            None => Current::none(),
        })
    }
}

/// The current span's `request`; empty outside.
fn current() -> String {
    tracing::dispatcher::get_default(|dispatch| {
        let spans = dispatch.downcast_ref::<Spans>().expect("the test's subscriber");
        let current = spans.current_span();
        current.id().map(|id| spans.named.lock().unwrap()[&id.into_u64()].1.clone()).unwrap_or_default()
    })
}

thread_local! {
    static LINES: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// What a log line says, and the span in which it was written. Called by the logger of this target.
pub(crate) fn note(line: &str) {
    // a look at the dispatcher from inside of the dispatcher gives none
    let inside = tracing::dispatcher::get_default(tracing::Dispatch::is::<Spans>);
    if inside {
        LINES.with_borrow_mut(|lines| lines.push((line.to_owned(), current())));
    }
}

/// Says in which span it runs: before it waits, after it, and after it has answered to a stream.
#[tool]
async fn spans(ms: u64, progress: Progress) -> String {
    let before = current();
    sleep(Duration::from_millis(ms)).await;
    progress.report(1).await.ok();
    sleep(Duration::from_millis(1)).await;
    format!("{before} {}", current())
}

fn server() -> Server {
    fixture().tool(spans).build()
}

/// The server, each request in a span of its own, named by the header `X-Request`.
async fn served(server: &Server) -> Served {
    let app = App::new().service(server.scope("/mcp")).wrap_fn(|request, service| {
        let name = request.headers().get("x-request").and_then(|name| name.to_str().ok()).unwrap_or("none");
        let span = tracing::info_span!("request", name = %name);
        span.in_scope(|| service.call(request)).instrument(span.clone())
    });
    Served::app(app).await
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[actix_web::test]
async fn a_handler_runs_in_the_span_of_its_request_whatever_it_is_answered_with() {
    paused();
    let _installed = tracing::subscriber::set_default(Spans::default());
    let served = served(&server()).await;
    for revision in ["2025-03-26", "2025-11-25"] {
        let client = Client::open(&served, revision).await;
        for ms in [0, 1, 500] {
            let request = client.request(&call(1, "spans", json!({ "ms": ms }))).header("X-Request", "ada");
            let answer = client.send(&request).await.expect(200).await.answer().await;
            assert_eq!(said(&answer), "ada ada", "{revision} {ms}");
        }
        if revision == "2025-03-26" {
            let batch = json!([call(1, "spans", json!({ "ms": 1 })), call(2, "spans", json!({ "ms": 500 }))]);
            let request = client.request(&batch).header("X-Request", "bob");
            for answer in client.send(&request).await.expect(200).await.json().await.as_array().unwrap() {
                assert_eq!(said(answer), "bob bob");
            }
        }
    }
    for accept in ["application/json", "text/event-stream", "application/json, text/event-stream"] {
        for ms in [0, 1, 500] {
            let request =
                modern_call(1, "spans", json!({ "ms": ms })).header("X-Request", "eve").set("Accept", accept);
            let answer = served.send(&request).await.expect(200).await.answer().await;
            assert_eq!(said(&answer), "eve eve", "{accept} {ms}");
        }
    }
    assert_eq!(current(), "", "a span was left open");
}

#[actix_web::test]
async fn on_a_pipe_a_handler_runs_in_the_span_that_serves_it() {
    paused();
    let _installed = tracing::subscriber::set_default(Spans::default());
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    let serve = server().serve_stream(input, output).instrument(tracing::info_span!("pipe", name = %"pipe"));
    let serving = actix_web::rt::spawn(serve);
    let (read, mut write) = tokio::io::split(near);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    let mut request = call(1, "spans", json!({ "ms": 500 }));
    request["params"]["_meta"] = meta;
    tokio::io::AsyncWriteExt::write_all(&mut write, format!("{request}\n").as_bytes()).await.unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(read));
    let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(said(&answer), "pipe pipe");
    serving.abort();
}

#[actix_web::test]
async fn log_lines_about_a_call_are_written_in_its_span() {
    paused();
    crate::logs::install();
    let _installed = tracing::subscriber::set_default(Spans::default());
    let server = server();
    let served = served(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let start = |name: &'static str, message: Value| {
        let request = client.request(&message).header("X-Request", name);
        let client = client.clone();
        async move { client.start(&request).await }
    };
    let slow = |id: u32| call(id, "slow", json!({ "ms": 3_600_000, "tag": "x" }));
    let _cancelled = start("ada", slow(1)).await;
    let _cut = start("bob", slow(2)).await;
    let _refused = start("eve", message(3, "no/such/method", json!({}))).await;
    let mut own = served.connect();
    own.send(&modern_call(4, "slow", json!({ "ms": 3_600_000, "tag": "x" })).header("X-Request", "dan"))
        .await;
    sleep(Duration::from_secs(1)).await;
    client.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    settle().await;
    server.shutdown().await;
    let lines = LINES.take();
    let spans_of = |text: &str| {
        let lines = lines.iter().filter(|(line, _)| line.contains(text));
        let mut spans: Vec<_> = lines.map(|(_, span)| &**span).collect();
        spans.sort_unstable();
        spans
    };
    assert_eq!(spans_of("the client cancelled a request"), ["ada"], "{lines:?}");
    assert_eq!(spans_of("refused a request: method not found"), ["eve"], "{lines:?}");
    assert_eq!(spans_of(": stopped tools/call"), ["bob", "dan"], "{lines:?}");
}

#[actix_web::test]
async fn without_a_span_there_is_none() {
    paused();
    let _installed = tracing::subscriber::set_default(Spans::default());
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.call(1, "spans", json!({ "ms": 1 })).await;
    assert_eq!(said(&pipe.answer_to(1).await), " ");
}
