use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::json;

use super::*;
use crate::{
    ask::{client::Client, question::MAX_CLIENT_REQUEST_TIMEOUT},
    fake::{ALL, Fake},
    wire::error::McpError,
    wire::{
        era::Revision::{self, V2024_11_05, V2025_06_18, V2025_11_25},
        error::ErrorCode,
        peer::ClientCapabilities,
    },
};

fn session(revision: Revision) -> (Arc<Fake>, Client) {
    let fake = Fake::new(revision, ALL);
    let client = Client::new(&fake.call(None));
    (fake, client)
}

/// The schema a session of this revision is asked with for a `T`.
fn asked_for<T: JsonSchema + DeserializeOwned + 'static>(revision: Revision) -> Result<Value, QuestionError> {
    let (fake, client) = session(revision);
    match client.elicit::<T>("?").now_or_never() {
        Some(result) => result.map(|_| Value::Null),
        None => Ok(fake.asked()[0].params["requestedSchema"].clone()),
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Booking {
    /// Under which name?
    name: String,
    guests: u8,
    #[schemars(email)]
    email: Option<String>,
    #[serde(default)]
    smoking: bool,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Titled {
    #[schemars(title = "The small one")]
    Small,
    #[schemars(title = "The large one")]
    Large,
}

#[tokio::test]
async fn a_type_is_asked_for_as_a_flat_form_and_the_answer_is_parsed() {
    let (fake, client) = session(V2025_11_25);
    fake.will_answer(r#"{"action":"accept","content":{"name":"Ada","guests":2,"email":"ada@example.com"}}"#);
    let booking: Booking = client.elicit("a table?").await.unwrap();
    assert_eq!(booking.guests, 2);
    let asked = &fake.asked()[0];
    assert_eq!((asked.method, asked.needs), ("elicitation/create", NEEDS));
    let params = json!({
        "message": "a table?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Under which name?" },
                "guests": { "type": "integer", "minimum": 0, "maximum": 255 },
                "email": { "type": "string", "format": "email" },
                "smoking": { "type": "boolean", "default": false },
            },
            "required": ["name", "guests"],
        },
    });
    assert_eq!(asked.params, params);
    let order = ["name", "guests", "email", "smoking"]
        .map(|name| asked.text.find(&format!("\"{name}\":{{")).unwrap());
    assert!(order.is_sorted(), "fields keep the order of the type: {}", asked.text);
}

#[tokio::test]
async fn enums_are_choices_and_lists_of_enums_choices_of_several() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Shirt {
        size: Size,
        other: Option<Size>,
        /// Which one?
        titled: Titled,
        colours: Vec<Size>,
        many: Option<Vec<Titled>>,
    }
    let schema = asked_for::<Shirt>(V2025_11_25).unwrap();
    let titled = json!([{ "const": "small", "title": "The small one" }, { "const": "large", "title": "The large one" }]);
    let properties = json!({
        "size": { "type": "string", "enum": ["small", "large"] },
        "other": { "type": "string", "enum": ["small", "large"] },
        "titled": { "type": "string", "description": "Which one?", "oneOf": titled },
        "colours": { "type": "array", "items": { "type": "string", "enum": ["small", "large"] } },
        "many": { "type": "array", "items": { "anyOf": titled } },
    });
    assert_eq!(schema["properties"], properties);
}

#[tokio::test]
async fn documented_variants_stay_a_bare_choice_that_every_revision_has() {
    #[derive(Deserialize, JsonSchema)]
    enum Documented {
        /// A documented one.
        First,
        Second,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Form {
        it: Documented,
    }
    for revision in [V2025_06_18, V2025_11_25] {
        let mut values = asked_for::<Form>(revision).unwrap()["properties"]["it"]["enum"].clone();
        values.as_array_mut().unwrap().sort_by_key(Value::to_string);
        assert_eq!(values, json!(["First", "Second"]));
    }
}

#[tokio::test]
async fn an_older_revision_gets_titles_its_own_way_and_only_the_defaults_it_has() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(default)]
    struct Form {
        titled: Titled,
        text: String,
        number: u32,
        flag: bool,
    }
    impl Default for Form {
        fn default() -> Self {
            Self { titled: Titled::Small, text: "t".into(), number: 1, flag: true }
        }
    }
    let old = asked_for::<Form>(V2025_06_18).unwrap();
    let properties = json!({
        "titled": { "type": "string", "enum": ["small", "large"], "enumNames": ["The small one", "The large one"] },
        "text": { "type": "string" },
        "number": { "type": "integer", "minimum": 0 },
        "flag": { "type": "boolean", "default": true },
    });
    assert_eq!(old, json!({ "type": "object", "properties": properties }));
    let new = asked_for::<Form>(V2025_11_25).unwrap();
    let defaults =
        ["titled", "text", "number", "flag"].map(|name| new["properties"][name]["default"].clone());
    assert_eq!(defaults, [json!("small"), json!("t"), json!(1), json!(true)]);
}

#[tokio::test]
async fn a_choice_of_several_is_unsupported_where_the_revision_has_none() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Form {
        sizes: Vec<Size>,
    }
    let error = asked_for::<Form>(V2025_06_18).unwrap_err();
    assert!(matches!(error, QuestionError::Unsupported(ClientCapability::ElicitationForm)), "{error}");
}

#[tokio::test]
async fn what_no_form_can_ask_for_names_the_property() {
    macro_rules! refused {
        ($($kind:ty, $property:literal;)*) => {$({
            #[derive(Debug, Deserialize, JsonSchema)]
            #[expect(dead_code, reason = "only its schema is looked at")]
            struct Form {
                fine: String,
                it: $kind,
            }
            let error = asked_for::<Form>(V2025_11_25).unwrap_err();
            assert!(matches!(&error, QuestionError::Malformed { field, .. } if field == $property), "{error}");
        })*};
    }
    refused! {
        Booking, "it"; Vec<String>, "it"; Vec<Booking>, "it"; Value, "it"; (u8, u8), "it";
        std::collections::BTreeMap<String, String>, "it"; Option<Box<Booking>>, "it";
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Exclusive {
        #[schemars(extend("exclusiveMinimum" = 0))]
        above: i32,
    }
    let error = asked_for::<Exclusive>(V2025_11_25).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the question cannot be sent: `above`: `exclusiveMinimum` is not supported in a form"
    );
    for error in [asked_for::<String>(V2025_11_25), asked_for::<Vec<Booking>>(V2025_11_25)] {
        assert!(matches!(error, Err(QuestionError::Malformed { field, .. }) if field == "requestedSchema"));
    }
}

#[tokio::test]
async fn a_written_schema_is_sent_byte_for_byte() {
    let (fake, client) = session(V2025_06_18);
    let written = r#"{ "type":"object", "properties":{"b":{"type":"string"},"a":{"type":"number","maximum":1e2}}, "required":["b"] }"#;
    let schema = RawValue::from_string(written.to_owned()).unwrap();
    fake.will_answer(r#"{"action":"accept","content":{"b":"x","a":1.5}}"#);
    let content: Value = client.elicit_with("?", &schema).await.unwrap();
    assert_eq!(content, json!({ "b": "x", "a": 1.5 }));
    assert!(fake.asked()[0].text.contains(written));
    fake.will_answer(r#"{"action":"accept","content":{"b":"y"}}"#);
    let content: Value = client.elicit("?").schema(schema).await.unwrap();
    assert_eq!(content["b"], "y");
}

#[tokio::test]
async fn a_written_schema_newer_than_the_session_is_unsupported_and_not_sent() {
    let titled = json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] });
    let many = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
    let titled_many = json!({ "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] } });
    for field in [titled, many, titled_many] {
        let schema = json!({ "type": "object", "properties": { "it": field } });
        let (fake, client) = session(V2025_06_18);
        let error = client
            .elicit_with::<Value>("?", &schema)
            .now_or_never()
            .expect("nothing to wait for")
            .unwrap_err();
        assert!(matches!(error, QuestionError::Unsupported(ClientCapability::ElicitationForm)), "{error}");
        assert!(fake.asked().is_empty());
        let (fake, client) = session(V2025_11_25);
        assert!(client.elicit_with::<Value>("?", &schema).now_or_never().is_none());
        assert_eq!(fake.asked()[0].params["requestedSchema"], schema);
    }
}

#[tokio::test]
async fn a_written_schema_loses_only_the_defaults_that_the_session_lacks() {
    let names = json!({ "type": "string", "enum": ["a"], "enumNames": ["A"] });
    let schema = |default: bool| {
        let mut text = json!({ "type": "string", "minLength": 1 });
        if default {
            text["default"] = "x".into();
        }
        let flag = json!({ "type": "boolean", "default": true });
        json!({ "type": "object", "properties": { "text": text, "names": names, "flag": flag } })
    };
    let (fake, client) = session(V2025_06_18);
    assert!(client.elicit_with::<Value>("?", schema(true)).now_or_never().is_none());
    assert_eq!(fake.asked()[0].params["requestedSchema"], schema(false));
}

#[tokio::test]
async fn a_written_schema_outside_the_subset_names_the_property() {
    let cases = [
        (json!({ "type": "object" }), "requestedSchema"),
        (json!({ "type": "array", "properties": {} }), "requestedSchema"),
        (json!({ "type": "object", "properties": {}, "allOf": [] }), "requestedSchema"),
        (json!({ "type": "object", "properties": { "it": { "type": "object" } } }), "it"),
        (json!({ "type": "object", "properties": { "it": { "type": "string", "format": "uuid" } } }), "it"),
        (json!({ "type": "object", "properties": { "it": { "type": ["string", "null"] } } }), "it"),
        (json!({ "type": "object", "properties": { "it": { "$ref": "#/$defs/It" } } }), "it"),
        (json!({ "type": "object", "properties": { "it": { "type": "number", "multipleOf": 2 } } }), "it"),
        (json!({ "type": "object", "properties": { "it": { "type": "string", "enum": [1] } } }), "it"),
        (json!({ "type": "object", "properties": { "it": true } }), "it"),
    ];
    for (schema, at) in cases {
        let (fake, client) = session(V2025_11_25);
        let error = client
            .elicit_with::<Value>("?", &schema)
            .now_or_never()
            .expect("nothing to wait for")
            .unwrap_err();
        assert!(matches!(&error, QuestionError::Malformed { field, .. } if field == at), "{schema}: {error}");
        assert!(fake.asked().is_empty());
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_names_the_field_and_does_not_repeat_it() {
    let cases = [
        (r#"{"action":"accept","content":{"name":"Ada","guests":"2"}}"#, "guests"),
        (r#"{"action":"accept","content":{"name":"Ada","guests":300}}"#, "guests"),
        (r#"{"action":"accept","content":{"name":"Ada"}}"#, "guests"),
        (r#"{"action":"accept","content":{"name":"Ada","guests":2,"email":"secret-7731"}}"#, "email"),
        (r#"{"action":"accept","content":{"name":null,"guests":2}}"#, "name"),
        (r#"{"action":"accept"}"#, "name"),
        (r#"{"action":"accept","content":null}"#, "name"),
        (r#"{"action":"accept","content":["Ada",2]}"#, "content"),
        (r#"{"action":"maybe"}"#, "action"),
        (r#"{"content":{}}"#, "action"),
        (r#"7"#, "action"),
    ];
    for (answer, at) in cases {
        let (fake, client) = session(V2025_11_25);
        fake.will_answer(answer);
        let error = client.elicit::<Booking>("?").await.unwrap_err();
        assert!(matches!(&error, QuestionError::Invalid { field, .. } if field == at), "{answer}: {error}");
        assert!(!error.to_string().contains("7731"), "{error}");
        assert!(!error.to_string().contains(" at line "), "{error}");
    }
}

#[tokio::test]
async fn an_integer_may_be_written_with_a_fraction_of_zero() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Two {
        n: i64,
        x: f64,
    }
    let (fake, client) = session(V2025_11_25);
    for (n, x) in [("2.0", "2.5"), ("2e0", "2"), ("20E-1", "2.0")] {
        fake.will_answer(format!(r#"{{"action":"accept","content":{{"n":{n},"x":{x}}}}}"#));
        let two: Two = client.elicit("?").await.unwrap();
        assert_eq!((two.n, two.x), (2, x.parse().unwrap()));
    }
    fake.will_answer(r#"{"action":"accept","content":{"n":2.5,"x":1}}"#);
    let error = client.elicit::<Two>("?").await.unwrap_err();
    assert!(error.to_string().contains("`n`"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_taken_as_a_value_keeps_its_numbers_as_they_were_written() {
    let schema =
        json!({ "type": "object", "properties": { "n": { "type": "integer" }, "x": { "type": "number" } } });
    let (fake, client) = session(V2025_11_25);
    fake.will_answer(r#"{"action":"accept","content":{"n":2.0,"x":3.0}}"#);
    let value: Value = client.elicit_with("?", &schema).await.unwrap();
    assert_eq!(value.to_string(), r#"{"n":2.0,"x":3.0}"#);
    #[derive(Deserialize)]
    struct Both {
        n: u64,
        x: Value,
    }
    fake.will_answer(r#"{"action":"accept","content":{"n":9007199254740993.0,"x":3.0}}"#);
    let both: Both = client.elicit_with("?", &schema).await.unwrap();
    assert_eq!((both.n, both.x.to_string().as_str()), (9_007_199_254_740_993, "3.0"));
}

#[tokio::test]
async fn an_answer_that_fits_the_form_and_not_the_type_names_the_field() {
    #[derive(Debug, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Even {
        n: u32,
    }
    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            #[derive(Deserialize)]
            struct Raw {
                #[serde(deserialize_with = "even")]
                n: u32,
            }
            fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
                let n = u32::deserialize(deserializer)?;
                if n % 2 == 0 { Ok(n) } else { Err(serde::de::Error::custom("it is odd")) }
            }
            Raw::deserialize(deserializer).map(|Raw { n }| Self { n })
        }
    }
    let (fake, client) = session(V2025_11_25);
    fake.will_answer(r#"{"action":"accept","content":{"n":3}}"#);
    let error = client.elicit::<Even>("?").await.unwrap_err();
    assert_eq!(error.to_string(), "the client's answer is invalid: `n`: it is odd");
}

#[tokio::test]
async fn an_accept_without_content_answers_a_form_without_fields() {
    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}
    for answer in [r#"{"action":"accept"}"#, r#"{"action":"accept","content":{}}"#] {
        let (fake, client) = session(V2025_06_18);
        fake.will_answer(answer);
        fake.will_answer(answer);
        client.elicit::<()>("go on?").await.unwrap();
        let Nothing {} = client.elicit("go on?").await.unwrap();
        for asked in fake.asked().iter() {
            assert_eq!(asked.params["requestedSchema"], json!({ "type": "object", "properties": {} }));
        }
    }
}

#[tokio::test]
async fn what_the_user_did_and_what_went_wrong_are_told_apart() {
    let (fake, client) = session(V2025_11_25);
    fake.will_answer(r#"{"action":"decline","content":{"junk":1}}"#);
    fake.will_answer(r#"{"action":"cancel"}"#);
    fake.will_fail(QuestionError::TimedOut);
    fake.will_fail(QuestionError::Refused(McpError::new(ErrorCode::METHOD_NOT_FOUND, "no")));
    fake.will_fail(QuestionError::Unsupported(ClientCapability::ElicitationForm));
    let ask = || client.elicit::<Booking>("?");
    assert!(matches!(ask().await, Err(QuestionError::Declined)));
    assert!(matches!(ask().await, Err(QuestionError::Cancelled)));
    assert!(matches!(ask().await, Err(QuestionError::TimedOut)));
    assert!(matches!(ask().await, Err(QuestionError::Refused(error)) if error.code.0 == -32601));
    assert!(matches!(ask().await, Err(QuestionError::Unsupported(_))));
    assert_eq!(fake.withdrawn(), 0);
    assert_eq!(String::from(QuestionError::Declined), "the user declined");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not() {
    for (revision, form) in [(V2025_11_25, false), (V2024_11_05, true)] {
        let fake = Fake::with_room(revision, ClientCapabilities { elicitation_form: form, ..ALL }, 0);
        let client = Client::new(&fake.call(None));
        assert!(!client.supports(ClientCapability::ElicitationForm));
        let error = client.elicit::<Booking>("?").now_or_never().expect("nothing to wait for").unwrap_err();
        assert!(matches!(error, QuestionError::Unsupported(ClientCapability::ElicitationForm)));
        assert!(fake.asked().is_empty());
    }
}

#[tokio::test]
async fn a_question_dropped_before_its_answer_is_taken_back_once() {
    let (fake, client) = session(V2025_11_25);
    let mut question = client.elicit::<Booking>("?");
    assert!((&mut question).now_or_never().is_none());
    assert_eq!(fake.withdrawn(), 0);
    drop(question);
    assert_eq!(fake.withdrawn(), 1);
    drop(client.elicit::<Booking>("never polled"));
    assert_eq!((fake.asked().len(), fake.withdrawn()), (1, 1));
}

#[tokio::test]
async fn a_question_waits_for_room_and_sends_nothing_if_it_is_dropped_there() {
    let fake = Fake::with_room(V2025_11_25, ALL, 0);
    let client = Client::new(&fake.call(None));
    let mut question = client.elicit::<Booking>("?");
    assert!((&mut question).now_or_never().is_none());
    assert!(fake.asked().is_empty());
    fake.add_room(1);
    assert!((&mut question).now_or_never().is_none());
    assert_eq!(fake.asked().len(), 1);
}

#[tokio::test]
async fn a_question_ends_with_its_call() {
    let (fake, client) = session(V2025_11_25);
    let mut open = client.elicit::<Booking>("?");
    assert!((&mut open).now_or_never().is_none());
    fake.end();
    assert!(matches!(open.await, Err(QuestionError::Gone)));
    assert!(matches!(client.elicit::<Booking>("?").await, Err(QuestionError::Gone)));
    assert_eq!((fake.asked().len(), fake.withdrawn()), (1, 0));
}

#[tokio::test]
async fn a_timeout_is_the_authors_up_to_ten_minutes() {
    let (fake, client) = session(V2025_11_25);
    let second = Duration::from_secs(1);
    for timeout in [second, Duration::from_secs(601)] {
        assert!(client.elicit::<Booking>("?").timeout(timeout).now_or_never().is_none());
        assert!(client.elicit_url("?", "https://example.com/").timeout(timeout).now_or_never().is_none());
    }
    assert!(client.elicit::<Booking>("?").now_or_never().is_none());
    let timeouts: Vec<_> = fake.asked().iter().map(|asked| asked.timeout).collect();
    let longest = Some(MAX_CLIENT_REQUEST_TIMEOUT);
    assert_eq!(timeouts, [Some(second), Some(second), longest, longest, None]);
}

#[tokio::test]
async fn a_url_is_asked_for_with_an_id_of_its_own() {
    let (fake, client) = session(V2025_11_25);
    fake.will_answer(r#"{"action":"accept"}"#);
    fake.will_answer(r#"{"action":"decline"}"#);
    let question = client.elicit_url("sign in", "https://example.com/auth");
    let id = question.id().to_owned();
    question.await.unwrap();
    let other = client.elicit_url("sign in", "https://example.com/auth");
    assert_ne!(other.id(), id);
    assert!(matches!(other.await, Err(QuestionError::Declined)));
    let params = json!({ "mode": "url", "message": "sign in", "url": "https://example.com/auth", "elicitationId": id });
    assert_eq!(fake.asked()[0].params, params);
    assert_eq!(fake.asked()[0].needs, [ClientCapability::ElicitationUrl]);
    client.elicitation_complete(&id).await.unwrap();
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": { "elicitationId": id } });
    assert_eq!(fake.notes(), [note]);
}

#[tokio::test]
async fn a_url_that_is_none_or_a_session_without_url_mode_is_not_asked() {
    let (fake, client) = session(V2025_11_25);
    for url in ["example.com/auth", "", "https://exa mple.com/"] {
        assert!(
            matches!(
                client.elicit_url("?", url).now_or_never().expect("nothing to wait for"),
                Err(QuestionError::Malformed { field, .. }) if field == "url"
            ),
            "{url}"
        );
    }
    assert!(fake.asked().is_empty());
    let (fake, client) = session(V2025_06_18);
    let unsupported =
        |result| matches!(result, Err(QuestionError::Unsupported(ClientCapability::ElicitationUrl)));
    assert!(unsupported(client.elicit_url("?", "https://example.com/").await));
    assert!(unsupported(client.elicitation_complete("x").await));
    assert!(fake.asked().is_empty() && fake.sent().is_empty());
}

#[tokio::test]
async fn closing_the_stream_is_left_to_the_session() {
    let (fake, client) = session(V2025_11_25);
    client.close_stream();
    assert_eq!(fake.closed(), 1);
}

#[test]
fn questions_may_go_to_an_actor() {
    fn sendable<T: Send + Sync + Clone + 'static>() {}
    fn sent<T: Send + Unpin + 'static>(_: &T) {}
    sendable::<Client>();
    let (_, client) = session(V2025_11_25);
    sent(&client.elicit::<Booking>("?"));
    sent(&client.elicit_url("?", "https://example.com/"));
    sent(&client.sample(crate::ask::sample::SamplingRequest::text("?")));
}
