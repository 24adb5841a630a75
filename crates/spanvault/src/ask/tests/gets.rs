use super::*;

fn one(result: &str) -> Library {
    let mut library = Library::new();
    library.calls("1", "look", json!({"id": 7, "path": "/a"})).returns("1", result);
    library
}

fn get(library: &Library, get: &str) -> Answer {
    library.ask(json!({"calls": {"tool": "look"}, "get": get}))
}

#[test]
fn existence_is_the_default() {
    let library = one("x");
    present(&library.ask(json!({"calls":{"tool":"look"}})), true);
    absent(&library.ask(json!({"calls":{"tool":"listen"}})), false);
}

#[test]
fn counts_spans_and_paths_are_of_all_that_is_found() {
    let mut library = Library::new();
    library.calls_all(&[("1", "Read", json!({"file_path":"/b"})), ("2", "Read", json!({"file_path":"/a"}))]);
    library.calls("3", "Read", json!({"file_path":"/b"}));
    let ask = |get: &str| library.ask(json!({"calls":{"tool":"Read"},"get":get}));
    present(&ask("count"), 3);
    present(&ask("spans"), json!(["s1", "s2"]));
    present(&ask("paths"), json!(["/a", "/b"]));
    let none = |get: &str| library.ask(json!({"calls":{"tool":"Edit"},"get":get}));
    absent(&none("count"), 0);
    absent(&none("spans"), json!([]));
    absent(&none("paths"), json!([]));
}

#[test]
fn the_nth_counts_from_one_in_block_order_and_backwards_from_minus_one() {
    let mut library = Library::new();
    library.calls_all(&[("1", "f", json!({"n":1})), ("2", "g", json!({"n":2})), ("3", "f", json!({"n":3}))]);
    library.calls("4", "f", json!({"n":4}));
    let nth = |nth: i64| library.ask(json!({"calls":{"tool":"f"},"nth":nth,"get":"arg:n"}));
    for (ordinal, value) in [(1, 1), (2, 3), (3, 4), (-1, 4), (-2, 3), (-3, 1)] {
        present(&nth(ordinal), value);
    }
    absent(&nth(4), Value::Null);
    absent(&nth(-4), Value::Null);
    present(&library.ask(json!({"calls":{"tool":"f"},"nth":3})), true);
    absent(&library.ask(json!({"calls":{"tool":"f"},"nth":4})), false);
    present(&library.ask(json!({"calls":{"tool":"f"},"nth":-1,"get":"spans"})), json!(["s2"]));
}

#[test]
fn i66_a_stub_is_never_taken_for_the_result_that_was_moved_to_a_file() {
    let stub = "<persisted-output>\nOutput too large (21KB). Full output saved to: /p/s/tool-results/b1.txt\n\nPreview:\ntotal 42";
    let library = one(stub);
    for asked in
        ["result", "result.regex:total (\\d+)", "result.regex:missing", "result.number", "result.json:a"]
    {
        insufficient(&get(&library, asked), Value::Null, &[MissingReason::Stub]);
    }
    present(&get(&library, "result.empty"), false);
    let fate = get(&library, "fate");
    assert_eq!((fate.answer, &fate.value["result"]), (Verdict::Present, &Value::Null));
}

#[test]
fn several_calls_are_ambiguous_where_one_is_asked_for() {
    let mut library = Library::new();
    library
        .calls("1", "f", json!({"n":1}))
        .returns("1", "a")
        .calls("2", "f", json!({"n":2}))
        .returns("2", "a");
    for get in ["result", "args", "arg:n", "fate", "result.empty"] {
        let answer = library.ask(json!({"calls":{"tool":"f"},"get":get}));
        assert_eq!(answer.answer, Verdict::Insufficient, "{get}");
        assert!(answer.coverage.missing.iter().all(|missing| missing.reason == MissingReason::Ambiguous));
        assert_eq!(answer.coverage.missing.len(), 2);
        assert!(answer.coverage.complete, "everything was searched");
    }
}

#[test]
fn arguments_are_given_as_they_were_passed() {
    let library = one("x");
    present(&get(&library, "args"), json!({"id":7,"path":"/a"}));
    present(&get(&library, "arg:id"), 7);
    absent(&get(&library, "arg:nothing"), Value::Null);
}

#[test]
fn a_result_is_its_whole_text_with_the_call_as_evidence_before_it() {
    let library = one("line 1\nline \"2\"");
    let answer = get(&library, "result");
    present(&answer, "line 1\nline \"2\"");
    assert_eq!(indexes(&answer), [0, 1]);
    assert!(library.shown(&answer.evidence[0]).contains(r#""tool":"look""#));
    assert_eq!(library.shown(&answer.evidence[1]), r#""line 1\nline \"2\"""#);
}

#[test]
fn a_call_without_result_has_no_result_and_an_unknown_fate() {
    let mut library = Library::new();
    library.calls("1", "look", json!({}));
    absent(&get(&library, "result"), Value::Null);
    absent(&get(&library, "result.empty"), Value::Null);
    present(&get(&library, "fate"), json!({"issued":true,"outcome":"unknown","result":null}));
}

#[test]
fn a_value_in_a_json_result_is_found_by_pointer_or_field_and_keeps_its_digits() {
    let library = one(r#" {"status":"ok","id":12345678901234567890,"items":[{"price":0.10}]} "#);
    present(&get(&library, "result.json:status"), "ok");
    present(&get(&library, "result.json:/items/0/price"), 0.1);
    let id = get(&library, "result.json:id");
    assert_eq!(serde_json::to_string(&id.value).unwrap(), "12345678901234567890");
    absent(&get(&library, "result.json:missing"), Value::Null);
    absent(&get(&one("no JSON"), "result.json:status"), Value::Null);
}

#[test]
fn a_pattern_in_a_result_gives_the_first_group_of_its_only_match() {
    let library = one("see https://x.org/pull/175 and again https://x.org/pull/175");
    let answer = get(&library, "result.regex:(https://\\S+/pull/\\d+)");
    present(&answer, "https://x.org/pull/175");
    assert_eq!(library.shown(&answer.evidence[1]), "https://x.org/pull/175");
    present(&get(&library, "result.regex:pull/\\d+"), "pull/175");
    absent(&get(&library, "result.regex:pull/(\\d{4})"), Value::Null);
}

#[test]
fn several_different_matches_of_a_pattern_are_ambiguous_never_the_first() {
    let library = one("pull/1 pull/2");
    let answer = get(&library, "result.regex:pull/(\\d)");
    insufficient(&answer, json!(["1", "2"]), &[MissingReason::Ambiguous]);
    assert_eq!(answer.coverage.missing[0].index, 1);
}

#[test]
fn a_number_is_the_only_one_in_the_result() {
    for (text, number) in
        [("1810.0", "1810"), ("Balance: $1,024.50", "1024.5"), ("-3 degrees", "-3"), ("007", "7")]
    {
        let answer = get(&one(text), "result.number");
        present(&answer, serde_json::from_str::<Value>(number).unwrap());
    }
    absent(&get(&one("order W123 of v1.2.3-beta9"), "result.number"), Value::Null);
    insufficient(&get(&one("3 of 4"), "result.number"), json!([3, 4]), &[MissingReason::Ambiguous]);
}

#[test]
fn an_exit_code_is_what_the_result_reports() {
    present(&get(&one("<returncode>127</returncode>\n<output>\n</output>"), "result.exit_code"), 127);
    absent(&get(&one("fine"), "result.exit_code"), Value::Null);
}

#[test]
fn an_empty_result_is_said_to_be_empty_and_any_other_is_present_with_false() {
    for text in ["", " \n", "[]", "{}", "None"] {
        present(&get(&one(text), "result.empty"), true);
    }
    present(&get(&one("0"), "result.empty"), false);
}

#[test]
fn a_fate_says_what_became_of_a_call_and_whether_it_ever_ran() {
    let mut library = Library::new();
    library
        .calls("1", "look", json!({}))
        .fails("1", "The user doesn't want to proceed with this tool use. STOP");
    library.last().content.parts.iter_mut().for_each(|part| {
        if let PartBody::Result(outcome) = &mut part.body {
            outcome.executed = Some(false);
        }
    });
    let answer = get(&library, "fate");
    assert_eq!(answer.value["outcome"], "failed");
    assert_eq!(answer.value["executed"], false);
    absent(&library.ask(json!({"calls":{"tool":"never"},"get":"fate"})), Value::Null);
}

#[test]
fn the_answer_has_the_fields_of_the_contract_in_order() {
    let library = one("x");
    let said = serde_json::to_string(&get(&library, "count")).unwrap();
    let order = [
        "\"answer\":\"present\"",
        "\"value\":1",
        "\"evidence\":[{\"span\":\"s1\",\"hash\":",
        "\"source\":\"/home/me/run.jsonl\"",
        "\"index\":0",
        "\"range\":[",
        "\"coverage\":{",
        "\"sessions\":1",
        "\"originals\":2",
        "\"bytes\":",
        "\"searched\":2",
        "\"complete\":true",
        "\"root\":",
        "\"missing\":[]",
        "\"opaque\":[]",
    ];
    let mut at = 0;
    for field in order {
        at += said[at..].find(field).unwrap_or_else(|| panic!("{field} is not after byte {at} of {said}"));
    }
}
