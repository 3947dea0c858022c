//! Behind nginx, which buffers and compresses what it passes on, and behind an encoder of ours: events arrive one by one.
//!
//! What nginx 1.22 does was looked at. A chunked body, which ours is, it passes on as it comes, asked not to buffer or not.
//! One that it compresses it holds back to the end, unless it was asked not to buffer, or the body says by its
//! `Content-Encoding: identity` that it is not to be compressed. Streams have both headers.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    fs,
    io::Write as _,
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use actix_mcp::{Progress, http_server, tool};
use actix_web::{App, middleware::Compress, rt::time::sleep, web};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::{
    fixture,
    served::{Client, call_with_progress},
};

/// Lets the test say when each event is sent: after the one before it has arrived.
struct Gate(Semaphore);

#[tool]
async fn steps(gate: web::Data<Gate>, progress: Progress) -> &'static str {
    for step in 1..=3 {
        progress.report(step).await.ok();
        gate.0.acquire().await.unwrap().forget();
    }
    "done"
}

/// A running nginx, and its directory. Both go when it is dropped.
struct Nginx {
    process: Child,
    home: PathBuf,
}

impl Nginx {
    /// Starts one before `upstream`; `None` if there is none on this machine.
    async fn start(upstream: SocketAddr, version: &str) -> Option<(Self, SocketAddr)> {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nginx-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        // another may take a port that is free now before nginx does: then it ends, and the next one is tried
        for _ in 0..10 {
            let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let config = config(&home, addr, upstream, version);
            fs::write(home.join("nginx.conf"), config).unwrap();
            let mut command = Command::new("nginx");
            command.arg("-p").arg(&home).args(["-c", "nginx.conf", "-e", "stderr"]).stderr(Stdio::inherit());
            let process = match command.spawn() {
                Ok(process) => process,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
                Err(error) => panic!("nginx does not start: {error}"),
            };
            let mut nginx = Self { process, home: home.clone() };
            while nginx.process.try_wait().unwrap().is_none() {
                if TcpStream::connect(addr).is_ok() {
                    return Some((nginx, addr));
                }
                // not a step of the test: there is no other way to learn that a process listens
                sleep(Duration::from_millis(5)).await;
            }
        }
        panic!("nginx ends at once");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        fs::remove_dir_all(&self.home).ok();
    }
}

/// What a proxy needs at least, and compression. Buffering is as it comes: on.
fn config(home: &Path, addr: SocketAddr, upstream: SocketAddr, version: &str) -> String {
    let home = home.display();
    format!(
        r#"
daemon off;
master_process off;
pid "{home}/pid";
events {{}}
http {{
    access_log off;
    gzip on;
    gzip_proxied any;
    gzip_min_length 1;
    gzip_types text/event-stream;
    client_body_temp_path "{home}/body";
    proxy_temp_path "{home}/proxy";
    fastcgi_temp_path "{home}/fastcgi";
    uwsgi_temp_path "{home}/uwsgi";
    scgi_temp_path "{home}/scgi";
    server {{
        listen {addr};
        location / {{
            proxy_pass http://{upstream};
            proxy_http_version {version};
        }}
    }}
}}
"#
    )
}

// C60, issue 4: a reader behind a proxy sees an event before the next one is sent
#[actix_web::test]
async fn behind_nginx_and_an_encoder_events_arrive_one_by_one() {
    let gate = Arc::new(Gate(Semaphore::new(0)));
    let server = fixture::builder().tool(steps).data_arc(gate.clone()).build();
    let factory = {
        let server = server.clone();
        move || App::new().wrap(Compress::default()).service(server.scope("/mcp"))
    };
    let http = http_server(factory)
        // the test's own process keeps its signals
        .shutdown_signal(std::future::pending())
        .workers(1)
        .bind("127.0.0.1:0")
        .unwrap();
    let upstream = http.addrs()[0];
    let running = http.run();
    let handle = running.handle();
    actix_web::rt::spawn(running);
    // 1.0 is what old ones speak when nothing else is asked for
    for version in ["1.0", "1.1"] {
        let Some((nginx, addr)) = Nginx::start(upstream, version).await else {
            // past the capture of the test runner: somebody should know
            writeln!(std::io::stderr(), "behind_nginx..: left out, there is no nginx on PATH").unwrap();
            break;
        };
        one_by_one(addr, &gate).await;
        drop(nginx);
    }
    handle.stop(false).await;
}

/// Reads each event before the next one is sent.
async fn one_by_one(addr: SocketAddr, gate: &Gate) {
    let client = Client::open(addr, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    assert!(get.event().await.is_some(), "a first event");
    let call = client.request(&call_with_progress(1, "steps", json!({}), "p"));
    let call = call.header("Accept-Encoding", "gzip, br, zstd");
    let mut stream = client.send(&call).await.expect(200).await;
    for step in 1..=3 {
        let event = stream.message().await.expect("an event");
        assert_eq!(event["params"]["progress"], f64::from(step));
        gate.0.add_permits(1);
    }
    assert_eq!(stream.message().await.expect("an answer")["result"]["content"][0]["text"], "done");
    client.call(2, "toggle", json!({})).await.expect(200).await;
    let notice = get.message().await.expect("a notice");
    assert_eq!(notice["method"], "notifications/tools/list_changed");
}
