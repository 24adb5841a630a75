//! A vault on a simulated disk and what it acknowledged, for suites that go through the same steps again and again.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use spanvault::types::{Actor, Ttl, TtlRule};
use spanvault::{
    BuiltIn, CompactionOptions, Cooling, Error, Keep, NewRetention, Options, Packing, Run, ScopeName,
    SpanDraft, Vault,
};
use spanvault_env::{Env, SimClock, SimDisk};

use crate::ledger::{DAY, GRACE_MS, Held, KEPT_MS, Known, Ledger};

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Records a call and its result.
    Record(u8),
    /// Summarises everything.
    Compact,
    /// Holds the first original.
    Hold,
    /// Demotes everything.
    Demote,
    /// Condemns what is due, or removes what was condemned.
    Reclaim,
    /// Lets a month and a day pass.
    Wait,
}

/// A machine, and what its vault acknowledged.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) env: Env,
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) ledger: Ledger,
    /// How what is demoted is packed.
    packing: Packing,
}

fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the script says so".into() }
}

impl Stage {
    pub(crate) fn new(seed: u64) -> Self {
        let (env, disk, clock) = Env::simulated(seed);
        Self { env, disk, clock, ledger: Ledger::default(), packing: Packing::Single }
    }

    /// The same, which packs so.
    pub(crate) fn packing(self, packing: Packing) -> Self {
        Self { packing, ..self }
    }

    pub(crate) fn open(&self) -> spanvault::Result<Vault> {
        let mut options = Options::simulated(self.env.clone());
        options.segment_bytes = 8 << 10;
        options.reserve_bytes = 0;
        options.packing = self.packing;
        Vault::open_with(Path::new("/vault"), options)
    }

    /// The same machine with another disk. Its clock is shared.
    pub(crate) fn with_disk(&self, disk: Arc<SimDisk>) -> Self {
        Self { env: self.env.with_disk(disk.clone()), disk, ..self.clone() }
    }

    /// Sets the rule and the policy that the ledger knows.
    pub(crate) fn found(vault: &Vault) -> Result<(), Error> {
        let keep = NewRetention {
            keep_for: Some(TtlRule::For(Ttl::from_ms(KEPT_MS).expect("a month"))),
            grace: Some(Ttl::from_ms(GRACE_MS).expect("a day")),
            ..NewRetention::default()
        };
        vault.set_retention(&keep, ann())?;
        vault.assume_audit(None, ann()).map(drop)
    }

    /// Takes a step, and notes what was acknowledged.
    pub(crate) fn act(&mut self, vault: &Vault, act: Act) -> Result<(), Error> {
        match act {
            Act::Record(n) => {
                let words =
                    format!("This is crossing {n} of the river, and all that can be said of it. ").repeat(9);
                let drafts = vec![
                    SpanDraft::tool_call_with_id(
                        format!("c{n}"),
                        format!("update_{n}"),
                        json!({"note": words}),
                    ),
                    SpanDraft::tool_result(format!("c{n}"), format!("Kept. {words}")),
                ];
                self.ledger.batches.push(
                    drafts.iter().map(|draft| spanvault::types::ContentHash::of(draft.as_bytes())).collect(),
                );
                let recorded_ms = self.clock.true_ms();
                for receipt in vault.session("run")?.record_all(drafts)? {
                    let known = Known { bytes: receipt.bytes, recorded_ms, is_gone: false };
                    self.ledger.originals.insert(receipt.hash, known);
                    self.ledger.records.entry("run".to_owned()).or_default().push(receipt.hash);
                }
                Ok(())
            }
            Act::Compact => {
                let options = CompactionOptions { keep: Keep::last(0), ..CompactionOptions::default() };
                vault.session("run")?.compact_with(&options, &mut BuiltIn).map(drop)
            }
            Act::Hold => {
                let Some(of) = self.ledger.originals.keys().next().copied() else { return Ok(()) };
                match vault.hold(&ScopeName::Named(of.into()), ann()) {
                    Ok(held) => self.ledger.holds.push(Held { hold: held.hold, of, ended: false }),
                    // It went lawfully before.
                    Err(error) if error.kind() == spanvault::ErrorKind::Insufficient => {}
                    Err(error) => return Err(error),
                }
                Ok(())
            }
            Act::Demote => vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).map(drop),
            Act::Reclaim => vault.reclaim(Run::Real, &mut |_step| {}).map(drop),
            Act::Wait => {
                self.clock.advance(KEPT_MS + DAY);
                Ok(())
            }
        }
    }

    /// Opens the vault and looks at everything.
    pub(crate) fn look(&mut self, moment: &str) {
        let vault = self.open().unwrap_or_else(|error| panic!("{moment}: it does not open: {error:?}"));
        let now_ms = self.clock.true_ms();
        self.ledger.look(&vault, now_ms).unwrap_or_else(|broken| panic!("{moment}: {broken}"));
    }
}
