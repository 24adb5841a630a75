use serde_json::json;

use super::*;
use crate::testing::Session;
use crate::{Manifest, SessionAtoms, SourceDetails, live, tokens_of_bytes};

/// The digest of a summary `text` over all but the last `kept` spans.
fn digest_of(session: &Session, kept: usize, text: &str) -> Result<(String, Vec<Carried>), DigestTooLong> {
    let cut = session.len() - kept;
    let candidates: Vec<_> = (0..session.len()).map(|at| at < cut).collect();
    let stays: Vec<_> = candidates.iter().map(|candidate| !candidate).collect();
    let (reading, spans) = (session.read(), session.texts());
    let marks = live(&reading, &spans, &SessionAtoms::new(spans.len()), &candidates, &stays, &[]);
    let covered: Vec<_> = (0..cut).collect();
    let atoms = session.atoms();
    let sources = SourceDetails::of(atoms.iter().take(cut).map(|(at, atoms)| (*at, atoms.as_slice())));
    let manifest = Manifest::of(text, [], &sources);
    let atoms: Vec<_> = atoms.iter().take(cut).map(|(_at, atoms)| atoms.as_slice()).collect();
    let input = DigestInput {
        reading: &reading,
        spans: &spans,
        positions: &session.positions(),
        covered: &covered,
        atoms: &atoms,
        marks: &marks,
        manifest: &manifest,
        budget: DIGEST_TOKENS_MAX,
    };
    digest(&input).map(|digest| (digest.render(Position::new(900)), digest.carried))
}

fn lines(session: &Session, kept: usize, text: &str) -> Vec<String> {
    digest_of(session, kept, text).unwrap().0.lines().map(str::to_owned).collect()
}

#[test]
fn the_story_of_the_vague_summary_the_digest_names_the_file_that_the_text_does_not() {
    let session = Session::new()
        .user("set the app up")
        .calls("write_file", json!({"path": "/etc/app/conf.yaml", "content": "port: 8080"}))
        .gets("ok")
        .says("Configured.");
    let lines = lines(&session, 0, "wrote configuration");
    assert!(lines.contains(&"changed: /etc/app/conf.yaml: succeeded (s102)".to_owned()), "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("4 spans; "), "{lines:#?}");
    assert!(lines.last().unwrap().ends_with("spanvault expand m900"), "{lines:#?}");
}

#[test]
fn what_must_not_be_lost_comes_first_promises_then_negatives_then_references() {
    let session = Session::new()
        .says("I'll rotate the key `prod_key_7` afterwards.")
        .calls("Grep", json!({"pattern": "old_key_3", "path": "/srv"}))
        .gets("No matches found")
        .run_fails("terraform apply", "Error: no credentials")
        .runs("ls /srv", "/srv/state-9.json")
        .user("go on")
        .calls("Read", json!({"file_path": "/srv/state-9.json"}))
        .gets("{}");
    let lines = lines(&session, 3, "looked around");
    assert_eq!(
        lines[..4],
        [
            "open: I'll rotate the key `prod_key_7` afterwards. (s101)",
            "found nothing: Grep \"old_key_3\" in /srv (s103)",
            "failed: Bash `terraform apply`: Error: no credentials (s105)",
            "reference: /srv/state-9.json (s107)",
        ],
        "{lines:#?}"
    );
    let (_, carried) = digest_of(&session, 3, "looked around").unwrap();
    let kinds: Vec<_> = carried.iter().map(|carried| (carried.span.get(), carried.kind)).collect();
    assert_eq!(
        kinds,
        [
            (101, CarriedKind::Obligation),
            (103, CarriedKind::Negative),
            (105, CarriedKind::Negative),
            (107, CarriedKind::Reference)
        ]
    );
}

#[test]
fn changes_are_told_with_their_fates_and_the_opaque_as_such() {
    let edit = |session: Session| session.edits("/src/a.rs");
    let session = edit(edit(Session::new()))
        .calls("Edit", json!({"file_path": "/src/a.rs", "old_string": "x", "new_string": "y"}))
        .fails("String to replace not found")
        .runs("bash deploy.sh", "deployed")
        .calls("Write", json!({"file_path": "/src/b.rs", "content": ""}));
    let lines = lines(&session, 0, "edited");
    assert!(lines.contains(&"changed: /src/a.rs: succeeded ×2, failed ×1 (s105)".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"changed: /src/b.rs: unknown (s109)".to_owned()), "{lines:#?}");
    let opaque = "ran, cannot be seen through: Bash `bash deploy.sh`: succeeded (s107)";
    assert!(lines.contains(&opaque.to_owned()), "{lines:#?}");
}

#[test]
fn what_people_named_most_often_stands_before_what_they_named_once() {
    let session =
        Session::new().user("pay INV-2025-08-44719").says("Paying INV-2025-08-44719 and INV-2025-08-00001.");
    let lines = lines(&session, 0, "paid");
    assert!(
        lines[0].starts_with("named: INV-2025-08-44719 ×2 (s101), INV-2025-08-00001 (s102)"),
        "{lines:#?}"
    );
}

#[test]
fn what_side_effects_returned_is_named_and_what_was_only_read_is_counted() {
    let session = Session::new()
        .calls("book_flight", json!({"to": "Paris"}))
        .gets("{\"reservation\": \"RES-2025-771\", \"charged\": \"$481.50\"}")
        .runs("cat /var/log/a.log", "ORD-2025-100 ORD-2025-101 /tmp/x.log");
    let lines = lines(&session, 0, "booked");
    assert!(lines.contains(&"returned: $481.50 (s102), RES-2025-771 (s102)".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"only in what was read: path 1, identifier 2".to_owned()), "{lines:#?}");
}

#[test]
fn a_digest_is_never_longer_than_it_may_be_and_what_may_be_cut_is_cut() {
    let mut session = Session::new();
    for n in 0..60 {
        session = session.edits(&format!("/src/some/long/directory/of/module_{n}/file_{n}.rs"));
    }
    let (text, _) = digest_of(&session, 0, "edited").unwrap();
    assert!(tokens_of_bytes(text.len() as u64) <= DIGEST_TOKENS_MAX);
    assert!(text.lines().count() <= DIGEST_LINES_MAX + 1);
}

#[test]
fn a_never_cut_part_that_does_not_fit_is_a_signal_to_split() {
    let mut session = Session::new();
    for n in 0..40 {
        session = session
            .run_fails(&format!("./probe --with-a-long-option={n}"), "Error: this did not work out at all");
    }
    let too_long = digest_of(&session, 0, "tried").unwrap_err();
    assert!(too_long.tokens > DIGEST_TOKENS_MAX);
    assert!(too_long.to_string().contains("more than 500"));
}

#[test]
fn one_long_promise_fits_whatever_its_length() {
    let session = Session::new().says(&format!("I'll fix {}", "that and this, ".repeat(500)));
    assert!(digest_of(&session, 0, "promised").is_ok());
}
