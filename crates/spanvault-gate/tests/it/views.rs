//! Arbitrary views: small instants, so that boundaries are met, the end of time, and something unreadable now and then.

use proptest::collection::vec;
use proptest::prelude::*;
use spanvault_gate::{
    ClockTrust, CompactionRequest, DemandView, ExpiryMode, Known, LeaseView, LiveMark, OriginalView,
    Presence, Reach, Reading, RemovalView, SpanView, Stage, StoreState, SummaryView, Unknown, VaultState,
};
use spanvault_types::{
    AdmissionFault, ByteRange, DemandRef, EvidentialClass, Expiry, Horizon, Position, StoreTime, TtlRule,
};

use crate::world::ttl;

pub(crate) fn instant() -> impl Strategy<Value = u64> {
    prop_oneof![12 => 0..24_u64, 1 => u64::MAX - 3..=u64::MAX]
}

pub(crate) fn position() -> impl Strategy<Value = Position> {
    (1..6_u64).prop_map(Position::new)
}

/// Mostly readable.
pub(crate) fn known<T: std::fmt::Debug + Clone>(
    of: impl Strategy<Value = T>,
) -> impl Strategy<Value = Known<T>> {
    prop_oneof![30 => of.prop_map(Ok), 1 => Just(Err(Unknown))]
}

pub(crate) fn horizon() -> impl Strategy<Value = Horizon> {
    prop_oneof![4 => instant().prop_map(|ms| Horizon::Until(StoreTime::from_ms(ms))), 1 => Just(Horizon::Unknown)]
}

pub(crate) fn expiry() -> impl Strategy<Value = Expiry> {
    prop_oneof![
        4 => instant().prop_map(|ms| Expiry::At(StoreTime::from_ms(ms))),
        1 => Just(Expiry::Never),
        1 => Just(Expiry::Forever),
    ]
}

pub(crate) fn demand_ref() -> impl Strategy<Value = DemandRef> {
    prop_oneof![Just(DemandRef::Assumed), position().prop_map(DemandRef::Declared)]
}

pub(crate) fn demand() -> impl Strategy<Value = DemandView> {
    (demand_ref(), horizon()).prop_map(|(demand, horizon)| DemandView { demand, horizon })
}

pub(crate) fn lease() -> impl Strategy<Value = LeaseView> {
    (position(), horizon(), vec(demand_ref(), 1..3)).prop_map(|(given_by, until, demands)| LeaseView {
        given_by,
        until,
        demands,
    })
}

pub(crate) fn mark() -> impl Strategy<Value = LiveMark> {
    (0..3, 0..9_u64, position()).prop_map(|(kind, start, used_by)| {
        let range = ByteRange { start, end: start + 1 };
        match kind {
            0 => LiveMark::Obligation { range },
            1 => LiveMark::Negative { range },
            _ => LiveMark::Reference { range, used_by },
        }
    })
}

/// Mostly quiescent.
pub(crate) fn live() -> impl Strategy<Value = Known<Vec<LiveMark>>> {
    known(prop_oneof![4 => Just(vec![]), 1 => vec(mark(), 1..4)])
}

pub(crate) fn class() -> impl Strategy<Value = EvidentialClass> {
    prop_oneof![
        Just(EvidentialClass::Narrative),
        Just(EvidentialClass::Structured),
        Just(EvidentialClass::SideEffecting),
    ]
}

pub(crate) fn reading() -> impl Strategy<Value = Reading> {
    (class(), any::<[bool; 3]>(), 0..3).prop_map(|(class, flags, plain)| {
        let flag = |at: usize| plain == 0 && flags[at];
        Reading { class, atom: flag(0), denial: flag(1), promise: flag(2) }
    })
}

pub(crate) fn presence() -> impl Strategy<Value = Presence> {
    prop_oneof![
        12 => prop_oneof![Just(Presence::HotVerified), Just(Presence::ColdVerified)],
        3 => prop_oneof![
            Just(Presence::HotStale), Just(Presence::ColdStale), Just(Presence::Condemned),
            Just(Presence::Reclaimed), Just(Presence::Erased), Just(Presence::Corrupt), Just(Presence::Missing),
        ],
    ]
}

prop_compose! {
    pub(crate) fn original()(
        original in position(),
        reading in known(reading()),
        cited in prop::bool::weighted(0.9),
        presence in known(presence()),
        margin in 1..4_u64,
        retention in known(expiry()),
        leases in known(vec(lease(), 0..3)),
        demands in known(vec(demand(), 0..4)),
        holds in known(vec(position(), 0..2)),
    ) -> OriginalView {
        let reach = Reach::new(0, 0, ttl(margin));
        OriginalView { original, reading, cited, presence, reach, retention, leases, demands, holds }
    }
}

pub(crate) fn span() -> impl Strategy<Value = SpanView> {
    (position(), live(), known(vec(original(), 1..4))).prop_map(|(span, live, originals)| SpanView {
        span,
        live,
        originals,
    })
}

pub(crate) fn state() -> impl Strategy<Value = VaultState> {
    (instant(), 0..12, known(position()), position()).prop_map(|(now, trouble, policy, revision)| {
        VaultState {
            now: StoreTime::from_ms(now),
            clock: if trouble == 0 { ClockTrust::Suspect } else { ClockTrust::Trusted },
            store: match trouble {
                1 => StoreState::Poisoned,
                2 => StoreState::NoSpace,
                _ => StoreState::Ok,
            },
            policy,
            revision,
        }
    })
}

pub(crate) fn request() -> impl Strategy<Value = CompactionRequest> {
    let mode = prop_oneof![
        Just(ExpiryMode::Check),
        (1..30_u64).prop_map(|ms| ExpiryMode::Extend { budget: TtlRule::For(ttl(ms)) }),
        Just(ExpiryMode::Extend { budget: TtlRule::Forever }),
    ];
    let admission = prop_oneof![9 => Just(Ok(())), 1 => Just(Err(AdmissionFault::Empty))];
    let unnamed = known(prop_oneof![5 => Just(0), 1 => 1..9_u64]);
    (mode, admission, unnamed).prop_map(|(mode, admission, unnamed)| CompactionRequest {
        mode,
        summary: SummaryView { admission, unnamed },
    })
}

prop_compose! {
    pub(crate) fn removal()(
        original in position(),
        stage in known(prop_oneof![
            1 => Just(Stage::Kept),
            6 => instant().prop_map(|ms| Stage::Condemned { since: StoreTime::from_ms(ms) }),
            1 => Just(Stage::Gone),
        ]),
        grace in known((1..9_u64).prop_map(ttl)),
        retention in known(expiry()),
        leases in known(vec(lease(), 0..2)),
        demands in known(vec(demand(), 0..2)),
        holds in known(prop_oneof![4 => Just(vec![]), 1 => vec(position(), 1..3)]),
        live in live(),
        cited_by in known(vec(position(), 0..3)),
    ) -> RemovalView {
        RemovalView { original, stage, grace, retention, leases, demands, holds, live, cited_by }
    }
}
