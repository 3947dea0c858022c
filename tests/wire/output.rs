//! The pipe itself: whole lines, whatever is written at once.

use std::time::Duration;

use actix_mcp::testing::paused;
use actix_web::rt::{spawn, time::sleep};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, BufWriter};

use crate::{checks::assert_idle, fixture::server};

#[actix_web::test]
async fn large_answers_and_progress_at_once_leave_every_line_whole_for_a_slow_reader() {
    const BYTES: usize = 2_000_000;
    paused();
    let server = server();
    let (mut input, server_in) = tokio::io::duplex(64 * 1024);
    let (mut output, server_out) = tokio::io::duplex(64 * 1024);
    let serve = spawn(server.clone().serve_stream(server_in, server_out));
    let initialize = json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let mut lines =
        format!("{initialize}\n{}\n", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    for n in 0..16 {
        for (id, tool, arguments) in [
            (json!(n), "big", json!({ "bytes": BYTES })),
            (json!(format!("p{n}")), "progress", json!({ "n": 20, "ms": 1 })),
        ] {
            let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
            lines += &format!(
                "{}\n",
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            );
        }
    }
    input.write_all(lines.as_bytes()).await.unwrap();

    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let (mut answers, mut progress) = (Vec::new(), 0);
    while answers.len() < 33 {
        let read = output.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the server has ended");
        bytes.extend_from_slice(&buffer[..read]);
        while let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            let rest = bytes.split_off(end + 1);
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let message: Value = serde_json::from_slice(line).expect("one line is one message");
                if message.get("id").is_some() {
                    let text = message["result"]["content"][0]["text"].as_str();
                    let expected = message["id"].is_number().then_some(BYTES).or(text.map(str::len));
                    assert_eq!(text.map(str::len), expected);
                    answers.push(message["id"].to_string());
                } else {
                    progress += 1;
                }
            }
            bytes = rest;
        }
        sleep(Duration::from_millis(2)).await;
    }
    answers.sort();
    answers.dedup();
    assert_eq!((answers.len(), progress, bytes.len()), (33, 16 * 20, 0));
    drop(input);
    assert!(serve.await.unwrap().is_ok());
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_client_that_does_not_read_is_not_read_from_for_ever() {
    paused();
    let server = server();
    let (mut input, server_in) = tokio::io::duplex(64 * 1024);
    let (output, server_out) = tokio::io::duplex(64 * 1024);
    let serve = spawn(server.clone().serve_stream(server_in, server_out));
    let initialize = json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    input.write_all(format!("{initialize}\n").as_bytes()).await.unwrap();
    // echoes of 64 KiB until the server takes no more
    let text = "x".repeat(64 * 1024);
    let mut taken = 0;
    loop {
        let params = json!({ "name": "echo", "arguments": { "text": text } });
        let line = format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "id": taken, "method": "tools/call", "params": params })
        );
        let write = input.write_all(line.as_bytes());
        if tokio::time::timeout(Duration::from_secs(1), write).await.is_err() {
            break;
        }
        taken += 1;
        assert!(taken < 1000, "the server reads without end");
    }
    let held = usize::try_from(taken).unwrap() * text.len();
    assert!((8 << 20..24 << 20).contains(&held), "it took {held} bytes");
    drop((input, output));
    assert!(serve.await.unwrap().is_ok());
    assert_idle(&server).await;
}

#[actix_web::test]
async fn an_output_with_a_buffer_of_its_own_is_flushed() {
    paused();
    let (mut input, server_in) = tokio::io::duplex(1024);
    let (output, server_out) = tokio::io::duplex(1024);
    let serve = spawn(server().serve_stream(server_in, BufWriter::new(server_out)));
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    let mut lines = BufReader::new(output).lines();
    let line =
        tokio::time::timeout(Duration::from_secs(1), lines.next_line()).await.expect("it is sent at once");
    let answer: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    drop(input);
    assert!(serve.await.unwrap().is_ok());
}
