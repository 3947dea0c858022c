use proptest::prelude::*;

use super::*;
use crate::wire::params::Members;
use crate::wire::{
    id::ErrorId,
    jsonrpc::{Target, encode_error, encode_notification, encode_request, encode_result},
};

fn try_one(text: &str) -> Result<Incoming, Malformed> {
    match read(Bytes::copy_from_slice(text.as_bytes()), &ReadLimits::default())? {
        Payload::One(message) => Ok(message),
        Payload::Batch(_) => panic!("a batch"),
    }
}

fn refused(text: &str) -> (i64, Option<RequestId>, String) {
    let malformed = try_one(text).expect_err(text);
    (malformed.error.code.0, malformed.id, malformed.error.message.into_owned())
}

fn request(text: &str) -> Request {
    match try_one(text) {
        Ok(Incoming::Request(request)) => request,
        other => panic!("{text}: {other:?}"),
    }
}

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

#[test]
fn members_of_the_parameters_are_parts_of_the_text() {
    let text =
        Bytes::from_static(br#" {"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments": [1 , 2]}} "#);
    let Ok(Payload::One(Incoming::Request(request))) = read(text.clone(), &ReadLimits::default()) else {
        panic!("no request")
    };
    let params = &request.params;
    let arguments = params.slice(params.raw("arguments").unwrap());
    assert_eq!(arguments, "[1 , 2]");
    let range = text.as_ptr_range();
    assert!(range.contains(&arguments.as_ptr()) && range.contains(&request.method.as_ptr()));
}

#[test]
fn every_legal_id_comes_back_with_its_type_and_value() {
    let long = format!("\"{}\"", "x".repeat(4096));
    for id in [
        "0",
        "-1",
        "2147483648",
        "1774232524389",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        r#""""#,
        r#""a\u0000b""#,
        r#""1.0""#,
        r#""1""#,
        &long,
    ] {
        let read = request(&ping(id));
        let written = String::from_utf8(encode_result(&read.id, &true).into()).unwrap();
        assert_eq!(written, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":true}}"#));
    }
    assert_ne!(request(&ping("1")).id, request(&ping("\"1\"")).id);
}

#[test]
fn an_illegal_id_is_a_refused_request_and_never_a_notification() {
    for id in [
        "null",
        "1.5",
        "1.00000000000000000001",
        "1e-1",
        "true",
        "[]",
        "{}",
        "18446744073709551616",
        "18446744073709551616.0",
        "-9223372036854775809",
        "-9223372036854775809.0",
        "1e20",
        "1e400",
        "1e1000000000",
    ] {
        let malformed = try_one(&ping(id)).expect_err(id);
        assert_eq!(malformed.error.code, ErrorCode::INVALID_REQUEST, "{id}");
        assert_eq!((malformed.id, malformed.looks), (None, Looks::Request), "{id}");
    }
}

// C115
#[test]
fn an_id_that_is_an_integer_is_that_integer_however_it_is_written() {
    for (id, integer) in [
        ("1.0", "1"),
        ("1e0", "1"),
        ("10e-1", "1"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("1.5e1", "15"),
        ("-2.0", "-2"),
        ("9007199254740993.0", "9007199254740993"),
        ("18446744073709551615.0", "18446744073709551615"),
        ("-9223372036854775808.0", "-9223372036854775808"),
        ("0e1000000000000000000000", "0"),
    ] {
        let read = request(&ping(id));
        assert_eq!(read.id, request(&ping(integer)).id, "{id}");
        let written = String::from_utf8(encode_result(&read.id, &true).into()).unwrap();
        assert_eq!(written, format!(r#"{{"jsonrpc":"2.0","id":{integer},"result":true}}"#));
    }
    let response = try_one(r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#).unwrap();
    assert!(matches!(response, Incoming::Response(response) if response.id == RequestId::from(7_i64)));
}

#[test]
fn an_id_may_be_as_long_as_its_limit_and_no_longer() {
    let fits = format!("\"{}\"", "x".repeat(8192));
    assert!(try_one(&ping(&fits)).is_ok());
    let (code, id, message) = refused(&ping(&format!("\"{}\"", "x".repeat(8193))));
    assert_eq!((code, id), (-32600, None));
    assert_eq!(message, "`id` is longer than 8192 bytes");
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    for text in ["", " ", "{", "[1", "[1 2]", "{not json", "hello", "{}x", "\"x", "{\"a\":}", "nul", "[]]"] {
        let (code, id, _) = refused(text);
        assert_eq!((code, id), (-32700, None), "{text}");
    }
    let invalid = read(Bytes::from_static(b"{\"a\":\"\xff\xfe\"}"), &ReadLimits::default()).unwrap_err();
    assert_eq!(invalid.error.code, ErrorCode::PARSE_ERROR);
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() {
    for text in ["42", "\"x\"", "null", "true", "{}", "[]", r#"{"jsonrpc":"2.0"}"#] {
        let (code, id, _) = refused(text);
        assert_eq!((code, id), (-32600, None), "{text}");
    }
}

#[test]
fn a_readable_id_is_echoed_whatever_else_is_wrong() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"m","params":{{"a":{}{}}}}}"#,
        "[".repeat(63),
        "]".repeat(63)
    );
    for (text, code, names) in [
        (r#"{"jsonrpc":"2.0","id":4}"#, -32600, "`method`"),
        (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, -32600, "`jsonrpc`"),
        (r#"{"id":4,"method":"ping"}"#, -32600, "`jsonrpc`"),
        (r#"{"jsonrpc":2.0,"id":4,"method":"ping"}"#, -32600, "`jsonrpc`"),
        (r#"{"jsonrpc":"2.0","id":4,"method":7}"#, -32600, "`method`"),
        (r#"{"jsonrpc":"2.0","id":4,"method":null}"#, -32600, "`method`"),
        (r#"{"jsonrpc":"2.0","id":4,"method":"m","params":[]}"#, -32602, "`params`"),
        (r#"{"jsonrpc":"2.0","id":4,"method":"m","params":"x"}"#, -32602, "`params`"),
        (r#"{"jsonrpc":"2.0","id":4,"method":"m","method":"n"}"#, -32600, "duplicate member `method`"),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"m","params":{},"params":{}}"#,
            -32600,
            "duplicate member `params`",
        ),
        (r#"{"jsonrpc":"2.0","id":4,"method":"m","jsonrpc":"2.0"}"#, -32600, "duplicate member `jsonrpc`"),
        (&deep, -32600, "64 levels"),
    ] {
        let (got, id, message) = refused(text);
        assert_eq!((got, id), (code, Some(4_i64.into())), "{text}");
        assert!(message.contains(names), "{text}: {message}");
    }
}

#[test]
fn of_two_ids_none_is_echoed() {
    for text in [
        r#"{"jsonrpc":"2.0","id":4,"method":"m","id":4}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"m","\u0069d":5}"#,
    ] {
        let (code, id, message) = refused(text);
        assert_eq!((code, id), (-32600, None));
        assert_eq!(message, "duplicate member `id`");
    }
}

#[test]
fn an_unknown_member_is_ignored() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"ping","Params":[],"x":{"id":2},"x":3}"#;
    assert_eq!(request(text).id, 1_i64.into());
}

#[test]
fn a_message_may_nest_as_deep_as_its_limit_and_no_deeper() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 2), "]".repeat(depth - 2));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{open}{close}}}}}"#)
    };
    assert!(try_one(&nested(64)).is_ok());
    assert!(try_one(&nested(65)).is_err());
    let brackets_in_strings =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":"\"{}"}}}}"#, "[".repeat(99));
    assert!(try_one(&brackets_in_strings).is_ok());
    // a million levels overflow no stack
    assert_eq!(refused(&nested(1_000_000)).0, -32600);
}

#[test]
fn a_method_may_be_as_long_as_its_limit_and_no_longer() {
    let call = |bytes| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(bytes));
    assert!(try_one(&call(8192)).is_ok());
    let (code, id, message) = refused(&call(8193));
    assert_eq!((code, id), (-32602, Some(1_i64.into())));
    assert_eq!(message, "`method` is longer than 8192 bytes");
}

#[test]
fn an_escaped_method_is_read_as_what_it_means() {
    assert_eq!(request(r#"{"jsonrpc":"2.0","id":1,"method":"tools\/c\u0061ll"}"#).method, "tools/call");
}

#[test]
fn a_byte_order_mark_and_white_space_are_skipped() {
    assert_eq!(request(&format!("\u{feff} \r\n{}\r\n", ping("1"))).method, "ping");
}

#[test]
fn parameters_that_are_no_object_are_refused_in_a_request_and_have_no_members_in_a_notification() {
    for params in ["[1]", "7", "1e999", "\"reason\"", "true"] {
        let request = format!(r#"{{"jsonrpc":"2.0","params":{params},"id":1,"method":"m"}}"#);
        assert_eq!(refused(&request), (-32602, Some(1_i64.into()), "`params` is not an object".to_owned()));
        let read = try_one(&format!(r#"{{"jsonrpc":"2.0","params":{params},"method":"notifications/x"}}"#));
        let Ok(Incoming::Notification(notification)) = read else { panic!("{read:?}") };
        assert_eq!((&notification.params).raw("reason"), None);
    }
}

#[test]
fn what_follows_parameters_that_are_no_object_is_read_as_well() {
    let cut = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1],"#;
    assert_eq!(refused(cut).0, -32700);
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":[1]}"#;
    assert_eq!(refused(twice), (-32600, Some(1_i64.into()), "duplicate member `params`".to_owned()));
}

#[test]
fn no_member_has_a_name_that_the_json_library_takes_for_its_own() {
    let called = |arguments: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"arguments":{arguments}}}}}"#)
    };
    for name in [
        "$serde_json::private::RawValue",
        "$serde_json::private::Number",
        r"\u0024serde_json::private::RawValue",
        r"$serde_json::private::R\u0061wValue",
        r"$serde_json\u003A:private::RawValue",
    ] {
        for arguments in [
            format!(r#"{{"{name}":"[]"}}"#),
            format!(r#"{{"a":[1,{{"b":{{"{name}" {tab}: "[]"}}}}]}}"#, tab = "\t\n"),
            format!(r#"{{"\\":1,"{name}":null}}"#),
        ] {
            let (code, id, message) = refused(&called(&arguments));
            assert_eq!((code, id), (-32600, Some(1_i64.into())), "{arguments}");
            assert!(message.starts_with("no member may be named"), "{message}");
            let batch = format!("[{}]", called(&arguments));
            let read = read(batch.into(), &ReadLimits::default());
            assert_eq!(read.unwrap_err().error.code, ErrorCode::INVALID_REQUEST);
        }
    }
}

#[test]
fn a_text_may_speak_of_such_a_name() {
    for arguments in [
        r#"{"text":"$serde_json::private::RawValue"}"#,
        r#"{"text":"{\"$serde_json::private::RawValue\":\"[]\"}"}"#,
        r#"["\u0024serde_json::private::RawValue", "x"]"#,
        r#"{"$serde_json::private::RawValue2":1,"\ud83e\udd80":2}"#,
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"arguments":{arguments}}}}}"#);
        assert_eq!((&request(&text).params).raw("arguments"), Some(arguments));
    }
}

#[test]
fn the_members_of_a_message_in_a_batch_are_its_own() {
    let one = |n| format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"m","params":{{"name":"{n}"}}}}"#);
    let batch = format!("[{}, {}]", one(1), one(2));
    let Ok(Payload::Batch(messages)) = read(batch.into(), &ReadLimits::default()) else { panic!("no batch") };
    let names = messages.iter().map(|message| match message {
        Ok(Incoming::Request(request)) => (&request.params).raw("name"),
        other => panic!("{other:?}"),
    });
    assert_eq!(names.collect::<Vec<_>>(), [Some("\"1\""), Some("\"2\"")]);
}

#[test]
fn nobody_waits_for_the_refusal_of_a_notification_or_a_response() {
    for (text, looks) in [
        (r#"{"jsonrpc":"1.0","method":"notifications/x"}"#, Looks::Notification),
        (r#"{"jsonrpc":"2.0","method":7}"#, Looks::Notification),
        (r#"{"jsonrpc":"2.0","id":4,"result":{},"error":{}}"#, Looks::Response),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, Looks::Response),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Looks::Response),
        (r#"{"jsonrpc":"2.0","id":4,"method":"m","result":{}}"#, Looks::Response),
        (r#"{"jsonrpc":"2.0","id":4,"result":null}"#, Looks::Response),
    ] {
        let malformed = try_one(text).expect_err(text);
        assert_eq!(malformed.looks, looks, "{text}");
        assert!(!malformed.wants_answer());
        assert_eq!(malformed.id, None, "{text}");
    }
    assert!(try_one("{}").unwrap_err().wants_answer());
    assert!(try_one(&ping("null")).unwrap_err().wants_answer());
}

#[test]
fn a_response_carries_its_result_or_its_error() {
    let response = |text: &str| match try_one(text) {
        Ok(Incoming::Response(response)) => response,
        other => panic!("{text}: {other:?}"),
    };
    let answer = response(r#"{"jsonrpc":"2.0","id":"s1","result":{"a":1}}"#);
    assert_eq!((answer.id, answer.result.unwrap().as_ref() as &str), ("s1".into(), r#"{"a":1}"#));
    let error = response(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":[1]}}"#)
        .result
        .unwrap_err();
    assert_eq!((error.code.0, &*error.message, error.data.unwrap().get()), (-1, "no", "[1]"));
}

// C96, C97
#[test]
fn a_response_that_is_refused_has_no_id_to_answer_under_and_names_the_question_it_leaves_open() {
    let outcome = r#""result":{}"#;
    let deep = format!(r#"{{"jsonrpc":"2.0","id":9,"result":{{"a":{}{}}}}}"#, "[".repeat(70), "]".repeat(70));
    let reserved = r#"{"jsonrpc":"2.0","id":9,"result":{"$serde_json::private::Number":"1"}}"#;
    for (text, names) in [
        (&*format!(r#"{{"jsonrpc":"2.0","id":9,{outcome},"error":{{"code":1,"message":"x"}}}}"#), "not both"),
        (&*format!(r#"{{"id":9,{outcome}}}"#), "`jsonrpc` is missing"),
        (&*format!(r#"{{"jsonrpc":"1.0","id":9,{outcome}}}"#), "`jsonrpc` is not"),
        (&*format!(r#"{{"jsonrpc":"2.0","id":9,{outcome},{outcome}}}"#), "duplicate member `result`"),
        (&*format!(r#"{{"jsonrpc":"2.0","id":9,"id":9,{outcome}}}"#), "duplicate member `id`"),
        (&*format!(r#"{{"jsonrpc":"2.0","id":9,"method":"m",{outcome}}}"#), "`method` or `result`"),
        (&*format!(r#"{{"jsonrpc":"2.0","id":9,"method":7,{outcome}}}"#), "`method` or `result`"),
        (r#"{"jsonrpc":"2.0","id":9,"method":"m","error":{"code":1,"message":"x"}}"#, "`method` or `error`"),
        (r#"{"jsonrpc":"2.0","id":9,"result":null}"#, "not null"),
        (r#"{"jsonrpc":"2.0","id":9,"error":null}"#, "not null"),
        (r#"{"jsonrpc":"2.0","id":9,"result":null,"error":null}"#, "not null"),
        (r#"{"jsonrpc":"2.0","id":9,"error":"no"}"#, "`error` is not an object"),
        (r#"{"jsonrpc":"2.0","id":9,"error":[1,"no"]}"#, "`error` is not an object"),
        (r#"{"jsonrpc":"2.0","id":9,"error":{}}"#, "`error` is not an object"),
        (r#"{"jsonrpc":"2.0","id":9,"error":{"code":"x","message":"m"}}"#, "`error` is not an object"),
        (&deep, "64 levels"),
        (reserved, "may be named"),
    ] {
        let malformed = try_one(text).expect_err(text);
        assert_eq!((malformed.id, malformed.looks), (None, Looks::Response), "{text}");
        assert_eq!(malformed.answers, [RequestId::from(9_i64)], "{text}");
        assert!(malformed.error.message.contains(names), "{text}: {}", malformed.error.message);
        let batch = read(format!("[{}]", text).into(), &ReadLimits::default());
        let answers = batch.map_or_else(|malformed| malformed.answers, |payload| payload.answers());
        assert_eq!(answers, [RequestId::from(9_i64)], "{text}");
    }
    // which question it is cannot be told, or it is none
    for text in [
        format!(r#"{{"jsonrpc":"2.0","id":9,"id":8,{outcome}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":null,{outcome}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":[9],{outcome}}}"#),
        format!(r#"{{"jsonrpc":"2.0",{outcome}}}"#),
        r#"{"jsonrpc":"2.0","id":9}"#.to_owned(),
        r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#.to_owned(),
    ] {
        assert!(try_one(&text).unwrap_err().answers.is_empty(), "{text}");
    }
}

// C97
#[test]
fn a_member_that_is_null_is_absent() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":null,"error":null}"#,
    ] {
        assert_eq!(request(text).method, "m");
    }
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null,"method":null,"params":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#,
    ] {
        assert!(matches!(try_one(text), Ok(Incoming::Response(_))), "{text}");
    }
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x","result":null,"params":null}"#;
    assert!(matches!(try_one(notification), Ok(Incoming::Notification(_))));
    // but for the id, where null neither is one nor makes a notification
    assert_eq!(refused(&ping("null")).0, -32600);
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null,"params":{}}"#;
    assert_eq!(refused(twice).2, "duplicate member `params`");
}

#[test]
fn what_a_request_asks_for_is_shown_on_one_line_of_bounded_length() {
    let shown = |text: &str| Target::of(&request(text)).to_string();
    let call = |name: &str| {
        shown(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name}}}}}"#))
    };
    assert_eq!(call(r#""add""#), r#"tools/call "add""#);
    assert_eq!(call(r#""a\n\u001b""#), r#"tools/call "a\n\u{1b}""#);
    assert!(call(&format!("\"{}\"", "x".repeat(8000))).len() < 150);
    assert_eq!(call("7"), "tools/call");
    assert_eq!(shown(r#"{"jsonrpc":"2.0","id":1,"method":"a\nb"}"#), r#""a\nb""#);
}

#[test]
fn the_members_of_a_batch_are_read_each_on_its_own() {
    let text = br#"[1, {"jsonrpc":"2.0","id":2,"method":"ping"}, [], {"jsonrpc":"2.0","method":"n"}]"#;
    let Ok(Payload::Batch(batch)) = read(Bytes::from_static(text), &ReadLimits::default()) else { panic!() };
    assert_eq!(batch.len(), 4);
    assert_eq!(batch[0].as_ref().unwrap_err().error.code, ErrorCode::INVALID_REQUEST);
    assert!(matches!(&batch[1], Ok(Incoming::Request(request)) if request.id == 2_i64.into()));
    assert_eq!(batch[2].as_ref().unwrap_err().error.code, ErrorCode::INVALID_REQUEST);
    assert!(matches!(&batch[3], Ok(Incoming::Notification(_))));
}

#[test]
fn a_batch_holds_from_one_to_its_limit_of_messages() {
    let batch = |n: usize| format!("[{}]", vec![ping("1"); n].join(","));
    let read = |n| read(batch(n).into(), &ReadLimits::default());
    assert!(matches!(read(100), Ok(Payload::Batch(messages)) if messages.len() == 100));
    assert_eq!(read(101).unwrap_err().error.message, "a batch holds at most 100 messages, this one has 101");
    assert_eq!(read(0).unwrap_err().error.code, ErrorCode::INVALID_REQUEST);
}

fn ids() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        any::<i64>().prop_map(RequestId::from),
        any::<u64>().prop_map(RequestId::from),
        ".*".prop_map(|text: String| RequestId::from(text.as_str()))
    ]
}

/// JSON-like text, so that more than the first byte is reached.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(":"),
        Just(","),
        Just("\"id\""),
        Just("\"method\""),
        Just("\"jsonrpc\""),
        Just("\"2.0\""),
        Just("\"params\""),
        Just("1"),
        Just("-1.5e3"),
        Just("null"),
        Just("\\"),
        Just("\""),
        Just("\u{2028}"),
        Just(" "),
    ];
    proptest::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat())
}

proptest! {
    #[test]
    fn reading_never_panics_on_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(read(bytes.into(), &ReadLimits::default()));
    }

    #[test]
    fn reading_never_panics_on_scraps(text in scraps()) {
        drop(read(text.into(), &ReadLimits::default()));
    }

    #[test]
    fn a_written_request_reads_back(id in ids(), method in "[^\\p{C}]{0,40}", value in ".*") {
        let params = serde_json::json!({ "a": 1, "name": value });
        let written = encode_request(&id, &method, &crate::wire::jsonrpc::to_json(&params).unwrap());
        let Ok(Payload::One(Incoming::Request(back))) = read(written, &ReadLimits::default()) else { panic!() };
        prop_assert_eq!(back.id, id);
        prop_assert_eq!(&*back.method, method.as_str());
        prop_assert_eq!(&*(&back.params).text("name", usize::MAX).unwrap(), value.as_str());
    }

    #[test]
    fn a_written_answer_reads_back_and_is_one_line(id in ids(), text in ".*", code in any::<i64>()) {
        let result = serde_json::json!({ "text": text });
        let written = encode_result(&id, &result);
        let line = std::str::from_utf8(&written).unwrap();
        let split = line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
        prop_assert!(!split);
        let Ok(Payload::One(Incoming::Response(back))) = read(written, &ReadLimits::default()) else { panic!() };
        prop_assert_eq!(&back.id, &id);
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&back.result.unwrap()).unwrap(), result);

        let error = McpError::new(ErrorCode(code), text);
        let written = encode_error(ErrorId::Given(&id), &error);
        let Ok(Payload::One(Incoming::Response(back))) = read(written, &ReadLimits::default()) else { panic!() };
        let back = back.result.unwrap_err();
        prop_assert_eq!((back.code, back.message), (error.code, error.message));
    }

    #[test]
    fn a_written_notification_reads_back(method in "[a-z/]{1,20}", value in any::<f64>()) {
        let written = encode_notification(&method, &serde_json::json!({ "progress": value }));
        let read = read(written, &ReadLimits::default());
        prop_assert!(matches!(read, Ok(Payload::One(Incoming::Notification(back))) if *back.method == *method));
    }
}
