//! The vault that every schedule begins with.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::json;
use spanvault::types::{Actor, ContentHash, Ttl, TtlRule};
use spanvault::{
    Cooling, ErrorKind, NewRetention, Options, Packing, Run, ScopeName, SpanDraft, Vault, VerifyDepth,
    Whereabouts,
};
use spanvault_env::{Disk, Env, SimClock, SimDisk, Survival};
use spanvault_testkit::Auditor;

pub(crate) const DAY: u64 = 86_400_000;
const DIR: &str = "/vault";

/// How far the life of the originals has gone when the race begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Past their retention.
    Due,
    /// Condemned for a full grace.
    Condemned,
    /// The same, and demoted before.
    CondemnedCold,
    /// The same of every second one; the others, beside them in their pack, are held.
    HalfCondemnedCold,
    /// Nothing is due.
    Fresh,
}

/// A vault in a world that a model turns.
pub(crate) struct World {
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<SimClock>,
    disk: Arc<SimDisk>,
    env: Env,
    pub(crate) originals: Vec<(ContentHash, Vec<u8>)>,
}

/// A vault as it lay on the disk, and what it holds.
struct Image {
    files: Vec<(PathBuf, Vec<u8>)>,
    passed_ms: u64,
    originals: Vec<(ContentHash, Vec<u8>)>,
}

pub(crate) fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the model says so".into() }
}

fn options(env: Env) -> Options {
    let mut options = Options::simulated(env);
    options.segment_bytes = 4 << 10;
    options.reserve_bytes = 0;
    options.extend_budget = TtlRule::Forever;
    // What races over packs, races over blocks that several originals are in.
    options.packing = Packing::Solid;
    options
}

fn image(beginning: Beginning) -> Image {
    let (env, disk, clock) = Env::simulated(5);
    let vault = Vault::open_with(DIR, options(env)).unwrap();
    let mut originals = Vec::new();
    let session = vault.session("run").unwrap();
    for n in 0..2 {
        let words = format!("This is crossing {n} of the river, and all that can be said of it. ").repeat(12);
        let receipts = session.record_all(vec![
            SpanDraft::tool_call_with_id(format!("c{n}"), format!("update_{n}"), json!({"note": words})),
            SpanDraft::tool_result(format!("c{n}"), format!("Kept. {words}")),
        ]);
        originals.extend(receipts.unwrap().into_iter().map(|receipt| (receipt.hash, receipt.bytes)));
    }
    vault.assume_audit(None, ann()).unwrap();
    let mut passed_ms = 0;
    let mut pass = |ms| {
        clock.advance(ms);
        passed_ms += ms;
    };
    if beginning != Beginning::Fresh {
        let keep = NewRetention { keep_for: Some(TtlRule::For(Ttl::days(30))), ..NewRetention::default() };
        vault.set_retention(&keep, ann()).unwrap();
        pass(31 * DAY);
    }
    if matches!(beginning, Beginning::CondemnedCold | Beginning::HalfCondemnedCold) {
        vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).unwrap();
    }
    if beginning == Beginning::HalfCondemnedCold {
        for (hash, _bytes) in originals.iter().skip(1).step_by(2) {
            vault.hold(&ScopeName::Named((*hash).into()), ann()).unwrap();
        }
    }
    if !matches!(beginning, Beginning::Due | Beginning::Fresh) {
        vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
        pass(DAY);
    }
    drop(vault);
    let files = disk.files().into_iter();
    let files = files.map(|(path, _len)| (path.clone(), disk.bytes(&path).unwrap())).collect();
    Image { files, passed_ms, originals }
}

impl World {
    /// The vault of that beginning, opened anew. What leads there happens once; each schedule gets a copy of the disk.
    pub(crate) fn new(beginning: Beginning) -> Self {
        static IMAGES: [OnceLock<Image>; 5] = [const { OnceLock::new() }; 5];
        let image = IMAGES[beginning as usize].get_or_init(|| image(beginning));
        // The same machine in the same boot, and not the same random numbers again.
        let (_env, _disk, clock) = Env::simulated(5);
        let (env, disk, _clock) = Env::simulated(6);
        let env = Env { clock: clock.clone(), ..env };
        for (path, bytes) in &image.files {
            disk.create_dir(path.parent().unwrap()).unwrap();
            disk.put(path, bytes).unwrap();
        }
        clock.advance(image.passed_ms);
        let vault = Vault::open_with(Path::new(DIR), options(env.clone())).unwrap();
        Self { vault, clock, disk, env, originals: image.originals.clone() }
    }
}

/// What a look at an original found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Whole,
    Gone,
}

impl World {
    /// Recovers original `n`: its exact bytes, or its tombstone, and nothing else (I2).
    pub(crate) fn recover(&self, n: usize) -> Found {
        let (hash, bytes) = &self.originals[n];
        match self.vault.recover(*hash) {
            Ok(found) => {
                assert_eq!(&found, bytes);
                Found::Whole
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Insufficient, "original {n}: {error:?}");
                assert!(error.tombstone().is_some(), "original {n} has no tombstone");
                Found::Gone
            }
        }
    }

    /// What the disk would hold if the power were cut now.
    pub(crate) fn after_a_power_cut(&self) -> Arc<SimDisk> {
        self.disk.crash(Survival::Nothing)
    }

    /// The vault on another disk.
    pub(crate) fn vault_on(&self, disk: Arc<SimDisk>) -> Vault {
        Vault::open_with(Path::new(DIR), options(self.env.with_disk(disk))).unwrap()
    }

    /// A run of reclaim; one that does not end well must not be.
    pub(crate) fn reclaim(&self) {
        self.vault.reclaim(Run::Real, &mut |_step| {}).unwrap();
    }

    pub(crate) fn demote(&self) {
        self.vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).unwrap();
    }

    pub(crate) fn is_condemned(&self, n: usize) -> bool {
        matches!(self.vault.why(self.originals[n].0).unwrap().whereabouts, Whereabouts::Condemned { .. })
    }

    /// When all is done: the log is lawful, every original is whole or behind its tombstone, all bytes verify, and no reader
    /// met any damage.
    pub(crate) fn is_lawful(&self) {
        let mut auditor = Auditor::default();
        self.vault
            .log(self.vault.revision().min(spanvault::types::Position::new(1)), &mut |entry| {
                auditor.take(entry.at, &entry.event).unwrap();
                Ok(())
            })
            .unwrap();
        auditor.finish().unwrap();
        for n in 0..self.originals.len() {
            self.recover(n);
        }
        let found = self.vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap();
        assert!(found.is_sound(), "{found:?}");
        // Nobody took for damage what only moved or went: a second look would have hidden that.
        let damage = self.vault.health().unwrap().damage;
        assert!(damage.is_empty(), "{damage:?}");
    }
}
