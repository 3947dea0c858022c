//! Large messages, however they are cut into pieces, and lines that are too long.

use actix_mcp::testing::{Pipe, paused};
use serde_json::{Value, json};

use crate::fixture::server;

/// A call of `echo` as one line, and its text: characters of one to four bytes, so that any cut falls into some.
fn echo(id: u64, bytes: usize) -> (Vec<u8>, String) {
    let text = "aé世😀".repeat(bytes / 10);
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": text } } });
    (format!("{call}\n").into_bytes(), text)
}

/// Writes in pieces and reads the answer at the same time: neither side's buffer holds it all.
async fn answer(bytes: usize, piece: usize) -> String {
    let (line, text) = echo(2, bytes);
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for piece in line.chunks(piece) {
        pipe.write(piece).await;
    }
    let answer = pipe.next_line().await.expect("an answer");
    let value: Value = serde_json::from_str(&answer).expect("a line is JSON");
    assert!(value["result"]["content"][0]["text"] == text, "{bytes} bytes in pieces of {piece}");
    let (rest, ended) = pipe.finish().await;
    ended.expect("a good end");
    assert!(rest.is_empty(), "{rest:?}");
    answer
}

#[actix_web::test]
async fn a_message_is_the_same_however_it_is_cut() {
    paused();
    // byte by byte it is the cuts that matter, not the size
    assert_eq!(answer(20_000, 1).await, answer(20_000, usize::MAX).await);
    let five_mib = 5 * 1024 * 1024;
    assert!(answer(five_mib, 4095).await == answer(five_mib, usize::MAX).await);
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
    let mut pipe = Pipe::connect(&server().max_line(1000), "2025-11-25").await;
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
    let mut pipe = Pipe::connect(&server().max_line(64 * 1024), "2025-11-25").await;
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
    let mut pipe = Pipe::connect(&server().max_line(1000), "2025-11-25").await;
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
