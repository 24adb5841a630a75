use serde_json::json;

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const FILE: &str = r#"[
  {"conversations": [
    {"from": "human", "value": "How far is Ulm?"},
    {"from": "function_call", "value": "{\"name\": \"distance\", \"arguments\": {\"to\": \"Ulm\"}}"},
    {"from": "observation", "value": "{\"km\": 93}"},
    {"from": "gpt", "value": "93 km."}
  ], "tools": "[]"},
  {"conversations": [{"from": "system", "value": "Be brief."}], "tools": ""}
]"#;

#[test]
fn every_conversation_is_a_record_and_its_turns_count_from_nought() {
    let pieces = pieces(&ShareGpt, FILE.as_bytes());
    assert_eq!(joined(&pieces), FILE.as_bytes());
    let places: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.session_name("f"), record.record.as_str(), record.index, record.content.role))
        .collect();
    assert_eq!(
        places,
        [
            ("f/0".to_owned(), "/0", 0, Role::User),
            ("f/0".to_owned(), "/0", 1, Role::Assistant),
            ("f/0".to_owned(), "/0", 2, Role::Tool),
            ("f/0".to_owned(), "/0", 3, Role::Assistant),
            ("f/1".to_owned(), "/1", 0, Role::System),
        ]
    );
}

#[test]
fn conversations_one_a_line_are_records_named_by_their_line() {
    let lines = "{\"conversations\":[{\"from\":\"human\",\"value\":\"a\"}]}\n\n{\"conversations\":[{\"from\":\"gpt\",\"value\":\"b\"},{\"from\":\"hum";
    let pieces = pieces(&ShareGpt, lines.as_bytes());
    assert_eq!(joined(&pieces), lines.as_bytes());
    let places: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.record.as_str(), record.index, record.quarantine.is_some()))
        .collect();
    assert_eq!(places, [("/0", 0, false), ("/2", 0, false), ("/2", 1, true)], "a torn line is put aside");
    only_claimed_by("sharegpt", lines);
}

#[test]
fn a_call_is_read_from_its_json_text() {
    let pieces = pieces(&ShareGpt, FILE.as_bytes());
    assert_eq!(calls(&pieces), [Call { id: None, tool: "distance".into(), args: json!({"to": "Ulm"}) }]);
    let results = results(&pieces);
    assert_eq!((results.len(), results[0].text.as_str(), results[0].is_error), (1, r#"{"km": 93}"#, None));
}

#[test]
fn a_call_whose_text_is_no_json_keeps_its_text() {
    let turn = json!({"from": "function_call", "value": "distance(Ulm)"}).to_string();
    let content = ShareGpt::read(Raw::whole(&turn).unwrap()).content;
    let [Part { body: PartBody::Call(call), .. }] = content.parts.as_slice() else { panic!("{content:?}") };
    assert_eq!((call.tool.as_str(), &call.args), ("", &json!("distance(Ulm)")));
    let both =
        json!({"from": "function_call", "value": r#"[{"name":"a","arguments":"{\"x\":1}"},{"name":"b"}]"#});
    let both = both.to_string();
    let content = ShareGpt::read(Raw::whole(&both).unwrap()).content;
    let bodies: Vec<_> = content.parts.iter().map(|part| &part.body).collect();
    let [PartBody::Call(a), PartBody::Call(b)] = bodies.as_slice() else { panic!("{content:?}") };
    assert_eq!((&a.args, &b.args), (&json!({"x": 1}), &json!({})));
}

#[test]
fn the_format_is_known_and_claimed_by_no_other() {
    only_claimed_by("sharegpt", FILE);
    only_claimed_by("sharegpt", &FILE[..FILE.find("function_call").unwrap()]);
}
