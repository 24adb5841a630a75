//! A full disk takes nothing new and loses nothing: it can be read, checked, held and freed (I9).

use std::path::{Path, PathBuf};

use spanvault::ask::{Query, Verdict, Words};
use spanvault::types::{Actor, ContentHash, DemandKind, Ttl, TtlRule};
use spanvault::{
    ErrorKind, NeededUntil, NewRetention, Options, Run, ScopeName, SpanDraft, Vault, VerifyDepth,
};
use spanvault_env::{Env, SimClock};

use crate::world::World;

const DAY: u64 = 86_400_000;
const PAGE: usize = 4 << 10;

fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the test says so".into() }
}

/// Distinct originals of about a kilobyte.
fn draft(name: &str, n: usize) -> SpanDraft {
    SpanDraft::user(format!("Entry {n} of the {name} book. {}", "It tells what was done. ".repeat(40)))
}

/// A disk that can be filled up to a number of free bytes, or given room.
struct Place<'a> {
    options: &'a dyn Fn() -> Options,
    dir: PathBuf,
    leave: &'a dyn Fn(Option<u64>),
}

/// A vault with something to keep, and something that has been condemned for a full grace.
fn prepare(place: &Place<'_>, clock: &SimClock) -> (Vec<ContentHash>, Vec<ContentHash>) {
    let vault = Vault::open_with(&place.dir, (place.options)()).unwrap();
    vault.assume_audit(None, ann()).unwrap();
    let record = |name: &str| -> Vec<ContentHash> {
        let session = vault.session(name).unwrap();
        (0..24).map(|n| session.record(draft(name, n)).unwrap().hash).collect()
    };
    let (kept, due) = (record("kept"), record("due"));
    let keep = NewRetention {
        session: Some("due".into()),
        keep_for: Some(TtlRule::For(Ttl::days(1))),
        ..NewRetention::default()
    };
    vault.set_retention(&keep, ann()).unwrap();
    clock.advance(2 * DAY);
    let report = vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
    assert_eq!(report.condemned, 24, "{report:?}");
    clock.advance(DAY);
    vault.close().unwrap();
    (kept, due)
}

fn is_no_space(error: &spanvault::Error) -> bool {
    error.kind() == ErrorKind::Unavailable && error.hint().is_some_and(|hint| hint.contains("make room"))
}

/// With `free` bytes left: everything that I9 promises.
fn live_through(place: &Place<'_>, kept: &[ContentHash], due: &[ContentHash], free: u64) {
    (place.leave)(Some(free));
    let moment = format!("{free} bytes free");
    let vault =
        Vault::open_with(&place.dir, (place.options)()).unwrap_or_else(|error| panic!("{moment}: {error:?}"));
    // New content is taken while there is room, and then refused by name.
    let session = vault.find("kept").unwrap();
    let mut acknowledged = kept.to_vec();
    let refusal = loop {
        match session.record(draft("more", acknowledged.len())) {
            Ok(receipt) => acknowledged.push(receipt.hash),
            Err(error) => break error,
        }
    };
    assert!(is_no_space(&refusal), "{moment}: {refusal:?}");
    // What is read needs no room.
    let look = |vault: &Vault, acknowledged: &[ContentHash]| {
        for hash in acknowledged {
            assert!(vault.recover(*hash).is_ok(), "{moment}: {hash} is gone");
        }
        let answer = vault.ask(&Query::text(Words::Contains("Entry 7 of the kept book".into()))).unwrap();
        assert_eq!(answer.answer, Verdict::Present, "{moment}");
        let mut events = 0;
        vault
            .log(spanvault::types::Position::new(1), &mut |_entry| {
                events += 1;
                Ok(())
            })
            .unwrap();
        assert!(events > 48, "{moment}");
        assert!(vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap().is_sound(), "{moment}");
    };
    look(&vault, &acknowledged);
    look(&Vault::open_read_only_with(&place.dir, (place.options)()).unwrap(), &acknowledged);
    // A need may be declared and a hold placed: keeping must never fail for want of room.
    let held = vault
        .hold(&ScopeName::Named(due[0].into()), ann())
        .unwrap_or_else(|error| panic!("{moment}: {error:?}"));
    assert_eq!(held.rescued, 1, "{moment}");
    let until = NeededUntil::For(Ttl::days(30));
    let needed = vault.declare(DemandKind::Audit, &ScopeName::Named(due[1].into()), until, ann());
    assert_eq!(needed.unwrap_or_else(|error| panic!("{moment}: {error:?}")).rescued, 1, "{moment}");
    // A run frees, and what it frees can be used.
    let report =
        vault.reclaim(Run::Real, &mut |_step| {}).unwrap_or_else(|error| panic!("{moment}: {error:?}"));
    assert_eq!(report.reclaimed, due.len() as u64 - 2, "{moment}: {report:?}");
    assert!(report.bytes_freed > 0, "{moment}: {report:?}");
    acknowledged.extend([due[0], due[1]]);
    acknowledged
        .push(session.record(draft("late", 1)).unwrap_or_else(|error| panic!("{moment}: {error:?}")).hash);
    look(&vault, &acknowledged);
    drop(session);
    drop(vault);
    let vault =
        Vault::open_with(&place.dir, (place.options)()).unwrap_or_else(|error| panic!("{moment}: {error:?}"));
    look(&vault, &acknowledged);
    for hash in &due[2..] {
        assert_eq!(vault.recover(*hash).unwrap_err().kind(), ErrorKind::Insufficient, "{moment}");
    }
}

#[test]
fn i9_with_every_free_size_of_a_simulated_disk_reads_holds_and_reclaim_go_on() {
    for free in (0..=64 << 10).step_by(3_300) {
        let world = World::new(51);
        let options = || {
            let mut options = Options::simulated(world.env.clone());
            options.reserve_bytes = 512 << 10;
            options
        };
        let leave =
            |free: Option<u64>| world.disk.set_capacity(free.map(|free| world.disk.used_bytes() + free));
        let place = Place { options: &options, dir: "/vault".into(), leave: &leave };
        let (kept, due) = prepare(&place, &world.clock);
        live_through(&place, &kept, &due, free);
    }
}

#[test]
fn i9_content_never_takes_the_room_that_the_ledger_was_lent() {
    let world = World::new(54);
    let mut options = Options::simulated(world.env.clone());
    options.reserve_bytes = 256 << 10;
    let vault = Vault::open_with("/vault", options).unwrap();
    let session = vault.session("run").unwrap();
    world.disk.set_capacity(Some(world.disk.used_bytes() + (8 << 10)));
    // Enough holds to use the reserve up many times if each of them cost a step of it.
    for round in 0..40 {
        let mut n = 0;
        while session.record(draft("more", 100 * round + n)).is_ok() {
            n += 1;
        }
        assert!(n < 12, "round {round}: {n} more");
        let held = vault.hold(&ScopeName::Session("run".into()), ann());
        assert!(held.is_ok(), "round {round}: {held:?}");
    }
}

#[test]
fn i9_a_vault_that_has_no_room_to_begin_says_so_and_begins_when_there_is() {
    let world = World::new(52);
    for free in [0, 512, 1024, 2048, 4096] {
        world.disk.set_capacity(Some(world.disk.used_bytes() + free));
        if let Err(error) = world.open() {
            assert!(is_no_space(&error), "{free}: {error:?}");
        }
    }
    world.disk.set_capacity(None);
    let vault = world.open().unwrap();
    assert!(vault.session("run").unwrap().record(SpanDraft::user("Good morning.")).is_ok());
}

/// A file system of its own, as large as it is told; gone with the value.
struct Tmpfs {
    at: tempfile::TempDir,
}

impl Tmpfs {
    fn mount(bytes: u64) -> Self {
        let at = tempfile::tempdir().unwrap();
        let size = format!("size={bytes},mode=0700");
        let mut mount = std::process::Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", &size, "spanvault"]).arg(at.path()).status();
        assert!(mounted.unwrap().success(), "a file system can be mounted");
        Self { at }
    }

    /// Fills it up to `free` bytes, or makes room.
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn leave(&self, free: Option<u64>) {
        use std::io::Write as _;
        let path = self.at.path().join("filler");
        let mut filler = std::fs::File::create(path).unwrap();
        let Some(free) = free else { return };
        let page = vec![7; PAGE];
        while filler.write_all(&page).is_ok() {}
        let len = filler.metadata().unwrap().len();
        filler.set_len(len - free).unwrap();
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // A child that another test is just starting has the files of this one open until it runs its own program.
        let unmounted = (0..100).any(|attempt: u64| {
            std::thread::sleep(std::time::Duration::from_millis(attempt));
            let status = std::process::Command::new("umount").arg(self.at.path()).status();
            status.is_ok_and(|status| status.success())
        });
        assert!(unmounted || std::thread::panicking());
    }
}

#[test]
fn i9_with_every_free_size_of_a_real_disk_reads_holds_and_reclaim_go_on() {
    if std::env::var_os("SPANVAULT_ROOT_TESTS").is_none_or(|set| set != "1") {
        println!("SKIPPED: a file system of its own needs root; set SPANVAULT_ROOT_TESTS=1");
        return;
    }
    for free in (0..=64 << 10).step_by(PAGE) {
        let disk = Tmpfs::mount(16 << 20);
        let clock = std::sync::Arc::new(SimClock::new(53));
        let options = || {
            let mut options = Options::default();
            options.env = Env { clock: clock.clone(), ..Env::real() };
            options
        };
        let leave = |free: Option<u64>| disk.leave(free);
        let place = Place { options: &options, dir: Path::new(disk.at.path()).join("vault"), leave: &leave };
        let (kept, due) = prepare(&place, &clock);
        live_through(&place, &kept, &due, free);
    }
}
