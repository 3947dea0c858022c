//! Resources and resource templates.

use actix_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{conformance::PNG, tools::SECRET};

async fn content(Uri(uri): Uri) -> String {
    if &*uri == "mem://item/panic" {
        panic!("{SECRET}");
    }
    format!("content of {uri}")
}

async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

async fn static_binary() -> Vec<u8> {
    PNG.to_vec()
}

async fn watched() -> &'static str {
    "This resource is watched."
}

#[derive(Deserialize, JsonSchema)]
struct Data {
    id: String,
}

async fn data(Args(Data { id }): Args<Data>) -> String {
    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string()
}

pub(crate) fn offer(server: ServerBuilder) -> ServerBuilder {
    server
        .resource(Resource::new("mem://a", "a", content).mime_type("text/plain"))
        .resource(Resource::new("mem://b", "b", content).mime_type("text/plain"))
        .resource_template(ResourceTemplate::new("mem://item/{id}", "item", content).mime_type("text/plain"))
        .resource(
            Resource::new("test://static-text", "static-text", static_text)
                .description("A text that does not change.")
                .mime_type("text/plain"),
        )
        .resource(
            Resource::new("test://static-binary", "static-binary", static_binary)
                .description("An image that does not change.")
                .mime_type("image/png"),
        )
        .resource(
            Resource::new("test://watched-resource", "watched-resource", watched)
                .description("A text to subscribe to.")
                .mime_type("text/plain"),
        )
        .resource_template(
            ResourceTemplate::new("test://template/{id}/data", "template", data)
                .description("Data by id.")
                .mime_type("application/json"),
        )
}
