//! A connection that is kept from one exchange to the next.

use crate::client::{Connection, Request, Response};

/// A connection for one exchange after the other. Methods panic where a test would.
pub(crate) struct Kept(Option<Connection>);

impl Kept {
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Some(connection))
    }

    /// Sends a request and gives the connection out, until it is put back with a response.
    pub(crate) async fn start(&mut self, request: &Request) -> Connection {
        let mut connection = self.0.take().expect("the connection is in use");
        connection.send(request).await;
        connection
    }

    /// Reads a response to its end and puts its connection back; its body.
    pub(crate) async fn read(&mut self, mut response: Response) -> Vec<u8> {
        let body = response.bytes().await;
        self.0 = Some(response.into_connection());
        body
    }

    /// Sends a request, whose response must have this status; its body.
    pub(crate) async fn ask(&mut self, request: &Request, status: u16) -> Vec<u8> {
        let response = self.start(request).await.response().await.expect(status).await;
        self.read(response).await
    }
}
