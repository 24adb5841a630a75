//! Power cuts while bytes move and go: always one good copy or a tombstone, never neither, never half of one.

use serde_json::json;
use spanvault::ask::{Query, Verdict};
use spanvault::types::{Actor, ContentHash, Ttl, TtlRule};
use spanvault::{
    BuiltIn, CompactionOptions, Cooling, ErrorKind, Keep, NewRetention, Options, Run, ScopeName, SpanDraft,
    Vault, VerifyDepth, Whereabouts,
};
use spanvault_env::{Count, Survival};

use crate::world::World;

const DAY: u64 = 86_400_000;
const CALLS: usize = 12;

fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the test says so".into() }
}

/// A vault whose log has several segments.
fn open(world: &World) -> spanvault::Result<Vault> {
    let mut options = Options::simulated(world.env.clone());
    options.segment_bytes = 6 << 10;
    options.reserve_bytes = 0;
    Vault::open_with("/vault", options)
}

/// What was recorded: each call and then its result.
struct Recorded {
    originals: Vec<(ContentHash, Vec<u8>)>,
}

/// Records calls and results, summarises them, and assumes no audit.
fn record(vault: &Vault) -> Recorded {
    let session = vault.session("run").unwrap();
    let mut originals = Vec::new();
    for n in 0..CALLS {
        let words = format!("This is crossing {n} of the river, and all that can be said of it. ").repeat(12);
        let drafts = vec![
            SpanDraft::tool_call_with_id(format!("c{n}"), format!("update_{n}"), json!({"note": words})),
            SpanDraft::tool_result(format!("c{n}"), format!("Kept. {words}")),
        ];
        let receipts = session.record_all(drafts).unwrap();
        originals.extend(receipts.into_iter().map(|receipt| (receipt.hash, receipt.bytes)));
    }
    vault.assume_audit(None, ann()).unwrap();
    let options = CompactionOptions { keep: Keep::last(8), ..CompactionOptions::default() };
    assert!(session.compact_with(&options, &mut BuiltIn).unwrap().permitted > 0);
    Recorded { originals }
}

fn keep_for_a_day(vault: &Vault) {
    let keep = NewRetention { keep_for: Some(TtlRule::For(Ttl::days(1))), ..NewRetention::default() };
    vault.set_retention(&keep, ann()).unwrap();
}

fn demote(vault: &Vault) -> spanvault::Result<()> {
    vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).map(drop)
}

fn reclaim(vault: &Vault) -> spanvault::Result<()> {
    vault.reclaim(Run::Real, &mut |_step| {}).map(drop)
}

/// Which of all originals are gone; every other one is there, byte for byte, and every answer fits.
fn gone(vault: &Vault, recorded: &Recorded, moment: &str) -> Vec<usize> {
    let mut gone = Vec::new();
    for (n, (hash, bytes)) in recorded.originals.iter().enumerate() {
        match vault.recover(*hash) {
            Ok(found) => assert_eq!(&found, bytes, "{moment}: original {n}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Insufficient, "{moment}: original {n}: {error:?}");
                assert!(error.tombstone().is_some(), "{moment}: original {n} has no tombstone");
                gone.push(n);
            }
        }
    }
    for n in 0..CALLS {
        let answer = vault.ask(&Query::calls(format!("update_{n}"))).unwrap();
        let expected = if gone.contains(&(2 * n)) { Verdict::Insufficient } else { Verdict::Present };
        assert_eq!(answer.answer, expected, "{moment}: call {n}");
    }
    gone
}

/// Cuts the power at the n-th change of the disk while `act` runs, for every n, and tells `check` what is left after a
/// restart of the machine.
fn cut_everywhere(
    base: &World,
    act: impl Fn(&Vault) -> spanvault::Result<()>,
    check: impl Fn(&Vault, &str),
) -> (u64, u64) {
    let changes = {
        let whole = base.after_kill();
        let vault = open(&whole).unwrap();
        let before = whole.disk.count(Count::Changes);
        act(&vault).unwrap();
        whole.disk.count(Count::Changes) - before
    };
    assert!(changes >= 2, "a write and a sync");
    let is_long = std::env::var_os("SPANVAULT_LONG").is_some();
    let (cuts, seeds) = if is_long { (changes, 6) } else { (15, 1) };
    let stride = usize::try_from(changes.div_ceil(cuts)).unwrap();
    let mut trials = 0;
    for nth in (1..=changes).step_by(stride) {
        let survivals = [Survival::All, Survival::Nothing].into_iter();
        for survival in survivals.chain((0..seeds).map(|seed| Survival::Seeded(nth * seeds + seed))) {
            let moment = format!("power cut at change {nth} of {changes}, {survival:?}");
            let world = base.after_kill();
            let vault = open(&world).unwrap();
            world.disk.cut_power(Count::Changes, nth);
            assert!(act(&vault).is_err(), "{moment}: nothing may be acknowledged without power");
            drop(vault);
            let after = world.after_crash(survival);
            after.clock.reboot(0);
            let vault = open(&after).unwrap_or_else(|error| panic!("{moment}: {error:?}"));
            check(&vault, &moment);
            let found = vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap();
            assert!(found.is_sound(), "{moment}: {found:?}");
            trials += 1;
        }
    }
    (changes, trials)
}

fn is_cold(vault: &Vault, hash: ContentHash) -> bool {
    matches!(vault.why(hash).unwrap().whereabouts, Whereabouts::Cold { .. })
}

#[test]
fn i44_a_power_cut_at_any_step_of_a_demotion_leaves_every_original_and_the_next_run_ends_it() {
    let world = World::new(41);
    let vault = open(&world).unwrap();
    let recorded = record(&vault);
    drop(vault);
    let (changes, trials) = cut_everywhere(&world, demote, |vault, moment| {
        assert!(gone(vault, &recorded, moment).is_empty(), "{moment}: demotion loses nothing");
        demote(vault).unwrap();
        assert!(gone(vault, &recorded, moment).is_empty(), "{moment}: demotion loses nothing");
        assert!(recorded.originals.iter().all(|(hash, _bytes)| is_cold(vault, *hash)), "{moment}");
    });
    println!("demote: {changes} changes of the disk, {trials} power cuts");
}

#[test]
fn i41_a_power_cut_at_any_step_of_the_first_run_removes_nothing() {
    let world = World::new(42);
    let vault = open(&world).unwrap();
    let recorded = record(&vault);
    keep_for_a_day(&vault);
    world.clock.advance(2 * DAY);
    // Something is recorded, so that the time is on record too and survives the restart.
    vault.session("other").unwrap().record(SpanDraft::user("Good morning.")).unwrap();
    drop(vault);
    let (changes, trials) = cut_everywhere(&world, reclaim, |vault, moment| {
        assert!(gone(vault, &recorded, moment).is_empty(), "{moment}: the first run only condemns");
        let again = vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
        assert_eq!(again.condemned + again.refused, recorded.originals.len() as u64, "{moment}: {again:?}");
        assert_eq!(again.reclaimed, 0, "{moment}: a full grace follows");
    });
    println!("first reclaim run: {changes} changes of the disk, {trials} power cuts");
}

#[test]
fn i41_a_power_cut_at_any_step_of_the_second_run_leaves_each_original_whole_or_behind_its_tombstone() {
    let world = World::new(43);
    let vault = open(&world).unwrap();
    let recorded = record(&vault);
    keep_for_a_day(&vault);
    // Both tiers: what is demoted here, and what is recorded again later in another session.
    demote(&vault).unwrap();
    world.clock.advance(2 * DAY);
    reclaim(&vault).unwrap();
    world.clock.advance(DAY);
    let held = recorded.originals[4].0;
    vault.hold(&ScopeName::Named(held.into()), ann()).unwrap();
    drop(vault);
    let (changes, trials) = cut_everywhere(&world, reclaim, |vault, moment| {
        let first = gone(vault, &recorded, moment);
        assert!(!first.contains(&4), "{moment}: it is held");
        let again = vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
        let last = gone(vault, &recorded, moment);
        assert_eq!(last.len(), recorded.originals.len() - 1, "{moment}: {again:?}");
        assert!(first.iter().all(|n| last.contains(n)), "{moment}: what is gone stays gone");
    });
    println!("second reclaim run: {changes} changes of the disk, {trials} power cuts");
}

#[test]
fn i50_after_a_cut_and_one_more_run_no_file_holds_what_was_reclaimed() {
    let world = World::new(44);
    let vault = open(&world).unwrap();
    let recorded = record(&vault);
    keep_for_a_day(&vault);
    world.clock.advance(2 * DAY);
    reclaim(&vault).unwrap();
    world.clock.advance(DAY);
    vault.session("other").unwrap().record(SpanDraft::user("Good morning.")).unwrap();
    drop(vault);
    // A summary may quote a few words of an original; so long a piece of it is the original itself.
    let is_anywhere = |world: &World, (_hash, original): &(ContentHash, Vec<u8>)| {
        let piece = &original[original.len() - 400..];
        let files = world.disk.files();
        files.iter().any(|(path, _len)| {
            let bytes = world.disk.bytes(path).unwrap();
            bytes.windows(piece.len()).any(|window| window == piece)
        })
    };
    assert!(recorded.originals.iter().all(|original| is_anywhere(&world, original)));
    for nth in [2, 9, 17, 29] {
        let cut = world.after_kill();
        let vault = open(&cut).unwrap();
        cut.disk.cut_power(Count::Changes, nth);
        assert!(reclaim(&vault).is_err());
        drop(vault);
        let after = cut.after_crash(Survival::Seeded(nth));
        let vault = open(&after).unwrap();
        reclaim(&vault).unwrap();
        assert_eq!(gone(&vault, &recorded, "after one more run").len(), recorded.originals.len());
        let left = recorded.originals.iter().filter(|original| is_anywhere(&after, original)).count();
        assert_eq!(left, 0, "cut at change {nth}");
    }
}
