use serde_json::{Value, json};

use super::*;
use crate::{catalog::tool::Tool, wire::jsonrpc::Parameters};

const SCHEMA: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
    "on":{"type":"boolean","x-mcp-header":"On"},
    "deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Deep"}}}}}"#;

fn router() -> Router {
    let mut router = Router::new("test", "1");
    router.tool(Tool::new("region", async || "").input_schema(SCHEMA));
    router
}

fn request(method: &str, params: Value) -> Request {
    let id = serde_json::from_str("1").unwrap();
    Request { id, method: method.into(), params: Parameters::read(params.to_string()).unwrap() }
}

/// The message of the refusal, if there is one.
fn refusal(request: &Request, headers: &[(&str, &str)]) -> Option<String> {
    let field = |name: &str| {
        let mut found = headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (None, _) => Field::Absent,
            (Some((_, value)), None) => Field::One(value.as_bytes()),
            (Some(_), Some(_)) => Field::Many,
        }
    };
    let error = router().check_headers(request, field).err()?;
    assert_eq!(error.code, ErrorCode::HEADER_MISMATCH);
    Some(error.message.into_owned())
}

/// The same for a call of the tool with these arguments and one more header.
fn called(arguments: Value, header: &str, value: &str) -> Option<String> {
    let call = request("tools/call", json!({ "name": "region", "arguments": arguments }));
    refusal(&call, &[("Mcp-Method", "tools/call"), ("Mcp-Name", "region"), (header, value)])
}

#[test]
fn an_integer_is_compared_by_number_and_exactly() {
    for (text, value) in [
        ("42", Some(42)),
        ("42.0", Some(42)),
        ("42.000", Some(42)),
        ("4.2e1", Some(42)),
        ("420E-1", Some(42)),
        ("-7", Some(-7)),
        ("0", Some(0)),
        ("-0.0", Some(0)),
        ("100", Some(100)),
        ("9007199254740991", Some(SAFE_MAX)),
        ("-9007199254740991.0", Some(-SAFE_MAX)),
        ("9007199254740992", None),
        ("9007199254740990.9999999999", None),
        ("42.5", None),
        ("42.00000000000000000001", None),
        ("1e300", None),
        ("1e99999999999", None),
        ("042", None),
        ("+42", None),
        ("42.", None),
        (".5", None),
        ("", None),
        ("-", None),
        ("4 2", None),
        ("0x2a", None),
        ("\u{664}\u{662}", None),
        ("99999999999999999999999999", None),
    ] {
        assert_eq!(integer(text), value, "{text}");
    }
}

#[test]
fn a_value_in_base64_is_decoded_strictly_and_anything_else_is_literal() {
    for (text, value) in [
        ("us-west1", Some("us-west1")),
        ("=?base64?SGVsbG8=?=", Some("Hello")),
        ("=?base64?SGVsbG8sIOS4lueVjA==?=", Some("Hello, \u{4e16}\u{754c}")),
        ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", Some("=?base64?literal?=")),
        ("=?base64??=", Some("")),
        ("=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?=")),
        ("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8=")),
        ("SGVsbG8=", Some("SGVsbG8=")),
        ("=?base64?SGVsbG8?=", None),
        ("=?base64?SGVsbG9=?=", None),
        ("=?base64?SGVs bG8=?=", None),
        ("=?base64?SGVs-_8=?=", None),
        ("=?base64?/w==?=", None),
    ] {
        assert_eq!(decoded(text).as_deref(), value, "{text}");
    }
}

#[test]
fn an_argument_and_its_header_come_together_or_not_at_all() {
    let nothing = ("X-Else", "");
    for (arguments, (header, value), wrong) in [
        (json!({}), nothing, None),
        (json!({ "region": null, "deep": null }), nothing, None),
        (json!({ "region": "eu" }), nothing, Some("`Mcp-Param-Region` is missing")),
        (json!({ "region": "" }), nothing, Some("`Mcp-Param-Region` is missing")),
        (json!({}), ("Mcp-Param-Region", "eu"), Some("no value")),
        (json!({ "region": null }), ("mcp-param-region", "eu"), Some("no value")),
        (json!({ "region": null }), ("mcp-param-region", "null"), Some("no value")),
        (json!({ "region": "eu" }), ("mcp-param-REGION", "eu"), None),
        (json!({ "region": "eu" }), ("Mcp-Param-Region", " eu\t"), None),
        (json!({ "region": " eu" }), ("Mcp-Param-Region", " eu"), Some("does not match the body")),
        (json!({ "region": " eu" }), ("Mcp-Param-Region", "=?base64?IGV1?="), None),
        (json!({ "region": "" }), ("Mcp-Param-Region", ""), None),
        (json!({ "region": "eu" }), ("Mcp-Param-Region", "EU"), Some("does not match the body")),
        (json!({ "region": "eu" }), ("Mcp-Param-Region", "\u{e9}"), Some("must be visible ASCII")),
        (json!({ "region": "eu" }), ("Mcp-Param-Region", "e\u{7f}"), Some("must be visible ASCII")),
        (json!({ "region": "eu" }), ("Mcp-Param-Region", "=?base64?%?="), Some("not valid Base64")),
        (json!({ "n": 42 }), ("Mcp-Param-N", "42.0"), None),
        (json!({ "n": 42 }), ("Mcp-Param-N", "=?base64?NDI=?="), None),
        (json!({ "n": 42 }), ("Mcp-Param-N", "43"), Some("does not match the body")),
        (json!({ "n": 9007199254740992_i64 }), ("Mcp-Param-N", "9007199254740992"), Some("does not match")),
        (json!({ "n": 9007199254740993_i64 }), ("Mcp-Param-N", "9007199254740992"), Some("does not match")),
        (json!({ "n": 0.5 }), ("Mcp-Param-N", "0.5"), Some("does not match the body")),
        (json!({ "n": [42] }), ("Mcp-Param-N", "42"), Some("does not match the body")),
        (json!({ "on": true }), ("Mcp-Param-On", "true"), None),
        (json!({ "on": true }), ("Mcp-Param-On", "True"), Some("does not match the body")),
        (json!({ "on": false }), ("Mcp-Param-On", "true"), Some("does not match the body")),
        (json!({ "deep": { "er": "x" } }), ("Mcp-Param-Deep", "x"), None),
        (json!({ "deep": { "er": "x" } }), nothing, Some("`Mcp-Param-Deep` is missing")),
        (json!({ "deep": {} }), ("Mcp-Param-Deep", "x"), Some("no value")),
        (json!({ "deep": 7 }), nothing, Some("not an object")),
        (json!([]), nothing, None),
        (json!({ "query": "x" }), ("Mcp-Param-Query", "other"), None),
    ] {
        let refused = called(arguments.clone(), header, value);
        match wrong {
            None => assert_eq!(refused, None, "{arguments} {header}: {value}"),
            Some(why) => {
                let message = refused.unwrap_or_else(|| panic!("{arguments} {header}: {value} is taken"));
                assert!(message.contains(why), "{arguments} {header}: {value}: {message}");
            }
        }
    }
}

#[test]
fn the_name_of_what_is_asked_for_is_repeated() {
    let call = request("tools/call", json!({ "name": "region" }));
    let read = request("resources/read", json!({ "uri": "mem://a" }));
    let prompt = request("prompts/get", json!({ "name": "gr\u{fc}\u{df}en" }));
    for (request, name, wrong) in [
        (&call, Some("region"), None),
        (&call, Some("Region"), Some("does not match the body")),
        (&call, Some("=?base64?cmVnaW9u?="), None),
        (&call, None, Some("`Mcp-Name` is missing")),
        (&read, Some("mem://a"), None),
        (&read, Some("mem://b"), Some("does not match the body")),
        (&read, None, Some("`Mcp-Name` is missing")),
        (&prompt, Some("=?base64?Z3LDvMOfZW4=?="), None),
        (&prompt, Some("gr\u{fc}\u{df}en"), Some("must be visible ASCII")),
        (&request("tools/call", json!({})), None, None),
        (&request("tools/call", json!({ "name": 7 })), Some("7"), Some("no value")),
        (&request("tools/list", json!({ "name": "x" })), Some("y"), None),
    ] {
        let mut headers = vec![("Mcp-Method", &*request.method)];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        let refused = refusal(request, &headers);
        match wrong {
            None => assert_eq!(refused, None, "{request:?} {name:?}"),
            Some(why) => {
                assert!(refused.as_ref().is_some_and(|it| it.contains(why)), "{request:?}: {refused:?}")
            }
        }
    }
    let twice = [("Mcp-Method", "tools/call"), ("Mcp-Name", "region"), ("mcp-name", "region")];
    assert!(refusal(&call, &twice).unwrap().contains("`Mcp-Name` appears more than once"));
    assert!(refusal(&call, &[("Mcp-Name", "region")]).unwrap().contains("`Mcp-Method` is missing"));
    let cased = [("Mcp-Method", "Tools/Call"), ("Mcp-Name", "region")];
    assert!(refusal(&call, &cased).unwrap().contains("`Mcp-Method` does not match the body"));
}

#[test]
fn no_refusal_tells_a_value() {
    for (arguments, header, value) in [
        (json!({ "region": "SECRET-1" }), "Mcp-Param-Region", "SECRET-2"),
        (json!({ "region": "SECRET-1" }), "Mcp-Param-Region", "=?base64?SECRET?="),
        (json!({ "region": "SECRET-1" }), "X", "SECRET-2"),
        (json!({}), "Mcp-Param-Region", "SECRET-2"),
    ] {
        let message = called(arguments, header, value).unwrap();
        assert!(!message.contains("SECRET"), "{message}");
    }
}

#[test]
fn what_stands_in_the_place_of_an_object_on_the_way_to_a_value_is_refused() {
    for wrong in [json!(["x"]), json!("x"), json!(7), json!(false)] {
        let refused = called(json!({ "deep": wrong }), "Mcp-Other", "").expect("it is refused");
        assert!(refused.contains("Mcp-Param-Deep"), "{refused}");
    }
    for nothing in [json!({ "deep": null }), json!({ "deep": {} }), json!({}), json!([["x"]])] {
        assert_eq!(called(nothing, "Mcp-Other", ""), None);
    }
}
