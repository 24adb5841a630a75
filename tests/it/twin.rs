//! A vault in a simulated world and its model, walked through one history.

use std::collections::{BTreeMap, BTreeSet};

use spanvault::ask::{Query, Verdict as Found};
use spanvault::types::{Actor, ContentHash, Mode, Position, Reason, ReasonKind, StoreTime, Ttl, TtlRule};
use spanvault::{
    Act, BuiltIn, CompactionOptions, CompactionReport, ContextItem, Cooling, DemandId, ErrorKind, Expiring,
    HoldId, Keep, Name, NeededUntil, NewRetention, Options, Run, ScopeName, Session, SpanFilter, SpanId,
    SummaryId, Vault, Whereabouts,
};
use spanvault_env::{Clock, ClockState, Survival};
use spanvault_testkit::{
    self as kit, About, Answer, Content, Expectation, Length, Model, Op, Piece, Place, Verdict,
};

use crate::words::{draft, tool};
use crate::world::World;

/// How much is compared after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// What the step led to.
    Step,
    /// That, and everything that a vault can be asked.
    All,
}

/// An original as the vault knows it.
#[derive(Debug)]
struct KnownOriginal {
    at: Position,
    hash: ContentHash,
    bytes: Vec<u8>,
}

/// A vault beside its model. Every difference is a panic that tells the history.
pub(crate) struct Twin {
    world: World,
    vault: Option<Vault>,
    model: Model,
    done: Vec<Op>,
    spans: Vec<SpanId>,
    originals: Vec<KnownOriginal>,
    /// The model's summary is one or several of the vault.
    summaries: BTreeMap<kit::SummaryId, BTreeSet<SummaryId>>,
    demands: Vec<DemandId>,
    holds: Vec<HoldId>,
    carried: BTreeSet<SpanId>,
    cuts: u64,
}

fn name(session: kit::SessionId) -> String {
    format!("session-{}", session.0)
}

fn actor() -> Actor {
    Actor { name: "ann".into(), reason: "the test says so".into() }
}

fn ttl(ms: u64) -> Ttl {
    Ttl::from_ms(ms).expect("zero is refused by the model")
}

fn rule(length: Length) -> TtlRule {
    match length {
        Length::Ms(ms) => TtlRule::For(ttl(ms)),
        Length::Forever => TtlRule::Forever,
    }
}

fn kinds(reasons: &[Reason]) -> BTreeSet<ReasonKind> {
    reasons.iter().map(Reason::kind).collect()
}

impl Twin {
    pub(crate) fn new(seed: u64) -> Self {
        let world = World::new(seed);
        let model = Model::new(StoreTime::from_ms(world.clock.wall_ms()));
        let mut twin = Self {
            world,
            vault: None,
            model,
            done: Vec::new(),
            spans: Vec::new(),
            originals: Vec::new(),
            summaries: BTreeMap::new(),
            demands: Vec::new(),
            holds: Vec::new(),
            carried: BTreeSet::new(),
            cuts: seed,
        };
        twin.open();
        twin
    }

    /// Walks a raw history, and looks at everything at its end, or after each step.
    pub(crate) fn walk(&mut self, history: &[Op], look: Look) {
        for (n, op) in history.iter().enumerate() {
            let is_last = n + 1 == history.len();
            self.step(*op, if is_last { Look::All } else { look });
        }
    }

    fn step(&mut self, raw: Op, look: Look) {
        let op = self.model.resolve(raw);
        if self.is_beyond_words(&op) {
            return;
        }
        let expected = self.model.apply(&op);
        if matches!(expected, Expectation::NotApplicable) {
            return;
        }
        self.done.push(op);
        self.act(&op, expected);
        // The model looks at the clock only when a vault does, and time passes without anybody's looking.
        if !matches!(op, Op::Tick { .. } | Op::JumpWall { .. }) {
            self.same(&self.vault().now(), &self.model.now(), "store time");
            if look == Look::All {
                self.look_at_everything();
            }
        }
    }

    /// What the model says about one summary where the vault made several.
    fn is_beyond_words(&self, op: &Op) -> bool {
        let (Op::Declare { about: About::Summary(summary), .. }
        | Op::Hold { about: About::Summary(summary) }) = op
        else {
            return false;
        };
        self.summaries.get(summary).is_some_and(|parts| parts.len() != 1)
    }

    fn act(&mut self, op: &Op, expected: Expectation) {
        match *op {
            Op::Record { session, content } => self.record(session, content, &expected),
            Op::Checkpoint { session } => self.checkpoint(session, &expected),
            Op::Compact { session, keep_last, extend } => self.compact(session, keep_last, extend, expected),
            Op::Declare { kind, about, length } => self.declare(kind, about, length, expected),
            Op::Withdraw { demand } => {
                self.vault().withdraw(self.demands[demand.0], actor()).unwrap_or_else(|e| self.fail(&e));
            }
            Op::Hold { about } => self.hold(about, expected),
            Op::Release { hold } => {
                self.vault().release(self.holds[hold.0], actor()).unwrap_or_else(|e| self.fail(&e));
            }
            Op::SetRetention(rule) => self.set_retention(rule, &expected),
            Op::AssumeAudit { for_ms } => {
                if expected == Expectation::Done {
                    self.vault().assume_audit(for_ms.map(ttl), actor()).expect("the policy is set");
                }
            }
            Op::Demote { all } => self.demote(all, expected),
            Op::Reclaim => self.reclaim(expected),
            Op::Tick { ms } => self.world.clock.advance(ms),
            Op::JumpWall { ms } => self.world.clock.jump_wall(ms),
            Op::ConfirmClock { ahead_ms } => self.confirm_clock(ahead_ms),
            Op::Reopen => {
                self.vault.take().expect("it is open").close().expect("closed");
                self.open();
            }
            Op::Kill => {
                drop(self.vault.take());
                self.world = self.world.after_kill();
                self.open();
            }
            Op::PowerCut { down_ms } => {
                self.cuts += 1;
                let after = self.world.after_crash(Survival::Seeded(self.cuts));
                drop(self.vault.take());
                self.world = after;
                self.world.clock.reboot(down_ms);
                self.open();
            }
        }
    }

    fn open(&mut self) {
        let mut options = Options::simulated(self.world.env.clone());
        options.extend_budget = TtlRule::Forever;
        options.reserve_bytes = 0;
        let vault = Vault::open_with("/vault", options).unwrap_or_else(|e| self.fail(&e));
        let is_suspect = vault.health().expect("looked over").clock != ClockState::Trusted;
        if let Err(violation) = self.model.adopt_clock(vault.now(), is_suspect) {
            self.fail(&violation)
        }
        self.vault = Some(vault);
    }

    fn vault(&self) -> &Vault {
        self.vault.as_ref().expect("it is open")
    }

    fn session(&self, session: kit::SessionId) -> Session<'_> {
        self.vault().session(&name(session)).expect("a session")
    }

    #[track_caller]
    fn fail(&self, what: &dyn std::fmt::Debug) -> ! {
        panic!("{what:?}\nafter {:#?}", self.done)
    }

    #[track_caller]
    fn same<T: PartialEq + std::fmt::Debug>(&self, vault: &T, model: &T, what: &str) {
        if vault != model {
            self.fail(&format_args!("{what}: the vault says {vault:?}, the model {model:?}"))
        }
    }

    fn original(&self, at: Position) -> kit::OriginalId {
        let found = self.originals.iter().position(|known| known.at == at);
        kit::OriginalId(
            found.unwrap_or_else(|| self.fail(&format_args!("nobody recorded an original at {at}"))),
        )
    }

    // --- what is done ---

    fn record(&mut self, session: kit::SessionId, content: Content, expected: &Expectation) {
        let Expectation::Recorded(spans) = expected else { self.fail(expected) };
        let drafts: Vec<_> = content.pieces().iter().map(|piece| draft(content, *piece)).collect();
        let receipts = self.session(session).record_all(drafts).unwrap_or_else(|e| self.fail(&e));
        self.same(&receipts.len(), &spans.len(), "the number of spans");
        for (receipt, span) in receipts.into_iter().zip(spans) {
            self.spans.push(receipt.span);
            let original = self.model.original_of(*span).expect("a span has an original");
            if original.0 == self.originals.len() {
                self.originals.push(KnownOriginal {
                    at: receipt.span.0,
                    hash: receipt.hash,
                    bytes: receipt.bytes,
                });
            }
        }
    }

    fn checkpoint(&mut self, session: kit::SessionId, expected: &Expectation) {
        let Expectation::Checkpointed(spans) = expected else { self.fail(expected) };
        let made = self.session(session).checkpoint().unwrap_or_else(|e| self.fail(&e));
        let carries: BTreeSet<SpanId> = made.carries.iter().map(|(span, _reason)| *span).collect();
        let newly: BTreeSet<SpanId> = carries.difference(&self.carried).copied().collect();
        let expected = spans.iter().map(|span| self.spans[span.0]).collect();
        self.same(&newly, &expected, "what a checkpoint carries");
        self.carried.extend(carries);
    }

    fn compact(&mut self, session: kit::SessionId, keep_last: usize, extend: bool, expected: Expectation) {
        let Expectation::Compacted(expected) = expected else { self.fail(&expected) };
        let expiry = if extend { Expiring::Extend } else { Expiring::Check };
        let options =
            CompactionOptions { keep: Keep::last(keep_last), expiry, ..CompactionOptions::default() };
        let dry = self.session(session).compact_dry(&options, &mut BuiltIn).unwrap_or_else(|e| self.fail(&e));
        let report =
            self.session(session).compact_with(&options, &mut BuiltIn).unwrap_or_else(|e| self.fail(&e));
        self.same(&report.candidates, &expected.verdicts.len(), "the number of candidates");
        self.same(&without_ids(&report), &without_ids(&dry), "what was planned");
        let stands_in = self.stands_in(session);
        let mode_of: BTreeMap<SummaryId, Mode> =
            report.summaries.iter().filter_map(|made| Some((made.summary?, made.mode))).collect();
        for (span, verdict) in &expected.verdicts {
            let id = self.spans[span.0];
            let preserved = report.preserved.iter().find(|preserved| preserved.span == id);
            let said = match (stands_in.get(&id), preserved) {
                (Some(summary), None) => mode_of.get(summary).map(|mode| Verdict::Permit(*mode)),
                (None, Some(_)) if *verdict == Verdict::Unseen => Some(Verdict::Unseen),
                (None, Some(preserved)) if preserved.reasons.is_empty() => Some(Verdict::Company),
                (None, Some(preserved)) => Some(Verdict::Refuse(kinds(&preserved.reasons))),
                _neither => None,
            };
            self.same(&said.as_ref(), &Some(verdict), &format!("the verdict on {id}"));
        }
        for (summary, spans) in expected.summaries {
            let made = spans.iter().filter_map(|span| stands_in.get(&self.spans[span.0]).copied()).collect();
            self.summaries.insert(summary, made);
        }
    }

    fn declare(
        &mut self,
        kind: spanvault::types::DemandKind,
        about: About,
        length: Length,
        expected: Expectation,
    ) {
        let until = match length {
            Length::Ms(0) => return self.same(&Expectation::Invalid, &expected, "no time at all"),
            Length::Ms(ms) => NeededUntil::For(ttl(ms)),
            Length::Forever => NeededUntil::Unknown,
        };
        let declared = self.vault().declare(kind, &self.scope(about), until, actor());
        match (declared, expected) {
            (Ok(declared), Expectation::Declared { demand, rescued }) => {
                self.same(&self.demands.len(), &demand.0, "the number of demands");
                self.same(&declared.rescued, &(rescued.len() as u64), "what a demand rescues");
                self.demands.push(declared.demand);
            }
            (Err(error), Expectation::Unsatisfiable { .. }) => {
                self.same(&error.kind(), &ErrorKind::Refused, "the kind of the error");
            }
            differ => self.fail(&differ),
        }
    }

    fn hold(&mut self, about: About, expected: Expectation) {
        match (self.vault().hold(&self.scope(about), actor()), expected) {
            (Ok(held), Expectation::Held { hold, rescued, .. }) => {
                self.same(&self.holds.len(), &hold.0, "the number of holds");
                self.same(&held.rescued, &(rescued.len() as u64), "what a hold rescues");
                self.holds.push(held.hold);
            }
            (Err(error), Expectation::AlreadyGone { .. }) => {
                self.same(&error.kind(), &ErrorKind::Insufficient, "the kind of the error");
            }
            differ => self.fail(&differ),
        }
    }

    fn scope(&self, about: About) -> ScopeName {
        match about {
            About::All => ScopeName::All,
            About::Session(session) => ScopeName::Session(name(session)),
            About::Class(class) => ScopeName::Class(class),
            About::Span(span) => ScopeName::Named(self.spans[span.0].into()),
            About::Original(original) => ScopeName::Named(self.originals[original.0].hash.into()),
            About::Summary(summary) => {
                let parts = &self.summaries[&summary];
                ScopeName::Named(Name::Summary(*parts.first().expect("one summary")))
            }
        }
    }

    fn set_retention(&self, new: kit::Rule, expected: &Expectation) {
        let zero = |length| length == Some(Length::Ms(0));
        if zero(new.hot_for) || zero(new.keep_for) || new.grace_ms == Some(0) {
            assert!(Ttl::from_ms(0).is_err(), "zero does not become a length of time (I34)");
            return self.same(&Expectation::Invalid, expected, "no time at all");
        }
        let new = NewRetention {
            class: new.class,
            session: new.session.map(name),
            hot_for: new.hot_for.map(rule),
            keep_for: new.keep_for.map(rule),
            grace: new.grace_ms.map(ttl),
        };
        let said = match self.vault().set_retention(&new, actor()) {
            Ok(_at) => Expectation::Done,
            Err(error) if error.kind() == ErrorKind::Invalid => Expectation::Invalid,
            Err(error) => self.fail(&error),
        };
        self.same(&said, expected, "a rule");
    }

    fn demote(&self, all: bool, expected: Expectation) {
        let Expectation::Demoted(expected) = expected else { self.fail(&expected) };
        let cooling = if all { Cooling::After(0) } else { Cooling::ByRule };
        let dry = self.vault().demote(cooling, Run::Dry, &mut |_| {}).unwrap_or_else(|e| self.fail(&e));
        let report = self.vault().demote(cooling, Run::Real, &mut |_| {}).unwrap_or_else(|e| self.fail(&e));
        self.same(&dry.demoted, &(expected.len() as u64), "what would be demoted");
        self.same(&report.demoted, &(expected.len() as u64), "what is demoted");
    }

    fn reclaim(&self, expected: Expectation) {
        let Expectation::Reclaimed(expected) = expected else { self.fail(&expected) };
        let mut printed = Vec::new();
        self.vault()
            .reclaim(Run::Dry, &mut |step| printed.push(step.clone()))
            .unwrap_or_else(|e| self.fail(&e));
        let mut told = Vec::new();
        let report = self
            .vault()
            .reclaim(Run::Real, &mut |step| told.push(step.clone()))
            .unwrap_or_else(|e| self.fail(&e));
        self.same(&told, &printed, "I48: what was printed");
        let mut run = kit::Reclaim::default();
        for step in told {
            let original = self.original(step.original);
            match step.act {
                Act::Condemn => run.condemned.push(original),
                Act::Reclaim => run.reclaimed.push(original),
                Act::Rescue { .. } => run.rescued.push(original),
                Act::Refuse { reasons } if kinds(&reasons) == [ReasonKind::NotCondemned].into() => {
                    run.waiting.push(original);
                }
                Act::Refuse { reasons } => {
                    // That its grace is not over either is no reason of the model.
                    let mut kinds = kinds(&reasons);
                    kinds.remove(&ReasonKind::NotCondemned);
                    run.refused.push((original, kinds));
                }
            }
        }
        self.same(&run, &expected, "a reclaim run");
        self.same(&report.reclaimed, &(expected.reclaimed.len() as u64), "the number of what is gone");
    }

    /// Somebody sets the machine's clock right first, and then vouches for it.
    fn confirm_clock(&self, ahead_ms: u64) {
        let at = self.vault().now().plus_ms(ahead_ms);
        let behind = at.as_ms().saturating_sub(self.world.clock.wall_ms());
        self.world.clock.jump_wall(i64::try_from(behind).expect("a few years"));
        self.vault().confirm_clock(at, actor()).unwrap_or_else(|e| self.fail(&e));
    }

    // --- what can be asked ---

    /// The summary that stands for each span of a session, by span.
    fn stands_in(&self, session: kit::SessionId) -> BTreeMap<SpanId, SummaryId> {
        let filter = SpanFilter { session: Some(name(session)), ..SpanFilter::default() };
        let mut found = BTreeMap::new();
        self.vault()
            .spans(&filter, &mut |span| {
                found.extend(span.summary.map(|summary| (span.span, summary)));
                Ok(())
            })
            .unwrap_or_else(|e| self.fail(&e));
        found
    }

    fn look_at_everything(&self) {
        for original in self.model.originals() {
            self.look_at(original);
        }
        let mut standing = BTreeMap::new();
        self.vault()
            .spans(&SpanFilter::default(), &mut |span| {
                standing.insert(span.span, span.summary);
                Ok(())
            })
            .unwrap_or_else(|e| self.fail(&e));
        for span in self.model.spans() {
            let id = self.spans[span.0];
            self.same(
                &standing[&id].is_none(),
                &self.model.is_verbatim(span),
                &format!("whether {id} stands verbatim"),
            );
        }
        self.look_at_summaries();
        self.ask();
    }

    fn look_at(&self, original: kit::OriginalId) {
        let known = &self.originals[original.0];
        let why = self.vault().why(known.hash).unwrap_or_else(|e| self.fail(&e));
        let place = match why.whereabouts {
            Whereabouts::Hot => Some(Place::Hot),
            Whereabouts::Cold { .. } => Some(Place::Cold),
            Whereabouts::Condemned { .. } => Some(Place::Condemned),
            Whereabouts::Reclaimed { .. } => Some(Place::Reclaimed),
            Whereabouts::Corrupt | Whereabouts::Missing | Whereabouts::Nothing => None,
        };
        self.same(&place, &self.model.place(original), &format!("where {original:?} is"));
        self.same(&why.kept_until, &self.model.kept_until(original), &format!("the floor of {original:?}"));
        self.same(&why.expires_at, &self.model.expires_at(original), &format!("the expiry of {original:?}"));
        match self.vault().recover(known.hash) {
            Ok(bytes) if place != Some(Place::Reclaimed) => self.same(&bytes, &known.bytes, "bytes"),
            Err(error) if place == Some(Place::Reclaimed) => {
                self.same(&error.kind(), &ErrorKind::Insufficient, "the kind of the error");
                assert!(error.tombstone().is_some(), "what is gone has a tombstone");
            }
            other => self.fail(&other),
        }
    }

    /// A summary whose evidence has expired says so (I3).
    fn look_at_summaries(&self) {
        let mut expired = BTreeMap::new();
        for session in self.vault().sessions().unwrap_or_else(|e| self.fail(&e)) {
            for item in session.context().unwrap_or_else(|e| self.fail(&e)) {
                if let ContextItem::Summary { summary, expired: gone, text, .. } = item {
                    self.same(
                        &text.contains("evidence expired"),
                        &(gone > 0),
                        "what a summary says of itself",
                    );
                    expired.insert(summary, gone > 0);
                }
            }
        }
        for (summary, parts) in &self.summaries {
            let is_expired = parts.iter().any(|part| expired[part]);
            self.same(&Some(!is_expired), &self.model.is_backed(*summary), "whether a summary is backed");
        }
    }

    /// Whether a change was made: yes with its proof, no with everything searched, or insufficient with what is missing.
    fn ask(&self) {
        let is_a_call_gone = self.model.spans().any(|span| {
            let original = self.model.original_of(span).and_then(|original| self.model.content_of(original));
            let is_call = original.is_some_and(|(_content, piece)| piece == Piece::Call);
            is_call && self.model.answer(span) == Some(Answer::Insufficient)
        });
        for n in 0..4 {
            let call = (Content::Change(n), Piece::Call);
            let of_call = self.model.spans().find(|span| {
                self.model.original_of(*span).and_then(|original| self.model.content_of(original))
                    == Some(call)
            });
            let expected = match of_call.and_then(|span| self.model.answer(span)) {
                Some(Answer::Exact) => Found::Present,
                Some(Answer::Insufficient) => Found::Insufficient,
                None if is_a_call_gone => Found::Insufficient,
                None => Found::Absent,
            };
            let answer = self.vault().ask(&Query::calls(tool(n))).unwrap_or_else(|e| self.fail(&e));
            self.same(&answer.answer, &expected, &format!("whether {} was called", tool(n)));
            if expected == Found::Insufficient {
                let named = answer.coverage.missing.iter().any(|missing| missing.tombstone.is_some());
                self.same(&named, &true, "whether the answer names a tombstone");
            }
        }
    }
}

/// What a dry run can know.
fn without_ids(report: &CompactionReport) -> CompactionReport {
    let mut report = report.clone();
    report.summaries.iter_mut().for_each(|made| made.summary = None);
    report
}
