use super::*;

fn find(library: &Library, text: Value, get: &str) -> Answer {
    library.ask(json!({"text": text, "get": get}))
}

#[test]
fn words_are_found_in_every_part_of_a_conversation_decoded() {
    let mut library = Library::new();
    library.user("a \"needle\" here").thinks("needle").summary("the needle").says("hay");
    library
        .calls("1", "needle_tool", json!({"k": ["x", {"needle_name": "needle\nvalue"}]}))
        .returns("1", "one needle");
    present(&find(&library, json!({"contains":"needle"}), "count"), 6);
    present(&find(&library, json!({"contains":"a \"needle\""}), "count"), 1);
    present(&find(&library, json!({"contains":"needle\nvalue"}), "count"), 1);
    absent(&find(&library, json!({"contains":"Needle"}), "count"), 0);
    present(&find(&library, json!({"icontains":"NEEDLE"}), "count"), 6);
    present(&find(&library, json!({"regex":"one n(e+)dle"}), "value"), "ee");
}

#[test]
fn case_is_folded_beyond_ascii_and_words_of_any_script_are_found() {
    let mut library = Library::new();
    library.user("Straße nach MÜNCHEN 東京 🎉");
    present(&find(&library, json!({"icontains":"münchen"}), "value"), "MÜNCHEN");
    present(&find(&library, json!({"contains":"東京 🎉"}), "exists"), true);
}

#[test]
fn evidence_points_at_the_bytes_of_the_words_in_the_original() {
    let mut library = Library::new();
    library.user("one\ttwo \"three\" é four").calls("1", "f", json!({"path": "/etc/\"app\"/x"}));
    for (words, bytes) in [
        ("two", "two"),
        ("\"three\"", "\\\"three\\\""),
        ("é four", "é four"),
        ("/etc/\"app\"", "/etc/\\\"app\\\""),
    ] {
        let answer = find(&library, json!({"contains":words}), "exists");
        assert_eq!(library.shown(&answer.evidence[0]), bytes);
    }
}

#[test]
fn kinds_narrow_where_words_are_looked_for() {
    let mut library = Library::new();
    library
        .user("word")
        .thinks("word")
        .summary("word")
        .calls("1", "f", json!({"a":"word"}))
        .returns("1", "word");
    for kind in ["text", "thinking", "summary", "call", "result"] {
        present(&find(&library, json!({"contains":"word","kinds":[kind]}), "count"), 1);
    }
    present(&find(&library, json!({"contains":"word","kinds":["text","result"]}), "count"), 2);
}

#[test]
fn progress_lines_are_no_conversation_and_only_a_search_of_exact_bytes_sees_them() {
    let mut library = Library::new();
    library.user("start").progress(r#"{"type":"progress","message":{"tool_use":"needle"}}"#);
    let answer = find(&library, json!({"contains":"needle"}), "exists");
    absent(&answer, false);
    assert_eq!((answer.coverage.originals, answer.coverage.searched), (2, 1));
    absent(&library.ask(json!({"calls":{}})), false);
    let answer = find(&library, json!({"contains":"needle","kinds":"original"}), "exists");
    present(&answer, true);
    assert_eq!(library.shown(&answer.evidence[0]), "needle");
    assert_eq!(answer.coverage.searched, 2);
}

#[test]
fn a_quotation_is_the_string_in_quote_characters_that_directly_follows_the_anchor() {
    let mut library = Library::new();
    library.says(
        "The package now uses `buildinfo.*` and the poem\n\"The Raven\", said «so ist es». now uses nothing",
    );
    let quote = |after: &str, quote: &str| find(&library, json!({"after":after,"quote":quote}), "quote");
    present(&quote("now uses", "`"), "buildinfo.*");
    present(&quote("the poem", "\""), "The Raven");
    present(&quote("said", "«"), "so ist es");
    present(&quote("said", "«»"), "so ist es");
    absent(&quote("package", "`"), Value::Null);
    absent(&quote("now uses", "\""), Value::Null);
}

#[test]
fn the_same_quotation_twice_is_one_and_different_ones_are_ambiguous() {
    let mut library = Library::new();
    library.says("named `a`").says("named `a`");
    present(&find(&library, json!({"after":"named","quote":"`"}), "quote"), "a");
    library.says("named `b`");
    let answer = find(&library, json!({"after":"named","quote":"`"}), "quote");
    assert_eq!(answer.answer, Verdict::Insufficient);
    assert_eq!(answer.value, json!(["a", "b"]));
    let last = library.ask(json!({"text":{"after":"named","quote":"`"},"nth":-1,"get":"quote"}));
    present(&last, "b");
}

#[test]
fn bytes_that_were_never_parsed_are_searched_for_words() {
    for kind in [SpanKind::TooLarge, SpanKind::Quarantined] {
        let mut library = Library::new();
        library.user("start").unparsed(kind, r#"{"text":"caf\u00e9 \"noir\" a\/b {\"inner\":\"x\\ny\"}"}"#);
        for words in ["café \"noir\"", "a/b", "text", "caf\\u00e9", "inner"] {
            present(&find(&library, json!({"contains":words}), "exists"), true);
        }
        let answer = find(&library, json!({"contains":"tea"}), "exists");
        absent(&answer, false);
        assert_eq!(answer.coverage.searched, 2);
        absent(&find(&library, json!({"regex":"t[aeo]{2}"}), "exists"), false);
    }
}

#[test]
fn bytes_that_were_never_parsed_leave_open_what_only_parsing_tells() {
    let mut library = Library::new();
    library.user("start").unparsed(SpanKind::TooLarge, r#"{"text":"some needle"}"#);
    let open = |text: Value, get: &str| {
        let answer = find(&library, text, get);
        assert_eq!(answer.answer, Verdict::Insufficient);
        assert_eq!(answer.coverage.missing[0].reason, MissingReason::TooLarge);
    };
    open(json!({"contains":"needle"}), "count");
    open(json!({"contains":"needle","kinds":["result"]}), "exists");
    open(json!({"regex":"^no such start"}), "exists");
    open(json!({"contains":"two\nblocks"}), "exists");
    open(json!({"regex":"two\\sblocks"}), "exists");
    open(json!({"after":"some","quote":"`"}), "quote");
    absent(&find(&library, json!({"contains":"thread","kinds":["result"]}), "exists"), false);
    absent(&find(&library, json!({"after":"other","quote":"`"}), "quote"), Value::Null);
}
