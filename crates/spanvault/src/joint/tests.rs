use std::collections::HashSet;
use std::thread;

use spanvault_env::{CallKind, Count, Env, Fault, ScheduledFault, SimDisk};

use super::*;
use crate::{ErrorKind, Options, Receipt, SpanDraft, SpanFilter};

const SESSIONS: [&str; 3] = ["one", "two", "three"];

fn vault() -> (Vault, Arc<SimDisk>) {
    let (env, disk, _clock) = Env::simulated(7);
    let mut options = Options::simulated(env);
    options.reserve_bytes = 0;
    (Vault::open_with("/vault", options).unwrap(), disk)
}

fn long(name: &str, bytes: usize) -> SpanDraft {
    SpanDraft::user(name.repeat(bytes / name.len()))
}

/// Threads that record, each these drafts in this session, all in the queue before the first of them can write.
fn record_at_once(vault: &Vault, wishes: Vec<(&str, Vec<SpanDraft>)>) -> Vec<Result<Vec<Receipt>>> {
    for (name, _drafts) in &wishes {
        vault.session(name).unwrap();
    }
    let writer = vault.store.lock().unwrap();
    thread::scope(|scope| {
        let mut running = Vec::new();
        for (n, (name, drafts)) in wishes.into_iter().enumerate() {
            let session = vault.find(name).unwrap();
            running.push(scope.spawn(move || session.record_all(drafts)));
            while vault.joint.queue().waiting.len() <= n {
                thread::yield_now();
            }
        }
        drop(writer);
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn ordinals(vault: &Vault, session: &str) -> Vec<u64> {
    let mut ordinals = Vec::new();
    let filter = SpanFilter { session: Some(session.to_owned()), ..SpanFilter::default() };
    let collected = vault.spans(&filter, &mut |span| {
        ordinals.push(vault.span_at(span.span.0)?.ordinal);
        Ok(())
    });
    collected.unwrap();
    ordinals
}

fn commits(receipts: &[Result<Vec<Receipt>>]) -> HashSet<Position> {
    receipts.iter().flatten().flatten().map(|receipt| receipt.durable).collect()
}

#[test]
fn threads_that_record_at_the_same_time_share_one_batch_and_one_sync() {
    let (vault, disk) = vault();
    for name in SESSIONS {
        vault.session(name).unwrap();
    }
    // Two threads to each session.
    let drafts =
        |n: usize, name: &str| vec![SpanDraft::user(format!("{name} {n}?")), SpanDraft::assistant("Yes.")];
    let wishes = (0..2).flat_map(|n| SESSIONS.map(|name| (name, drafts(n, name)))).collect();
    let before = disk.count(Count::Syncs);
    let receipts = record_at_once(&vault, wishes);
    assert_eq!(disk.count(Count::Syncs) - before, 1);
    assert_eq!(commits(&receipts).len(), 1);
    for receipt in receipts.into_iter().flat_map(Result::unwrap) {
        assert_eq!(vault.recover(receipt.span).unwrap(), receipt.bytes);
    }
    for name in SESSIONS {
        assert_eq!(ordinals(&vault, name), [0, 1, 2, 3]);
    }
}

#[test]
fn i15_bytes_that_several_record_at_the_same_time_are_stored_once() {
    let (vault, _disk) = vault();
    let receipts =
        record_at_once(&vault, SESSIONS.map(|name| (name, vec![SpanDraft::user("The same.")])).into());
    let spans: Vec<_> = receipts.into_iter().flat_map(Result::unwrap).map(|receipt| receipt.span.0).collect();
    let originals: HashSet<_> = spans.iter().map(|at| vault.span_at(*at).unwrap().original).collect();
    assert_eq!((spans.len(), originals.len()), (3, 1));
}

#[test]
fn whoever_has_little_to_record_does_not_wait_for_more_than_a_batch_may_hold() {
    let (vault, _disk) = vault();
    let wishes = SESSIONS.map(|name| (name, vec![long(name, BATCH_BYTES * 2 / 3)])).into();
    let receipts = record_at_once(&vault, wishes);
    assert!(receipts.iter().all(Result::is_ok));
    assert_eq!(commits(&receipts).len(), 3);
    let receipts =
        record_at_once(&vault, vec![("one", vec![long("more than one batch holds ", BATCH_BYTES * 2)])]);
    assert!(receipts.iter().all(Result::is_ok));
}

#[test]
fn i9_who_finds_no_room_spoils_nothing_for_those_who_recorded_with_it() {
    let (vault, disk) = vault();
    let wishes = vec![
        ("one", vec![SpanDraft::user("A little.")]),
        ("two", vec![long("too much ", BATCH_BYTES / 2)]),
        ("three", vec![SpanDraft::user("A little more.")]),
    ];
    for name in SESSIONS {
        vault.session(name).unwrap();
    }
    disk.set_capacity(Some(disk.used_bytes() + (64 << 10)));
    let [one, two, three] = <[_; 3]>::try_from(record_at_once(&vault, wishes)).unwrap();
    for receipts in [one, three] {
        for receipt in receipts.unwrap() {
            assert_eq!(vault.recover(receipt.span).unwrap(), receipt.bytes);
        }
    }
    assert_eq!(two.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(ordinals(&vault, "two").is_empty());
}

#[test]
fn i8_after_a_failed_sync_nobody_of_the_batch_is_told_that_it_is_recorded() {
    let (vault, disk) = vault();
    for name in SESSIONS {
        vault.session(name).unwrap();
    }
    disk.fail(ScheduledFault::new(Fault::Io, CallKind::Sync, 1));
    let receipts = record_at_once(&vault, SESSIONS.map(|name| (name, vec![SpanDraft::user(name)])).into());
    for receipt in receipts {
        receipt.unwrap_err();
    }
    vault.find("one").unwrap().record(SpanDraft::user("again")).unwrap_err();
}

#[test]
fn a_lead_that_breaks_off_is_handed_on_and_leaves_nobody_waiting() {
    let joint = Joint::default();
    let request = || Request { session: Position::new(1), spans: Vec::new(), durability: Durability::Sync };
    let seats = [(); 3].map(|()| Arc::new(Seat::default()));
    let is_first = seats.each_ref().map(|seat| joint.is_first(Member::new(Arc::clone(seat), request())));
    assert_eq!(is_first, [true, false, false]);
    let mut led = Led { joint: &joint, group: Vec::new() };
    led.take();
    let late = Arc::new(Seat::default());
    assert!(!joint.is_first(Member::new(Arc::clone(&late), request())));
    drop(led);
    assert!(seats.iter().all(|seat| matches!(seat.news(), News::Lost)));
    assert!(matches!(late.news(), News::Lead));
    let mut led = Led { joint: &joint, group: Vec::new() };
    led.take();
    assert_eq!(led.served(0).len(), 1);
    assert!(!joint.queue().is_led);
}
