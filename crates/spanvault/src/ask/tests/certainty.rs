use super::*;

fn ask(library: &Library, get: &str) -> Answer {
    library.ask(json!({"calls":{"tool":"f"},"get":get}))
}

fn nth(library: &Library, nth: i64, get: &str) -> Answer {
    library.ask(json!({"calls":{"tool":"f"},"nth":nth,"get":get}))
}

#[test]
fn what_is_not_found_is_absent_only_where_nothing_unseen_could_hold_it() {
    for reason in
        [UnseenReason::Reclaimed, UnseenReason::Erased, UnseenReason::Corrupt, UnseenReason::Missing]
    {
        let mut library = Library::new();
        library.user("hello").calls("1", "g", json!({})).lost(reason);
        insufficient(&ask(&library, "exists"), Value::Null, &[reason.into()]);
        insufficient(&ask(&library, "count"), 0, &[reason.into()]);
        insufficient(&ask(&library, "paths"), json!([]), &[reason.into()]);
        insufficient(&ask(&library, "fate"), Value::Null, &[reason.into()]);
    }
}

#[test]
fn what_is_missing_is_named_with_hash_tombstone_and_place() {
    let mut library = Library::new();
    library.user("hello").calls("1", "f", json!({})).reclaimed();
    let answer = ask(&library, "exists");
    let missing = &answer.coverage.missing[0];
    assert_eq!((missing.span.as_str(), missing.index, missing.tombstone), ("s2", 1, Some(900)));
    assert_eq!(missing.hash, library.transcripts[0].spans[1].hash.to_string());
    assert!(!answer.coverage.complete);
}

#[test]
fn a_recorded_kind_proves_that_a_lost_span_held_no_call() {
    let mut library = Library::new();
    library
        .user("hello")
        .reclaimed()
        .says("bye")
        .reclaimed()
        .thinks("hm")
        .reclaimed()
        .returns("0", "x")
        .reclaimed();
    let answer = ask(&library, "exists");
    absent(&answer, false);
    assert_eq!((answer.coverage.originals, answer.coverage.searched), (4, 0));
    for (kind, reason) in
        [(SpanKind::Quarantined, MissingReason::Quarantined), (SpanKind::TooLarge, MissingReason::TooLarge)]
    {
        let mut library = Library::new();
        library.unparsed(kind, "{}");
        insufficient(&ask(&library, "exists"), Value::Null, &[reason]);
    }
}

#[test]
fn a_recorded_kind_proves_for_words_only_what_it_excludes() {
    let mut library = Library::new();
    library.user("hello").reclaimed();
    let words = |kinds: Value| library.ask(json!({"text":{"contains":"x","kinds":kinds}}));
    absent(&words(json!(["result"])), false);
    absent(&words(json!(["summary", "call"])), false);
    insufficient(&words(json!(["thinking"])), Value::Null, &[MissingReason::Reclaimed]);
    insufficient(&words(json!(["text"])), Value::Null, &[MissingReason::Reclaimed]);
    insufficient(&words(json!(["number"])), Value::Null, &[MissingReason::Reclaimed]);
}

#[test]
fn what_is_found_exists_whatever_else_cannot_be_seen() {
    let mut library = Library::new();
    library
        .calls("0", "f", json!({}))
        .reclaimed()
        .calls("1", "f", json!({}))
        .calls("2", "f", json!({}))
        .reclaimed();
    let answer = ask(&library, "exists");
    present(&answer, true);
    assert!(!answer.coverage.complete);
    assert_eq!(answer.coverage.missing.len(), 2);
    present(&nth(&library, 1, "exists"), true);
    insufficient(&nth(&library, 2, "exists"), Value::Null, &[MissingReason::Reclaimed; 2]);
}

#[test]
fn a_count_over_what_cannot_be_seen_is_partial_and_never_a_plain_number() {
    let mut library = Library::new();
    library.calls("1", "f", json!({"path":"/a"})).calls("2", "f", json!({})).reclaimed();
    let answer = ask(&library, "count");
    insufficient(&answer, 1, &[MissingReason::Reclaimed]);
    assert!(answer.partial);
    assert_eq!(serde_json::to_value(&answer).unwrap()["partial"], true);
    insufficient(&ask(&library, "spans"), json!(["s1"]), &[MissingReason::Reclaimed]);
    insufficient(&ask(&library, "paths"), json!(["/a"]), &[MissingReason::Reclaimed]);
}

#[test]
fn an_unseen_span_makes_an_ordinal_uncertain_only_on_the_side_that_it_is_counted_from() {
    let mut before = Library::new();
    before.calls("0", "g", json!({})).reclaimed().calls("1", "f", json!({"n":1}));
    insufficient(&nth(&before, 1, "arg:n"), 1, &[MissingReason::Reclaimed]);
    let last = nth(&before, -1, "arg:n");
    present(&last, 1);
    assert!(last.coverage.complete && last.coverage.missing.is_empty());

    let mut after = Library::new();
    after.calls("1", "f", json!({"n":1})).calls("2", "g", json!({})).reclaimed();
    present(&nth(&after, 1, "arg:n"), 1);
    insufficient(&nth(&after, -1, "arg:n"), 1, &[MissingReason::Reclaimed]);
    insufficient(&nth(&after, 2, "arg:n"), Value::Null, &[MissingReason::Reclaimed]);

    let mut harmless = Library::new();
    harmless.says("words").reclaimed().calls("1", "f", json!({"n":1})).says("more").reclaimed();
    present(&nth(&harmless, 1, "arg:n"), 1);
    present(&nth(&harmless, -1, "arg:n"), 1);
}

#[test]
fn counting_back_forgets_what_stands_before_the_one_that_is_picked() {
    let mut library = Library::new();
    for n in 0..5 {
        library.calls(&format!("x{n}"), "g", json!({})).reclaimed().calls(
            &format!("{n}"),
            "f",
            json!({"n":n}),
        );
    }
    present(&nth(&library, -1, "arg:n"), 4);
    insufficient(&nth(&library, -2, "arg:n"), 3, &[MissingReason::Reclaimed]);
    insufficient(&nth(&library, -3, "arg:n"), 2, &[MissingReason::Reclaimed; 2]);
}

#[test]
fn the_only_call_is_certain_only_if_no_other_could_be_unseen() {
    let mut library = Library::new();
    library.calls("1", "f", json!({"n":1})).calls("2", "g", json!({})).reclaimed();
    insufficient(&ask(&library, "arg:n"), 1, &[MissingReason::Reclaimed]);
}

#[test]
fn a_call_whose_result_is_unseen_is_insufficient_and_names_the_missing_original() {
    let mut library = Library::new();
    library.calls("1", "f", json!({})).says("meanwhile").returns("1", "done").reclaimed();
    for get in
        ["result", "result.empty", "result.number", "result.json:a", "result.regex:x", "result.exit_code"]
    {
        let answer = nth(&library, 1, get);
        insufficient(&answer, Value::Null, &[MissingReason::Reclaimed]);
        assert_eq!(answer.coverage.missing[0].index, 2);
    }
    let fate = nth(&library, 1, "fate");
    insufficient(
        &fate,
        json!({"issued":true,"outcome":"unknown","result":null}),
        &[MissingReason::Reclaimed],
    );
    present(&nth(&library, 1, "args"), json!({}));
}

#[test]
fn a_fate_that_is_unseen_may_or_may_not_be_the_one_that_is_asked_for() {
    let mut library = Library::new();
    library
        .calls("1", "f", json!({}))
        .returns("1", "done")
        .reclaimed()
        .calls("2", "f", json!({}))
        .returns("2", "ok");
    let fate = |fate: &str, get: &str| library.ask(json!({"calls":{"tool":"f","fate":fate},"get":get}));
    insufficient(&fate("succeeded", "count"), 1, &[MissingReason::Reclaimed]);
    insufficient(&fate("failed", "exists"), Value::Null, &[MissingReason::Reclaimed]);
    present(&fate("succeeded", "exists"), true);
    absent(&library.ask(json!({"calls":{"tool":"g","fate":"failed"}})), false);
    insufficient(&library.ask(json!({"negatives":{}})), Value::Null, &[MissingReason::Reclaimed]);
}

#[test]
fn a_result_that_order_gives_to_one_call_or_another_is_the_result_of_neither() {
    let mut library = Library::new();
    library
        .calls_all(&[("", "f", json!({"n":1})), ("", "f", json!({"n":2}))])
        .returns("", "only one came")
        .user("go on")
        .calls("", "g", json!({}))
        .returns("", "done");
    for n in [1, 2] {
        let asked = json!({"calls":{"tool":"f"},"nth":n,"get":"result"});
        insufficient(&library.ask(asked), Value::Null, &[MissingReason::Ambiguous]);
    }
    insufficient(
        &library.ask(json!({"calls":{"tool":"f","fate":"succeeded"},"get":"count"})),
        0,
        &[MissingReason::Ambiguous],
    );
    present(&library.ask(json!({"calls":{"tool":"f"},"get":"count"})), 2);
    present(&library.ask(json!({"calls":{"tool":"g"},"get":"result"})), "done");
}

#[test]
fn content_that_may_be_a_report_of_failure_has_no_fate_that_is_certain() {
    let mut library = Library::new();
    library.calls("1", "Read", json!({"file_path":"/a"})).returns("1", "Error: ENOENT: no such file");
    let fate = json!({"issued":true,"outcome":"unknown","result":"Error: ENOENT: no such file"});
    let asked = |fate: &str| library.ask(json!({"calls":{"tool":"Read","fate":fate},"get":"count"}));
    insufficient(&asked("succeeded"), 0, &[MissingReason::Ambiguous]);
    insufficient(&asked("failed"), 0, &[MissingReason::Ambiguous]);
    present(&asked("unknown"), 1);
    insufficient(&library.ask(json!({"negatives":{}})), Value::Null, &[MissingReason::Ambiguous]);
    present(&library.ask(json!({"calls":{"tool":"Read"},"get":"fate"})), fate);
}

#[test]
fn an_unanswered_call_is_certain_where_nothing_unseen_could_be_its_result() {
    let mut library = Library::new();
    library.says("before").reclaimed().calls("1", "f", json!({})).says("later").reclaimed();
    present(&nth(&library, 1, "fate"), json!({"issued":true,"outcome":"unknown","result":null}));
    library.returns("0", "x").reclaimed();
    assert_eq!(nth(&library, 1, "fate").answer, Verdict::Insufficient);
}

#[test]
fn a_result_that_stands_before_its_call_may_be_that_of_a_lost_one() {
    let mut library = Library::new();
    library.calls("1", "f", json!({"n":1})).reclaimed().returns("1", "first").calls("1", "f", json!({"n":2}));
    insufficient(&nth(&library, -1, "result"), Value::Null, &[MissingReason::Reclaimed]);
}

#[test]
fn a_result_that_names_its_call_is_its_result_unless_the_id_could_have_been_used_again_between() {
    let mut library = Library::new();
    library
        .calls("1", "f", json!({}))
        .calls("2", "g", json!({}))
        .reclaimed()
        .returns("1", "r")
        .returns("2", "s");
    insufficient(&nth(&library, 1, "result"), Value::Null, &[MissingReason::Reclaimed]);
    let mut library = Library::new();
    library.calls("9", "g", json!({})).returns("9", "s").reclaimed();
    library
        .calls("1", "f", json!({}))
        .says("…")
        .reclaimed()
        .returns("1", "r")
        .calls("2", "g", json!({}))
        .reclaimed();
    present(&library.ask(json!({"calls":{"tool":"f"},"nth":-1,"get":"exists"})), true);
    let answer = library.ask(json!({"in":{"before_index":5},"calls":{"tool":"f"},"get":"result"}));
    present(&answer, "r");
}

#[test]
fn an_id_that_is_used_again_pairs_by_order_so_a_lost_result_before_it_makes_it_uncertain() {
    let mut library = Library::new();
    library.calls("1", "g", json!({})).returns("1", "first").reclaimed();
    library
        .calls("1", "f", json!({}))
        .returns("1", "second")
        .calls("1", "h", json!({}))
        .returns("1", "third");
    insufficient(
        &library.ask(json!({"calls":{"tool":"f"},"get":"result"})),
        Value::Null,
        &[MissingReason::Reclaimed],
    );
}

#[test]
fn a_pairing_by_order_is_uncertain_after_anything_unseen_that_could_be_a_call_or_a_result() {
    let mut library = Library::new();
    library
        .calls("", "g", json!({}))
        .returns("", "other")
        .reclaimed()
        .calls("", "f", json!({}))
        .returns("", "mine");
    insufficient(&nth(&library, 1, "result"), Value::Null, &[MissingReason::Reclaimed]);
    let mut library = Library::new();
    library.says("words").reclaimed().calls("", "f", json!({})).returns("", "mine");
    present(&nth(&library, 1, "result"), "mine");
}

#[test]
fn an_opaque_call_is_reported_only_to_questions_about_effects_and_paths() {
    let mut library = Library::new();
    library.calls("1", "Bash", json!({"command":"bash deploy.sh"})).returns("1", "ok");
    library.calls("2", "Edit", json!({"file_path":"/a"})).returns("2", "ok");
    let written = library.ask(json!({"calls":{"path":{"prefix":"/etc/"}}}));
    assert_eq!(written.answer, Verdict::Insufficient);
    assert!(written.coverage.missing.is_empty() && !written.coverage.complete);
    let opaque = &written.coverage.opaque[0];
    assert_eq!((opaque.tool.as_str(), opaque.index), ("Bash", 0));
    assert_eq!(
        library.ask(json!({"calls":{"effect":"mutates"},"get":"count"})).answer,
        Verdict::Insufficient
    );
    present(&library.ask(json!({"calls":{"effect":"opaque"},"get":"count"})), 1);
    let paths = library.ask(json!({"calls":{},"get":"paths"}));
    assert_eq!((paths.answer, paths.value), (Verdict::Insufficient, json!(["/a", "deploy.sh"])));
    absent(&library.ask(json!({"calls":{"tool":["Edit","Write"],"path":{"prefix":"/etc/"}}})), false);
    absent(&library.ask(json!({"calls":{"tool":"Write"}})), false);
    present(&library.ask(json!({"calls":{},"get":"count"})), 2);
}

#[test]
fn an_opaque_call_that_otherwise_fits_does_not_hide_one_that_is_seen() {
    let mut library = Library::new();
    library.calls("1", "Bash", json!({"command":"bash deploy.sh"})).returns("1", "ok");
    library
        .calls("2", "Write", json!({"file_path":"/etc/x"}))
        .returns("2", "File created successfully at: /etc/x");
    let answer = library.ask(json!({"calls":{"effect":"mutates","path":{"prefix":"/etc/"}}}));
    present(&answer, true);
    assert_eq!(answer.coverage.opaque.len(), 1);
}
