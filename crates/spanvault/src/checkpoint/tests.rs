//! A checkpoint is a way out wherever a refusal says so.

use std::path::Path;

use serde_json::json;
use spanvault_env::Env;
use spanvault_types::{Actor, Ttl, TtlRule};

use crate::{
    BuiltIn, CompactionOptions, Keep, NewRetention, Options, ReclaimReport, Run, ScopeName, SpanDraft, Vault,
};

fn run(vault: &Vault) -> ReclaimReport {
    vault.reclaim(Run::Real, &mut |_step| {}).unwrap()
}

#[test]
fn a_call_whose_result_was_reclaimed_goes_once_a_checkpoint_carries_it() {
    let (env, _disk, clock) = Env::simulated(7);
    let vault = Vault::open_with(Path::new("/vault"), Options::simulated(env)).unwrap();
    let by = || Actor { name: "ops".into(), reason: "a test".into() };
    let session = vault.session("run-42").unwrap();
    let args = json!({"file_path": "/etc/app.toml", "content": "limit = 4096"});
    let call = session.record(SpanDraft::tool_call_with_id("c1", "Write", args)).unwrap();
    session.record(SpanDraft::tool_result("c1", "File created successfully at: /etc/app.toml")).unwrap();
    for n in 0..40 {
        session.record(SpanDraft::user(format!("Page {n}: {}", "the sea was calm. ".repeat(20)))).unwrap();
    }
    let options = CompactionOptions { keep: Keep::last(4), ..CompactionOptions::default() };
    assert_eq!(session.compact_with(&options, &mut BuiltIn).unwrap().refused, 0);

    vault.assume_audit(None, by()).unwrap();
    let rule = NewRetention {
        keep_for: Some(TtlRule::For(Ttl::days(1))),
        grace: Some(Ttl::days(1)),
        ..NewRetention::default()
    };
    vault.set_retention(&rule, by()).unwrap();
    let held = vault.hold(&ScopeName::Named(call.span.into()), by()).unwrap();
    for _run in 0..2 {
        clock.advance(2 * Ttl::days(1).as_ms());
        run(&vault);
    }
    assert!(vault.recover(call.span).is_ok());
    assert_eq!(run(&vault).due, 1, "everything but the call that is held is gone");

    vault.release(held.hold, by()).unwrap();
    assert_eq!(run(&vault).refused, 1, "a call without its result is open");
    assert_eq!(session.checkpoint().unwrap().carries.len(), 1);
    assert_eq!(run(&vault).condemned, 1);
    clock.advance(2 * Ttl::days(1).as_ms());
    assert_eq!(run(&vault).reclaimed, 1);
}
