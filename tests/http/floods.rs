//! Hundreds of thousands of messages for readers that are slow or stand still. Case C36.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    collections::HashSet,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_mcp::{
    prelude::*,
    testing::{paused, settle},
};
use actix_web::rt::time::{Sleep, sleep};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf},
    sync::Semaphore,
    time::Instant,
};

use crate::{
    client::{Connection, Request},
    fixture::builder,
    kept::Kept,
    readers::narrow,
    served::{Client, GUARD, Served, call, call_with_progress, message},
};

/// Messages that may be between a handler and a reader: the queue (256), what actix-http buffers (32 KiB, of events of
/// more than 100 bytes), the connection (1 KiB), and one in the hand.
const BETWEEN: usize = 256 + 33 * 1024 / 100 + 1;
/// The same for messages of more than 1 KiB.
const BETWEEN_LARGE: usize = 256 + 33 + 1;

/// What the floods of a test have sent, and what lets them go on.
#[derive(Default)]
struct Flood {
    sent: AtomicU64,
    more: Option<Semaphore>,
}

/// Logs `n` times a KiB, each with its number, as far as it is let.
#[tool]
async fn flood_log(n: u64, flood: web::Data<Flood>, log: Log) -> &'static str {
    let pad = "x".repeat(1024);
    for nth in 1..=n {
        flood.more.as_ref().unwrap().acquire().await.unwrap().forget();
        log.info(json!({ "nth": nth, "pad": pad }));
        flood.sent.store(nth, Ordering::Relaxed);
    }
    "flooded"
}

/// Reports 1 to `n`, and counts.
#[tool]
async fn flood_progress(n: u64, flood: web::Data<Flood>, progress: Progress) -> &'static str {
    for nth in 1..=n {
        progress.report(nth).await.ok();
        flood.sent.store(nth, Ordering::Relaxed);
    }
    "flooded"
}

#[actix_web::test]
async fn four_hundred_thousand_notices_and_logs_that_nobody_reads_are_bounded_and_hold_up_nobody() {
    const URIS: usize = 1000;
    const LISTS: usize = 100;
    const ROUNDS: usize = 2; // between two lists: 200 000 notices and as many logs in all
    paused();
    let flood = Arc::new(Flood { more: Some(Semaphore::new(0)), ..Flood::default() });
    let server = builder().tool(flood_log).data_arc(flood.clone()).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let uris: Vec<_> = (0..URIS).map(|nth| format!("mem://item/{}{nth}", "x".repeat(1024))).collect();
    let mut kept = Kept::new(served.connect());
    for uri in &uris {
        let subscribe = message(1, "resources/subscribe", json!({ "uri": uri }));
        kept.ask(&client.request(&subscribe), 200).await;
    }
    let mut notices = narrow(&served, &client.dress(Request::get())).await;
    let n = URIS * LISTS * ROUNDS;
    let mut logs = narrow(&served, &client.request(&call(2, "flood_log", json!({ "n": n })))).await;

    // nobody reads either; the whole flood comes before a stream that stands still is closed
    let other = Client::open(&served, "2025-11-25").await;
    let list = other.request(&message(3, "tools/list", json!({})));
    for _ in 0..LISTS {
        for _ in 0..ROUNDS {
            for uri in &uris {
                server.handle().resource_updated(uri);
            }
            flood.more.as_ref().unwrap().add_permits(URIS);
            sleep(Duration::from_millis(60)).await;
        }
        let start = Instant::now();
        kept.ask(&list, 200).await;
        assert!(start.elapsed() < Duration::from_millis(5), "{:?}", start.elapsed());
    }
    assert_eq!(flood.sent.load(Ordering::Relaxed), n as u64, "a log waits for nobody");

    // what is kept of the logs is the newest, and the answer is not lost
    let mut last = 0;
    let mut heard = 0;
    while let Some(said) = logs.message().await {
        if let Some(nth) = said["params"]["data"]["nth"].as_u64() {
            assert!(nth > last);
            (last, heard) = (nth, heard + 1);
        } else {
            assert_eq!(said["result"]["content"][0]["text"], "flooded");
        }
    }
    assert_eq!(last, n as u64);
    assert!(heard <= BETWEEN_LARGE, "{heard} logs were kept");

    // of the notices there is one a URI beside those in the queue, and none has got lost
    let (mut heard, mut since) = (0, HashSet::new());
    while let Ok(Some(said)) = tokio::time::timeout(Duration::from_millis(200), notices.message()).await {
        heard += 1;
        since.insert(said["params"]["uri"].as_str().unwrap().to_owned());
    }
    assert_eq!(since.len(), URIS);
    assert!(heard <= URIS + BETWEEN_LARGE, "{heard} notices were kept");
    settle().await;
    assert_eq!(server.stats().in_flight, 0);
}

/// A stream that gives a KiB a second.
struct Slow {
    io: DuplexStream,
    left: usize,
    next: Pin<Box<Sleep>>,
}

const SECOND: Duration = Duration::from_secs(1);

impl Slow {
    fn new(io: DuplexStream) -> Self {
        Self { io, left: 1024, next: Box::pin(sleep(SECOND)) }
    }
}

impl AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            ready!(self.next.as_mut().poll(cx));
            self.next.as_mut().reset(Instant::now() + SECOND);
            self.left = 1024;
        }
        let mut bytes = [0; 1024];
        let mut part = ReadBuf::new(&mut bytes[..self.left.min(buf.remaining())]);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut part))?;
        self.left -= part.filled().len();
        buf.put_slice(part.filled());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Slow {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[actix_web::test]
async fn a_reader_at_a_kilobyte_a_second_gets_a_million_reports_and_the_handler_waits_for_it() {
    const N: u64 = 1_000_000;
    paused();
    let flood = Arc::new(Flood::default());
    let server = builder().tool(flood_progress).data_arc(flood.clone()).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let mut connection = Connection::on(Slow::new(served.dial(1024)), GUARD);
    let start = Instant::now();
    connection.send(&client.request(&call_with_progress(1, "flood_progress", json!({ "n": N }), 1))).await;
    let mut stream = connection.response().await.expect(200).await;
    let mut farthest = 0;
    // an event is a chunk; the first has nothing but its id
    stream.chunk().await.unwrap();
    for nth in 1..=N {
        let event = stream.chunk().await.expect("the stream has ended");
        assert!(event.ends_with(format!("\"progress\":{nth}}}}}\n\n").as_bytes()), "{nth}: {event:?}");
        stream.raw.clear();
        // the last one may be read before it is counted
        farthest = farthest.max(flood.sent.load(Ordering::Relaxed).saturating_sub(nth));
    }
    assert_eq!(stream.message().await.unwrap()["result"]["content"][0]["text"], "flooded");
    assert_eq!(stream.message().await, None);
    assert!((256..=BETWEEN as u64).contains(&farthest), "the handler was {farthest} reports ahead");
    assert!(start.elapsed() > Duration::from_secs(N / 15), "that was not slow: {:?}", start.elapsed());
}
