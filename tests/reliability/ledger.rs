//! What a vault acknowledged, kept outside of it, and whether it kept its word.

use std::collections::{BTreeMap, BTreeSet};

use spanvault::types::{ContentHash, Position};
use spanvault::{DemandId, ErrorKind, HoldId, SpanFilter, Vault};
use spanvault_testkit::Auditor;

pub(crate) const DAY: u64 = 86_400_000;
/// How long originals are kept by the only rule, and condemned.
pub(crate) const KEPT_MS: u64 = 30 * DAY;
pub(crate) const GRACE_MS: u64 = DAY;

/// An acknowledged original.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) bytes: Vec<u8>,
    /// The true time of its last recording, before the call.
    pub(crate) recorded_ms: u64,
    pub(crate) is_gone: bool,
}

/// An acknowledged hold.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) hold: HoldId,
    pub(crate) of: ContentHash,
    /// Somebody tried to release it: nothing is known about it any more.
    pub(crate) ended: bool,
}

/// An acknowledged demand.
#[derive(Debug, Clone)]
pub(crate) struct Demanded {
    pub(crate) demand: DemandId,
    pub(crate) of: ContentHash,
    /// True time until when it is needed at least; `None`: nobody knows.
    pub(crate) until_ms: Option<u64>,
    pub(crate) ended: bool,
}

/// Everything that was acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) originals: BTreeMap<ContentHash, Known>,
    pub(crate) holds: Vec<Held>,
    pub(crate) demands: Vec<Demanded>,
    /// What was new in every batch that was ever handed in: all of it is there or nothing (I6).
    pub(crate) batches: Vec<Vec<ContentHash>>,
    /// What was acknowledged, by session, in order.
    pub(crate) records: BTreeMap<String, Vec<ContentHash>>,
    pub(crate) deletions: u64,
    pub(crate) looks: u64,
}

impl Ledger {
    /// Whether anything that was acknowledged keeps an original at this instant of true time.
    fn is_kept(&self, hash: &ContentHash, now_ms: u64) -> bool {
        let held = self.holds.iter().any(|hold| hold.of == *hash && !hold.ended);
        let needed = self.demands.iter().any(|demand| {
            demand.of == *hash && !demand.ended && demand.until_ms.is_none_or(|until| now_ms < until)
        });
        held || needed
    }

    /// Looks at one original: its exact bytes, or a tombstone that may be there by now.
    pub(crate) fn look_at(&mut self, vault: &Vault, hash: ContentHash, now_ms: u64) -> Result<(), String> {
        self.looks += 1;
        let kept = self.is_kept(&hash, now_ms);
        let Some(known) = self.originals.get_mut(&hash) else { return Ok(()) };
        match vault.recover(hash) {
            Ok(bytes) if bytes != known.bytes => Err(format!("{hash}: other bytes")),
            Ok(_bytes) => Ok(()),
            Err(error) if error.kind() != ErrorKind::Insufficient || error.tombstone().is_none() => {
                Err(format!("{hash}: {error:?}"))
            }
            Err(_gone) if kept => Err(format!("{hash} is gone though something acknowledged keeps it")),
            Err(_gone) if now_ms < known.recorded_ms + KEPT_MS + GRACE_MS => {
                Err(format!("{hash} is gone after {} ms", now_ms - known.recorded_ms))
            }
            Err(_gone) => {
                self.deletions += u64::from(!known.is_gone);
                known.is_gone = true;
                Ok(())
            }
        }
    }

    /// Looks at everything: bytes, holds, demands, the order of every session, and the law of the log.
    pub(crate) fn look(&mut self, vault: &Vault, now_ms: u64) -> Result<(), String> {
        let hashes: Vec<ContentHash> = self.originals.keys().copied().collect();
        for hash in hashes {
            self.look_at(vault, hash, now_ms)?;
        }
        let failed = |what: &str, error: spanvault::Error| format!("{what}: {error:?}");
        let holds: BTreeMap<HoldId, bool> = vault
            .holds()
            .map_err(|error| failed("holds", error))?
            .into_iter()
            .map(|info| (info.hold, info.released.is_none()))
            .collect();
        for held in self.holds.iter().filter(|held| !held.ended) {
            if holds.get(&held.hold) != Some(&true) {
                return Err(format!("{} was acknowledged and does not stand", held.hold));
            }
        }
        let demands: BTreeMap<DemandId, bool> = vault
            .demands()
            .map_err(|error| failed("demands", error))?
            .into_iter()
            .map(|info| (info.demand, info.withdrawn.is_none()))
            .collect();
        for demand in self.demands.iter().filter(|demand| !demand.ended) {
            if demands.get(&demand.demand) != Some(&true) {
                return Err(format!("{} was acknowledged and does not stand", demand.demand));
            }
        }
        self.look_at_order(vault)?;
        let mut auditor = Auditor::default();
        vault
            .log(Position::new(1), &mut |entry| {
                auditor.take(entry.at, &entry.event).map_err(|unlawful| {
                    spanvault::Error::from_caller(ErrorKind::Internal, unlawful.to_string())
                })
            })
            .map_err(|error| failed("the log", error))?;
        auditor.finish().map_err(|unlawful| unlawful.to_string())
    }

    /// Every session has what was acknowledged, in that order, and of every batch all records or none.
    fn look_at_order(&self, vault: &Vault) -> Result<(), String> {
        let mut found: BTreeMap<String, Vec<ContentHash>> = BTreeMap::new();
        let mut hashes = BTreeSet::new();
        vault
            .spans(&SpanFilter::default(), &mut |span| {
                if let Some(hash) = span.hash {
                    hashes.insert(hash);
                    found.entry(span.session.clone()).or_default().push(hash);
                }
                Ok(())
            })
            .map_err(|error| format!("the spans: {error:?}"))?;
        for (session, acknowledged) in &self.records {
            let mut there = found.get(session).into_iter().flatten();
            if let Some(lost) = acknowledged.iter().find(|hash| !there.any(|other| other == *hash)) {
                return Err(format!("{session} has not {lost}, or not in its place"));
            }
        }
        for batch in &self.batches {
            let there = batch.iter().filter(|hash| hashes.contains(*hash)).count();
            if there != 0 && there != batch.len() {
                return Err(format!("of a batch of {} spans {there} are there", batch.len()));
            }
        }
        Ok(())
    }
}
