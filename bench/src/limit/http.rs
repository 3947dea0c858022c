//! The limit over HTTP.

use std::{
    convert::Infallible,
    io::{self, Write},
};

use actix_web::{
    App, HttpResponse, HttpServer,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    rt::System,
    web::{self, Bytes},
};
use futures_util::{
    Stream, StreamExt,
    stream::{self, once, pending},
};

use crate::message::{Message, acknowledged, event, opened, progress_event, result, result_alone};

/// Prints its URLs, and serves until it is killed.
pub(crate) fn serve(address: &str) -> io::Result<()> {
    System::new().block_on(async {
        let routes = || {
            web::resource("/mcp")
                .route(web::post().to(post))
                .route(web::get().to(get))
                .route(web::delete().to(HttpResponse::Ok))
        };
        let server = HttpServer::new(move || App::new().service(routes())).tcp_nodelay(true).bind(address)?;
        for address in server.addrs() {
            writeln!(io::stdout(), "http://{address}/mcp")?;
        }
        server.run().await
    })
}

async fn post(body: Bytes) -> HttpResponse {
    let Ok(message) = serde_json::from_slice::<Message<'_>>(&body) else {
        return HttpResponse::BadRequest().finish();
    };
    let Some(id) = message.id else { return HttpResponse::Accepted().finish() };
    let mut response = HttpResponse::Ok();
    if message.method == "initialize" {
        // there is no table of sessions: all clients get the same id
        response.insert_header(("Mcp-Session-Id", "00000000000000000000000000000000"));
        return response.content_type("application/json").body(opened(id.get()));
    }
    if message.method == "subscriptions/listen" {
        return quiet(event(acknowledged(id.get()).as_bytes()).into());
    }
    if let Some((of, token)) = message.progress() {
        return events(progress(id.get(), token, of, message.text()));
    }
    let result = if message.is_alone() { result_alone } else { result };
    response.content_type("application/json").body(result(id.get(), message.text()))
}

/// The notifications of one call, then its answer.
fn progress(id: &str, token: &str, of: u64, text: &str) -> impl Stream<Item = Bytes> + use<> {
    let last = event(&result(id, "done"));
    let (token, text) = (token.to_owned(), text.to_owned());
    let steps = stream::iter(1..=of).map(move |step| progress_event(&token, step, of, &text).into());
    steps.chain(once(async move { last.into() }))
}

async fn get() -> HttpResponse {
    quiet(Bytes::from_static(b":\n\n"))
}

/// An idle stream after this first event.
fn quiet(first: Bytes) -> HttpResponse {
    events(once(async { first }).chain(pending()))
}

fn events(events: impl Stream<Item = Bytes> + 'static) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/event-stream"))
        .insert_header((CACHE_CONTROL, "no-cache"))
        .streaming(events.map(Ok::<_, Infallible>))
}
