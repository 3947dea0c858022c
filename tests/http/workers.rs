//! A server on real sockets with two workers, and the proof of which of them served what.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    thread::{ThreadId, current},
};

use actix_mcp::{Server, http_server};
use actix_web::{
    App, Error, HttpMessage as _,
    body::MessageBody,
    dev::{ServerHandle, Service as _, ServiceRequest, ServiceResponse},
    rt::spawn,
    web,
};

/// Of each worker: made by its app factory, given to handlers as `web::Data`.
pub(crate) struct PerWorker(pub(crate) ThreadId);
/// The same, in an `Rc` that no other thread can have.
pub(crate) struct Local(pub(crate) ThreadId);
/// Put into each request by the worker that accepted it.
#[derive(Clone, Copy)]
pub(crate) struct Accepted(pub(crate) ThreadId);

/// What was served, as the server's middleware saw it.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    by_worker: HashMap<ThreadId, usize>,
    /// Of this round: requests that came in, and responses 409 that went out.
    arrived: usize,
    refused: usize,
}

impl Seen {
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    /// How many requests each worker took.
    pub(crate) fn by_worker(&self) -> Vec<usize> {
        self.with(|state| state.by_worker.values().copied().collect())
    }

    pub(crate) fn new_round(&self) {
        self.with(|state| (state.arrived, state.refused) = (0, 0));
    }

    /// How many requests have come in this round, and how many were refused with 409.
    pub(crate) fn round(&self) -> (usize, usize) {
        self.with(|state| (state.arrived, state.refused))
    }

    /// Forgets what was served before.
    pub(crate) fn clear(&self) {
        self.with(|state| *state = State::default());
    }
}

/// A running server.
pub(crate) struct Workers {
    pub(crate) addr: SocketAddr,
    pub(crate) seen: Seen,
    pub(crate) handle: ServerHandle,
}

impl Workers {
    /// Serves at `/mcp` with two workers, until it is dropped.
    pub(crate) fn start(server: &Server) -> Self {
        let seen = Seen::default();
        let factory = {
            let (server, seen) = (server.clone(), seen.clone());
            move || app(&server, &seen)
        };
        let http = http_server(factory)
            // the test's own process keeps its signals
            .shutdown_signal(std::future::pending())
            .workers(2)
            .bind("127.0.0.1:0")
            .unwrap();
        let addr = http.addrs()[0];
        let running = http.run();
        let handle = running.handle();
        spawn(running);
        Self { addr, seen, handle }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // the command is given by the call; the future only waits for its end
        drop(self.handle.stop(false));
    }
}

fn app(
    server: &Server,
    seen: &Seen,
) -> App<
    impl actix_web::dev::ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody + use<>>,
        Error = Error,
        InitError = (),
    > + use<>,
> {
    let (seen, thread) = (seen.clone(), current().id());
    App::new()
        .app_data(web::Data::new(PerWorker(thread)))
        .app_data(std::rc::Rc::new(Local(thread)))
        .wrap_fn(move |request, next| {
            seen.with(|state| {
                *state.by_worker.entry(current().id()).or_default() += 1;
                state.arrived += 1;
            });
            request.extensions_mut().insert(Accepted(current().id()));
            let (seen, response) = (seen.clone(), next.call(request));
            async move {
                let response = response.await?;
                if response.status() == 409 {
                    seen.with(|state| state.refused += 1);
                }
                Ok(response)
            }
        })
        .service(server.scope("/mcp"))
}
