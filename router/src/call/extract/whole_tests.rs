//! Whole numbers written as floats.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    num::{NonZeroI8, NonZeroU64},
};

use serde::{Deserialize, Deserializer};
use serde_json::{Deserializer as Json, Value, json, value::RawValue};

use super::*;

/// As arguments are read.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).or_else(|_| {
        let rewritten = rewritten::<T>(text);
        let mut json = Json::from_str(rewritten.as_deref().unwrap_or(text));
        let value = serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string())?;
        json.end().map_err(|error| error.to_string())?;
        Ok(value)
    })
}

fn good<T: DeserializeOwned>(text: &str) -> T {
    read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

macro_rules! every_width {
    ($($int:ty)*) => {$(
        for (text, whole) in [("10.0", 10), ("5e0", 5), ("1e2", 100), ("-0.0", 0), ("-0", 0), ("1.0e1", 10), ("150e-1", 15)] {
            assert_eq!(good::<$int>(text), whole, "{text}");
            assert_eq!(good::<Option<$int>>(text), Some(whole), "{text}");
            assert_eq!(good::<Vec<$int>>(&format!("[1, {text} ]")), [1, whole], "{text}");
        }
        assert_eq!(good::<$int>(&format!("{}.0", <$int>::MAX)), <$int>::MAX);
        assert_eq!(good::<$int>(&format!("{}.000", <$int>::MIN)), <$int>::MIN);
        for text in ["5.5", "\"5\"", "\"5.0\"", "1e39", "1e1000000000", "true", "null", "[5.0]", "1.00000000000000000001"] {
            assert!(read::<$int>(text).is_err(), "{text}");
        }
    )*};
}

#[test]
fn every_integer_type_takes_them() {
    every_width! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
    assert!(read::<u8>("256.0").is_err() && read::<u64>("-1.0").is_err() && read::<i8>("-129.0").is_err());
    assert_eq!(good::<NonZeroU64>("3.0").get(), 3);
    assert_eq!(good::<NonZeroI8>("-3e0").get(), -3);
    assert!(read::<NonZeroU64>("0.0").is_err());
}

#[derive(Debug, PartialEq, Deserialize)]
struct Id(u32);

#[derive(Debug, PartialEq, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Deserialize)]
enum Way {
    Stay,
    Go(i8),
    Jump(u8, f64),
    Move { by: i64 },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole {
    id: Id,
    #[serde(default)]
    ways: Vec<Way>,
    map: BTreeMap<i16, u64>,
    pair: (u8, String),
    array: [i32; 2],
    real: f64,
    any: Value,
    maybe: Option<Option<u16>>,
    unit: Unit,
    boxed: Box<u8>,
    text: String,
}

#[test]
fn they_are_found_in_every_shape_and_nothing_else_is_changed() {
    let text = r#"{ "id":7.0, "ways":["Stay", {"Go":1.0}, {"Jump":[2.0, 3.0]}, {"Move":{"by":4e0}}, {"Stay":null}],
        "map": {"-1": 5.0, "2":6} , "pair":[1.0,"1.0"], "array":[1.0,-1e1], "real":-0.0, "any":[5.0,{"n":1e2}],
        "maybe":8.0, "unit":null, "boxed":9.0, "text":"a \"5.0\" \\", "unknown":[1.0,{"x":"}"}] }"#;
    let whole: Whole = good(text);
    assert_eq!(whole.id, Id(7));
    assert_eq!(whole.ways, [Way::Stay, Way::Go(1), Way::Jump(2, 3.0), Way::Move { by: 4 }, Way::Stay]);
    assert_eq!(whole.map, BTreeMap::from([(-1, 5), (2, 6)]));
    assert_eq!((whole.pair, whole.array), ((1, "1.0".to_owned()), [1, -10]));
    assert!(whole.real == 0.0 && whole.real.is_sign_negative());
    assert_eq!(whole.any.to_string(), r#"[5.0,{"n":100.0}]"#);
    assert_eq!((whole.maybe, *whole.boxed, &*whole.text), (Some(Some(8)), 9, r#"a "5.0" \"#));
}

#[test]
fn raw_text_stays_as_it_is() {
    #[derive(Deserialize)]
    struct Raw {
        n: u8,
        raw: Box<RawValue>,
    }
    let raw: Raw = good(r#"{"raw":[5.0, 1e2],"n":1.0}"#);
    assert_eq!((raw.n, raw.raw.get()), (1, "[5.0, 1e2]"));
}

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    n: i64,
    #[serde(default)]
    any: Value,
    #[serde(default)]
    real: Option<f64>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    id: u8,
    outer: Value,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: HashMap<String, Value>,
}

#[test]
fn what_serde_reads_into_a_buffer_has_integers_and_values_side_by_side() {
    let flat: Flat = good(r#"{"any":5.0,"id":1.0,"n":5.0,"outer":5.0,"real":-0.0,"more":[5.0,{"x":6.0}]}"#);
    assert_eq!((flat.id, flat.inner.n), (1, 5));
    assert_eq!((flat.inner.any.to_string(), flat.outer.to_string()), ("5.0".to_owned(), "5.0".to_owned()));
    assert!(flat.inner.real.is_some_and(|real| real == 0.0 && real.is_sign_negative()));
    assert_eq!(flat.rest["more"].to_string(), r#"[5.0,{"x":6.0}]"#);
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Point { x: i32, y: i32 },
    Named { name: String, n: u8, any: Value },
    Number(i64),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    Count { n: u64 },
    Both { n: u64, any: Value },
    Any { n: Value },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    N(u8),
    Any(Value),
}

#[test]
fn untagged_and_tagged_enums_take_them() {
    assert_eq!(good::<Untagged>(r#"{"x":1.0,"y":2e0}"#), Untagged::Point { x: 1, y: 2 });
    assert_eq!(good::<Untagged>("7.0"), Untagged::Number(7));
    let named = Untagged::Named { name: "1.0".to_owned(), n: 1, any: json!([1.0]) };
    assert_eq!(good::<Untagged>(r#"{"name":"1.0","n":1.0,"any":[1.0]}"#), named);
    let all = r#"[{"kind":"any","n":5.0},{"kind":"count","n":5.0},{"any":5.0,"n":5.0,"kind":"both"}]"#;
    let read: Vec<Tagged> = good(all);
    assert_eq!(
        read,
        [Tagged::Any { n: json!(5.0) }, Tagged::Count { n: 5 }, Tagged::Both { n: 5, any: json!(5.0) }]
    );
    let read: Vec<Adjacent> =
        good(r#"[{"t":"N","c":1.0},{"c":2.0,"t":"N"},{"c":3.0,"t":"Any"},{"t":"Any","c":4.0}]"#);
    assert_eq!(read, [Adjacent::N(1), Adjacent::N(2), Adjacent::Any(json!(3.0)), Adjacent::Any(json!(4.0))]);
    assert!(read_err::<Untagged>(r#"{"x":1.5,"y":2.0}"#).contains("did not match any variant"));
    assert!(read_err::<Tagged>(r#"{"kind":"count","n":5.5}"#).contains("floating point `5.5`"));
}

fn read_err<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    read::<T>(text).unwrap_err()
}

#[test]
fn what_is_wrong_is_told_as_before_and_never_a_whole_number() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is never made")]
    struct Two {
        a: u8,
        b: u8,
    }
    let error = read_err::<Two>(r#"{"a":5.0,"b":5.5}"#);
    assert!(error.starts_with("b: invalid type: floating point `5.5`, expected u8"), "{error}");
    let error = read_err::<Two>(r#"{"a":5.0,"b":"5"}"#);
    assert!(error.starts_with("b: invalid type: string \"5\", expected u8"), "{error}");
    let error = read_err::<Two>(r#"{"a":256.0,"b":1}"#);
    assert!(error.starts_with("a: invalid value: integer `256`, expected u8"), "{error}");
    assert!(read_err::<Two>(r#"{"a":5.0}"#).contains("missing field `b`"));
    assert!(read_err::<Two>(r#"{"a":1e400,"b":1}"#).starts_with("a: number out of range"));
}

#[test]
fn good_values_are_read_once() {
    thread_local! { static READ: Cell<usize> = const { Cell::new(0) }; }
    struct Counted;
    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            READ.set(READ.get() + 1);
            u8::deserialize(deserializer).map(|_| Self)
        }
    }
    let reads = |text: &str| {
        READ.set(0);
        drop(read::<Counted>(text));
        READ.get()
    };
    assert_eq!(reads("5"), 1);
    // twice as before: there is nothing that could be an integer
    assert_eq!(reads("\"5\""), 2);
    assert_eq!(reads("5.0"), 3);
}

#[test]
fn a_buffer_full_of_numbers_is_not_read_without_end() {
    thread_local! { static READ: Cell<usize> = const { Cell::new(0) }; }
    struct Counted(HashMap<String, i64>);
    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            #[derive(Deserialize)]
            struct Many {
                #[serde(flatten)]
                all: HashMap<String, i64>,
            }
            READ.set(READ.get() + 1);
            Many::deserialize(deserializer).map(|many| Self(many.all))
        }
    }
    let members: Vec<_> = (0..50_000).map(|n| format!("\"m{n}\":{n}.0")).collect();
    let text = format!("{{{}}}", members.join(","));
    let many: Counted = good(&text);
    assert_eq!((many.0.len(), many.0["m49999"]), (50_000, 49_999));
    assert!(READ.get() * text.len() <= MAX_REREAD_BYTES + 4 * text.len(), "{} times", READ.get());
}

#[test]
fn what_is_not_json_is_refused_without_a_panic() {
    for text in [
        "",
        "{",
        "[",
        "[1.0",
        "{\"a\":1.0",
        "{\"a\"",
        "{\"a\":",
        "\"1.0",
        "1.0]",
        "[1.0,]",
        "{,}",
        "}",
        "1.0.0",
        "\\1.0",
        "\"\\",
        "[1.0 2.0]",
        "{1.0:2}",
        "é1.0",
    ] {
        assert!(read::<Vec<u8>>(text).is_err(), "{text}");
        assert!(read::<Flat>(text).is_err(), "{text}");
        assert!(read::<Untagged>(text).is_err(), "{text}");
        assert!(read::<HashMap<String, u8>>(text).is_err(), "{text}");
    }
    let deep = format!("{}1.0{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read::<Untagged>(&deep).is_err());
}

proptest::proptest! {
    /// What serde accepts and what it refuses is not changed for numbers that have a fraction or are written as integers.
    #[test]
    fn the_probe_reads_what_serde_reads(text in "[\\[\\]{}\",:0-9.e \\\\-]{0,40}") {
        let plain = serde_json::from_str::<Value>(&text).is_ok();
        let (places, fits) = Probe::read::<Value>(&text, false);
        if plain {
            proptest::prop_assert!(fits && places.is_empty());
        }
        drop(rewritten::<Flat>(&text));
    }
}
