//! T2: one seed drives the vault, its disk, its clock and whatever goes wrong with them; the same seed does the same.
//!
//! First everything can fail: calls of the disk, in every way that it knows; the power; the wall clock; the process. What
//! was acknowledged is kept outside and looked at again and again. Then nothing fails any more, and what nothing keeps has
//! to go, down to the last left-over file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use spanvault::types::{Actor, ContentHash, DemandKind, Event, Ttl, TtlRule};
use spanvault::{
    BuiltIn, CompactionOptions, Cooling, Durability, ErrorKind, Expiring, Keep, NeededUntil, NewRetention,
    Options, Packing, Receipt, Run, ScopeName, SpanDraft, Vault, VerifyDepth,
};
use spanvault_env::{CallKind, ClockState, Count, Env, Fault, ScheduledFault, SimClock, SimDisk, Survival};
use spanvault_testkit::reliability;

use crate::draw::Draw;
use crate::ledger::{DAY, Demanded, GRACE_MS, Held, KEPT_MS, Known, Ledger};
use crate::number;

const HOUR: u64 = 3_600_000;

/// One simulated machine with a vault.
pub(crate) struct Simulation {
    draw: Draw,
    env: Env,
    disk: Arc<SimDisk>,
    clock: Arc<SimClock>,
    vault: Option<Vault>,
    pub(crate) ledger: Ledger,
    /// Whether something was set to fail since the vault was opened.
    is_troubled: bool,
    spoken: u64,
    handed_in: BTreeSet<ContentHash>,
    /// What was recorded less durably: a power cut may take it, unless something durable came after it.
    buffered: Vec<Buffered>,
    began_ms: u64,
    packing: Packing,
    pub(crate) keeps: u64,
    pub(crate) troubles: u64,
}

/// Spans that were recorded less durably, as they go into the ledger once they are durable.
#[derive(Debug)]
struct Buffered {
    session: String,
    receipts: Vec<Receipt>,
    recorded_ms: u64,
}

type Step = Result<(), String>;

fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the simulation says so".into() }
}

impl Simulation {
    pub(crate) fn new(seed: u64) -> Result<Self, String> {
        let (env, disk, clock) = Env::simulated(seed);
        let began_ms = clock.true_ms();
        let mut simulation = Self {
            draw: Draw::new(seed),
            env,
            disk,
            clock,
            vault: None,
            ledger: Ledger::default(),
            is_troubled: false,
            spoken: 0,
            handed_in: BTreeSet::new(),
            buffered: Vec::new(),
            began_ms,
            packing: if seed.is_multiple_of(2) { Packing::Single } else { Packing::Solid },
            keeps: 0,
            troubles: 0,
        };
        simulation.open()?;
        let keep = NewRetention {
            keep_for: Some(TtlRule::For(Ttl::from_ms(KEPT_MS).expect("a month"))),
            grace: Some(Ttl::from_ms(GRACE_MS).expect("a day")),
            ..NewRetention::default()
        };
        simulation.vault().set_retention(&keep, ann()).map_err(|error| format!("{error:?}"))?;
        simulation.vault().assume_audit(None, ann()).map_err(|error| format!("{error:?}"))?;
        Ok(simulation)
    }

    /// Goes through the seed's steps, and then lets everything go that may.
    pub(crate) fn run(&mut self, steps: u64) -> Step {
        for step in 0..steps {
            self.step().map_err(|broken| format!("step {step}: {broken}"))?;
        }
        self.settle().map_err(|broken| format!("at the end: {broken}"))
    }

    /// A hash over all that happened to the disk.
    pub(crate) fn trace(&self) -> [u8; 32] {
        self.disk.trace_hash()
    }

    /// How long it lasted, in days of true time.
    pub(crate) fn days(&self) -> u64 {
        (self.clock.true_ms() - self.began_ms) / DAY
    }

    fn vault(&self) -> &Vault {
        self.vault.as_ref().expect("it is open")
    }

    fn options(&self) -> Options {
        let mut options = Options::simulated(self.env.clone());
        options.segment_bytes = 16 << 10;
        options.reserve_bytes = 8 << 10;
        options.extend_budget = TtlRule::Forever;
        options.packing = self.packing;
        options
    }

    fn open(&mut self) -> Step {
        let vault = Vault::open_with(Path::new("/vault"), self.options());
        self.vault = Some(vault.map_err(|error| format!("it does not open: {error:?}"))?);
        self.is_troubled = false;
        Ok(())
    }

    /// Ends the process, the power too where that is how it ended, and opens the vault again.
    fn reopen(&mut self, power: bool) -> Step {
        self.note_durable();
        drop(self.vault.take());
        self.disk.mend();
        self.disk.set_capacity(None);
        if power || !self.disk.is_powered() {
            self.buffered.clear();
            let survival = match self.draw.below(4) {
                0 => Survival::All,
                1 => Survival::Nothing,
                _ => Survival::Seeded(self.draw.next()),
            };
            self.disk = self.disk.crash(survival);
            let down_ms = self.draw.below(40) * DAY;
            self.clock.reboot(down_ms);
        } else {
            // The end of the process takes nothing.
            for spans in std::mem::take(&mut self.buffered) {
                self.acknowledge(spans);
            }
            self.disk = self.disk.restart();
        }
        self.env = self.env.with_disk(self.disk.clone());
        self.open()
    }

    fn step(&mut self) -> Step {
        match self.draw.below(100) {
            0..=27 => self.record(),
            28..=35 => self.hold(),
            36..=39 => self.release(),
            40..=46 => self.declare(),
            47..=50 => self.withdraw(),
            51..=54 => self.compact(),
            55..=57 => self.demote(),
            58..=64 => self.reclaim(),
            65..=77 => {
                let ms = [1, HOUR, DAY, 10 * DAY, KEPT_MS, KEPT_MS, KEPT_MS + DAY + 1];
                let ms = *self.draw.one_of(&ms).expect("some");
                self.clock.advance(ms);
                Ok(())
            }
            78..=80 => {
                let far = [HOUR, 40 * DAY, 3_650 * DAY];
                let far = i64::try_from(*self.draw.one_of(&far).expect("some")).expect("ten years");
                self.clock.jump_wall(if self.draw.once_in(2) { far } else { -far });
                Ok(())
            }
            81 => {
                self.clock.pause(self.draw.below(3) * DAY);
                Ok(())
            }
            82..=83 => self.confirm(),
            84..=88 => self.look_at_one(),
            89..=91 => self.trouble(),
            92..=93 => {
                self.troubles += 1;
                self.disk.cut_power(Count::Changes, 1 + self.draw.below(12));
                self.is_troubled = true;
                Ok(())
            }
            94 => self.second_opener(),
            95..=97 => {
                let power = self.draw.once_in(2);
                self.reopen(power)
            }
            _ => {
                self.reopen(false)?;
                self.look()
            }
        }
    }

    /// What came of a call: what was acknowledged, or nothing. Only trouble excuses an error that is not one of `lawful`;
    /// after trouble the vault is opened again.
    fn came<T>(
        &mut self,
        done: Result<T, spanvault::Error>,
        lawful: &[ErrorKind],
    ) -> Result<Option<T>, String> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(error) if lawful.contains(&error.kind()) && !self.is_troubled => Ok(None),
            Err(error) if !self.is_troubled => Err(format!("{error:?}")),
            Err(_excused) => {
                self.reopen(false)?;
                self.look()?;
                Ok(None)
            }
        }
    }

    fn drafts(&mut self) -> Vec<SpanDraft> {
        // A few texts come again and again.
        let n = if self.draw.once_in(3) { self.draw.below(6) } else { 10 + self.spoken };
        self.spoken += 1;
        let words = format!("This is crossing {n} of the river, and all that can be said of it. ");
        let long = usize::try_from(2 + self.draw.below(12)).expect("a few");
        match self.draw.below(3) {
            0 => vec![SpanDraft::assistant(words.repeat(8))],
            1 => vec![SpanDraft::user(format!("Gauge {n} shows 417{n} litres. {words}"))],
            _ => {
                let id = format!("c{n}");
                vec![
                    SpanDraft::tool_call_with_id(
                        id.clone(),
                        format!("update_{n}"),
                        json!({"note": words.repeat(8)}),
                    ),
                    SpanDraft::tool_result(id, format!("Kept. {}", words.repeat(long))),
                ]
            }
        }
    }

    fn record(&mut self) -> Step {
        let session = format!("session-{}", self.draw.below(3));
        let drafts = self.drafts();
        let all: Vec<ContentHash> = drafts.iter().map(|draft| ContentHash::of(draft.as_bytes())).collect();
        // What is handed in twice says nothing about either batch: it may be there of the first one, acknowledged or not.
        let new: Vec<ContentHash> = all.iter().copied().filter(|hash| self.handed_in.insert(*hash)).collect();
        let is_new = all.iter().all(|hash| new.contains(hash));
        self.ledger.batches.iter_mut().for_each(|batch| batch.retain(|hash| !all.contains(hash)));
        self.ledger.batches.push(new);
        let durability = if is_new && self.draw.once_in(4) { Durability::Buffered } else { Durability::Sync };
        let recorded_ms = self.clock.true_ms();
        let vault = self.vault();
        let done = vault.session(&session);
        let done = done.and_then(|session| session.with_durability(durability).record_all(drafts));
        let Some(receipts) = self.came(done, &[])? else { return Ok(()) };
        self.buffered.push(Buffered { session, receipts, recorded_ms });
        self.note_durable();
        if durability == Durability::Sync && !self.buffered.is_empty() {
            return Err("I1: what was recorded durably is not".to_owned());
        }
        Ok(())
    }

    /// What was recorded less durably is acknowledged as soon as it is durable.
    fn note_durable(&mut self) {
        let Some(vault) = &self.vault else { return };
        let durable = vault.durable();
        let is_durable = |spans: &Buffered| spans.receipts.iter().all(|receipt| receipt.span.0 <= durable);
        let count = self.buffered.iter().take_while(|spans| is_durable(spans)).count();
        let acknowledged: Vec<Buffered> = self.buffered.drain(..count).collect();
        for spans in acknowledged {
            self.acknowledge(spans);
        }
    }

    fn acknowledge(&mut self, spans: Buffered) {
        for receipt in spans.receipts {
            let known = Known { bytes: receipt.bytes, recorded_ms: spans.recorded_ms, is_gone: false };
            self.ledger.originals.insert(receipt.hash, known);
            self.ledger.records.entry(spans.session.clone()).or_default().push(receipt.hash);
        }
    }

    fn any_original(&mut self) -> Option<ContentHash> {
        let hashes: Vec<ContentHash> = self
            .ledger
            .originals
            .iter()
            .filter(|(_hash, known)| !known.is_gone)
            .map(|(hash, _)| *hash)
            .collect();
        self.draw.one_of(&hashes).copied()
    }

    fn hold(&mut self) -> Step {
        let Some(of) = self.any_original() else { return Ok(()) };
        self.keeps += 1;
        let done = self.vault().hold(&ScopeName::Named(of.into()), ann());
        // It may have gone since somebody looked.
        if let Some(held) = self.came(done, &[ErrorKind::Insufficient])? {
            self.ledger.holds.push(Held { hold: held.hold, of, ended: false });
        }
        Ok(())
    }

    fn release(&mut self) -> Step {
        let standing: Vec<usize> =
            (0..self.ledger.holds.len()).filter(|n| !self.ledger.holds[*n].ended).collect();
        let Some(n) = self.draw.one_of(&standing).copied() else { return Ok(()) };
        self.ledger.holds[n].ended = true;
        let done = self.vault().release(self.ledger.holds[n].hold, ann());
        self.came(done, &[]).map(drop)
    }

    fn declare(&mut self) -> Step {
        let Some(of) = self.any_original() else { return Ok(()) };
        self.keeps += 1;
        let days = [1, 40, 100];
        let length_ms =
            if self.draw.once_in(4) { None } else { self.draw.one_of(&days).map(|days| days * DAY) };
        let until =
            length_ms.map_or(NeededUntil::Unknown, |ms| NeededUntil::For(Ttl::from_ms(ms).expect("days")));
        let declared_ms = self.clock.true_ms();
        let done = self.vault().declare(DemandKind::Audit, &ScopeName::Named(of.into()), until, ann());
        if let Some(declared) = self.came(done, &[ErrorKind::Refused])? {
            let until_ms = length_ms.map(|ms| declared_ms + ms);
            self.ledger.demands.push(Demanded { demand: declared.demand, of, until_ms, ended: false });
        }
        Ok(())
    }

    fn withdraw(&mut self) -> Step {
        let standing: Vec<usize> =
            (0..self.ledger.demands.len()).filter(|n| !self.ledger.demands[*n].ended).collect();
        let Some(n) = self.draw.one_of(&standing).copied() else { return Ok(()) };
        self.ledger.demands[n].ended = true;
        let done = self.vault().withdraw(self.ledger.demands[n].demand, ann());
        self.came(done, &[]).map(drop)
    }

    fn compact(&mut self) -> Step {
        let session = format!("session-{}", self.draw.below(3));
        let expiry = if self.draw.once_in(2) { Expiring::Extend } else { Expiring::Check };
        let keep = Keep::last(usize::try_from(self.draw.below(6)).expect("a few"));
        let options = CompactionOptions { keep, expiry, ..CompactionOptions::default() };
        let vault = self.vault();
        let done = vault.session(&session).and_then(|session| session.compact_with(&options, &mut BuiltIn));
        self.came(done, &[]).map(drop)
    }

    fn demote(&mut self) -> Step {
        let done = self.vault().demote(Cooling::After(0), Run::Real, &mut |_progress| {});
        self.came(done, &[]).map(drop)
    }

    fn reclaim(&mut self) -> Step {
        let before = self.vault().revision();
        let done = self.vault().reclaim(Run::Real, &mut |_step| {});
        let Some(report) = self.came(done, &[])? else { return Ok(()) };
        let mut on_record = 0;
        let log = self.vault().log(before.next(), &mut |entry| {
            if let Event::Refused(refused) = entry.event {
                on_record += refused.items.len() as u64;
            }
            Ok(())
        });
        let said = report.refused + report.rescued;
        match log {
            Ok(()) if on_record != said && !self.is_troubled => {
                Err(format!("I31: {said} originals were refused and {on_record} are on record"))
            }
            Ok(()) => Ok(()),
            Err(error) => self.came(Err(error), &[]).map(|_nothing: Option<()>| ()),
        }
    }

    /// Somebody sets the machine's clock right and ends the suspicion. No time is credited: that would be an override, after
    /// which lengths that were promised are shorter than they seem.
    fn confirm(&mut self) -> Step {
        self.clock.mend_wall();
        if self.vault().health().is_ok_and(|health| health.clock == ClockState::Trusted) {
            return Ok(());
        }
        let at = self.vault().now();
        let done = self.vault().confirm_clock(at, ann());
        self.came(done, &[]).map(drop)
    }

    fn look_at_one(&mut self) -> Step {
        let Some(of) = self.any_original() else { return Ok(()) };
        if self.is_troubled {
            return Ok(());
        }
        let now_ms = self.clock.true_ms();
        let vault = self.vault.take().expect("it is open");
        let looked = self.ledger.look_at(&vault, of, now_ms);
        self.vault = Some(vault);
        looked
    }

    fn look(&mut self) -> Step {
        let now_ms = self.clock.true_ms();
        let vault = self.vault.take().expect("it is open");
        let looked = self.ledger.look(&vault, now_ms);
        self.vault = Some(vault);
        looked
    }

    /// Sets some call of the disk to fail, or the disk to be full.
    fn trouble(&mut self) -> Step {
        self.troubles += 1;
        self.is_troubled = true;
        if self.draw.once_in(4) {
            // A sync that fails and whose pages the kernel drops, and then the power.
            self.disk.fail(ScheduledFault::new(Fault::SyncDrops, CallKind::Sync, 1));
            self.record()?;
            self.reopen(true)?;
            return self.look();
        }
        if self.draw.once_in(3) {
            self.disk.set_capacity(Some(self.disk.used_bytes() + self.draw.below(20) * 512));
            return Ok(());
        }
        let faults = [Fault::Io, Fault::NoSpace, Fault::ShortWrite, Fault::SyncDrops];
        let kinds = [
            CallKind::Write,
            CallKind::Sync,
            CallKind::SyncDir,
            CallKind::Rename,
            CallKind::Create,
            CallKind::Read,
        ];
        let fault = *self.draw.one_of(&faults).expect("some");
        let kind = *self.draw.one_of(&kinds).expect("some");
        let scheduled = ScheduledFault::new(fault, kind, 1 + self.draw.below(6));
        self.disk.fail(if self.draw.once_in(3) { scheduled.sticky() } else { scheduled });
        Ok(())
    }

    /// A second process finds the first one's lock (I67).
    fn second_opener(&mut self) -> Step {
        if self.is_troubled {
            return Ok(());
        }
        match Vault::open_with(Path::new("/vault"), self.options()) {
            Err(error) if error.kind() == ErrorKind::Unavailable => Ok(()),
            other => Err(format!("a second writer: {:?}", other.map(drop))),
        }
    }

    /// Nothing fails any more, and nobody keeps anything: all of it has to go (I40), and nothing is left over (I50).
    fn settle(&mut self) -> Step {
        self.reopen(true)?;
        self.clock.mend_wall();
        self.reopen(true)?;
        self.look()?;
        let failed = |error: spanvault::Error| format!("{error:?}");
        for hold in self.vault().holds().map_err(failed)? {
            if hold.released.is_none() {
                self.vault().release(hold.hold, ann()).map_err(failed)?;
            }
        }
        for demand in self.vault().demands().map_err(failed)? {
            if demand.withdrawn.is_none() {
                self.vault().withdraw(demand.demand, ann()).map_err(failed)?;
            }
        }
        self.ledger.holds.iter_mut().for_each(|hold| hold.ended = true);
        self.ledger.demands.iter_mut().for_each(|demand| demand.ended = true);
        self.clock.advance(KEPT_MS + DAY);
        let mut reasons = BTreeMap::new();
        for _run in 0..3 {
            // A call whose result went first is open until a checkpoint carries it.
            for session in self.vault().sessions().map_err(failed)? {
                session.checkpoint().map_err(failed)?;
            }
            reasons = self.vault().reclaim(Run::Real, &mut |_step| {}).map_err(failed)?.reasons;
            self.clock.advance(GRACE_MS);
        }
        self.look()?;
        let left = self.ledger.originals.values().filter(|known| !known.is_gone).count();
        if left > 0 {
            let still = self.ledger.originals.iter().find(|(_hash, known)| !known.is_gone);
            let why = still.map(|(hash, _known)| self.vault().why(*hash));
            return Err(format!("I40: nothing keeps {left} originals: {reasons:?}, {why:?}"));
        }
        let found = self.vault().verify(VerifyDepth::Data, &mut |_progress| {}).map_err(failed)?;
        if !found.is_sound() {
            return Err(format!("{found:?}"));
        }
        let files: BTreeMap<_, _> = self.disk.files().into_iter().collect();
        let is_left_over = |path: &Path| {
            let name = path.to_string_lossy();
            name.ends_with(".tmp") || name.ends_with(".pack")
        };
        match files.keys().find(|path| is_left_over(path)) {
            Some(path) => Err(format!("I50: {} is left over", path.display())),
            None => Ok(()),
        }
    }
}

#[test]
fn nothing_that_goes_wrong_breaks_a_promise_and_afterwards_everything_can_go() {
    let asked = |name: &str| std::env::var(name).ok().and_then(|seeds| seeds.parse::<u64>().ok());
    let (seeds, steps) = (asked("SPANVAULT_SEEDS").unwrap_or(number(6, 2_000)), 500);
    let first = asked("SPANVAULT_FIRST_SEED").unwrap_or(0);
    let next = std::sync::atomic::AtomicU64::new(first);
    let sums = std::sync::Mutex::new([0_u64; 5]);
    let only = asked("SPANVAULT_SEED");
    std::thread::scope(|scope| {
        for _worker in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= first + seeds {
                        return;
                    }
                    let seed = only.unwrap_or(seed);
                    let mut simulation = Simulation::new(seed).expect("it begins");
                    if let Err(broken) = simulation.run(steps) {
                        panic!("SPANVAULT_SEED={seed}: {broken}");
                    }
                    let found = [
                        simulation.days(),
                        simulation.keeps,
                        simulation.ledger.deletions,
                        simulation.troubles,
                        simulation.ledger.looks,
                    ];
                    let mut sums = sums.lock().expect("no panic");
                    sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
                }
            });
        }
    });
    let [days, keeps, deletions, troubles, looks] = *sums.lock().expect("no panic");
    reliability("t2_seeds", seeds, 2_000);
    reliability("t2_steps", seeds * steps, 1_000_000);
    reliability("t2_years", days / 365, 100);
    reliability("t2_holds_and_demands", keeps, 100_000);
    reliability("t2_deletions", deletions, 100_000);
    println!("{troubles} troubles, {looks} originals looked at");
}

#[test]
fn the_same_seed_twice_leaves_the_same_trace() {
    let trace = |seed| {
        let mut simulation = Simulation::new(seed).expect("it begins");
        simulation.run(200).unwrap_or_else(|broken| panic!("SPANVAULT_SEED={seed}: {broken}"));
        simulation.trace()
    };
    for seed in 0..number(2, 20) {
        assert_eq!(trace(seed), trace(seed), "seed {seed}");
    }
    reliability("t2_replayed_seeds", number(2, 20), 20);
}
