//! `subscriptions/listen` over real sockets, whose connections two workers share.

use serde_json::{Value, json};

use crate::{
    client::Connection,
    fixture::server,
    served::{modern, modern_call},
    workers::Workers,
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[actix_web::test]
async fn who_listens_at_either_worker_is_told_of_a_change_made_at_either() {
    let server = server();
    let workers = Workers::start(&server);
    let notifications = json!({ "resourceSubscriptions": ["mem://item/1"], "toolsListChanged": true });
    let mut streams = Vec::new();
    while streams.len() < 4 || workers.seen.by_worker().len() < 2 {
        assert!(streams.len() < 1000, "one worker takes all connections");
        let mut connection = Connection::tcp(workers.addr).await;
        let params = json!({ "notifications": notifications });
        // one id for all: each has a subscription of its own
        connection.send(&modern("l", "subscriptions/listen", params)).await;
        let mut stream = connection.response().await.expect(200).await;
        let first = stream.message().await.expect("an acknowledgement");
        assert_eq!(first["params"]["notifications"], notifications);
        streams.push(stream);
    }
    workers.seen.clear();
    // calls of either worker, until both have made a change
    while workers.seen.by_worker().len() < 2 {
        let mut connection = Connection::tcp(workers.addr).await;
        connection.send(&modern_call(1, "touch", json!({ "uri": "mem://item/1" }))).await;
        connection.response().await.expect(200).await.answer().await;
        for stream in &mut streams {
            let notice = stream.message().await.expect("a notice");
            let params = json!({ "uri": "mem://item/1", "_meta": { SUBSCRIPTION: "l" } });
            assert_eq!(notice["method"], "notifications/resources/updated");
            assert_eq!(notice["params"], params);
        }
    }
    assert_eq!(server.stats().listens, streams.len());
    server.shutdown().await;
    for stream in streams {
        let last = stream.messages().await.pop().expect("a result");
        assert_eq!((&last["id"], &last["result"]["_meta"][SUBSCRIPTION]), (&json!("l"), &Value::from("l")));
    }
    assert_eq!((server.stats().listens, server.stats().streams), (0, 0));
}
