use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

#[derive(Debug, Clone)]
enum Turn {
    Words(u8),
    /// One or two calls at once, then their results, in this or the other order.
    Calls {
        calls: Vec<(u8, Id)>,
        words: u8,
        crossed: bool,
    },
    /// A call that nothing answers.
    Unanswered {
        tool: u8,
        named: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    None,
    /// Of its own.
    Fresh,
    /// One of a few that are used again and again.
    Worn(u8),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let id = prop_oneof![Just(Id::None), Just(Id::Fresh), (0..2_u8).prop_map(Id::Worn)];
    let calls = prop::collection::vec((0..3_u8, id), 1..3);
    let turn = prop_oneof![
        2 => (0..4_u8).prop_map(Turn::Words),
        4 => (calls, 0..4_u8, any::<bool>()).prop_map(|(calls, words, crossed)| Turn::Calls { calls, words, crossed }),
        1 => (0..3_u8, any::<bool>()).prop_map(|(tool, named)| Turn::Unanswered { tool, named }),
    ];
    prop::collection::vec(turn, 1..7)
}

fn library(turns: &[Turn]) -> Library {
    let mut library = Library::new();
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::Words(words) => {
                library.says(&format!("w{words} `q{words}`"));
            }
            Turn::Unanswered { tool, named } => {
                let id = if *named { format!("lonely-{at}") } else { String::new() };
                library.calls(&id, &format!("t{tool}"), json!({"n": at}));
            }
            Turn::Calls { calls, words, crossed } => {
                let mut ids: Vec<String> = Vec::new();
                for (place, (tool, id)) in calls.iter().enumerate() {
                    let worn = |n: &u8| format!("worn-{n}");
                    let id = match id {
                        Id::None => String::new(),
                        Id::Worn(n) if !ids.contains(&worn(n)) => worn(n),
                        Id::Worn(_) | Id::Fresh => format!("fresh-{at}-{place}"),
                    };
                    library.calls(&id, &format!("t{tool}"), json!({"n": place}));
                    ids.push(id);
                }
                if *crossed && ids.iter().all(|id| !id.is_empty()) {
                    ids.reverse();
                }
                for (place, id) in ids.iter().enumerate() {
                    library.returns(id, &format!("w{}", usize::from(*words) + place));
                }
            }
        }
    }
    library
}

fn lose(library: &mut Library, index: Index, reason: UnseenReason) {
    let span = Position::new(index.index(library.kept.len()) as u64 + 1);
    let kept = library.kept.get_mut(&span).expect("a span");
    (kept.unseen, kept.bytes) = (Some(reason), None);
}

static QUERIES: LazyLock<Vec<Query>> = LazyLock::new(queries);

fn all(library: &Library) -> Vec<Answer> {
    let answers = evaluate_all(&QUERIES, library).expect("answers");
    answers.into_iter().map(|answer| answer.expect("an answer")).collect()
}

fn queries() -> Vec<Query> {
    let finds = [
        json!({"calls":{"tool":"t0"}}),
        json!({"calls":{"tool":"t1","fate":"succeeded"}}),
        json!({"calls":{"fate":"unknown"}}),
        json!({"negatives":{}}),
    ];
    let gets = ["exists", "count", "spans", "arg:n", "result", "fate", "result.regex:w(.)"];
    let mut queries = Vec::new();
    for find in finds {
        for get in gets {
            for nth in [None, Some(1), Some(2), Some(-1), Some(-2)] {
                let mut query = find.clone();
                query["get"] = get.into();
                if let Some(nth) = nth {
                    query["nth"] = nth.into();
                }
                queries.extend(Query::from_json(&query.to_string()));
            }
        }
    }
    for query in [
        json!({"text":{"contains":"w1"}}),
        json!({"text":{"contains":"w1"},"get":"count"}),
        json!({"text":{"regex":"w."},"nth":1,"get":"value"}),
        json!({"text":{"regex":"w."},"nth":-1,"get":"value"}),
        json!({"text":{"after":"w1","quote":"`"},"get":"quote"}),
        json!({"order":[{"calls":{"tool":"t0"},"nth":1},{"calls":{"tool":"t1"},"nth":-1}]}),
        json!({"order":[{"calls":{"tool":"t0"}},{"text":{"contains":"w1"}}]}),
    ] {
        queries.push(Query::from_json(&query.to_string()).expect("a query"));
    }
    queries
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("SPANVAULT_LONG").is_some() { 5_000 } else { 24 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// I66: what is lost may turn an answer into *insufficient*, never into another answer.
    #[test]
    fn i66_losing_spans_never_turns_an_answer_into_another(turns in turns(), lost in prop::collection::vec(any::<Index>(), 1..4)) {
        let whole = library(&turns);
        let mut part = library(&turns);
        for index in lost {
            lose(&mut part, index, UnseenReason::Reclaimed);
        }
        for ((query, truth), answer) in QUERIES.iter().zip(all(&whole)).zip(all(&part)) {
            if answer.answer != Verdict::Insufficient {
                prop_assert_eq!(answer.answer, truth.answer, "{:?}", query);
                prop_assert!(json_equal(&answer.value, &truth.value), "{:?}: {} for {}", query, answer.value, truth.value);
            }
            prop_assert!(answer.answer != Verdict::Absent || answer.coverage.complete);
            prop_assert!(answer.coverage.complete || !answer.coverage.missing.is_empty() || !answer.coverage.opaque.is_empty());
        }
    }

    /// A further span that cannot be seen never makes an insufficient answer certain that nothing is there.
    #[test]
    fn adding_an_unseen_span_never_turns_insufficient_into_absent(turns in turns(), lost in any::<Index>()) {
        let mut part = library(&turns);
        lose(&mut part, lost, UnseenReason::Corrupt);
        let before = all(&part);
        part.calls("5", "t9", json!({})).reclaimed();
        for ((query, before), after) in QUERIES.iter().zip(before).zip(all(&part)) {
            let turned = before.answer == Verdict::Insufficient && after.answer == Verdict::Absent;
            prop_assert!(!turned, "{:?}", query);
        }
    }

    #[test]
    fn no_query_text_panics(text in "[a-z0-9{}\\[\\]\":,. -]{0,60}") {
        prop_assert!(Query::from_json(&text).map_or(true, |query| query.check().is_ok()));
    }

    #[test]
    fn every_range_of_evidence_for_words_points_at_them(text in "\\PC{0,40}", words in "\\PC{1,3}") {
        let mut library = Library::new();
        library.says(&format!("{text}{words}"));
        let answer = library.ask(json!({"text":{"contains":words},"nth":-1,"get":"value"}));
        present(&answer, words.clone());
        let literal: String = serde_json::from_str(&format!("\"{}\"", library.shown(&answer.evidence[0]))).expect("a literal");
        prop_assert_eq!(literal, words);
    }
}
