//! Lists: their order, their pages, and cursors that lead nowhere.

use actix_mcp::{
    Capability,
    prelude::*,
    testing::{Pipe, paused},
};
use serde_json::{Value, json};

use crate::fixture::builder;

async fn text() -> &'static str {
    "ok"
}

/// The four lists: method, member, and what names an entry.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// So many entries of each kind, registered in an order that no sorting gives.
fn lists(count: usize) -> ServerBuilder {
    (0..count).map(|n| (n * 7) % count).fold(Server::builder("lists", "1"), |server, n| {
        server
            .tool(Tool::new(format!("t{n}"), text))
            .prompt(Prompt::new(format!("p{n}"), text))
            .resource(Resource::new(format!("mem://r{n}"), "r", text))
            .resource_template(ResourceTemplate::new(format!("mem://x{n}/{{id}}"), "x", text))
    })
}

fn keys(count: usize) -> Vec<usize> {
    (0..count).map(|n| (n * 7) % count).collect()
}

async fn page(pipe: &mut Pipe, method: &str, cursor: Option<&Value>) -> Value {
    let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
    pipe.request(1, method, params).await;
    pipe.answer_to(1).await
}

/// All pages: their sizes, and the keys of their entries.
async fn walk(pipe: &mut Pipe, (method, member, key): (&str, &str, &str)) -> (Vec<usize>, Vec<String>) {
    let (mut sizes, mut keys, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let answer = page(pipe, method, cursor.as_ref()).await;
        let entries = answer["result"][member].as_array().unwrap_or_else(|| panic!("{answer}"));
        sizes.push(entries.len());
        keys.extend(entries.iter().map(|entry| entry[key].as_str().expect("a key is a string").to_owned()));
        match answer["result"].get("nextCursor") {
            Some(next) => {
                assert!(next.as_str().is_some_and(|next| !next.is_empty()), "{answer}");
                cursor = Some(next.clone());
            }
            // the last page has no such member, not an empty one
            None => return (sizes, keys),
        }
    }
}

#[actix_web::test]
async fn every_entry_comes_once_in_the_order_of_registration() {
    paused();
    for (count, page_size, sizes) in [
        (25, Some(10), vec![10, 10, 5]),
        (20, Some(10), vec![10, 10]),
        (10, Some(10), vec![10]),
        (1, Some(10), vec![1]),
        (3, Some(1), vec![1, 1, 1]),
        (25, None, vec![25]),
    ] {
        let server = lists(count);
        let server = page_size.into_iter().fold(server, ServerBuilder::page_size).build();
        let mut pipe = Pipe::connect(&server, "2025-11-25").await;
        for list in LISTS {
            let (walked, found) = walk(&mut pipe, list).await;
            assert_eq!(walked, sizes, "{list:?} of {count} by {page_size:?}");
            let registered: Vec<_> = match list.1 {
                "tools" => keys(count).iter().map(|n| format!("t{n}")).collect(),
                "prompts" => keys(count).iter().map(|n| format!("p{n}")).collect(),
                "resources" => keys(count).iter().map(|n| format!("mem://r{n}")).collect(),
                _ => keys(count).iter().map(|n| format!("mem://x{n}/{{id}}")).collect(),
            };
            assert_eq!(found, registered);
        }
    }
}

#[actix_web::test]
async fn a_cursor_that_this_list_did_not_give_out_is_refused() {
    paused();
    let server = lists(25).page_size(10).build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let mut cursors = Vec::new();
    for (method, ..) in LISTS {
        cursors.push(page(&mut pipe, method, None).await["result"]["nextCursor"].clone());
    }
    for (at, (method, ..)) in LISTS.into_iter().enumerate() {
        let others = cursors.iter().enumerate().filter(|(of, _)| *of != at).map(|(_, cursor)| cursor.clone());
        let own = cursors[at].as_str().unwrap();
        let altered = [
            format!("{own}x"),
            own[1..].to_owned(),
            own.to_uppercase(),
            format!(" {own}"),
            format!("{own}="),
        ];
        let made_up = ["bogus", "", "0", "1", "10", "null", "AAAAAAAAAAAAAAAA"].map(str::to_owned);
        for cursor in others.chain(altered.into_iter().chain(made_up).map(Value::from)) {
            let answer = page(&mut pipe, method, Some(&cursor)).await;
            assert_eq!(answer["error"]["code"], -32602, "{cursor} of {method}: {answer}");
            assert_eq!(answer["error"]["message"], "`cursor` is not valid for the current list");
        }
        for cursor in [json!(5), json!(1.5), json!(true), json!([]), json!({})] {
            let answer = page(&mut pipe, method, Some(&cursor)).await;
            assert_eq!(answer["error"]["code"], -32602, "{cursor} of {method}: {answer}");
            assert_eq!(answer["error"]["message"], "`cursor` is not a string");
        }
        // null is what some clients write for a member they do not have
        assert!(page(&mut pipe, method, Some(&Value::Null)).await["result"].is_object());
        // its own still leads on, as often as it is asked for
        for _ in 0..2 {
            assert!(page(&mut pipe, method, Some(&cursors[at])).await["result"].is_object());
        }
    }
}

#[actix_web::test]
async fn a_cursor_is_good_until_the_list_changes_before_its_place() {
    paused();
    let server = lists(25).page_size(10).build();
    let handle = server.handle();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let first = page(&mut pipe, "tools/list", None).await["result"]["nextCursor"].clone();
    handle.add_tool(Tool::new("late", text)).unwrap();
    // C120: behind its place
    assert!(page(&mut pipe, "tools/list", Some(&first)).await["result"].is_object());
    // the other lists have not changed
    let prompts = page(&mut pipe, "prompts/list", None).await["result"]["nextCursor"].clone();
    let (sizes, found) = walk(&mut pipe, LISTS[0]).await;
    assert_eq!(sizes, [10, 10, 6]);
    assert_eq!(found.last().map(String::as_str), Some("late"));
    assert!(page(&mut pipe, "prompts/list", Some(&prompts)).await["result"].is_object());
    let gone = found.first().unwrap();
    assert!(handle.remove_tool(gone));
    let answer = page(&mut pipe, "tools/list", Some(&first)).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[actix_web::test]
async fn what_is_offered_but_empty_is_one_empty_page() {
    paused();
    let server = Server::builder("empty", "1")
        .declare(Capability::Tools)
        .declare(Capability::Resources)
        .page_size(10)
        .build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    assert_eq!(page(&mut pipe, "tools/list", None).await["result"], json!({ "tools": [] }));
    assert_eq!(page(&mut pipe, "resources/list", None).await["result"], json!({ "resources": [] }));
    assert_eq!(
        page(&mut pipe, "resources/templates/list", None).await["result"],
        json!({ "resourceTemplates": [] })
    );
}

// C86
#[actix_web::test]
async fn servers_that_are_made_alike_list_the_same_bytes() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let own = revision == "2026-07-28";
        let mut first: Option<Vec<String>> = None;
        for _ in 0..5 {
            let server = builder().page_size(10).build();
            let mut lines = Vec::new();
            let mut pipe = Pipe::open(&server);
            let client = json!({ "name": "t", "version": "1" });
            let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
            if !own {
                pipe.request(0, "initialize", params).await;
                lines.push(pipe.next_line().await.unwrap());
            }
            for (method, ..) in LISTS {
                let mut cursor = None;
                loop {
                    let mut params = cursor.map_or(json!({}), |cursor: Value| json!({ "cursor": cursor }));
                    if own {
                        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(revision);
                        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
                    }
                    pipe.request(1, method, params).await;
                    let line = pipe.next_line().await.unwrap();
                    let answer: Value = serde_json::from_str(&line).unwrap();
                    assert!(answer["result"].is_object(), "{line}");
                    lines.push(line);
                    match answer["result"].get("nextCursor") {
                        // a cursor too is the same from every start of a server
                        Some(next) => cursor = Some(next.clone()),
                        None => break,
                    }
                }
            }
            match &first {
                None => first = Some(lines),
                Some(first) => assert_eq!(first, &lines),
            }
        }
    }
}
