//! The vault as docs/INVARIANTS.md and docs/GATE.md describe it, in plain lists.
//!
//! Two things are read here in the way that keeps more: a rule that is set later lengthens what a span was given by the
//! rule in force at its recording, for both tiers; and an explicit demand replaces the assumed audit span by span, so
//! that bytes which also occur outside its scope keep the assumption there.
//! What is condemned is not demoted: it is about to go.

mod clock;
mod compact;
mod keep;
mod need;
mod reclaim;
mod record;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use spanvault_types::{EvidentialClass, Expiry, Horizon, StoreTime};

use crate::expect::{Answer, Expectation, Place, Violation};
use crate::op::{
    About, Content, DemandId, HoldId, Op, OriginalId, Piece, Rule, SessionId, SpanId, SummaryId,
};
use clock::Clock;
pub use clock::DRIFT_MS_MAX;

/// The audit that is assumed by default: recording plus 90 days.
pub const AUDIT_MS: u64 = 90 * 24 * 3_600_000;
/// The default grace: 24 hours.
pub const GRACE_MS: u64 = 24 * 3_600_000;
/// Restore bound, read window and margin of a local vault: five minutes.
pub const REACH_MS: u64 = 5 * 60 * 1_000;

/// A span.
#[derive(Debug, Clone)]
struct Span {
    session: SessionId,
    content: Content,
    piece: Piece,
    original: OriginalId,
    /// The other half of a call and its result.
    pair: Option<SpanId>,
    recorded_at: StoreTime,
    /// When the rules that were given to it let it go; never earlier than it was (I4).
    keep: Expiry,
    /// When the rules that were given to it let it be demoted.
    hot: Expiry,
    /// An explicit demand covered it once, so the audit is no longer assumed.
    demanded: bool,
    /// A checkpoint carries what is open in it.
    carried: bool,
    /// A summary stands in its place.
    summary: Option<SummaryId>,
}

/// How far the removal of an original has come: kept, condemned for its grace, gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Kept,
    Condemned { since: StoreTime },
    Gone,
}

/// An original.
#[derive(Debug, Clone)]
struct Original {
    content: Content,
    piece: Piece,
    cold: bool,
    stage: Stage,
}

/// A demand by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Assumed,
    Declared(DemandId),
}

/// A declared demand.
#[derive(Debug, Clone)]
struct Demand {
    about: About,
    horizon: Horizon,
    withdrawn: bool,
}

/// A hold.
#[derive(Debug, Clone)]
struct Hold {
    about: About,
    released: bool,
}

/// A lease; gone from the list once the last need that it names has ended.
#[derive(Debug, Clone)]
struct Lease {
    original: OriginalId,
    until: Horizon,
    needs: BTreeSet<Need>,
}

/// A vault, predicted.
#[derive(Debug, Clone)]
pub struct Model {
    clock: Clock,
    spans: Vec<Span>,
    originals: Vec<Original>,
    summaries: Vec<Vec<SpanId>>,
    demands: Vec<Demand>,
    holds: Vec<Hold>,
    leases: Vec<Lease>,
    /// The rule in force for each class and session that one was set for.
    rules: BTreeMap<(Option<EvidentialClass>, Option<SessionId>), Rule>,
    grace_ms: u64,
    audit_ms: Option<u64>,
}

impl Model {
    /// A new vault; its store time starts at the wall clock.
    pub const fn new(wall: StoreTime) -> Self {
        Self {
            clock: Clock::starting_at(wall.as_ms()),
            spans: Vec::new(),
            originals: Vec::new(),
            summaries: Vec::new(),
            demands: Vec::new(),
            holds: Vec::new(),
            leases: Vec::new(),
            rules: BTreeMap::new(),
            grace_ms: GRACE_MS,
            audit_ms: Some(AUDIT_MS),
        }
    }

    /// Makes the handles of a raw op name things that exist, where there are any: each counts round.
    pub fn resolve(&self, op: Op) -> Op {
        let turn = |handle: usize, count: usize| handle.checked_rem(count).unwrap_or(handle);
        let about = |about| match about {
            About::Span(span) => About::Span(SpanId(turn(span.0, self.spans.len()))),
            About::Original(original) => About::Original(OriginalId(turn(original.0, self.originals.len()))),
            About::Summary(summary) => About::Summary(SummaryId(turn(summary.0, self.summaries.len()))),
            About::All | About::Session(_) | About::Class(_) => about,
        };
        match op {
            Op::Declare { kind, about: of, length } => Op::Declare { kind, about: about(of), length },
            Op::Hold { about: of } => Op::Hold { about: about(of) },
            Op::Withdraw { demand } => Op::Withdraw { demand: DemandId(turn(demand.0, self.demands.len())) },
            Op::Release { hold } => Op::Release { hold: HoldId(turn(hold.0, self.holds.len())) },
            Op::Record { .. }
            | Op::Checkpoint { .. }
            | Op::Compact { .. }
            | Op::SetRetention(_)
            | Op::AssumeAudit { .. }
            | Op::Demote { .. }
            | Op::Reclaim
            | Op::Tick { .. }
            | Op::JumpWall { .. }
            | Op::ConfirmClock { .. }
            | Op::Reopen
            | Op::Kill
            | Op::PowerCut { .. } => op,
        }
    }

    /// Does one step and says what it must lead to.
    pub fn apply(&mut self, op: &Op) -> Expectation {
        match *op {
            Op::Tick { ms } => {
                self.clock.tick(ms);
                return Expectation::Done;
            }
            Op::JumpWall { ms } => {
                self.clock.jump_wall(ms);
                return Expectation::Done;
            }
            Op::PowerCut { down_ms: _ } => self.clock.boot(),
            Op::Kill => self.clock.kill(),
            Op::Record { .. }
            | Op::Checkpoint { .. }
            | Op::Compact { .. }
            | Op::Declare { .. }
            | Op::Withdraw { .. }
            | Op::Hold { .. }
            | Op::Release { .. }
            | Op::SetRetention(_)
            | Op::AssumeAudit { .. }
            | Op::Demote { .. }
            | Op::Reclaim
            | Op::ConfirmClock { .. }
            | Op::Reopen => {}
        }
        // A vault reads the clocks in everything that it does; in what it does not do it reads nothing.
        let unread = self.clock.clone();
        self.clock.look();
        let expected = self.step(op);
        if matches!(expected, Expectation::NotApplicable | Expectation::Invalid) {
            self.clock = unread;
        }
        expected
    }

    fn step(&mut self, op: &Op) -> Expectation {
        match *op {
            Op::Record { session, content } => self.record(session, content),
            Op::Checkpoint { session } => self.checkpoint(session),
            Op::Compact { session, keep_last, extend } => self.compact(session, keep_last, extend),
            Op::Declare { kind: _, about, length } => self.declare(about, length),
            Op::Withdraw { demand } => self.withdraw(demand),
            Op::Hold { about } => self.hold(about),
            Op::Release { hold } => self.release(hold),
            Op::SetRetention(rule) => self.set_retention(rule),
            Op::AssumeAudit { for_ms } => self.assume_audit(for_ms),
            Op::Demote { all } => self.demote(all),
            Op::Reclaim => self.reclaim(),
            Op::ConfirmClock { ahead_ms } => {
                self.clock.confirm(ahead_ms);
                self.clock.acknowledge();
                Expectation::Done
            }
            // A clean end is on record.
            Op::Reopen => {
                self.clock.acknowledge();
                Expectation::Done
            }
            Op::Tick { .. } | Op::JumpWall { .. } | Op::Kill | Op::PowerCut { .. } => Expectation::Done,
        }
    }

    /// Takes over store time and suspicion from a vault, for instance after a restart.
    ///
    /// # Errors
    /// What the vault says breaks I5 (it credits time that nobody vouched for), I1 (it forgot time that was
    /// acknowledged) or I39 (it suspects without cause, or overlooks a cause).
    pub fn adopt_clock(&mut self, now: StoreTime, suspect: bool) -> Result<(), Violation> {
        self.clock.adopt(now, suspect)
    }

    /// Store time, as far as is known: see [`Model::adopt_clock`].
    pub const fn now(&self) -> StoreTime {
        self.clock.now()
    }

    /// Whether the clock is suspect.
    pub const fn is_clock_suspect(&self) -> bool {
        self.clock.is_suspect()
    }

    /// Every original so far, gone or not.
    pub fn originals(&self) -> impl Iterator<Item = OriginalId> + use<> {
        (0..self.originals.len()).map(OriginalId)
    }

    /// Every span so far, in the order of recording.
    pub fn spans(&self) -> impl Iterator<Item = SpanId> + use<> {
        (0..self.spans.len()).map(SpanId)
    }

    /// What bytes an original has.
    pub fn content_of(&self, original: OriginalId) -> Option<(Content, Piece)> {
        self.originals.get(original.0).map(|original| (original.content, original.piece))
    }

    /// The original of a span.
    pub fn original_of(&self, span: SpanId) -> Option<OriginalId> {
        self.spans.get(span.0).map(|span| span.original)
    }

    /// Whether the context shows a span verbatim, and not through a summary.
    pub fn is_verbatim(&self, span: SpanId) -> bool {
        self.spans.get(span.0).is_some_and(|span| span.summary.is_none())
    }

    /// Where an original is.
    pub fn place(&self, original: OriginalId) -> Option<Place> {
        let original = self.originals.get(original.0)?;
        Some(match (original.stage, original.cold) {
            (Stage::Gone, _) => Place::Reclaimed,
            (Stage::Condemned { .. }, _) => Place::Condemned,
            (Stage::Kept, false) => Place::Hot,
            (Stage::Kept, true) => Place::Cold,
        })
    }

    /// What a question that needs a span, and nothing else, must get (I3, I66).
    pub fn answer(&self, span: SpanId) -> Option<Answer> {
        let gone = self.place(self.original_of(span)?)? == Place::Reclaimed;
        Some(if gone { Answer::Insufficient } else { Answer::Exact })
    }

    /// Whether a summary may still serve: all originals in its closure are there. Otherwise it is *evidence expired*.
    pub fn is_backed(&self, summary: SummaryId) -> Option<bool> {
        let covered = self.summaries.get(summary.0)?;
        Some(covered.iter().all(|&span| self.answer(span) == Some(Answer::Exact)))
    }

    fn spans_of(&self, original: OriginalId) -> impl Iterator<Item = (SpanId, &Span)> {
        let all = self.spans.iter().enumerate().map(|(at, span)| (SpanId(at), span));
        all.filter(move |(_, span)| span.original == original)
    }

    fn is_gone(&self, original: OriginalId) -> bool {
        self.originals.get(original.0).is_none_or(|original| original.stage == Stage::Gone)
    }
}
