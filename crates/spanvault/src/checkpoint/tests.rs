//! A checkpoint is a way out wherever a refusal says so.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use spanvault_env::{Env, SimClock};
use spanvault_types::{Actor, Ttl, TtlRule};

use crate::{
    BuiltIn, CompactionOptions, HoldId, Keep, NewRetention, Options, ReclaimReport, Run, ScopeName,
    SpanDraft, Vault,
};

fn by() -> Actor {
    Actor { name: "ops".into(), reason: "a test".into() }
}

fn run(vault: &Vault) -> ReclaimReport {
    vault.reclaim(Run::Real, &mut |_step| {}).unwrap()
}

/// A session whose call was held back while its result and all else behind the summary was reclaimed.
fn a_call_left_alone(promise: Option<&str>) -> (Vault, HoldId, Arc<SimClock>) {
    let (env, _disk, clock) = Env::simulated(7);
    let vault = Vault::open_with(Path::new("/vault"), Options::simulated(env)).unwrap();
    let session = vault.session("run-42").unwrap();
    let args = json!({"file_path": "/etc/app.toml", "content": "limit = 4096"});
    let call = session.record(SpanDraft::tool_call_with_id("c1", "Write", args)).unwrap();
    session.record(SpanDraft::tool_result("c1", "File created successfully at: /etc/app.toml")).unwrap();
    for n in 0..40 {
        session.record(SpanDraft::user(format!("Page {n}: {}", "the sea was calm. ".repeat(20)))).unwrap();
    }
    let options = CompactionOptions { keep: Keep::last(4), ..CompactionOptions::default() };
    assert_eq!(session.compact_with(&options, &mut BuiltIn).unwrap().refused, 0);
    if let Some(words) = promise {
        session.record(SpanDraft::assistant(words)).unwrap();
        assert_eq!(session.checkpoint().unwrap().carries.len(), 1);
    }

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
    (vault, held.hold, clock)
}

#[test]
fn a_call_that_a_permit_found_answered_goes_though_its_result_went_before() {
    let (vault, held, clock) = a_call_left_alone(None);
    vault.release(held, by()).unwrap();
    assert_eq!(run(&vault).condemned, 1);
    clock.advance(2 * Ttl::days(1).as_ms());
    assert_eq!(run(&vault).reclaimed, 1);
}

#[test]
fn a_call_whose_result_was_reclaimed_goes_once_a_checkpoint_carries_it() {
    let (vault, held, clock) = a_call_left_alone(Some("I will send the report tomorrow."));
    vault.release(held, by()).unwrap();
    assert_eq!(run(&vault).refused, 1, "a call without its result is open");
    assert_eq!(vault.session("run-42").unwrap().checkpoint().unwrap().carries.len(), 1);
    assert_eq!(run(&vault).condemned, 1);
    clock.advance(2 * Ttl::days(1).as_ms());
    assert_eq!(run(&vault).reclaimed, 1);
}
