//! Power cuts and killed writers, seen through the facade.

use spanvault::{BuiltIn, CompactionOptions, ContextItem, SpanDraft};
use spanvault_env::{Count, Survival};

use crate::world::{World, story};

/// Records, compacts and records again; gives what was acknowledged before the power went.
fn script(world: &World) -> (Vec<spanvault::types::ContentHash>, Option<usize>) {
    let mut acknowledged = Vec::new();
    let Ok(vault) = world.open() else { return (acknowledged, None) };
    let Ok(session) = vault.session("run") else { return (acknowledged, None) };
    for n in 0..26 {
        match session
            .record(SpanDraft::user(format!("Entry {n} of ledger /srv/ledger/{n}.csv says {}.", n * 17)))
        {
            Ok(receipt) => acknowledged.push(receipt.hash),
            Err(_power) => return (acknowledged, None),
        }
    }
    let options = CompactionOptions { keep: spanvault::Keep::last(4), ..CompactionOptions::default() };
    let Ok(report) = session.compact_with(&options, &mut BuiltIn) else { return (acknowledged, None) };
    (acknowledged, Some(report.summaries.len()))
}

#[test]
fn i1_i6_a_power_cut_at_any_sync_loses_nothing_acknowledged_and_leaves_no_half_compaction() {
    let whole = World::new(11);
    let (all, summaries) = script(&whole);
    assert_eq!((all.len(), summaries), (26, Some(1)));
    let syncs = whole.disk.count(Count::Syncs);
    assert!(syncs > 26);
    let mut compacted = 0;
    for nth in 1..=syncs {
        for survival in [Survival::All, Survival::Nothing, Survival::Seeded(nth)] {
            let world = World::new(11);
            world.disk.cut_power(Count::Syncs, nth);
            let (acknowledged, made) = script(&world);
            let after = world.after_crash(survival);
            let vault =
                after.open().unwrap_or_else(|error| panic!("cut at sync {nth}, {survival:?}: {error:?}"));
            for hash in &acknowledged {
                assert!(vault.recover(*hash).is_ok(), "cut at sync {nth}, {survival:?}: {hash} is gone");
            }
            let Ok(session) = vault.find("run") else {
                assert!(acknowledged.is_empty());
                continue;
            };
            let context = session.context().unwrap();
            let summaries = context.iter().filter(|item| matches!(item, ContextItem::Summary { .. })).count();
            assert!(summaries <= 1 && Some(summaries) >= made, "cut at sync {nth}, {survival:?}");
            compacted += summaries;
            if summaries == 1 {
                assert_eq!(
                    context.len(),
                    5,
                    "a summary and the kept spans, never both the spans and the summary"
                );
            }
        }
    }
    assert!(compacted > 0, "some cuts come after the compaction");
}

#[test]
fn i8_after_a_failed_sync_nothing_is_acknowledged_until_the_vault_is_opened_again() {
    use spanvault_env::{CallKind, Fault, ScheduledFault};
    let world = World::new(12);
    let vault = world.open().unwrap();
    let session = story(&vault);
    world.disk.fail(ScheduledFault::new(Fault::SyncDrops, CallKind::Sync, 1));
    assert!(session.record(SpanDraft::user("lost")).is_err());
    let second = session.record(SpanDraft::user("not acknowledged either")).unwrap_err();
    assert_eq!(second.kind(), spanvault::ErrorKind::Unavailable, "{second:?}");
    drop(vault);
    let after = world.after_crash(Survival::Nothing);
    let vault = after.open().unwrap();
    assert!(vault.find("run").unwrap().record(SpanDraft::user("again")).is_ok());
}
