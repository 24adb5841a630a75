//! What races with what, and what must be true whoever wins.

use std::collections::BTreeSet;
use std::sync::Arc;

use shuttle::thread;
use spanvault::types::{DemandKind, Ttl};
use spanvault::{
    BuiltIn, CompactionOptions, ErrorKind, Expiring, Keep, NeededUntil, ScopeName, SpanDraft, SpanFilter,
};

use crate::world::{Beginning, DAY, Found, World, ann};

/// What races with what.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) run: fn(),
}

/// A permit and a reclaim run.
pub(crate) const PERMIT_REMOVE: Model = Model { name: "permit_remove", run: permit_against_remove };
/// A hold and a reclaim run.
pub(crate) const HOLD_REMOVE: Model = Model { name: "hold_remove", run: hold_against_remove };
/// A demand, with a permit that leases for it, and a reclaim run.
pub(crate) const DEMAND_REMOVE: Model = Model { name: "demand_remove", run: demand_against_remove };
/// The same bytes recorded again, and a reclaim run.
pub(crate) const RECORD_REMOVE: Model = Model { name: "record_remove", run: record_against_remove };
/// Three threads that record in one session.
pub(crate) const RECORD_RECORD: Model = Model { name: "record_record", run: record_against_record };
/// A tier run and a reader.
pub(crate) const DEMOTE_RECOVER: Model = Model { name: "demote_recover", run: demote_against_recover };
/// A tier run and somebody who walks the log.
pub(crate) const DEMOTE_WALK: Model = Model { name: "demote_walk", run: demote_against_walk };
/// A reclaim run and a reader.
pub(crate) const REMOVE_RECOVER: Model = Model { name: "remove_recover", run: remove_against_recover };
/// A reclaim run that writes a pack anew, and a reader of what stays in it.
pub(crate) const REPACK_RECOVER: Model = Model { name: "repack_recover", run: repack_against_recover };

/// Runs both at once, and looks at everything when both have ended.
fn race<A: Send + 'static, B: Send + 'static>(
    beginning: Beginning,
    one: impl FnOnce(&World) -> A + Send + 'static,
    other: impl FnOnce(&World) -> B + Send + 'static,
) -> (Arc<World>, A, B) {
    let world = Arc::new(World::new(beginning));
    let (first, second) = (Arc::clone(&world), Arc::clone(&world));
    let first = thread::spawn(move || one(&first));
    let second = thread::spawn(move || other(&second));
    let (first, second) = (first.join().unwrap(), second.join().unwrap());
    world.is_lawful();
    (world, first, second)
}

/// Condemns what is due, waits for a full grace, and removes.
fn two_runs(world: &World) {
    world.reclaim();
    world.clock.advance(DAY);
    world.reclaim();
}

/// The auditor sees whether the permit came before it was condemned.
fn permit_against_remove() {
    let compact = |world: &World| {
        let options = CompactionOptions { keep: Keep::last(0), ..CompactionOptions::default() };
        let session = world.vault.find("run").unwrap();
        session.compact_with(&options, &mut BuiltIn).unwrap();
    };
    race(Beginning::Due, compact, two_runs);
}

/// Held is held: not removed, and not waiting for it either.
fn hold_against_remove() {
    let hold = |world: &World| {
        let scope = ScopeName::Named(world.originals[0].0.into());
        match world.vault.hold(&scope, ann()) {
            Ok(_held) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Insufficient, "{error:?}");
                false
            }
        }
    };
    let (world, is_held, ()) = race(Beginning::Condemned, hold, World::reclaim);
    assert_eq!(world.recover(0) == Found::Whole, is_held);
    assert!(!world.is_condemned(0));
}

/// A demand is taken on whole or not at all, and a permit given for it keeps what it cites.
fn demand_against_remove() {
    let declare = |world: &World| {
        let scope = ScopeName::Session("run".into());
        let until = NeededUntil::For(Ttl::days(60));
        match world.vault.declare(DemandKind::Audit, &scope, until, ann()) {
            Ok(_declared) => {
                let options = CompactionOptions {
                    keep: Keep::last(0),
                    expiry: Expiring::Extend,
                    ..CompactionOptions::default()
                };
                let session = world.vault.find("run").unwrap();
                session.compact_with(&options, &mut BuiltIn).unwrap();
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
                false
            }
        }
    };
    let (world, is_declared, ()) = race(Beginning::Condemned, declare, World::reclaim);
    for n in 0..world.originals.len() {
        assert_eq!(world.recover(n) == Found::Whole, is_declared);
        assert!(!world.is_condemned(n));
    }
}

/// Whoever writes for the others: all is recorded once, in order and without gaps, and was durable when its receipt came.
fn record_against_record() {
    let world = Arc::new(World::new(Beginning::Fresh));
    let record = |n: usize| {
        let world = Arc::clone(&world);
        thread::spawn(move || {
            let session = world.vault.find("run").unwrap();
            let drafts = vec![SpanDraft::user(format!("Crossing {n}.")), SpanDraft::assistant("As always.")];
            let receipts = session.record_all(drafts).unwrap();
            (receipts, world.after_a_power_cut())
        })
    };
    let all = [0, 1, 2].map(record).map(|running| running.join().unwrap());
    world.is_lawful();
    for (receipts, disk) in all {
        let survivor = world.vault_on(disk);
        for receipt in receipts {
            assert_eq!(world.vault.recover(receipt.span).unwrap(), receipt.bytes);
            assert_eq!(survivor.recover(receipt.span).unwrap(), receipt.bytes);
        }
    }
    let mut listed = BTreeSet::new();
    let filter = SpanFilter { session: Some("run".into()), ..SpanFilter::default() };
    let collected = world.vault.spans(&filter, &mut |span| {
        listed.insert(span.span);
        Ok(())
    });
    collected.unwrap();
    assert_eq!(listed.len(), 10);
}

/// What is recorded again is there, whether its bytes were still there or had to be stored once more.
fn record_against_remove() {
    let record = |world: &World| {
        let bytes = &world.originals[1].1;
        let text = String::from_utf8(bytes.clone()).unwrap();
        let session = world.vault.session("again").unwrap();
        let again = SpanDraft::tool_result(
            "c0",
            "Kept. ".to_owned()
                + &"This is crossing 0 of the river, and all that can be said of it. ".repeat(12),
        );
        let receipt = session.record(again).unwrap();
        assert_eq!(receipt.bytes, *bytes, "{text}");
        receipt.hash
    };
    let (world, hash, ()) = race(Beginning::Condemned, record, World::reclaim);
    assert_eq!(world.vault.recover(hash).unwrap(), world.originals[1].1);
}

/// Whoever reads while bytes move reads them whole.
fn demote_against_recover() {
    let recover = |world: &World| {
        for n in 0..world.originals.len() {
            assert_eq!(world.recover(n), Found::Whole);
        }
    };
    race(Beginning::Fresh, World::demote, recover);
}

/// Whoever walks the log while its segments are replaced meets every frame, each where it is by then.
fn demote_against_walk() {
    let walk = |world: &World| {
        let mut seen = 0;
        let end = world.vault.revision();
        let first = spanvault::types::Position::new(1);
        let log = world.vault.log(first, &mut |entry| {
            seen = entry.at.get();
            Ok(())
        });
        log.unwrap();
        assert!(seen >= end.get());
    };
    race(Beginning::Fresh, World::demote, walk);
}

/// Whoever reads while bytes go reads them whole or learns that they are gone; what is gone stays gone.
fn remove_against_recover() {
    let recover = |world: &World| {
        for n in 0..world.originals.len() {
            if world.recover(n) == Found::Gone {
                assert_eq!(world.recover(n), Found::Gone);
            }
        }
    };
    race(Beginning::CondemnedCold, World::reclaim, recover);
}

/// Whoever reads what stays in a pack, while it is written anew without what goes, reads it whole.
fn repack_against_recover() {
    let recover = |world: &World| {
        for n in 0..world.originals.len() {
            let found = world.recover(n);
            assert!(found == Found::Whole || n % 2 == 0, "original {n} is held and gone");
        }
    };
    race(Beginning::HalfCondemnedCold, World::reclaim, recover);
}
