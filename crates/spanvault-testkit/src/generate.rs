//! Histories: long random ones, and every short one of a small world.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spanvault_types::{DemandKind, EvidentialClass};

use crate::op::{
    About, Content, DemandId, HoldId, Length, Op, OriginalId, Rule, SessionId, SpanId, SummaryId,
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;

/// A random history: a beginning of the small world, then 1 to `steps_max` raw steps.
///
/// Make each step concrete with [`crate::Model::resolve`].
pub fn history(steps_max: usize) -> impl Strategy<Value = Vec<Op>> {
    (select(small_world().beginnings), vec(op(), 1..=steps_max))
        .prop_map(|(beginning, steps)| [beginning, steps].concat())
}

/// One raw step.
pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (session(), content()).prop_map(|(session, content)| Op::Record { session, content }),
        6 => (session(), 0..4_usize, any::<bool>())
            .prop_map(|(session, keep_last, extend)| Op::Compact { session, keep_last, extend }),
        1 => session().prop_map(|session| Op::Checkpoint { session }),
        4 => (demand_kind(), about(), demand_length())
            .prop_map(|(kind, about, length)| Op::Declare { kind, about, length }),
        3 => handle().prop_map(|demand| Op::Withdraw { demand: DemandId(demand) }),
        3 => held().prop_map(|about| Op::Hold { about }),
        3 => handle().prop_map(|hold| Op::Release { hold: HoldId(hold) }),
        4 => rule().prop_map(Op::SetRetention),
        2 => assumption().prop_map(|for_ms| Op::AssumeAudit { for_ms }),
        2 => any::<bool>().prop_map(|all| Op::Demote { all }),
        8 => Just(Op::Reclaim),
        8 => tick().prop_map(|ms| Op::Tick { ms }),
        1 => jump().prop_map(|ms| Op::JumpWall { ms }),
        1 => (0..3_u64).prop_map(|days| Op::ConfirmClock { ahead_ms: days * DAY }),
        1 => Just(Op::Reopen),
        1 => Just(Op::Kill),
        1 => tick().prop_map(|down_ms| Op::PowerCut { down_ms }),
    ]
}

fn handle() -> impl Strategy<Value = usize> {
    0..12_usize
}

fn session() -> impl Strategy<Value = SessionId> {
    (0..2_usize).prop_map(SessionId)
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        3 => (0..4_u8).prop_map(Content::Words),
        2 => (0..4_u8).prop_map(Content::Fact),
        3 => (0..4_u8).prop_map(Content::Change),
        1 => (0..2_u8).prop_map(Content::Promise),
        2 => (0..2_u8).prop_map(Content::Kept),
    ]
}

fn class() -> impl Strategy<Value = EvidentialClass> {
    prop_oneof![
        Just(EvidentialClass::Narrative),
        Just(EvidentialClass::Structured),
        Just(EvidentialClass::SideEffecting),
    ]
}

fn demand_kind() -> impl Strategy<Value = DemandKind> {
    prop_oneof![
        Just(DemandKind::Audit),
        Just(DemandKind::Replay),
        Just(DemandKind::Check),
        Just(DemandKind::Execute)
    ]
}

/// What can be held.
fn held() -> impl Strategy<Value = About> {
    prop_oneof![
        session().prop_map(About::Session),
        handle().prop_map(|span| About::Span(SpanId(span))),
        handle().prop_map(|original| About::Original(OriginalId(original))),
        handle().prop_map(|summary| About::Summary(SummaryId(summary))),
    ]
}

fn about() -> impl Strategy<Value = About> {
    prop_oneof![1 => Just(About::All), 1 => class().prop_map(About::Class), 4 => held()]
}

/// Mostly lengths that meet the instants of the others; sometimes one that is refused.
fn length() -> impl Strategy<Value = Length> {
    prop_oneof![
        8 => prop_oneof![Just(HOUR), Just(DAY), Just(30 * DAY), Just(60 * DAY), Just(120 * DAY)].prop_map(Length::Ms),
        1 => Just(Length::Forever),
        1 => Just(Length::Ms(0)),
    ]
}

fn demand_length() -> impl Strategy<Value = Length> {
    prop_oneof![4 => length(), 1 => Just(Length::Forever)]
}

fn rule() -> impl Strategy<Value = Rule> {
    let scope = prop_oneof![
        3 => Just((None, None)),
        1 => class().prop_map(|class| (Some(class), None)),
        1 => session().prop_map(|session| (None, Some(session))),
    ];
    let hot = prop_oneof![2 => Just(None), 1 => length().prop_map(Some)];
    let keep = prop_oneof![1 => Just(None), 3 => length().prop_map(Some)];
    let grace = prop_oneof![6 => Just(None), 1 => Just(Some(HOUR)), 1 => Just(Some(2 * DAY))];
    (scope, hot, keep, grace).prop_map(|((class, session), hot_for, keep_for, grace_ms)| Rule {
        class,
        session,
        hot_for,
        keep_for,
        // The grace is the vault's: it is not set for a part of it.
        grace_ms: if class.is_none() && session.is_none() { grace_ms } else { None },
    })
}

fn assumption() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![3 => Just(None), 1 => Just(Some(10 * DAY)), 1 => Just(Some(90 * DAY))]
}

fn tick() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(1),
        Just(5 * MINUTE),
        Just(HOUR),
        Just(DAY),
        Just(30 * DAY),
        Just(30 * DAY + 5 * MINUTE + 1),
        Just(91 * DAY),
    ]
}

#[expect(clippy::cast_possible_wrap, reason = "a few years of milliseconds fit twice over")]
fn jump() -> impl Strategy<Value = i64> {
    let size = prop_oneof![Just(MINUTE), Just(7 * MINUTE), Just(31 * DAY), Just(10 * YEAR)];
    (size, any::<bool>()).prop_map(|(ms, back)| if back { -(ms as i64) } else { ms as i64 })
}

/// A small world: where its histories begin, and what can happen next.
#[derive(Debug, Clone)]
pub struct SmallWorld {
    /// Beginnings, each raw.
    pub beginnings: Vec<Vec<Op>>,
    /// What can happen in each step.
    pub letters: Vec<Op>,
}

/// The small world: a change and some words, in one session and a second one that repeats the change.
///
/// Its beginnings lead to where short histories become interesting: nothing yet, summarised and leased, expired,
/// condemned, and condemned for a full grace.
pub fn small_world() -> SmallWorld {
    let (first, second) = (SessionId(0), SessionId(1));
    let change = Op::Record { session: first, content: Content::Change(0) };
    let words = Op::Record { session: first, content: Content::Words(0) };
    let keep = |days| Op::SetRetention(Rule { keep_for: Some(Length::Ms(days * DAY)), ..Rule::default() });
    let compact = |extend| Op::Compact { session: first, keep_last: 0, extend };
    let nobody_assumed = Op::AssumeAudit { for_ms: None };
    let tick = Op::Tick { ms: 31 * DAY };

    let expired = vec![change, words, nobody_assumed, keep(30), tick];
    let condemned = [expired.clone(), vec![Op::Reclaim]].concat();
    let beginnings = vec![
        vec![],
        vec![change, words, compact(false)],
        expired,
        condemned.clone(),
        [condemned, vec![tick]].concat(),
    ];
    let letters = vec![
        change,
        words,
        Op::Record { session: second, content: Content::Change(0) },
        compact(false),
        compact(true),
        Op::Declare { kind: DemandKind::Audit, about: About::All, length: Length::Ms(40 * DAY) },
        Op::Declare { kind: DemandKind::Check, about: About::Summary(SummaryId(0)), length: Length::Forever },
        Op::Withdraw { demand: DemandId(0) },
        Op::Hold { about: About::Original(OriginalId(0)) },
        Op::Release { hold: HoldId(0) },
        keep(30),
        nobody_assumed,
        Op::Demote { all: true },
        Op::Reclaim,
        tick,
        Op::JumpWall { ms: 315_360_000_000 },
        Op::ConfirmClock { ahead_ms: 0 },
        Op::Reopen,
        Op::Kill,
        Op::PowerCut { down_ms: 31 * DAY },
    ];
    SmallWorld { beginnings, letters }
}

impl SmallWorld {
    /// Every history: each beginning followed by every sequence of `steps` letters.
    pub fn histories(&self, steps: u32) -> impl Iterator<Item = Vec<Op>> + '_ {
        let count = self.letters.len();
        let endings = count.pow(steps);
        self.beginnings.iter().flat_map(move |beginning| {
            (0..endings).map(move |number| {
                let digits = (0..steps).map(|step| number / count.pow(step) % count);
                beginning.iter().copied().chain(digits.map(|digit| self.letters[digit])).collect()
            })
        })
    }
}
