use super::*;

fn two_sources() -> Library {
    let mut library = Library::new();
    library.user("alpha").says("beta");
    library.source("/home/me/work/other.json", "/0").in_session("run-2").user("alpha").says("gamma");
    library.source("/home/me/work/other.json", "/1").in_session("other-3").user("alpha").says("delta");
    library
}

fn count(library: &Library, scope: Value, words: &str) -> Answer {
    library.ask(json!({"in": scope, "text": {"contains": words}, "get": "count"}))
}

#[test]
fn a_session_is_named_by_its_id_or_a_unique_prefix() {
    let library = two_sources();
    present(&count(&library, json!({"session":"run-2"}), "alpha"), 1);
    present(&count(&library, json!({"session":"oth"}), "alpha"), 1);
    absent(&count(&library, json!({"session":"oth"}), "beta"), 0);
    assert!(library.refuses(json!({"in":{"session":"run"},"calls":{}})).contains("several"));
}

#[test]
fn a_source_is_named_by_its_path_or_the_end_of_it_in_whole_components() {
    let library = two_sources();
    present(&count(&library, json!({"source":"/home/me/run.jsonl"}), "alpha"), 1);
    present(&count(&library, json!({"source":"run.jsonl"}), "alpha"), 1);
    present(&count(&library, json!({"source":"./work/other.json"}), "alpha"), 2);
    for wrong in ["un.jsonl", "me/other.json", "home/me", "/run.jsonl"] {
        let said = library.refuses(json!({"in":{"source":wrong},"calls":{}}));
        assert!(said.contains(wrong), "{said}");
    }
}

#[test]
fn a_record_is_one_transcript_of_a_source_that_holds_many() {
    let library = two_sources();
    present(&count(&library, json!({"source":"other.json","record":"/1"}), "delta"), 1);
    absent(&count(&library, json!({"source":"other.json","record":"/0"}), "delta"), 0);
}

#[test]
fn a_scope_that_names_nothing_recorded_is_an_error_and_never_absent() {
    let library = two_sources();
    assert!(
        library
            .refuses(json!({"in":{"source":"nothing.json"},"calls":{}}))
            .contains("source \"nothing.json\"")
    );
    let said = library.refuses(json!({"in":{"source":"other.json","record":"/7"},"calls":{}}));
    assert!(said.contains("source \"other.json\", record \"/7\""), "{said}");
    assert!(library.refuses(json!({"in":{"session":"nobody"},"calls":{}})).contains("nobody"));
}

#[test]
fn index_bounds_are_exclusive_and_may_stand_outside_the_source() {
    let mut library = Library::new();
    library.user("word").user("word").user("word").user("word");
    present(&count(&library, json!({"before_index":2}), "word"), 2);
    present(&count(&library, json!({"after_index":2}), "word"), 1);
    present(&count(&library, json!({"after_index":0,"before_index":2}), "word"), 1);
    present(&count(&library, json!({"after_index":-1,"before_index":99}), "word"), 4);
    let nothing = count(&library, json!({"before_index":0}), "word");
    absent(&nothing, 0);
    assert_eq!(nothing.coverage.originals, 0);
}

#[test]
fn a_result_is_reached_from_its_call_even_where_it_stands_outside_the_index_bounds() {
    let mut library = Library::new();
    library.calls("1", "read", json!({})).returns("1", "content");
    let answer = library.ask(json!({"in":{"before_index":1},"calls":{"tool":"read"},"nth":1,"get":"fate"}));
    present(&answer, json!({"issued":true,"outcome":"succeeded","result":"content"}));
    assert_eq!(indexes(&answer), [0, 1]);
    assert_eq!(answer.coverage.originals, 1);
}

#[test]
fn time_bounds_are_exclusive_and_in_any_offset() {
    let mut library = Library::new();
    library.time(Some(1000)).user("word").time(Some(2000)).user("word").time(Some(3000)).user("word");
    present(&count(&library, json!({"before_time":"1970-01-01T00:00:02Z"}), "word"), 1);
    present(&count(&library, json!({"after_time":"1970-01-01T02:00:01+02:00"}), "word"), 2);
    let between = json!({"after_time":"1970-01-01T00:00:01Z","before_time":"1970-01-01T00:00:03Z"});
    present(&count(&library, between, "word"), 1);
}

#[test]
fn a_span_without_a_time_is_unseen_by_a_question_about_a_stretch_of_time() {
    let mut library = Library::new();
    library.time(Some(1000)).user("word").time(None).user("other").progress("a title");
    let answer = count(&library, json!({"before_time":"1970-01-01T00:00:05Z"}), "word");
    insufficient(&answer, 1, &[MissingReason::Untimed]);
    assert_eq!((answer.coverage.originals, answer.coverage.searched), (3, 1));
    present(&count(&library, json!({}), "word"), 1);
    let calls = library.ask(json!({"in":{"before_time":"1970-01-01T00:00:05Z"},"calls":{}}));
    absent(&calls, false);
}

#[test]
fn a_role_is_who_speaks_and_unparsed_bytes_may_be_anybodys() {
    let mut library = Library::new();
    library.user("word").says("word").says("word");
    present(&count(&library, json!({"role":"user"}), "word"), 1);
    present(&count(&library, json!({"role":"assistant"}), "word"), 2);
    absent(&library.ask(json!({"in":{"role":"user"},"calls":{}})), false);
    library.unparsed(SpanKind::Quarantined, "{broken");
    insufficient(
        &library.ask(json!({"in":{"role":"user"},"calls":{}})),
        Value::Null,
        &[MissingReason::Quarantined],
    );
}

#[test]
fn ordinals_count_in_the_order_of_the_file_even_where_sessions_are_interleaved() {
    let mut library = Library::new();
    library.calls("1", "a", json!({"n":1})).in_session("run-9").calls("2", "a", json!({"n":2}));
    library.in_session("run-1").calls("3", "a", json!({"n":3}));
    present(&library.ask(json!({"calls":{"tool":"a"},"nth":2,"get":"arg:n"})), 2);
    present(&library.ask(json!({"in":{"session":"run-1"},"calls":{"tool":"a"},"nth":2,"get":"arg:n"})), 3);
}
