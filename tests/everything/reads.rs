//! Resources, prompts, completion, and what `initialize` says of them.

use serde_json::{Value, json};

use crate::peer::{Http, Peer};

/// The values of a member in a list.
fn each<'a>(list: &'a Value, member: &str) -> Vec<&'a str> {
    let list = list.as_array().expect("there is a list");
    list.iter().map(|entry| entry[member].as_str().expect("it is a text")).collect()
}

#[actix_web::test]
async fn resources_are_listed_and_read() {
    for mut peer in Peer::both(&[]).await {
        let list = peer.request("resources/list", json!({})).await["result"]["resources"].take();
        let test = ["test://static-text", "test://static-binary", "test://watched-resource"];
        assert_eq!(each(&list, "uri"), [&["mem://a", "mem://b"][..], &test].concat());
        assert_eq!(each(&list, "name")[..2], ["a", "b"]);
        let list =
            peer.request("resources/templates/list", json!({})).await["result"]["resourceTemplates"].take();
        assert_eq!(each(&list, "uriTemplate"), ["mem://item/{id}", "test://template/{id}/data"]);
        assert_eq!(each(&list, "name")[0], "item");

        for uri in ["mem://a", "mem://b", "mem://item/1", "mem://item/%2F"] {
            let answer = peer.request("resources/read", json!({ "uri": uri })).await;
            let contents =
                json!([{ "uri": uri, "mimeType": "text/plain", "text": format!("content of {uri}") }]);
            assert_eq!(answer["result"]["contents"], contents);
        }
        let answer = peer.request("resources/read", json!({ "uri": "test://template/7/data" })).await;
        let contents = json!([{
            "uri": "test://template/7/data",
            "mimeType": "application/json",
            "text": r#"{"id":"7","templateTest":true,"data":"Data for ID: 7"}"#,
        }]);
        assert_eq!(answer["result"]["contents"], contents);
        let answer = peer.request("resources/read", json!({ "uri": "test://static-binary" })).await;
        assert_eq!(answer["result"]["contents"][0]["mimeType"], "image/png");
        assert!(
            answer["result"]["contents"][0]["blob"].as_str().is_some_and(|blob| blob.starts_with("iVBORw0K"))
        );

        for uri in ["mem://c", "mem://item/", "mem://item/1/2", "made:up"] {
            let answer = peer.request("resources/read", json!({ "uri": uri })).await;
            assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
            assert_eq!(answer["error"]["data"], json!({ "uri": uri }));
        }
    }
}

#[actix_web::test]
async fn prompts_are_listed_and_filled_in() {
    let user = |content: Value| json!({ "role": "user", "content": content });
    let said = |text: &str| user(json!({ "type": "text", "text": text }));
    for mut peer in Peer::both(&[]).await {
        let list = peer.request("prompts/list", json!({})).await["result"]["prompts"].take();
        assert_eq!(each(&list, "name")[0], "greet");
        let arguments = &list[0]["arguments"];
        assert_eq!((&arguments[0]["name"], &arguments[0]["required"]), (&json!("name"), &json!(true)));

        let contents = json!({ "uri": "test://x", "mimeType": "text/plain", "text": "Embedded resource content for testing." });
        for (name, arguments, messages) in [
            ("greet", json!({ "name": "Ada" }), json!([said("Hello Ada")])),
            ("test_simple_prompt", json!({}), json!([said("This is a simple prompt for testing.")])),
            (
                "test_prompt_with_arguments",
                json!({ "arg1": "a", "arg2": "b" }),
                json!([said("Prompt with arguments: arg1='a', arg2='b'")]),
            ),
            (
                "test_prompt_with_embedded_resource",
                json!({ "resourceUri": "test://x" }),
                json!([
                    user(json!({ "type": "resource", "resource": contents })),
                    said("Please process the embedded resource above."),
                ]),
            ),
        ] {
            let answer = peer.request("prompts/get", json!({ "name": name, "arguments": arguments })).await;
            assert_eq!(answer["result"]["messages"], messages);
        }
        let answer = peer.request("prompts/get", json!({ "name": "test_prompt_with_image" })).await;
        assert_eq!(answer["result"]["messages"][0]["content"]["mimeType"], "image/png");
        assert_eq!(answer["result"]["messages"][1], said("Please analyze the image above."));
        for wrong in [json!({ "name": "greet" }), json!({ "name": "made up" })] {
            assert_eq!(peer.request("prompts/get", wrong).await["error"]["code"], -32602);
        }
    }
}

#[actix_web::test]
async fn names_are_completed_a_hundred_at_a_time() {
    for mut peer in Peer::both(&[]).await {
        for (typed, first, sent, total, more) in [
            ("", "name000", 100, 250, true),
            ("name0", "name000", 100, 100, false),
            ("name24", "name240", 10, 10, false),
        ] {
            let params = json!({
                "ref": { "type": "ref/prompt", "name": "greet" },
                "argument": { "name": "name", "value": typed },
            });
            let completion = peer.request("completion/complete", params).await["result"]["completion"].take();
            let values = completion["values"].as_array().expect("there are values");
            assert_eq!((&values[0], values.len()), (&json!(first), sent));
            assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(total), &json!(more)));
        }
    }
}

#[actix_web::test]
async fn the_capabilities_are_declared() {
    let server = Http::start(&[]);
    let initialize = crate::served::initialize("2025-11-25");
    let answer = server.send(&initialize).await.expect(200).await.json().await;
    let capabilities = &answer["result"]["capabilities"];
    for (pointer, value) in [
        ("/tools/listChanged", json!(true)),
        ("/prompts/listChanged", json!(true)),
        ("/resources/subscribe", json!(true)),
        ("/completions", json!({})),
        ("/logging", json!({})),
    ] {
        assert_eq!(capabilities.pointer(pointer), Some(&value), "{pointer}");
    }
    assert_eq!(answer["result"]["serverInfo"]["name"], "everything");
}
