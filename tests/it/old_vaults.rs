//! Vaults that earlier programs made, opened by this one: `tests/fixtures/vault-…`, never edited again.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spanvault::ask::{Get, Query, Verdict, glob};
use spanvault::types::{Actor, DemandKind, Expiry, Ttl, TtlRule};
use spanvault::{
    BuiltIn, CompactionOptions, Cooling, ErrorKind, IngestOptions, Keep, Name, NeededUntil, NewRetention,
    Options, Packing, Run, ScopeName, Session, SpanDraft, SpanFilter, SpanId, Vault, VerifyDepth,
    Whereabouts,
};
use spanvault_env::{Clock, Env, RealDisk, SimClock, SimRandom};

use crate::world::call;

const DAY: u64 = 86_400_000;
/// The words of a span that the fixture has in its log.
const HOT: &str = "The hot one: INV-2025-08-44719.";
/// The words of one that it has in a pack.
const COLD: &str = "The cold one: /srv/backup/2026.tar.zst is 4711 bytes long.";

/// Format 1 with the events and sidecars of version 1, with those of version 2, and with packs of version 3.
const FIXTURES: [&str; 3] = ["vault-v1", "vault-v1-short", "vault-v1-packs"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// What the program that made it said of it.
fn said(name: &str) -> String {
    fs::read_to_string(fixture(name).join("said.txt")).unwrap()
}

/// A copy that belongs to this user alone, as a vault has to, whatever made the checkout of it.
fn copy_of(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy_private(&fixture(name).join("vault"), &dir.path().join("vault"));
    dir
}

fn copy_private(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_private(&entry.path(), &target);
        } else {
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// Another boot than the one that made the fixture.
fn options(clock: Arc<SimClock>, seed: u64) -> Options {
    let env = Env { disk: Arc::new(RealDisk), clock, random: Arc::new(SimRandom::new(seed)) };
    let mut options = Options::simulated(env);
    options.segment_bytes = 6 << 10;
    options.reserve_bytes = 0;
    options
}

fn later() -> Options {
    options(Arc::new(SimClock::new(9)), 9)
}

fn bytes_of(words: &str) -> Vec<u8> {
    SpanDraft::user(words).as_bytes().to_vec()
}

/// All that a vault of any version has to go on saying: every span with its hash and where its bytes are, every
/// summary with what it stands for, every demand and hold, and every file.
fn said_by(vault: &Vault) -> String {
    let mut said = String::new();
    let counts = vault.stats().unwrap();
    writeln!(said, "spans {}", counts.spans).unwrap();
    vault
        .spans(&SpanFilter::default(), &mut |span| {
            let hash = span.hash.map_or("-".to_owned(), |hash| hash.to_string());
            let (tier, bytes) = (span.tier.as_str(), span.bytes);
            let expires = match span.expires_at {
                Expiry::At(at) => at.as_ms().to_string(),
                Expiry::Never => "never".to_owned(),
                Expiry::Forever => "forever".to_owned(),
            };
            let summary = span.summary.map_or("-".to_owned(), |summary| summary.to_string());
            writeln!(said, "{} {} {tier} {bytes} {hash} {expires} {summary}", span.session, span.span)
                .unwrap();
            if span.tier.is_retrievable() {
                let recovered = vault.recover(span.span)?;
                assert_eq!(spanvault::types::ContentHash::of(&recovered).to_string(), hash);
            } else {
                assert_eq!(vault.recover(span.span).unwrap_err().kind(), ErrorKind::Insufficient);
            }
            Ok(())
        })
        .unwrap();
    for demand in vault.demands().unwrap() {
        writeln!(said, "demand {} withdrawn {}", demand.demand, demand.withdrawn.is_some()).unwrap();
    }
    for hold in vault.holds().unwrap() {
        writeln!(said, "hold {} released {}", hold.hold, hold.released.is_some()).unwrap();
    }
    vault
        .refusals(&mut |refusal| {
            writeln!(said, "refusal {}", refusal.subject).unwrap();
            Ok(())
        })
        .unwrap();
    said
}

fn written_under_etc() -> Query {
    Query::any_call().effect("mutates").path(glob("/etc/**")).get(Get::Exists)
}

fn check_answers(vault: &Vault) {
    let written = vault.ask(&written_under_etc()).unwrap();
    assert_eq!(written.answer, Verdict::Present);
    let proof = vault.recover(written.evidence[0].hash.parse::<Name>().unwrap()).unwrap();
    assert!(String::from_utf8(proof).unwrap().contains("/etc/app/conf.yaml"));
    let mut deleted = Query::calls("delete_everything").get(Get::Exists);
    assert_eq!(vault.ask(&deleted).unwrap().answer, Verdict::Insufficient, "some originals are gone");
    deleted = deleted.session("run");
    assert_eq!(vault.ask(&deleted).unwrap().answer, Verdict::Absent);
}

fn check_known_bytes(vault: &Vault) {
    let mut tiers = Vec::new();
    for words in [HOT, COLD] {
        let bytes = bytes_of(words);
        let hash = spanvault::types::ContentHash::of(&bytes);
        assert_eq!(vault.recover(hash).unwrap(), bytes);
        tiers.push(vault.why(hash).unwrap().whereabouts);
    }
    assert!(matches!(tiers[..], [Whereabouts::Hot, Whereabouts::Cold { .. }]), "{tiers:?}");
    let mut restored = Vec::new();
    vault
        .restore("notes.jsonl", &mut |piece| {
            restored.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    assert_eq!(String::from_utf8(restored).unwrap(), NOTES);
}

#[test]
fn a_vault_of_version_1_opens_to_read_and_says_what_it_said() {
    FIXTURES.into_iter().for_each(opens_to_read);
}

fn opens_to_read(name: &str) {
    let dir = copy_of(name);
    let vault = Vault::open_read_only_with(dir.path().join("vault"), later()).unwrap();
    assert!(vault.open_report().damage.is_empty(), "{:?}", vault.open_report());
    let report = vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap();
    assert!(report.is_sound() && report.sidecars.is_empty(), "{report:?}");
    assert_eq!(said_by(&vault), said(name));
    check_known_bytes(&vault);
    check_answers(&vault);
}

#[test]
fn a_vault_of_version_1_goes_on_being_written_and_loses_nothing() {
    FIXTURES.into_iter().for_each(goes_on_being_written);
}

fn goes_on_being_written(name: &str) {
    let dir = copy_of(name);
    let path = dir.path().join("vault");
    let vault = Vault::open_with(&path, later()).unwrap();
    assert_eq!(said_by(&vault), said(name));
    let receipt = vault.find("run").unwrap().record(SpanDraft::user("And on it goes.")).unwrap();
    let known: Vec<(SpanId, Vec<u8>)> = retrievable(&vault);
    // What this program writes stands beside what the old one wrote, in segments and packs that it rewrites.
    vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).unwrap();
    vault.rebuild(&mut |_progress| {}).unwrap();
    vault.close().unwrap();
    let vault = Vault::open_with(&path, later()).unwrap();
    for (span, bytes) in known {
        assert_eq!(vault.recover(span).unwrap(), bytes);
    }
    assert_eq!(vault.recover(receipt.hash).unwrap(), receipt.bytes);
    check_answers(&vault);
    let report = vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

fn retrievable(vault: &Vault) -> Vec<(SpanId, Vec<u8>)> {
    let mut found = Vec::new();
    vault
        .spans(&SpanFilter::default(), &mut |span| {
            if span.tier.is_retrievable() {
                found.push((span.span, vault.recover(span.span)?));
            }
            Ok(())
        })
        .unwrap();
    found
}

const NOTES: &str = concat!(
    r#"{"type":"user","uuid":"u1","sessionId":"notes","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"Note this down."}}"#,
    "\n\n",
    "not a record\n",
    r#"{"type":"user","uuid":"u2","sessionId":"notes","timestamp":"2026-01-01T00:00:02Z","message":{"role":"user","content":"And this, without an end of line."}}"#,
);

fn because(reason: &str) -> Actor {
    Actor { name: "fixture".into(), reason: reason.into() }
}

/// The work of the fixture that is kept: a system file is written, many parts are read, a promise stays open.
fn work(session: &Session<'_>) {
    session.record(SpanDraft::user(COLD)).unwrap();
    let args = serde_json::json!({"file_path": "/etc/app/conf.yaml", "content": "listen: 127.0.0.1:8471\n"});
    call(session, "c1", "Write", args, "File created successfully at: /etc/app/conf.yaml");
    for n in 0..24 {
        let args = serde_json::json!({"file_path": format!("/srv/export/part-{n}.py")});
        let result = format!("def part_{n}():\n    return {}\n", 7 * n + 1_000);
        call(session, &format!("r{n}"), "Read", args, &result);
    }
    session.record(SpanDraft::assistant("Every part only adds numbers up.")).unwrap();
}

/// The packs of a vault, each with its version.
fn packs(vault: &Path) -> Vec<u32> {
    let packs =
        fs::read_dir(vault.join("cold")).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    packs.map(|pack| u32::from_le_bytes(*pack[8..].first_chunk().unwrap())).collect()
}

#[test]
fn i44_a_pack_of_any_version_lets_go_of_what_is_reclaimed_and_keeps_the_rest() {
    FIXTURES.into_iter().for_each(lets_go);
}

fn lets_go(name: &str) {
    let dir = copy_of(name);
    let path = dir.path().join("vault");
    let clock = Arc::new(SimClock::new(9));
    let vault = Vault::open_with(&path, options(Arc::clone(&clock), 9)).unwrap();
    let alike = |vault: &Vault| {
        let filter = SpanFilter { session: Some("alike".into()), ..SpanFilter::default() };
        let mut spans = Vec::new();
        vault
            .spans(&filter, &mut |span| {
                spans.push((span.span, span.tier));
                Ok(())
            })
            .unwrap();
        spans
    };
    // Every third of them is held.
    for (span, _tier) in alike(&vault).iter().step_by(3) {
        vault.hold(&ScopeName::Named((*span).into()), because("case 19")).unwrap();
    }
    let keep = NewRetention {
        session: Some("alike".to_owned()),
        keep_for: Some(TtlRule::For(Ttl::days(1))),
        ..NewRetention::default()
    };
    vault.set_retention(&keep, because("")).unwrap();
    let known: Vec<(SpanId, Vec<u8>)> = retrievable(&vault);
    clock.advance(DAY + 1);
    vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
    clock.advance(DAY);
    assert!(vault.reclaim(Run::Real, &mut |_step| {}).unwrap().reclaimed >= 42);
    for vault in [vault, Vault::open_read_only_with(&path, later()).unwrap()] {
        let gone: Vec<_> = alike(&vault).into_iter().filter(|(_span, tier)| !tier.is_retrievable()).collect();
        assert_eq!(gone.len(), 42);
        for (span, bytes) in &known {
            match vault.recover(*span) {
                Ok(found) => assert_eq!(found, *bytes),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Insufficient, "{span}: {error:?}"),
            }
        }
        check_known_bytes(&vault);
        let report = vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap();
        assert!(report.is_sound(), "{report:?}");
    }
    let versions = packs(&path);
    assert!(!versions.is_empty() && versions.iter().all(|version| *version == 3), "{versions:?}");
}

/// A record of the fixture that has originals in pieces.
fn long_record(id: &str, after: &str, end: &str) -> Vec<u8> {
    let lines: Vec<_> = (0..8_000).map(|n| format!("line {n:05} of the log: all is well\\n")).collect();
    let lines = lines.concat();
    let second = id.trim_start_matches('u');
    format!(
        r#"{{"type":"user","uuid":"{id}","parentUuid":"{after}","sessionId":"long","timestamp":"2026-01-01T00:00:0{second}Z","message":{{"role":"user","content":"{lines}{end}"}}}}"#
    )
    .into_bytes()
}

#[test]
fn long_originals_in_a_pack_of_version_2_come_back_whole_and_in_part() {
    let dir = copy_of("vault-v1-pieces");
    let path = dir.path().join("vault");
    assert_eq!(packs(&path), [2]);
    let vault = Vault::open_read_only_with(&path, later()).unwrap();
    for record in [long_record("u2", "u1", ""), long_record("u3", "u2", "And an end.")] {
        let hash = spanvault::types::ContentHash::of(&record);
        assert!(matches!(vault.why(hash).unwrap().whereabouts, Whereabouts::Cold { .. }));
        assert_eq!(vault.recover(hash).unwrap(), record);
        assert_eq!(vault.recover_range(hash, 200_000..200_100).unwrap(), record[200_000..200_100]);
    }
    assert!(vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap().is_sound());
}

/// Makes the fixture of the versions that this program writes, in `target/`. Run once for each version:
/// `cargo test -p spanvault-tests --test it -- --ignored make_the_fixture`, and copy what it made.
#[test]
#[ignore = "makes a fixture; run by hand for a new version of the format"]
fn make_the_fixture_of_this_version() {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vault-v1-packs");
    let path = made.join("vault");
    drop(fs::remove_dir_all(&made));
    fs::create_dir_all(&made).unwrap();
    let clock = Arc::new(SimClock::new(1));
    let vault = Vault::open_with(&path, options(Arc::clone(&clock), 1)).unwrap();
    vault.assume_audit(None, because("demands say what is needed")).unwrap();

    // Gone: three originals past their day and their grace.
    let gone = vault.session("gone").unwrap();
    for n in 0..3 {
        gone.record(SpanDraft::user(format!("Soon forgotten, number {n}."))).unwrap();
    }
    let one_day = |session: &str| NewRetention {
        session: Some(session.to_owned()),
        keep_for: Some(TtlRule::For(Ttl::days(1))),
        ..NewRetention::default()
    };
    vault.set_retention(&one_day("gone"), because("")).unwrap();
    clock.advance(DAY + 1);
    vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
    clock.advance(DAY);
    assert_eq!(vault.reclaim(Run::Real, &mut |_step| {}).unwrap().reclaimed, 3);

    // Compacted and cold.
    let run = vault.session("run").unwrap();
    work(&run);
    let compaction = CompactionOptions { keep: Keep::last(6), ..CompactionOptions::default() };
    let report = run.compact_with(&compaction, &mut BuiltIn).unwrap();
    assert!(report.summaries[0].summary.is_some(), "{report:?}");
    vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).unwrap();
    vault.close().unwrap();
    // What these share is worth a dictionary; they are packed together.
    let mut solid = options(Arc::clone(&clock), 2);
    solid.packing = Packing::Solid;
    let vault = Vault::open_with(&path, solid).unwrap();
    let alike = vault.session("alike").unwrap();
    let shared: String = (0..9_u8).map(|n| spanvault::types::ContentHash::of(&[n]).to_string()).collect();
    let drafts = (0..64).map(|n| SpanDraft::user(format!("{shared} and of its own {n}"))).collect();
    alike.record_all(drafts).unwrap();
    let demoted = vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).unwrap();
    assert!(demoted.demoted == 64, "{demoted:?}");
    let run = vault.session("run").unwrap();

    // Hot: new spans, one of which shares a cold original; a promise that is refused; a file with a gap.
    run.record(SpanDraft::user(HOT)).unwrap();
    run.record(SpanDraft::user(COLD)).unwrap();
    let promise = "Once it is deployed I will add an alert for exports that take longer than 60 seconds.";
    run.record(SpanDraft::assistant(promise)).unwrap();
    for n in 0..8 {
        run.record(SpanDraft::user(format!("Nothing more for now, {n}."))).unwrap();
    }
    let refused = run.compact_with(&compaction, &mut BuiltIn).unwrap();
    assert_eq!(refused.refused, 1, "{refused:?}");
    run.checkpoint().unwrap();
    let notes = std::env::temp_dir().join("spanvault-fixture");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("notes.jsonl"), NOTES).unwrap();
    vault.ingest(notes.join("notes.jsonl"), &IngestOptions::default(), &mut |_done, _of| {}).unwrap();

    // Needed and held, and no longer.
    let scope = ScopeName::Session("run".into());
    vault.declare(DemandKind::Audit, &scope, NeededUntil::For(Ttl::days(30)), because("the audit")).unwrap();
    let over =
        vault.declare(DemandKind::Replay, &scope, NeededUntil::Unknown, because("perhaps")).unwrap().demand;
    vault.withdraw(over, because("not needed")).unwrap();
    vault.hold(&scope, because("case 17")).unwrap();
    let released = vault.hold(&ScopeName::Session("notes".into()), because("case 18")).unwrap().hold;
    vault.release(released, because("closed")).unwrap();

    // Condemned, and not gone yet.
    vault.session("going").unwrap().record(SpanDraft::user("On its way out.")).unwrap();
    vault.set_retention(&one_day("going"), because("")).unwrap();
    clock.advance(DAY + 1);
    assert_eq!(vault.reclaim(Run::Real, &mut |_step| {}).unwrap().condemned, 1);

    fs::write(made.join("said.txt"), said_by(&vault)).unwrap();
    vault.close().unwrap();
    fs::remove_file(path.join("LOCK")).unwrap();
    assert!(clock.boot_id().is_some());
}
