use serde_json::json;

use super::*;
use crate::testing::Session;
use crate::{SummarySources, admit};

fn summary(session: &Session, children: &[&str]) -> String {
    let covered: Vec<_> = (0..session.len()).collect();
    summarize(&session.read(), &session.texts(), &covered, children)
}

fn long_session() -> Session {
    let mut session = Session::new().user("Fix the failing test in resume_test.go please");
    for n in 0..30 {
        session =
            session.reads(&format!("/src/file_{n}.go")).runs("go test ./...", &"ok package\n".repeat(40));
    }
    session.edits("/src/resume_test.go").says("Fixed: the test expected the old output format.")
}

#[test]
fn it_says_what_was_asked_what_was_done_and_what_was_told() {
    let text = summary(&long_session(), &[]);
    assert_eq!(
        text,
        "Asked: Fix the failing test in resume_test.go please\n\
         Done: Edit ×1, Bash ×30, Read ×30.\n\
         Told: Fixed: the test expected the old output format."
    );
}

#[test]
fn it_is_far_shorter_than_its_sources_and_admitted() {
    let session = long_session();
    let text = summary(&session, &[]);
    let tokens: u64 = session.read().spans.iter().map(|span| span.tokens).sum();
    assert!(tokens_of_bytes(text.len() as u64) * 20 < tokens, "{} of {tokens}", text.len() / 4);
    let atoms = session.atoms();
    let atoms: Vec<_> = atoms.iter().map(|(_at, atoms)| atoms.as_slice()).collect();
    let sources = SummarySources { spans: &session.texts(), atoms: &atoms, summaries: &[] };
    assert_eq!(admit(&text, &sources).map(|admission| admission.degraded), Ok(false));
}

#[test]
fn it_does_not_name_the_path_that_only_the_digest_names() {
    let write = json!({"path": "/etc/app/conf.yaml", "content": "port: 8080"});
    let session = Session::new().user("set it up").calls("write_file", write).gets("ok").says("All set.");
    assert!(!summary(&session, &[]).contains("/etc"));
}

#[test]
fn failed_and_unanswered_calls_are_told() {
    let session = long_session().run_fails("make", "Error 2").calls("Bash", json!({"command": "sleep 1"}));
    assert!(
        summary(&session, &[]).contains("Bash ×32 (1 failed, 1 unanswered)"),
        "{}",
        summary(&session, &[])
    );
}

#[test]
fn older_summaries_stand_first() {
    let session = long_session();
    let text = summary(&session, &["Asked: write the resume command\nDone: Write ×3."]);
    assert!(
        text.starts_with("Before: Asked: write the resume command Done: Write ×3.\nAsked: Fix"),
        "{text}"
    );
}

#[test]
fn any_range_has_a_summary_no_longer_than_itself() {
    for session in [
        Session::new().user("ok"),
        Session::new().thinks("Hm."),
        Session::new().calls("Read", json!({})),
        Session::new().gets("x"),
        Session::new().user("é".repeat(5000).as_str()),
        Session::new().progress(),
    ] {
        let tokens: u64 = session.read().spans.iter().map(|span| span.tokens).sum();
        let text = summary(&session, &[]);
        assert!(tokens_of_bytes(text.len() as u64) <= tokens, "{text}");
    }
}

#[test]
fn the_source_text_names_the_speakers() {
    let session = Session::new().user("hi").says("Hello.").progress().runs("ls", "a.rs");
    assert_eq!(
        source_text(&session.texts(), &["before"]),
        "summary: before\nuser: hi\nassistant: Hello.\nassistant: Bash {\"command\":\"ls\"}\ntool: a.rs\n"
    );
}
