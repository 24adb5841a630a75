//! Levels of durability: what a power cut may take, and what it may not.

use std::time::Duration;

use spanvault::types::{Actor, Position};
use spanvault::{Durability, Options, Receipt, ScopeName, SpanDraft, Vault};
use spanvault_env::{CallKind, Count, Fault, ScheduledFault, Survival};

use crate::world::World;

/// Longer than any test takes, and than any clock can tell.
const LATER: Durability = Durability::Group(Duration::MAX);

fn record(vault: &Vault, n: usize, durability: Durability) -> Receipt {
    let session = vault.session("run").unwrap().with_durability(durability);
    session.record(SpanDraft::user(format!("Entry {n} of ledger /srv/ledger/{n}.csv."))).unwrap()
}

/// Opens a vault that keeps no room back: to make that room is most of the work of a test.
fn open(world: &World) -> Vault {
    let mut options = Options::simulated(world.env.clone());
    options.reserve_bytes = 0;
    Vault::open_with("/vault", options).unwrap()
}

fn is_there(vault: &Vault, receipt: &Receipt) -> bool {
    vault.recover(receipt.span).is_ok_and(|bytes| bytes == receipt.bytes)
}

/// Waits until so much is durable; whoever runs the tests ends this if it never is.
fn wait_until_durable(vault: &Vault, through: Position) {
    while vault.durable() < through {
        std::thread::yield_now();
    }
}

#[test]
fn i1_i7_a_power_cut_takes_nothing_but_an_end_of_what_was_not_yet_durable() {
    let (mut lost, mut kept_though_not_durable) = (0, 0);
    for seed in 0..300_u64 {
        let world = World::new(seed);
        let vault = open(&world);
        let choices = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let level = |n: usize| match (choices >> (2 * n)) & 3 {
            0 => Durability::Sync,
            1 => LATER,
            _ => Durability::Buffered,
        };
        let receipts: Vec<_> = (0..8).map(|n| record(&vault, n, level(n))).collect();
        let durable = vault.durable();
        for (n, receipt) in receipts.iter().enumerate() {
            assert_eq!(receipt.is_durable(), level(n) == Durability::Sync);
        }
        let after = world.after_crash(Survival::Seeded(seed));
        // Its syncs come too late for that disk.
        drop(vault);
        let vault = open(&after);
        let damage = &vault.open_report().damage;
        assert!(damage.is_empty(), "seed {seed}: {damage:?}");
        let there: Vec<_> = receipts.iter().map(|receipt| is_there(&vault, receipt)).collect();
        assert!(there.is_sorted_by(|before, after| before >= after), "seed {seed}: {there:?}");
        for (receipt, is_there) in receipts.iter().zip(there) {
            assert!(is_there || receipt.span.0 > durable, "seed {seed}: {} is gone", receipt.span);
            lost += usize::from(!is_there);
            kept_though_not_durable += usize::from(is_there && receipt.span.0 > durable);
        }
    }
    assert!(lost > 0 && kept_though_not_durable > 0, "{lost} {kept_though_not_durable}");
}

#[test]
fn the_end_of_the_process_takes_nothing() {
    let world = World::new(1);
    let vault = open(&world);
    let receipts = [Durability::Buffered, LATER, Durability::Buffered].map(|level| record(&vault, 1, level));
    let after = world.after_kill();
    std::mem::forget(vault);
    let vault = open(&after);
    assert!(receipts.iter().all(|receipt| is_there(&vault, receipt)));
}

#[test]
fn a_thousand_buffered_spans_take_no_sync_and_a_group_of_them_takes_one() {
    let world = World::new(2);
    let vault = open(&world);
    record(&vault, 0, Durability::Sync);
    let syncs = || world.disk.count(Count::Syncs);
    let before = syncs();
    for n in 0..1_000 {
        record(&vault, n, Durability::Buffered);
    }
    assert_eq!(syncs() - before, 0);
    let last =
        (0..100).map(|n| record(&vault, n, Durability::Group(Duration::from_millis(50)))).last().unwrap();
    assert_eq!(syncs() - before, 0, "the clock stands still");
    world.clock.advance(50);
    wait_until_durable(&vault, last.span.0);
    assert_eq!(syncs() - before, 1);
}

#[test]
fn the_first_of_a_group_is_durable_once_its_time_is_over_though_others_followed() {
    let world = World::new(3);
    let vault = open(&world);
    let first = record(&vault, 1, Durability::Group(Duration::from_millis(50)));
    world.clock.advance(40);
    record(&vault, 2, LATER);
    assert!(vault.durable() < first.span.0);
    world.clock.advance(10);
    wait_until_durable(&vault, first.span.0);
}

#[test]
fn closing_or_dropping_a_vault_makes_up_for_a_sync_that_is_due() {
    for is_closed in [true, false] {
        let world = World::new(4);
        let vault = open(&world);
        let receipts = [Durability::Buffered, LATER].map(|level| record(&vault, 1, level));
        if is_closed {
            vault.close().unwrap();
        } else {
            drop(vault);
        }
        let vault = open(&world.after_crash(Survival::Nothing));
        assert!(receipts.iter().all(|receipt| is_there(&vault, receipt)), "closed: {is_closed}");
    }
}

#[test]
fn whatever_is_durable_makes_everything_before_it_so() {
    let world = World::new(5);
    let vault = open(&world);
    let before = record(&vault, 1, Durability::Buffered);
    let actor = Actor { name: "ann".into(), reason: "the test says so".into() };
    vault.hold(&ScopeName::Session("run".into()), actor).unwrap();
    assert!(vault.durable() >= before.span.0);
    assert!(is_there(&open(&world.after_crash(Survival::Nothing)), &before));
}

#[test]
fn i8_a_deferred_sync_that_fails_fails_whatever_is_recorded_after_it() {
    let world = World::new(6);
    let vault = open(&world);
    vault.session("run").unwrap();
    world.disk.fail(ScheduledFault::new(Fault::SyncDrops, CallKind::Sync, 1));
    let receipt = record(&vault, 1, Durability::Group(Duration::from_millis(50)));
    world.clock.advance(50);
    while vault.health().unwrap().is_sound() {
        std::thread::yield_now();
    }
    let session = vault.session("run").unwrap();
    for level in [Durability::Sync, LATER, Durability::Buffered] {
        session.clone().with_durability(level).record(SpanDraft::user("again")).unwrap_err();
    }
    vault.sync().unwrap_err();
    assert!(vault.durable() < receipt.span.0);
}

#[test]
fn threads_of_different_levels_record_at_once_and_each_gets_what_it_asked_for() {
    let world = World::new(7);
    let vault = open(&world);
    let levels = [Durability::Sync, Durability::Buffered, LATER];
    std::thread::scope(|scope| {
        for n in 0..9 {
            let vault = &vault;
            scope.spawn(move || {
                for turn in 0..20 {
                    let level = levels[n % 3];
                    let receipt = record(vault, n * 100 + turn, level);
                    assert!(level != Durability::Sync || vault.durable() >= receipt.span.0);
                    assert!(is_there(vault, &receipt));
                }
            });
        }
    });
}
