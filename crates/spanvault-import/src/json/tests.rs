use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::Head;
use crate::testing::slice;

fn raw(text: &str) -> Raw<'_> {
    Raw::whole(text).unwrap()
}

#[test]
fn a_value_knows_its_place_however_deep_it_stands() {
    let text = r#"  {"message": {"content": ["é", "there"]}}  "#;
    let content = raw(text).field("message").unwrap().field("content").unwrap();
    let there = content.elements().nth(1).unwrap();
    assert_eq!(slice(text, there.range()), r#""there""#);
    assert_eq!(there.string().as_deref(), Some("there"));
}

#[test]
fn of_equal_names_the_last_counts_and_null_is_absent() {
    let object = raw(r#"{"a": 1, "b": null, "\u0061": 2}"#);
    assert_eq!(object.field("a").and_then(|a| a.integer()), Some(2));
    assert!(object.field("b").is_none());
    assert_eq!(object.value(), json!({"a": 2, "b": null}));
}

#[test]
fn escapes_decode_and_lone_surrogates_become_replacement_characters() {
    for (literal, text) in [
        (r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
        (r#""\u00e9\ud83d\ude00""#, "é😀"),
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83dx\ud83d\n""#, "\u{fffd}x\u{fffd}\n"),
    ] {
        assert_eq!(raw(literal).string().as_deref(), Some(text), "{literal}");
    }
}

#[test]
fn numbers_keep_every_digit() {
    let digits = "12345678901234567890123456789.000000000000000000001e-400";
    assert_eq!(raw(digits).value().to_string(), digits);
    assert_eq!(raw("1e999").float(), None);
    assert_eq!(raw("1e999").integer(), None);
}

#[test]
fn i81_names_that_mean_something_to_a_json_library_are_names() {
    let text = r#"{"$serde_json::private::RawValue":"{\"command\":\"rm\"}"}"#;
    assert_eq!(raw(text).value().as_object().unwrap().len(), 1);
    assert!(raw(text).value().get("command").is_none());
    assert!(raw(r#"{"$serde_json::private::Number":"1"}"#).value().is_object());
}

#[test]
fn i75_nesting_costs_no_stack() {
    let depth = 200_000;
    let open = "[".repeat(depth);
    assert_eq!(Raw::whole(&open).unwrap_err(), Fault::Truncated);
    let closed = format!("{open}{}", "]".repeat(depth));
    let array = raw(&closed);
    assert_eq!(array.elements().count(), 1);
    let mut value = array.value();
    let mut levels = 0;
    while let Value::Array(mut elements) = value {
        value = elements.remove(0);
        levels += 1;
    }
    assert_eq!(levels, 128);
    assert_eq!(value.as_str().map(str::len), Some(2 * (depth - 128)), "deeper levels stay text");
    assert!(sketch(&open).is_some());
}

#[test]
fn faults_say_where_and_whether_more_bytes_could_mend_them() {
    for cut_off in
        ["", " ", "{", r#"{"a"#, r#"{"a":"#, r#"{"a":1"#, "[1,", r#""\u12"#, "-", "1.", "1e+", "tr"]
    {
        assert_eq!(Raw::first(cut_off, 0).unwrap_err(), Fault::Truncated, "{cut_off}");
    }
    for (wrong, at) in
        [("{a", 1), ("[1 2]", 3), ("{\"a\" 1}", 5), ("[1,]", 3), ("\"\t\"", 1), ("\"\\x\"", 2), ("01", 1)]
    {
        assert_eq!(Raw::whole(wrong).unwrap_err(), Fault::Unexpected { at }, "{wrong}");
    }
}

#[test]
fn a_sketch_shows_what_is_there_of_text_that_is_cut_off() {
    let text = r#"{"type":"user","list":[1,2],"message":{"role":"user","content":"long te"#;
    assert_eq!(sketch(text), Some(json!({"type": "user", "list": [1, 2], "message": {"role": "user"}})));
    for end in 0..text.len() {
        assert!(sketch(&text[..end]).is_none_or(|value| value.is_object()), "{end}");
    }
    let many = format!("[{}0]", "0,".repeat(100));
    assert_eq!(sketch(&many).unwrap().as_array().unwrap().len(), 12);
}

#[test]
fn a_shallow_sketch_shows_the_marks_of_a_line_and_of_its_message() {
    let text = format!(
        r#"{{"type":"user","long":"{}","message":{{"role":"user","content":[{{"a":1}}]}},"cut":"of"#,
        "x".repeat(300)
    );
    let shown = json!({"type": "user", "long": "", "message": {"role": "user", "content": r#"[{"a":1}]"#}});
    assert_eq!(sketch_shallow(&text), Some(shown));
}

#[test]
fn a_value_that_more_follows_is_no_document() {
    assert_eq!(sketched(b"\xef\xbb\xbf [1] \n"), Some(json!([1])));
    assert_eq!(sketched(b"[1] [2]"), None);
    assert_eq!(sketched(b"{\"a\":1}\n{\"a\":2}"), None);
    assert_eq!(sketched(b"[1, tru"), Some(json!([1])));
}

#[test]
fn nesting_remembers_kinds_across_words() {
    let mut nesting = Nesting::default();
    let kind = |level: usize| if level.is_multiple_of(3) { Container::Array } else { Container::Object };
    (0..200).for_each(|level| nesting.push(kind(level)));
    for level in (0..200).rev() {
        assert_eq!((nesting.depth(), nesting.top()), (level + 1, Some(kind(level))));
        nesting.pop();
    }
    assert_eq!(nesting.top(), None);
    nesting.pop();
    assert_eq!(nesting.depth(), 0);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::hash_map(any::<String>(), inner, 0..5)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// The document that a file could be.
fn sketched(head: &[u8]) -> Option<Value> {
    Head::new(head).document().cloned()
}

/// Every character as an escape of UTF-16 units.
fn escaped(text: &str) -> String {
    let mut literal = String::from('"');
    for unit in text.encode_utf16() {
        write!(literal, "\\u{unit:04X}").unwrap();
    }
    literal.push('"');
    literal
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in any_json()) {
        let compact = value.to_string();
        prop_assert_eq!(raw(&compact).value(), value.clone());
        prop_assert_eq!(sketched(compact.as_bytes()).is_some(), true);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(raw(&pretty).value(), value);
    }

    #[test]
    fn the_end_of_a_checked_string_is_where_the_check_found_it(
        text in "[\\\\\"ab\n]{0,24}", after in "[\\\\\", ]{0,4}",
    ) {
        let literal = Value::String(text).to_string();
        let more = format!("{literal}{after}");
        prop_assert_eq!(grammar::skip_string(more.as_bytes(), 0), Ok(literal.len()));
        prop_assert_eq!(grammar::skip_checked_string(more.as_bytes(), 0), Some(literal.len()));
    }

    #[test]
    fn every_escape_reads_back(text: String) {
        let literal = escaped(&text);
        let raw = raw(&literal);
        prop_assert_eq!(raw.string().unwrap(), text);
    }

    #[test]
    fn exactly_json_is_accepted(value in any_json(), place: usize, replacement in "[ \\[\\]{}\",:0-9eE.+\\-\\\\untrlfasu\u{1}]{0,3}") {
        let mut text = value.to_string();
        let place = (0..=place % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let end = text[place..].chars().next().map_or(place, |c| place + c.len_utf8());
        text.replace_range(place..end, &replacement);
        let accepted = serde_json::from_str::<&RawValue>(&text).is_ok();
        prop_assert_eq!(Raw::whole(&text).is_ok(), accepted, "{}", text);
    }

    #[test]
    fn i75_no_text_makes_the_reader_panic(text: String, brackets in "[\\[\\]{}\",:\\\\]{0,40}") {
        for text in [text, brackets] {
            sketch(&text);
            sketched(text.as_bytes());
            if let Ok(raw) = Raw::first(&text, 0) {
                prop_assert_eq!(slice(&text, raw.range()), raw.text());
                raw.value();
            }
        }
    }
}
