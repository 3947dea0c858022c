//! Large messages, however they are cut into pieces, and lines that are too long.

use std::{
    io::Result,
    pin::Pin,
    task::{Context, Poll},
};

use actix_mcp::testing::{Pipe, paused};
use actix_web::rt::spawn;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};

use crate::fixture::{builder, limited, server};

const FIVE_MIB: usize = 5 * 1024 * 1024;

/// A call of `echo` as one line, and its text: characters of one to four bytes, so that any cut falls into some.
fn echo(id: u64, bytes: usize) -> (Vec<u8>, String) {
    let text = "aé世😀".repeat(bytes / 10);
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": text } } });
    (format!("{call}\n").into_bytes(), text)
}

/// An input that gives its bytes in pieces, and every eighth time says that there is nothing yet.
///
/// No writer is on the other side: to change tasks for every byte of 5 MiB takes half a minute.
struct Pieces {
    bytes: Vec<u8>,
    given: usize,
    piece: usize,
    asked: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        self.asked += 1;
        if self.asked.is_multiple_of(8) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let rest = &self.bytes[self.given..];
        let piece = &rest[..rest.len().min(self.piece).min(buf.remaining())];
        buf.put_slice(piece);
        self.given += piece.len();
        Poll::Ready(Ok(()))
    }
}

/// The answer to a call of this size whose bytes the server gets in pieces of this one.
async fn answer(bytes: usize, piece: usize) -> String {
    let (line, text) = echo(2, bytes);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let input = [format!("{hello}\n").into_bytes(), line].concat();
    let input = Pieces { bytes: input, given: 0, piece, asked: 0 };
    let (output, server_out) = tokio::io::duplex(64 * 1024);
    let served = spawn(server().serve_stream(input, server_out));
    let mut lines = BufReader::new(output).lines();
    lines.next_line().await.expect("UTF-8").expect("an answer to `initialize`");
    let answer = lines.next_line().await.expect("UTF-8").expect("an answer to the call");
    assert_eq!(lines.next_line().await.expect("UTF-8"), None);
    served.await.expect("no panic").expect("a good end");
    let value: Value = serde_json::from_str(&answer).expect("a line is JSON");
    assert!(value["result"]["content"][0]["text"] == text, "{bytes} bytes in pieces of {piece}");
    answer
}

// C66
#[actix_web::test]
async fn a_message_is_the_same_however_it_is_cut() {
    paused();
    let whole = answer(FIVE_MIB, usize::MAX).await;
    for piece in [4095, 1] {
        // five million characters would be no help in a message
        assert!(answer(FIVE_MIB, piece).await == whole, "in pieces of {piece}");
    }
}

/// A ping that fills a line of so many bytes, its end not counted.
fn ping(id: u64, bytes: usize) -> String {
    let bare = json!({ "jsonrpc": "2.0", "id": id, "method": "ping", "params": { "_meta": { "pad": "" } } })
        .to_string();
    bare.replace("\"pad\":\"\"", &format!("\"pad\":\"{}\"", "x".repeat(bytes - bare.len())))
}

#[actix_web::test]
async fn the_limit_is_one_lines_and_not_one_writes() {
    paused();
    let mut pipe = Pipe::connect(
        &builder().limits(limited(|limits| limits.message.line_bytes = 1000)).build(),
        "2025-11-25",
    )
    .await;
    pipe.write(format!("{}\n{}\n", ping(2, 1000), ping(3, 1000)).as_bytes()).await;
    assert_eq!(pipe.next().await["id"], 2);
    assert_eq!(pipe.next().await["id"], 3);
    // one byte more is too much, and costs only itself
    pipe.write(format!("{}\n{}\n", ping(4, 1001), ping(5, 1000)).as_bytes()).await;
    let error = pipe.next().await;
    assert_eq!(error.get("id"), None);
    assert_eq!(error["error"]["code"], -32600);
    assert_eq!(error["error"]["message"], "the message is too long (the limit is 1000 bytes)");
    assert_eq!(pipe.next().await, json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    pipe.silence().await;
}

#[actix_web::test]
async fn an_endless_line_is_passed_over_and_what_stands_beside_it_is_served() {
    paused();
    let mut pipe = Pipe::connect(
        &builder().limits(limited(|limits| limits.message.line_bytes = 64 * 1024)).build(),
        "2025-11-25",
    )
    .await;
    // that it takes no memory is shown by `tests/process`, where there is a process to look at
    for first in ["a", "{"] {
        pipe.write(format!("{}\n{first}", ping(1, 200)).as_bytes()).await;
        assert_eq!(pipe.next().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        for _ in 0..20 {
            pipe.write(&[b'a'; 64 * 1024]).await;
        }
        pipe.silence().await;
        pipe.write(format!("\n{}\n", ping(2, 200)).as_bytes()).await;
        if first == "{" {
            assert_eq!(pipe.next().await["error"]["code"], -32600);
        }
        assert_eq!(pipe.next().await, json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    }
}

#[actix_web::test]
async fn an_endless_line_that_ends_with_the_stream_is_refused_once() {
    paused();
    let mut pipe = Pipe::connect(
        &builder().limits(limited(|limits| limits.message.line_bytes = 1000)).build(),
        "2025-11-25",
    )
    .await;
    pipe.write(format!("{{{}", "a".repeat(5000)).as_bytes()).await;
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["error"]["code"], -32600);
}

#[actix_web::test]
async fn a_large_answer_to_a_client_that_reads_slowly_is_whole() {
    paused();
    let mut pipe = Pipe::with_buffer(&server(), 512);
    pipe.initialize("2025-11-25", json!({})).await;
    pipe.call(2, "big", json!({ "bytes": 1_000_000 })).await;
    pipe.request(3, "ping", json!({})).await;
    let answer = pipe.answer_to(2).await;
    assert_eq!(answer["result"]["content"][0]["text"].as_str().map(str::len), Some(1_000_000));
    pipe.answer_to(3).await;
}
