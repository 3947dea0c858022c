//! Sessions that are opened, used for one call, and deleted.

use std::{cell::Cell, rc::Rc};

use super::{Sample, Time, all, client, measure};
use crate::{
    http::{Caller, Connection},
    message::{Message, echo, read},
    server::Listening,
    tally::Tally,
};

pub(super) async fn run(
    server: &Listening,
    connections: usize,
    time: Time,
    tally: &Rc<Tally>,
) -> anyhow::Result<Sample> {
    let stop = Rc::new(Cell::new(false));
    let mut clients = Vec::new();
    for nth in 0..connections {
        let mut connection = Connection::open(server.address).await?;
        let (stop, counts) = (stop.clone(), tally.clone());
        clients.push(client(tally, async move {
            let (mut body, mut round) = (Vec::new(), 0_u64);
            while !stop.get() {
                round += 1;
                let session = connection.initialize().await?;
                let (mut request, expected) = (String::new(), format!("{nth}-{round}"));
                echo(&mut request, 1, &expected);
                connection.exchange("POST", Caller::Session(&session), &request, &mut body).await?;
                let right = matches!(read(&body), Message::Answer { id: Some(1), text: Some(text) } if text == expected);
                connection.exchange("DELETE", Caller::Session(&session), "", &mut body).await?;
                counts.routed(right);
            }
            Ok(())
        }));
    }
    let sample = measure(server.pid, time, &tally.ok, &stop).await;
    all(clients).await?;
    sample
}
