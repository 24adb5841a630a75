use super::*;

fn count(library: &Library, calls: Value) -> Answer {
    library.ask(json!({"calls": calls, "get": "count"}))
}

#[test]
fn calls_are_found_by_tool_or_one_of_several_tools_and_an_empty_filter_takes_them_all() {
    let mut library = Library::new();
    library.calls_all(&[("1", "Read", json!({})), ("2", "Edit", json!({}))]).calls("3", "Read", json!({}));
    present(&count(&library, json!({"tool":"Read"})), 2);
    present(&count(&library, json!({"tool":["Read","Edit"]})), 3);
    present(&count(&library, json!({})), 3);
    absent(&count(&library, json!({"tool":"read"})), 0);
}

#[test]
fn every_named_argument_must_match() {
    let mut library = Library::new();
    library.calls("1", "f", json!({"a": "x", "b": 2})).calls("2", "f", json!({"a": "x", "b": 3}));
    present(&count(&library, json!({"args":{"a":"x"}})), 2);
    present(&count(&library, json!({"args":{"a":"x","b":3}})), 1);
    absent(&count(&library, json!({"args":{"a":"x","c":null}})), 0);
}

#[test]
fn arguments_are_compared_exactly_key_order_aside_and_numbers_by_value_without_rounding() {
    let mut library = Library::new();
    let long: Value =
        serde_json::from_str(r#"{"id": 12345678901234567890123, "z": [1.0, {"k": true}]}"#).unwrap();
    library.calls("1", "f", long);
    let asked = |text: &str| {
        let args: Value = serde_json::from_str(text).unwrap();
        count(&library, json!({"args_exactly": args}))
    };
    present(&asked(r#"{"z": [1, {"k": true}], "id": 1.2345678901234567890123e22}"#), 1);
    absent(&asked(r#"{"z": [1, {"k": true}], "id": 12345678901234567890124}"#), 0);
    absent(&asked(r#"{"z": [1, {"k": true}]}"#), 0);
    absent(&asked(r#"{"z": ["1", {"k": true}], "id": 12345678901234567890123}"#), 0);
    absent(&asked("{}"), 0);
}

#[test]
fn numbers_are_equal_by_value_however_they_are_written() {
    let equal = |left: &str, right: &str| {
        json_equal(&serde_json::from_str(left).unwrap(), &serde_json::from_str(right).unwrap())
    };
    for (left, right) in
        [("1", "1.0"), ("100", "1e2"), ("0.1", "1E-1"), ("-0", "0"), ("-0.0", "0e9"), ("5e-1", "0.50")]
    {
        assert!(equal(left, right), "{left} {right}");
    }
    for (left, right) in
        [("1", "2"), ("1", "-1"), ("9007199254740993", "9007199254740992"), ("0.1", "0.10000000000000001")]
    {
        assert!(!equal(left, right), "{left} {right}");
    }
}

#[test]
fn a_match_is_a_plain_value_or_an_operator_on_strings() {
    let mut library = Library::new();
    library.calls("1", "f", json!({"path": "/etc/app/conf.yaml", "n": 42, "list": ["/etc/a", "/tmp/b"]}));
    for wanted in [
        json!("/etc/app/conf.yaml"),
        json!({"eq": "/etc/app/conf.yaml"}),
        json!({"prefix": "/etc/"}),
        json!({"suffix": ".yaml"}),
        json!({"contains": "/app/"}),
        json!({"glob": "/etc/**"}),
        json!({"glob": "/etc/*/conf.{yaml,toml}"}),
        json!({"regex": "conf\\.ya?ml$"}),
    ] {
        present(&count(&library, json!({"args":{"path": wanted}})), 1);
    }
    for wanted in
        [json!("/etc"), json!({"glob": "/etc/*"}), json!({"prefix": "etc"}), json!({"regex": "^conf"})]
    {
        absent(&count(&library, json!({"args":{"path": wanted}})), 0);
    }
    present(&count(&library, json!({"args":{"n":{"prefix":"4"}}})), 1);
    present(&count(&library, json!({"args":{"list":{"prefix":"/tmp"}}})), 1);
    absent(&count(&library, json!({"args":{"list":"/tmp/b"}})), 0);
}

#[test]
fn a_star_stops_at_a_slash_only_in_a_pattern_that_has_one() {
    let mut library = Library::new();
    library.calls("1", "sh", json!({"command": "git push origin feature/x"}));
    present(&count(&library, json!({"args":{"command":{"glob":"git push*"}}})), 1);
    absent(&count(&library, json!({"args":{"command":{"glob":"git push origin/*"}}})), 0);
}

#[test]
fn some_argument_may_hold_the_value_at_any_depth() {
    let mut library = Library::new();
    library.calls(
        "1",
        "f",
        json!({"edits": [{"old": "a", "new": "needle in hay"}], "deep": {"k": {"n": 7}}}),
    );
    present(&count(&library, json!({"any_arg":{"contains":"needle"}})), 1);
    present(&count(&library, json!({"any_arg":"a"})), 1);
    present(&count(&library, json!({"any_arg":7})), 1);
    present(&count(&library, json!({"any_arg":{"eq":{"n":7}}})), 1);
    absent(&count(&library, json!({"any_arg":"needle"})), 0);
}

#[test]
fn arguments_that_are_raw_text_are_matched_as_text() {
    let mut library = Library::new();
    library.calls("1", "apply_patch", json!("*** Update File: src/lib.rs"));
    present(&count(&library, json!({"any_arg":{"contains":"src/lib.rs"}})), 1);
    present(&count(&library, json!({"args_exactly":"*** Update File: src/lib.rs"})), 1);
    absent(&count(&library, json!({"args":{"path":"src/lib.rs"}})), 0);
}

#[test]
fn a_fate_is_what_the_result_reports_and_a_call_without_result_has_none() {
    let mut library = Library::new();
    library
        .calls("1", "Edit", json!({"file_path":"/a"}))
        .returns("1", "The file /a has been updated successfully.");
    library.calls("2", "Edit", json!({"file_path":"/b"})).fails("2", "String to replace not found");
    library.calls("3", "Edit", json!({"file_path":"/c"}));
    for (fate, path) in [("succeeded", "/a"), ("failed", "/b"), ("unknown", "/c")] {
        let answer = library.ask(json!({"calls":{"fate":fate},"get":"arg:file_path"}));
        present(&answer, path);
    }
}

#[test]
fn paths_are_those_that_the_effect_of_a_call_names_shell_commands_included() {
    let mut library = Library::new();
    library.calls("1", "Bash", json!({"command":"echo port: 80 > /etc/app/conf.yaml"})).returns("1", "");
    library.calls("2", "Read", json!({"file_path":"/etc/hosts"})).returns("2", "127.0.0.1");
    let answer = library.ask(json!({"calls":{"path":{"glob":"/etc/app/**"}}}));
    present(&answer, true);
    assert_eq!(indexes(&answer), [0, 1]);
    let written = library.ask(json!({"calls":{"effect":"mutates","path":{"prefix":"/etc/"}},"get":"paths"}));
    present(&written, json!(["/etc/app/conf.yaml"]));
    present(&count(&library, json!({"path":{"prefix":"/etc/"}})), 2);
    present(&count(&library, json!({"effect":["reads"]})), 1);
}

#[test]
fn where_only_changes_are_asked_for_a_path_that_is_merely_read_does_not_count() {
    let mut library = Library::new();
    library.calls("1", "Bash", json!({"command":"cat /etc/hosts > /tmp/copy"})).returns("1", "");
    absent(&library.ask(json!({"calls":{"effect":"mutates","path":{"prefix":"/etc/"}}})), false);
    present(&library.ask(json!({"calls":{"path":{"prefix":"/etc/"}}})), true);
    present(&library.ask(json!({"calls":{"effect":"mutates"},"get":"paths"})), json!(["/tmp/copy"]));
}

#[test]
fn negatives_are_calls_that_returned_nothing_failed_or_were_denied_and_not_silent_changes() {
    let mut library = Library::new();
    library.calls("1", "Grep", json!({"pattern":"x"})).returns("1", "No matches found");
    library.calls("2", "Grep", json!({"pattern":"y"})).returns("2", "a.rs:1: y");
    library.calls("3", "Edit", json!({"file_path":"/a"})).fails("3", "File has not been read yet");
    library.calls("4", "Edit", json!({"file_path":"/b"})).fails("4", "The user doesn't want to proceed");
    library.calls("5", "Bash", json!({"command":"rm /tmp/x"})).returns("5", "");
    library.calls("6", "Grep", json!({"pattern":"z"}));
    present(&library.ask(json!({"negatives":{},"get":"count"})), 3);
    let searched = library.ask(json!({"negatives":{"tool":"Grep"},"get":"args"}));
    present(&searched, json!({"pattern":"x"}));
    absent(&library.ask(json!({"negatives":{"args":{"pattern":"y"}}})), false);
}
