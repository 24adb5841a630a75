//! From a compaction to the last byte: what keeps evidence, what lets it go, and what is said when it has gone.

use spanvault::ask::{Answer, Get, MissingReason, Query, Verdict, glob};
use spanvault::types::{Actor, DemandKind, Horizon, ReasonKind, StoreTime, Ttl, TtlRule, WayOut};
use spanvault::{
    Act, BuiltIn, CompactionOptions, CompactionReport, ContextItem, Cooling, ErrorKind, Expiring, Name,
    NeededUntil, NewRetention, ReclaimReport, ReclaimStep, Run, ScopeName, Session, SpanDraft, SpanId, Vault,
    VerifyDepth, Whereabouts,
};

use crate::world::{World, call, story};

const DAY: u64 = 86_400_000;

fn because(reason: &str) -> Actor {
    Actor { name: "ann".into(), reason: reason.into() }
}

fn did_we_write_under_etc(vault: &Vault) -> Answer {
    let query = Query::any_call().effect("mutates").path(glob("/etc/app/conf.yaml")).get(Get::Exists);
    vault.ask(&query).unwrap()
}

fn compact(session: &Session<'_>, expiry: Expiring) -> CompactionReport {
    let options = CompactionOptions { expiry, ..CompactionOptions::default() };
    session.compact_with(&options, &mut BuiltIn).unwrap()
}

fn reclaim(vault: &Vault, run: Run) -> (ReclaimReport, Vec<ReclaimStep>) {
    let mut steps = Vec::new();
    let report = vault.reclaim(run, &mut |step| steps.push(step.clone())).unwrap();
    (report, steps)
}

/// A second system file is written, and then so much happens that it is no longer in the kept suffix.
fn more_work(session: &Session<'_>) {
    let args =
        serde_json::json!({"file_path": "/etc/app/limits.yaml", "content": "soft: 4096\nhard: 8192\n"});
    call(session, "c2", "Write", args, "File created successfully at: /etc/app/limits.yaml");
    for n in 0..20 {
        let args = serde_json::json!({"file_path": format!("/srv/import/part-{n}.py")});
        call(
            session,
            &format!("i{n}"),
            "Read",
            args,
            &format!("def load_{n}():\n    return {}\n", 7 * n + 2_000),
        );
    }
    session.record(SpanDraft::assistant("Every part loads now.")).unwrap();
}

#[test]
fn evidence_is_compacted_demoted_needed_leased_let_go_and_reclaimed_and_every_answer_says_so() {
    let world = World::new(31);
    let vault = world.open().unwrap();
    let session = story(&vault);

    // Compacted: the summary does not say it, the answer is exact.
    let first = compact(&session, Expiring::Check);
    let summary = first.summaries[0].summary.unwrap();
    let proof = did_we_write_under_etc(&vault);
    assert_eq!(proof.answer, Verdict::Present);
    let evidence: Name = proof.evidence[0].hash.parse().unwrap();
    let original = vault.recover(evidence.clone()).unwrap();
    assert!(String::from_utf8_lossy(&original).contains("/etc/app/conf.yaml"));

    // Demoted to cold: the same bytes, the same answer.
    let demoted = vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).unwrap();
    assert!(demoted.demoted > 60 && demoted.bytes_freed > 0, "{demoted:?}");
    assert!(matches!(vault.why(evidence.clone()).unwrap().whereabouts, Whereabouts::Cold { .. }));
    assert_eq!(vault.recover(evidence.clone()).unwrap(), original);
    assert_eq!(did_we_write_under_etc(&vault), proof);

    // Thirty days by rule, and an audit in sixty.
    let keep = NewRetention { keep_for: Some(TtlRule::For(Ttl::days(30))), ..NewRetention::default() };
    vault.set_retention(&keep, because("")).unwrap();
    let set_at = vault.now();
    let audit = ScopeName::Session("run-42".into());
    let audit = vault
        .declare(DemandKind::Audit, &audit, NeededUntil::For(Ttl::days(60)), because("the yearly audit"))
        .unwrap();

    // What happens next expires before the audit needs it, and the refusal names the way out.
    more_work(&session);
    let refused = compact(&session, Expiring::Check);
    assert!(refused.summaries.is_empty(), "{refused:?}");
    assert_eq!(refused.reasons.keys().copied().collect::<Vec<_>>(), [ReasonKind::ExpiresBeforeNeed]);
    let needed_until = Horizon::Until(StoreTime::from_ms(set_at.as_ms() + 60 * DAY + 5 * 60_000));
    for preserved in refused.preserved.iter().filter(|preserved| !preserved.reasons.is_empty()) {
        let way_out = WayOut::ExtendRetention { until: needed_until };
        assert!(preserved.ways_out.contains(&way_out), "{preserved:?}");
    }
    let extended = compact(&session, Expiring::Extend);
    assert!(extended.permitted > 0 && extended.refused == 0, "{extended:?}");
    let second = extended.summaries[0].summary.unwrap();
    let leased = vault.expand(second).unwrap().originals[0].original;
    let why = vault.why(SpanId(leased)).unwrap();
    assert_eq!(why.leases.iter().map(|(_by, lease)| lease.until).collect::<Vec<_>>(), [needed_until]);

    let exact = did_we_write_under_etc(&vault);
    assert_eq!(exact.evidence, proof.evidence);

    // A month and a day later everything is past its retention, and nothing goes.
    world.clock.advance(31 * DAY);
    let (report, steps) = reclaim(&vault, Run::Real);
    assert_eq!((report.condemned, report.reclaimed), (0, 0));
    assert!(report.due > 100 && report.refused == report.due, "{report:?}");
    assert_eq!(report.reasons[&ReasonKind::ExpiresBeforeNeed], report.due);
    assert!(report.reasons[&ReasonKind::Leased] > 0);
    assert!(steps.iter().all(|step| matches!(step.act, Act::Refuse { .. })));
    assert_eq!(did_we_write_under_etc(&vault), exact);

    // The audit is called off: that alone removes nothing, and the first run only condemns.
    assert_eq!(vault.withdraw(audit.demand, because("")).unwrap_err().kind(), ErrorKind::Invalid);
    vault.withdraw(audit.demand, because("the auditor came early")).unwrap();
    let (report, _steps) = reclaim(&vault, Run::Real);
    assert_eq!(
        (report.condemned, report.reclaimed, report.refused),
        (report.due, 0, 0),
        "{:?}",
        report.reasons
    );
    assert_eq!(did_we_write_under_etc(&vault), exact);
    world.clock.advance(DAY - 1);
    let (report, _steps) = reclaim(&vault, Run::Real);
    assert_eq!((report.reclaimed, report.refused), (0, report.due), "one millisecond of the grace is left");

    // After a full grace the second run removes: just what it printed.
    world.clock.advance(1);
    let (planned, printed) = reclaim(&vault, Run::Dry);
    assert_eq!(did_we_write_under_etc(&vault), exact);
    let (report, steps) = reclaim(&vault, Run::Real);
    assert_eq!(steps, printed);
    assert_eq!((report.reclaimed, report.due), (planned.reclaimed, planned.due));
    assert_eq!(report.reclaimed, report.due);
    assert!(report.bytes_freed > 0);
    let telling = steps.iter().find(|step| step.cited_by.contains(&summary.0)).expect("its summary is told");
    assert!(!telling.is_shown);

    // The same question: insufficient, and it names the tombstone.
    let gone = vault.recover(evidence).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Insufficient);
    let answer = did_we_write_under_etc(&vault);
    assert_eq!(answer.answer, Verdict::Insufficient);
    assert!(!answer.coverage.complete);
    let missing = answer.coverage.missing.iter().find(|missing| missing.hash == proof.evidence[0].hash);
    let missing = missing.expect("the answer names what is missing");
    assert_eq!(missing.reason, MissingReason::Reclaimed);
    assert_eq!(missing.tombstone, gone.tombstone().map(spanvault::types::Position::get));

    // Every summary says it, and a tombstone stands where a span was shown.
    let context = session.context().unwrap();
    for item in &context {
        match item {
            ContextItem::Summary { text, expired, .. } => {
                assert!(*expired > 0 && text.contains("evidence expired"), "{text}");
            }
            ContextItem::Gone { tombstone, .. } => assert!(tombstone.is_some()),
            ContextItem::Span { .. } | ContextItem::Checkpoint { .. } => panic!("{item:?} is gone"),
        }
    }
    let summaries = context.iter().filter(|item| matches!(item, ContextItem::Summary { .. })).count();
    assert_eq!(summaries, first.summaries.len() + extended.summaries.len());
    assert_eq!(vault.health().unwrap().expired, summaries as u64);

    // The ledger outlives what it speaks of, here and for whoever opens the vault next.
    assert!(vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap().is_sound());
    drop(session);
    vault.close().unwrap();
    let vault = world.open().unwrap();
    assert_eq!(did_we_write_under_etc(&vault), answer);
}
