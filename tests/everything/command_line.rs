//! What the command line takes, and how the process ends.

use crate::{
    client::Connection,
    peer::{Http, everything},
    program::{PATIENCE, Program},
};

#[test]
fn what_it_does_not_know_or_take_is_told_on_stderr_with_2() {
    for (arguments, named) in [
        (&["--made-up"][..], "--made-up"),
        (&["--stdio", "--made-up"], "--made-up"),
        (&["file"], "file"),
        (&["--http"], "--http"),
        (&["--stdio", "--http", "127.0.0.1:0"], "--stdio"),
        (&["--stdio", "--max-body"], "--max-body"),
        (&["--stdio", "--max-body", "-1"], "--max-body"),
        (&["--stdio", "--max-line", "1k"], "--max-line"),
        (&["--stdio", "--page-size", "0"], "--page-size"),
        (&["--stdio", "--session-idle", "-1"], "--session-idle"),
        (&["--stdio", "--keep-alive", "soon"], "--keep-alive"),
        (&["--stdio", "--request-timeout", "NaN"], "--request-timeout"),
        (&["--stdio", "--allow-origin", "a.example"], "--allow-origin"),
        (&["--stdio", "--allow-host", "a host"], "--allow-host"),
        (&["--stdio", "--bearer", "token"], "--bearer"),
        (&["--stdio", "--bearer", "=token"], "--bearer"),
        (&["--stdio", "--state-key", "abc"], "--state-key"),
    ] {
        let ended = Program::start(everything(arguments)).ended();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        assert_eq!(ended.rest, Vec::<String>::new(), "{arguments:?}");
        assert!(ended.stderr.contains(named) && !ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}

#[test]
fn help_lists_the_flags() {
    let ended = Program::start(everything(&["--help"])).ended();
    assert!(ended.status.success());
    assert!(ended.rest.iter().any(|line| line.contains("--session-idle SECONDS")), "{:?}", ended.rest);
}

#[test]
fn stdio_ends_with_its_input_and_at_a_signal() {
    let mut program = Program::connect(everything(&["--stdio"]));
    program.stdin = None;
    program.ended().well();
    for signal in ["TERM", "INT"] {
        let program = Program::connect(everything(&["--stdio"]));
        program.signal(signal);
        program.ended().well();
    }
}

#[actix_web::test]
async fn http_prints_its_url_and_a_curl_line_and_ends_at_a_signal() {
    for signal in ["TERM", "INT"] {
        let mut server = Http::start(&[]);
        let curl = server.lines.recv_timeout(PATIENCE).expect("it prints a curl line");
        assert!(curl.starts_with("curl ") && curl.contains(&format!("http://{}/mcp", server.addr)), "{curl}");
        let client = server.client().await;
        let mut stream = client.get().await.expect(200).await;
        server.signal(signal);
        while stream.event().await.is_some() {}
        let status = server.process.wait().expect("it can be waited for");
        assert!(status.success(), "{status}");
    }
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let addr = taken.local_addr().expect("it has an address").to_string();
    let ended = Program::start(everything(&["--http", &addr])).ended();
    assert!(!ended.status.success());
    assert!(!ended.stderr.is_empty() && !ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// A request that any client of HTTP sends.
#[actix_web::test]
async fn other_paths_are_not_found() {
    let server = Http::start(&[]);
    let mut connection = Connection::tcp(server.addr).await;
    connection.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    connection.response().await.expect(404).await;
}
