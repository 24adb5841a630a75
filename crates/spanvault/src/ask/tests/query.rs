use super::*;

fn error(query: &str) -> String {
    Query::from_json(query).expect_err("no query").to_string()
}

#[test]
fn a_misspelt_field_is_an_error_that_names_it_wherever_it_stands() {
    for (query, field) in [
        (r#"{"call":{}}"#, "`call`"),
        (r#"{"calls":{"tol":"Bash"}}"#, "`tol`"),
        (r#"{"calls":{},"in":{"sesion":"x"}}"#, "`sesion`"),
        (r#"{"text":{"contain":"x"}}"#, "`contain`"),
        (r#"{"order":[{"calls":{}},{"cals":{}}]}"#, "`cals`"),
        (r#"{"negatives":{"fate":"failed"}}"#, "`fate`"),
        (r#"{"calls":{"args":{"path":{"globb":"/etc/**"}}}}"#, "`globb`"),
        (r#"{"calls":{"path":{"prefixx":"/etc"}}}"#, "`prefixx`"),
        (r#"{"calls":{},"gets":"count"}"#, "`gets`"),
    ] {
        let said = error(query);
        assert!(said.contains(field), "{query}: {said}");
    }
}

#[test]
fn a_filter_that_is_null_or_repeated_is_an_error_because_dropping_it_would_widen_the_search() {
    assert!(error(r#"{"calls":{"tool":null}}"#).contains("string"));
    assert!(error(r#"{"calls":{},"in":{"session":null}}"#).contains("null"));
    assert!(error(r#"{"calls":{"tool":"a","tool":"b"}}"#).contains("duplicate field `tool`"));
    assert!(error(r#"{"calls":{"args":{"a":1,"a":2}}}"#).contains("duplicate field `a`"));
    assert!(error(r#"{"calls":{},"in":{"source":""}}"#).contains("in.source"));
    assert!(error(r#"{"calls":{"tool":[]}}"#).contains("calls.tool"));
    assert!(error(r#"{"text":{"contains":""}}"#).contains("text.contains"));
}

#[test]
fn exactly_one_field_says_what_to_find() {
    assert!(error("{}").contains("exactly one of calls, text, order and negatives"));
    assert!(error(r#"{"calls":{},"text":{"contains":"x"}}"#).contains("not 2"));
    assert!(error(r#"{"text":{"contains":"x","regex":"y"}}"#).contains("exactly one of contains"));
    assert!(error(r#"{"text":{"after":"x"}}"#).contains("`quote`"));
    assert!(error(r#"{"order":[{"calls":{}}]}"#).contains('2'));
}

#[test]
fn a_word_or_pattern_that_cannot_be_understood_is_an_error_that_names_its_field() {
    for (query, field) in [
        (r#"{"calls":{"effect":"writes"}}"#, "calls.effect"),
        (r#"{"calls":{"fate":"ok"}}"#, "calls.fate"),
        (r#"{"calls":{"args":{"p":{"regex":"("}}}}"#, "calls.args.p.regex"),
        (r#"{"calls":{"path":{"glob":"["}}}"#, "calls.path.glob"),
        (r#"{"text":{"regex":"("}}"#, "text.regex"),
        (r#"{"text":{"contains":"x","kinds":["paths"]}}"#, "text.kinds"),
        (r#"{"calls":{},"in":{"before_time":"yesterday"}}"#, "in.before_time"),
        (r#"{"calls":{},"nth":0}"#, "nth"),
        (r#"{"calls":{},"nth":-1001}"#, "nth"),
        (r#"{"calls":{},"nth":1,"get":"count"}"#, "nth"),
        (r#"{"calls":{},"get":"results"}"#, "get"),
        (r#"{"calls":{},"get":"arg:"}"#, "get"),
        (r#"{"calls":{},"get":"result.regex:("}"#, "result.regex"),
        (r#"{"calls":{},"get":"quote"}"#, "get"),
        (r#"{"text":{"contains":"x"},"get":"fate"}"#, "get"),
        (r#"{"text":{"contains":"x"},"get":"quote"}"#, "get"),
        (r#"{"order":[{"calls":{}},{"calls":{}}],"get":"count"}"#, "get"),
        (r#"{"order":[{"calls":{}},{"calls":{}}],"nth":1}"#, "nth"),
        (r#"{"calls":{},"in":{"role":"agent"}}"#, "agent"),
    ] {
        let said = error(query);
        assert!(said.contains(field), "{query}: {said}");
    }
}

#[test]
fn what_the_builder_builds_is_what_the_contract_writes() {
    let pairs = [
        (
            Query::calls("write_file").arg("path", glob("/etc/**")),
            json!({"calls":{"tool":"write_file","args":{"path":{"glob":"/etc/**"}}}}),
        ),
        (
            Query::calls(["a", "b"])
                .effect("mutates")
                .fate("failed")
                .path(prefix("/etc/"))
                .nth(-1)
                .get(Get::Fate),
            json!({"calls":{"tool":["a","b"],"effect":"mutates","fate":"failed","path":{"prefix":"/etc/"}},"nth":-1,"get":"fate"}),
        ),
        (
            Query::any_call().args_exactly(json!({"n": 1})).any_arg("x").session("s").role(Role::Assistant),
            json!({"in":{"session":"s","role":"assistant"},"calls":{"args_exactly":{"n":1},"any_arg":"x"}}),
        ),
        (
            Query::text(Words::QuoteAfter { anchor: "named".into(), quote: "`".into() })
                .kinds("text")
                .get(Get::Quote),
            json!({"text":{"after":"named","quote":"`","kinds":"text"},"get":"quote"}),
        ),
        (
            Query::order(Query::calls("a").nth(1), Query::text(Words::Contains("b".into()))).record("/3"),
            json!({"in":{"record":"/3"},"order":[{"calls":{"tool":"a"},"nth":1},{"text":{"contains":"b"}}]}),
        ),
        (
            Query::negatives()
                .arg("q", equal(json!({"a": 1})))
                .get(Get::ResultJson(JsonPlace::Pointer("/a/0".into()))),
            json!({"negatives":{"args":{"q":{"eq":{"a":1}}}},"get":"result.json:/a/0"}),
        ),
    ];
    for (built, written) in pairs {
        assert_eq!(Query::from_json(&written.to_string()).expect("a query"), built);
        assert_eq!(serde_json::to_value(&built).expect("JSON"), written);
        assert_eq!(built.get.to_string().parse::<Get>().expect("a word"), built.get);
    }
}

#[test]
fn a_filter_that_does_not_narrow_the_question_is_an_error_not_a_wider_search() {
    let words = Query::text(Words::Contains("x".into()));
    assert!(words.clone().arg("path", "x").check().is_err());
    assert!(words.path(prefix("/etc")).check().is_err());
    assert!(Query::any_call().kinds("text").check().is_err());
}

#[test]
fn an_object_with_several_fields_is_a_plain_value_and_an_operator_stands_alone() {
    let mut library = Library::new();
    library.calls("1", "plot", json!({"area": {"from": 1, "to": 2}, "style": {"width": 2}}));
    present(&library.ask(json!({"calls":{"args":{"area":{"from":1,"to":2}}}})), true);
    present(&library.ask(json!({"calls":{"args":{"style":{"width":2}}}})), true);
    present(&library.ask(json!({"calls":{"args":{"style":{"eq":{"width":2}}}}})), true);
    assert!(
        library
            .refuses(json!({"calls":{"args":{"area":{"prefix":"a","suffix":"b"}}}}))
            .contains("one operator")
    );
    assert!(library.refuses(json!({"calls":{"args":{"area":{"prefix":1}}}})).contains("needs a string"));
}
