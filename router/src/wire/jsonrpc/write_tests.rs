use serde_json::{json, value::RawValue};

use super::*;

fn text(bytes: Bytes) -> String {
    String::from_utf8(bytes.into()).unwrap()
}

#[test]
fn members_come_in_one_order_and_without_spaces() {
    let id = RequestId::from("a");
    assert_eq!(
        text(encode_result(&id, &json!({"x":[1,2]}))),
        r#"{"jsonrpc":"2.0","id":"a","result":{"x":[1,2]}}"#
    );
    assert_eq!(text(encode_raw_result(&id, &[], b"{}")), r#"{"jsonrpc":"2.0","id":"a","result":{}}"#);
    let head: &[&[u8]] = &[br#""a":1"#, b"", br#""b":2"#];
    assert_eq!(
        text(encode_raw_result(&id, head, b"{}")),
        r#"{"jsonrpc":"2.0","id":"a","result":{"a":1,"b":2}}"#
    );
    assert_eq!(
        text(encode_raw_result(&id, head, br#"{"c":3}"#)),
        r#"{"jsonrpc":"2.0","id":"a","result":{"a":1,"b":2,"c":3}}"#
    );
    assert_eq!(
        text(encode_request(&7_i64.into(), "roots/list", b"{}")),
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{}}"#
    );
    assert_eq!(
        text(encode_request(&7_i64.into(), "ping", b"")),
        r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#
    );
    assert_eq!(
        text(encode_notification("n", &json!({"a":1}))),
        r#"{"jsonrpc":"2.0","method":"n","params":{"a":1}}"#
    );
    assert_eq!(text(encode_notification("n", &())), r#"{"jsonrpc":"2.0","method":"n"}"#);
}

#[test]
fn an_error_has_its_id_none_or_null() {
    let error = McpError::invalid_params("no");
    let id = RequestId::from(7_i64);
    let tail = r#""error":{"code":-32602,"message":"no"}}"#;
    assert_eq!(
        text(encode_error(ErrorId::Given(&id), &error)),
        format!(r#"{{"jsonrpc":"2.0","id":7,{tail}"#)
    );
    assert_eq!(text(encode_error(ErrorId::Absent, &error)), format!(r#"{{"jsonrpc":"2.0",{tail}"#));
    assert_eq!(text(encode_error(ErrorId::Null, &error)), format!(r#"{{"jsonrpc":"2.0","id":null,{tail}"#));
}

#[test]
fn no_character_that_may_end_a_line_is_written_raw() {
    let id = RequestId::from("\u{2028}");
    let written = text(encode_result(&id, &"a\u{2028}b\u{2029}c\u{85}d\r\n\re\u{2027}\u{86}é€"));
    assert_eq!(
        written,
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u2028\",\"result\":\"a\\u2028b\\u2029c\\u0085d\\r\\n\\re\u{2027}\u{86}é€\"}"
    );
}

#[test]
fn a_raw_value_of_many_lines_becomes_one_line_that_means_the_same() {
    let raw = RawValue::from_string("{\n\t\"a\\n\u{2028}\":\r\n1 }".to_owned()).unwrap();
    let written = text(encode_result(&1_i64.into(), &raw));
    assert_eq!(written, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ \t\"a\\n\\u2028\":  1 }}");
}

#[test]
fn a_result_that_does_not_serialize_is_an_internal_error() {
    let unwritable = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert_eq!(
        text(encode_result(&1_i64.into(), &unwritable)),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}"#
    );
}
