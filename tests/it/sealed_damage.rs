//! A segment is damaged while it is the open one, and sealed later: its sidecar has no keys of what nobody could read by
//! then. What is lost is lost by name all the same, for every later opening, and keeps whatever it may have kept.

use std::path::Path;
use std::sync::Arc;

use spanvault::ask::{Query, Verdict};
use spanvault::types::{Actor, ContentHash, Event, Position, Ttl, TtlRule};
use spanvault::{ErrorKind, NewRetention, Options, Run, ScopeName, SpanDraft, Vault, VerifyDepth};
use spanvault_env::{Env, SimClock, SimDisk};

const DAY: u64 = 86_400_000;
/// The first segment of a vault.
const SEGMENT: &str = "/vault/log/00000001.log";
const SIDECAR: &str = "/vault/log/00000001.idx";
/// Of a frame's head, and of the event behind it, one byte each.
const HEAD: u64 = 20;
const EVENT: u64 = 44;

struct Machine {
    env: Env,
    disk: Arc<SimDisk>,
    clock: Arc<SimClock>,
}

impl Machine {
    fn new() -> Self {
        let (env, disk, clock) = Env::simulated(61);
        Self { env, disk, clock }
    }

    fn open(&self) -> Vault {
        let mut options = Options::simulated(self.env.clone());
        options.segment_bytes = 16 << 10;
        options.reserve_bytes = 0;
        Vault::open_with("/vault", options).unwrap()
    }

    /// The next process; the vault of the one before has to be closed.
    fn restarted(self) -> Self {
        let disk = self.disk.restart();
        Self { env: self.env.with_disk(disk.clone()), disk, clock: self.clock }
    }

    /// Turns a bit of the frame at a position, so many bytes behind its beginning.
    fn damage(&self, at: Position, byte: u64) {
        let bytes = self.disk.bytes(Path::new(SEGMENT)).unwrap();
        let is_head = |window: &[u8]| window.starts_with(b"SVF\x01") && window[8..] == at.get().to_le_bytes();
        let offset = bytes.windows(16).position(is_head).unwrap() as u64;
        self.disk.flip_bit(Path::new(SEGMENT), offset + byte, 3).unwrap();
    }

    fn is_sealed(&self) -> bool {
        self.disk.files().iter().any(|(path, _len)| path == Path::new(SIDECAR))
    }
}

fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the test says so".into() }
}

fn fill(vault: &Vault, from: u64) {
    let session = vault.session("fill").unwrap();
    for n in from..from + 24 {
        session.record(SpanDraft::user(format!("Line {n}. {}", "It fills a segment. ".repeat(50)))).unwrap();
    }
}

/// A call and its result, after which the first one's frame is damaged.
fn with_a_damaged_call(byte: u64) -> (Machine, ContentHash) {
    let machine = Machine::new();
    let vault = machine.open();
    let session = vault.session("run").unwrap();
    let args = serde_json::json!({"path": "/etc/app/conf.yaml"});
    let call = session.record(SpanDraft::tool_call_with_id("c1", "write_file", args)).unwrap();
    session.record(SpanDraft::tool_result("c1", "Written.")).unwrap();
    session.record(SpanDraft::user("Well done.")).unwrap();
    drop(session);
    drop(vault);
    let machine = machine.restarted();
    machine.damage(call.span.0, byte);
    (machine, call.hash)
}

/// Nobody says that the call was never made, or that nothing is wrong.
fn is_named(vault: &Vault, call: ContentHash, moment: &str) {
    assert!(!vault.health().unwrap().is_sound(), "{moment}");
    match vault.recover(call) {
        // Its event is damaged, and its bytes are not.
        Ok(bytes) => assert_eq!(ContentHash::of(&bytes), call, "{moment}"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{moment}: {error:?}"),
    }
    let answer = vault.ask(&Query::calls("write_file")).unwrap();
    assert_eq!(answer.answer, Verdict::Insufficient, "{moment}: {answer:?}");
    let found = vault.verify(VerifyDepth::Data, &mut |_at| {}).unwrap();
    assert_eq!(found.corrupt.len(), 1, "{moment}: {found:?}");
}

#[test]
fn i16_what_was_damaged_in_the_open_segment_is_named_after_it_was_sealed() {
    for byte in [HEAD, EVENT] {
        let (machine, call) = with_a_damaged_call(byte);
        let vault = machine.open();
        is_named(&vault, call, "damaged");
        fill(&vault, 0);
        drop(vault);
        let machine = machine.restarted();
        assert!(machine.is_sealed());
        let vault = machine.open();
        is_named(&vault, call, "sealed");
        vault.rebuild(&mut |_progress| {}).unwrap();
        is_named(&vault, call, "rebuilt");
        drop(vault);
        let machine = machine.restarted();
        is_named(&machine.open(), call, "rebuilt and opened again");
    }
}

#[test]
fn i16_an_answer_names_sealed_damage_before_anything_else_was_read() {
    for byte in [HEAD, EVENT] {
        let (machine, call) = with_a_damaged_call(byte);
        let vault = machine.open();
        fill(&vault, 0);
        drop(vault);
        let first = |look: &dyn Fn(&Vault)| {
            let disk = machine.disk.restart();
            let again =
                Machine { env: machine.env.with_disk(disk.clone()), disk, clock: machine.clock.clone() };
            look(&again.open());
        };
        first(&|vault| {
            let answer = vault.ask(&Query::calls("write_file")).unwrap();
            assert_eq!(answer.answer, Verdict::Insufficient, "{answer:?}");
        });
        first(&|vault| {
            if let Err(error) = vault.recover(call) {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
            }
        });
        first(&|vault| assert!(!vault.health().unwrap().is_sound()));
    }
}

/// An original that was condemned, and rescued by a hold that was released since; the record of the rescue is damaged.
fn with_a_damaged_rescue(byte: u64) -> (Machine, ContentHash) {
    let machine = Machine::new();
    let vault = machine.open();
    vault.assume_audit(None, ann()).unwrap();
    let hash = vault.session("run").unwrap().record(SpanDraft::user("A line like any other.")).unwrap().hash;
    let keep = NewRetention {
        keep_for: Some(TtlRule::For(Ttl::days(30))),
        grace: Some(Ttl::days(1)),
        ..NewRetention::default()
    };
    vault.set_retention(&keep, ann()).unwrap();
    machine.clock.advance(31 * DAY);
    assert_eq!(vault.reclaim(Run::Real, &mut |_step| {}).unwrap().condemned, 1);
    machine.clock.advance(2 * DAY);
    let held = vault.hold(&ScopeName::Named(hash.into()), ann()).unwrap();
    assert_eq!(held.rescued, 1);
    vault.release(held.hold, ann()).unwrap();
    let mut rescue = None;
    vault
        .log(Position::new(1), &mut |entry| {
            if matches!(entry.event, Event::Rescued(_)) {
                rescue = Some(entry.at);
            }
            Ok(())
        })
        .unwrap();
    drop(vault);
    let machine = machine.restarted();
    machine.damage(rescue.unwrap(), byte);
    (machine, hash)
}

#[test]
fn i43_i47_a_rescue_that_nobody_can_read_any_more_still_keeps_what_it_saved() {
    for byte in [HEAD, EVENT] {
        let (machine, hash) = with_a_damaged_rescue(byte);
        let keeps = |vault: &Vault, moment: &str| {
            let refused = vault.reclaim(Run::Real, &mut |_step| {}).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{moment}: {refused:?}");
            assert!(vault.recover(hash).is_ok(), "{moment}: {:?}", vault.recover(hash));
        };
        let vault = machine.open();
        keeps(&vault, "in the open segment");
        fill(&vault, 0);
        keeps(&vault, "in a sealed one");
        drop(vault);
        let machine = machine.restarted();
        assert!(machine.is_sealed());
        let vault = machine.open();
        keeps(&vault, "after another opening");
        machine.clock.advance(40 * DAY);
        keeps(&vault, "when all is due");
    }
}
