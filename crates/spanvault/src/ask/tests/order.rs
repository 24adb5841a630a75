use super::*;

fn told() -> Library {
    let mut library = Library::new();
    library.user("deploy").calls_all(&[("1", "a", json!({"n":1})), ("2", "b", json!({}))]).says("deployed");
    library.calls("3", "a", json!({"n":2}));
    library
}

fn order(library: &Library, first: Value, second: Value) -> Answer {
    library.ask(json!({"order":[first, second]}))
}

#[test]
fn the_order_of_two_calls_is_true_or_present_with_false() {
    let library = told();
    let a = |n: i64| json!({"calls":{"tool":"a","args_exactly":{"n":n}},"nth":1});
    let b = json!({"calls":{"tool":"b"},"nth":1});
    let answer = order(&library, a(1), b.clone());
    present(&answer, true);
    assert_eq!(indexes(&answer), [1, 1]);
    present(&order(&library, b.clone(), a(1)), false);
    present(&order(&library, a(2), b), false);
}

#[test]
fn a_call_and_words_can_be_ordered_too() {
    let library = told();
    let words = |words: &str| json!({"text":{"contains":words},"nth":1});
    present(&order(&library, json!({"calls":{"tool":"b"},"nth":1}), words("deployed")), true);
    present(&order(&library, words("deploy"), json!({"calls":{"tool":"b"},"nth":1})), true);
}

#[test]
fn without_nth_all_of_one_must_stand_on_one_side_of_the_other() {
    let library = told();
    let a = json!({"calls":{"tool":"a"}});
    let b = json!({"calls":{"tool":"b"}});
    let answer = order(&library, a.clone(), b);
    assert_eq!(answer.answer, Verdict::Insufficient);
    assert!(answer.coverage.missing.iter().all(|missing| missing.reason == MissingReason::Ambiguous));
    present(&order(&library, json!({"text":{"contains":"deploy"},"nth":1}), a), true);
}

#[test]
fn an_order_with_something_that_never_was_is_absent() {
    let mut library = told();
    let (a, never) = (json!({"calls":{"tool":"a"},"nth":1}), json!({"calls":{"tool":"never"},"nth":1}));
    absent(&order(&library, a.clone(), never.clone()), false);
    absent(&order(&library, never.clone(), a.clone()), false);
    library.says("gone").reclaimed();
    absent(&order(&library, a.clone(), never.clone()), false);
    library.calls("9", "gone", json!({})).reclaimed();
    insufficient(&order(&library, a, never), Value::Null, &[MissingReason::Reclaimed]);
}

#[test]
fn both_sides_of_an_order_must_be_certain() {
    let mut library = Library::new();
    library.calls("1", "x", json!({})).reclaimed().calls("2", "a", json!({})).calls("3", "b", json!({}));
    let side = |tool: &str, nth: i64| json!({"calls":{"tool":tool},"nth":nth});
    insufficient(&order(&library, side("a", 1), side("b", 1)), Value::Null, &[MissingReason::Reclaimed]);
    present(&order(&library, side("a", -1), side("b", -1)), true);
}

#[test]
fn in_different_transcripts_only_time_orders() {
    let mut library = Library::new();
    library.time(Some(2000)).calls("1", "a", json!({}));
    library.source("/other.jsonl", "").time(Some(1000)).calls("1", "b", json!({})).time(None).calls(
        "2",
        "c",
        json!({}),
    );
    let side = |tool: &str| json!({"calls":{"tool":tool},"nth":1});
    present(&order(&library, side("a"), side("b")), false);
    present(&order(&library, side("b"), side("a")), true);
    assert_eq!(order(&library, side("a"), side("c")).answer, Verdict::Insufficient);
}
