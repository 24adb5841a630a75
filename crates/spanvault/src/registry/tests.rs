#![expect(
    clippy::disallowed_methods,
    reason = "the file is somebody else's, written behind the vault's back"
)]

use serde_json::json;

use crate::ask::{Query, Verdict};
use crate::{ErrorKind, SpanDraft, Vault};

#[test]
fn a_vault_reads_tools_as_its_file_says_also_where_they_are_looked_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let vault = Vault::open(dir.path()).expect("it opens");
    let session = vault.session("run").expect("a session");
    for (id, tool) in [("1", "frobnicate"), ("2", "send_preview")] {
        session.record(SpanDraft::tool_call_with_id(id, tool, json!({"where": "/a"}))).expect("recorded");
        session.record(SpanDraft::tool_result(id, "done")).expect("recorded");
    }
    vault.close().expect("it closes");
    let opaque = Query::any_call().effect("opaque");
    let external = Query::any_call().effect("external");
    let asked = |query: &Query| {
        let vault = Vault::open_read_only(dir.path()).expect("it opens");
        (vault.ask(query).expect("an answer").answer, vault.registry().lowered.len())
    };
    assert_eq!(asked(&opaque), (Verdict::Present, 0));
    assert_eq!(asked(&external), (Verdict::Present, 0));
    let file = json!({"version": 1, "tools": {
        "frobnicate": {"effect": "reads"},
        "send_preview": {"effect": "reads", "lowers": "sends nothing"},
    }});
    std::fs::write(dir.path().join("registry.json"), file.to_string()).expect("it is written");
    assert_eq!(asked(&opaque), (Verdict::Absent, 1));
    assert_eq!(asked(&external), (Verdict::Absent, 1));
    let health = Vault::open_read_only(dir.path()).expect("it opens").health().expect("health");
    assert_eq!(health.lowered_tools[0].tool, "send_preview");
}

#[test]
fn a_file_that_cannot_be_used_keeps_the_vault_shut_and_names_the_line() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(Vault::open(dir.path()).expect("it opens"));
    let file = "{ \"version\": 1, \"tools\": {\n  \"Write\": { \"effect\": \"reads\" } } }";
    std::fs::write(dir.path().join("registry.json"), file).expect("it is written");
    for opened in [Vault::open(dir.path()), Vault::open_read_only(dir.path())] {
        let error = opened.expect_err("it stays shut");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("registry.json:2: `Write` is known as mutates"), "{error}");
    }
}
