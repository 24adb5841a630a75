//! What a filter lets through holds the terms of its need.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::json;
use spanvault_evidence::{Registry, effect_of};

use super::super::calls::CallFilter;
use super::super::matching::Match;
use super::super::query::Calls;
use super::*;

fn posted(call: &Call) -> HashSet<Term> {
    let mut terms = HashSet::new();
    post_call(call, &effect_of(call, Registry::built_in()), &mut |term| {
        terms.insert(term);
    });
    terms
}

fn call(tool: &str, args: Value) -> Call {
    Call { id: None, tool: tool.to_owned(), args }
}

fn need(calls: &Calls) -> Need {
    CallFilter::new("calls", calls, false).expect("a filter").need()
}

/// Whether a span with these terms would be read for the need.
fn is_met(need: &Need, terms: &HashSet<Term>) -> bool {
    let is_opaque = need.opaque.iter().any(|term| terms.contains(term));
    need.clauses.iter().all(|clause| {
        clause.any_of.iter().any(|term| terms.contains(term)) || (clause.unless_opaque && is_opaque)
    })
}

#[test]
fn a_call_is_found_by_its_tool_its_effect_its_paths_and_its_arguments() {
    let write =
        posted(&call("Write", json!({"file_path": "/etc/app/conf.yaml", "content": "a: 1", "n": 1.0})));
    let wanted = [
        json!({"tool": "Write"}),
        json!({"effect": "mutates"}),
        json!({"path": {"glob": "/etc/**"}}),
        json!({"path": {"glob": "**/conf.yaml"}, "effect": "mutates"}),
        json!({"path": {"suffix": "/conf.yaml"}}),
        json!({"path": "/etc/app/conf.yaml"}),
        json!({"args": {"file_path": {"prefix": "/etc/a"}, "n": 1}}),
        json!({"any_arg": "a: 1"}),
        json!({"args_exactly": {"n": 10e-1, "content": "a: 1", "file_path": "/etc/app/conf.yaml"}}),
    ];
    let others = [
        json!({"tool": "Edit"}),
        json!({"effect": "external"}),
        json!({"path": {"glob": "/usr/**"}}),
        json!({"path": {"glob": "**/other.yaml"}}),
        json!({"path": "/etc/app"}),
        json!({"args": {"content": "/etc/app/conf.yaml"}}),
        json!({"args": {"n": 2}}),
        json!({"any_arg": "a: 2"}),
    ];
    for (wanted, expected) in wanted.iter().map(|w| (w, true)).chain(others.iter().map(|w| (w, false))) {
        let calls: Calls = serde_json::from_value(wanted.clone()).expect("a filter");
        assert_eq!(is_met(&need(&calls), &write), expected, "{wanted}");
    }
}

#[test]
fn what_cannot_be_seen_through_is_looked_at_for_effects_and_paths_only() {
    let opaque = posted(&call("Bash", json!({"command": "bash deploy.sh"})));
    for (wanted, expected) in [
        (json!({"path": {"glob": "/etc/**"}}), true),
        (json!({"effect": "mutates", "tool": "Bash"}), true),
        (json!({"effect": "mutates", "tool": "Write"}), false),
        (json!({"args": {"command": "ls"}}), false),
    ] {
        let calls: Calls = serde_json::from_value(wanted.clone()).expect("a filter");
        assert_eq!(is_met(&need(&calls), &opaque), expected, "{wanted}");
    }
}

#[test]
fn a_call_with_more_values_than_are_posted_is_looked_at() {
    let many: Vec<String> = (0..1_000).map(|n| format!("/srv/{n}")).collect();
    let deep = "/d".repeat(200);
    let terms = posted(&call("send", json!({"many": many, "deep": deep, "last": "x/y"})));
    for wanted in [
        json!({"any_arg": "/srv/999"}),
        json!({"args": {"many": {"prefix": "/srv/999"}}}),
        json!({"args": {"deep": {"prefix": format!("{}/", &deep[..300])}}}),
        json!({"args": {"last": {"prefix": "x/"}}}),
        json!({"args": {"last": "x/y"}}),
    ] {
        let calls: Calls = serde_json::from_value(wanted.clone()).expect("a filter");
        assert!(is_met(&need(&calls), &terms), "{wanted}");
    }
}

fn word() -> impl Strategy<Value = String> {
    "[ab/.]{0,7}"
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        word().prop_map(Value::from),
        (0_i64..12).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ]
}

fn arg() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => leaf(),
        1 => prop::collection::vec(leaf(), 0..3).prop_map(Value::from),
        1 => leaf().prop_map(|inner| json!({"inner": inner})),
    ]
}

fn wanted() -> impl Strategy<Value = Match> {
    prop_oneof![
        arg().prop_map(Match::Eq),
        word().prop_map(Match::Prefix),
        word().prop_map(Match::Suffix),
        word().prop_map(Match::Contains),
        "[ab/.*?]{0,6}".prop_map(Match::Glob),
        "(\\*\\*/)?[ab/]{0,3}(/\\*\\*)?".prop_map(Match::Glob),
        "[ab/]{0,2}\\{[ab/]{1,2},[ab]\\}[ab/]{0,2}".prop_map(Match::Glob),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_call_that_a_filter_lets_through_is_ruled_out(
        x in arg(), y in arg(), on_x in prop::option::of(wanted()), on_any in prop::option::of(wanted()),
        exactly in any::<bool>(),
    ) {
        let one = call("t", json!({"x": x, "y": y}));
        let matches = |wanted: &Match| Matcher::new("x", wanted);
        if let Some(Ok(on_x)) = on_x.as_ref().map(matches)
            && !on_x.holds(&one.args["x"]) {
            return Ok(());
        }
        if let Some(Ok(on_any)) = on_any.as_ref().map(matches)
            && ![&x, &y].iter().any(|arg| on_any.holds_inside(arg)) {
            return Ok(());
        }
        let calls = Calls {
            args: on_x.map(|wanted| ("x".to_owned(), wanted)).into_iter().collect(),
            any_arg: on_any,
            args_exactly: exactly.then(|| one.args.clone()),
            ..Calls::default()
        };
        if let Ok(filter) = CallFilter::new("calls", &calls, false) {
            prop_assert!(is_met(&filter.need(), &posted(&one)));
        }
    }

    #[test]
    fn no_path_that_a_pattern_matches_is_ruled_out(path in "[ab/.]{1,8}", on_path in wanted()) {
        let mut terms = HashSet::new();
        post_string(Place::Touched { writes: false }, &path, &mut |term| { terms.insert(term); });
        if let Ok(matcher) = Matcher::new("path", &on_path)
            && matcher.holds_for(&path)
            && let Some(any_of) = string_terms(Place::Touched { writes: false }, &matcher) {
            prop_assert!(any_of.iter().any(|term| terms.contains(term)), "{path} {on_path:?}");
        }
    }
}
