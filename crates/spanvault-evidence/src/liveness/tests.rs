use serde_json::json;

use super::*;
use crate::atoms;
use crate::testing::Session;

/// The marks of `session` where the last `kept` spans stay.
fn marks(session: &Session, kept: usize, carried: &[CarriedMark]) -> Vec<(usize, CarriedKind, String)> {
    let cut = session.len() - kept;
    let candidates: Vec<_> = (0..session.len()).map(|at| at < cut).collect();
    let kept: Vec<_> = candidates.iter().map(|candidate| !candidate).collect();
    let marks = live(
        &session.read(),
        &session.texts(),
        &SessionAtoms::new(session.len()),
        &candidates,
        &kept,
        carried,
    );
    let of =
        |(at, marks): (usize, Vec<LiveMark>)| marks.into_iter().map(move |mark| (at, mark.kind, mark.words));
    marks.into_iter().enumerate().flat_map(of).collect()
}

#[test]
fn an_open_promise_makes_its_span_live_and_a_kept_one_does_not() {
    let session = Session::new().says("I'll fix the parser.").user("thanks").says("Bye.");
    assert_eq!(marks(&session, 2, &[]), [(0, CarriedKind::Obligation, "I'll fix the parser.".to_owned())]);
    assert!(marks(&session.edits("/p.rs"), 2, &[]).is_empty());
}

#[test]
fn a_call_that_waits_for_its_result_is_live() {
    let session = Session::new().calls("Task", json!({"prompt": "x"})).user("and?").says("Wait.");
    assert_eq!(marks(&session, 2, &[]), [(0, CarriedKind::Obligation, "Task".to_owned())]);
}

#[test]
fn a_negative_result_is_live_until_it_is_absorbed() {
    let search = || Session::new().calls("Grep", json!({"pattern": "TestResume"})).gets("No matches found");
    assert_eq!(
        marks(&search().user("so?"), 1, &[]),
        [(1, CarriedKind::Negative, "No matches found".to_owned())]
    );
    let denied = search().says("There is no TestResume.").user("ok");
    assert!(marks(&denied, 2, &[]).is_empty(), "the statement that denies it stays");
    assert_eq!(marks(&denied, 1, &[]).len(), 1, "the statement is replaced with it");
    let repeated =
        search().calls("Grep", json!({"pattern": "TestResume", "path": "/"})).gets("a.go:1:TestResume");
    assert!(marks(&repeated, 0, &[]).is_empty());
}

#[test]
fn what_a_checkpoint_or_digest_carries_makes_no_span_live() {
    let session = Session::new().says("I'll fix the parser. I'll push it.").user("thanks");
    let reading = session.read();
    let range = reading.spans[0].opens[0].range;
    let carried = CarriedMark { span: 0, kind: CarriedKind::Obligation, range };
    assert_eq!(marks(&session, 1, &[carried]), [(0, CarriedKind::Obligation, "I'll push it.".to_owned())]);
    let other = CarriedMark { kind: CarriedKind::Negative, ..carried };
    assert_eq!(marks(&session, 1, &[other]).len(), 2);
}

#[test]
fn a_detail_that_the_kept_context_uses_and_only_a_candidate_states_is_live() {
    let session = Session::new()
        .runs("ls", "the log is at /var/log/app/run-7.log")
        .says("Fine.")
        .calls("Read", json!({"file_path": "/var/log/app/run-7.log"}))
        .gets("x");
    let reference = (1, CarriedKind::Reference, "/var/log/app/run-7.log".to_owned());
    assert_eq!(marks(&session, 2, &[]), [reference]);
    assert!(marks(&session, 4, &[]).is_empty(), "the source stays");
}

#[test]
fn a_detail_that_something_kept_states_too_is_not_live() {
    let session = Session::new()
        .runs("ls", "/var/log/app/run-7.log")
        .says("The log is /var/log/app/run-7.log.")
        .calls("Read", json!({"file_path": "/var/log/app/run-7.log"}))
        .gets("x");
    assert!(marks(&session, 3, &[]).is_empty());
}

#[test]
fn the_user_who_stated_a_detail_answers_for_it() {
    let session = Session::new()
        .user("look at /var/log/app/run-7.log")
        .runs("ls /var/log/app", "/var/log/app/run-7.log")
        .calls("Read", json!({"file_path": "/var/log/app/run-7.log"}))
        .gets("x");
    let found = marks(&session, 2, &[]);
    assert_eq!(found, [(0, CarriedKind::Reference, "/var/log/app/run-7.log".to_owned())]);
}

#[test]
fn a_reference_that_is_carried_is_resolved_whichever_span_would_answer_for_it() {
    let session = Session::new()
        .runs("ls", "/var/log/app/run-7.log")
        .says("It is /var/log/app/run-7.log.")
        .calls("Read", json!({"file_path": "/var/log/app/run-7.log"}))
        .gets("x");
    assert_eq!(marks(&session, 2, &[]), [(2, CarriedKind::Reference, "/var/log/app/run-7.log".to_owned())]);
    let range = atoms(session.texts()[1].content, session.texts()[1].original)
        .into_iter()
        .find(|atom| atom.kind == AtomKind::Path)
        .unwrap()
        .range;
    let carried = CarriedMark { span: 1, kind: CarriedKind::Reference, range };
    assert!(marks(&session, 2, &[carried]).is_empty());
}

#[test]
fn numbers_and_what_a_call_merely_writes_are_no_references() {
    let long = format!("{} /var/log/app/run-7.log", "words ".repeat(200));
    let session = Session::new()
        .runs("ls", "/var/log/app/run-7.log has 4711 lines")
        .calls("Write", json!({"file_path": "/new.txt", "content": long, "mode": 4711}))
        .gets("ok");
    assert!(marks(&session, 2, &[]).is_empty());
}

#[test]
fn the_range_of_a_reference_points_at_the_detail_and_names_its_user() {
    let session = Session::new()
        .runs("ls", "see /var/log/app/run-7.log")
        .calls("Read", json!({"file_path": "/var/log/app/run-7.log"}))
        .gets("x");
    let found = live(
        &session.read(),
        &session.texts(),
        &SessionAtoms::new(session.len()),
        &[true, true, false, false],
        &[false, false, true, true],
        &[],
    );
    let [mark] = &found[1][..] else { panic!("{found:?}") };
    assert_eq!(session.bytes(1, mark.range), "/var/log/app/run-7.log");
    assert_eq!(mark.used_by, Some(2));
}

proptest::proptest! {
    #[test]
    fn what_is_kept_has_no_live_reference(
        steps in proptest::collection::vec((0_usize..4, 0_usize..3, proptest::bool::ANY), 1..14),
    ) {
        let path = |n: &usize| format!("/var/log/app/run-{n}.log");
        let session = steps.iter().fold(Session::new(), |session, (kind, n, _stays)| match kind {
            0 => session.user(&format!("look at {}", path(n))),
            1 => session.says(&format!("I'll read {}.", path(n))),
            2 => session.runs("ls", &path(n)),
            _ => session.calls("Read", json!({"file_path": path(n)})).gets("No such file"),
        });
        let stays: Vec<bool> = steps
            .iter()
            .flat_map(|(kind, _n, stays)| std::iter::repeat_n(*stays, if *kind < 2 { 1 } else { 2 }))
            .collect();
        let candidates = vec![true; session.len()];
        let reading = session.read();
        let mut all = live(&reading, &session.texts(), &SessionAtoms::new(session.len()), &candidates, &stays, &[]);
        let debts = reading.spans.iter().map(|span| (&*span.opens, &*span.negatives));
        let open = open_marks(debts, &candidates, &stays, &[]);
        for ((all, open), stays) in all.iter_mut().zip(&open).zip(&stays) {
            if !stays {
                all.retain(|mark| mark.kind != CarriedKind::Reference);
            }
            proptest::prop_assert_eq!(&*all, open);
        }
    }
}
