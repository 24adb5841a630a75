//! A span and an original that everything speaks for, to be spoilt by tests.

use spanvault_gate::{
    ClockTrust, CompactionRequest, Decision, DemandView, ExpiryMode, LeaseView, LiveMark, OriginalView,
    Presence, Reach, Reading, RemovalView, SpanView, Stage, StoreState, SummaryView, VaultState,
};
use spanvault_types::{
    ByteRange, DemandRef, EvidentialClass, Expiry, Horizon, Position, Reason, StoreTime, Ttl, WayOut,
};

pub(crate) const NOW: u64 = 1_000_000_000;
pub(crate) const GRACE: u64 = 24 * 3_600_000;
/// Five minutes, as both tiers of a local vault have it.
pub(crate) const REACH: u64 = 5 * 60 * 1_000;

pub(crate) const SPAN: Position = Position::new(20);
pub(crate) const ORIGINAL: Position = Position::new(21);
pub(crate) const HOLD: Position = Position::new(30);
pub(crate) const LEASE: Position = Position::new(31);
pub(crate) const DEMAND: DemandRef = DemandRef::Declared(Position::new(32));
pub(crate) const USER: Position = Position::new(33);
pub(crate) const POLICY: Position = Position::new(34);
pub(crate) const REVISION: Position = Position::new(99);

pub(crate) const fn at(ms: u64) -> Expiry {
    Expiry::At(StoreTime::from_ms(ms))
}

pub(crate) const fn until(ms: u64) -> Horizon {
    Horizon::Until(StoreTime::from_ms(ms))
}

pub(crate) fn ttl(ms: u64) -> Ttl {
    Ttl::from_ms(ms).unwrap()
}

pub(crate) const fn range() -> ByteRange {
    ByteRange { start: 3, end: 8 }
}

pub(crate) const fn vault() -> VaultState {
    VaultState {
        now: StoreTime::from_ms(NOW),
        clock: ClockTrust::Trusted,
        store: StoreState::Ok,
        policy: Ok(POLICY),
        revision: REVISION,
    }
}

pub(crate) const fn request() -> CompactionRequest {
    CompactionRequest { mode: ExpiryMode::Check, summary: SummaryView::FORESEEN }
}

pub(crate) const fn reading(class: EvidentialClass) -> Reading {
    Reading { class, atom: false, denial: false, promise: false }
}

pub(crate) fn demand(horizon: Horizon) -> DemandView {
    DemandView { demand: DEMAND, horizon }
}

pub(crate) fn lease(until: Horizon) -> LeaseView {
    LeaseView { given_by: LEASE, until, demands: vec![DEMAND] }
}

/// Cited, verified, without an expiry, and nobody needs it.
pub(crate) fn original(class: EvidentialClass) -> OriginalView {
    OriginalView {
        original: ORIGINAL,
        reading: Ok(reading(class)),
        cited: true,
        presence: Ok(Presence::HotVerified),
        reach: Reach::LOCAL,
        retention: Ok(Expiry::Never),
        leases: Ok(Vec::new()),
        demands: Ok(Vec::new()),
        holds: Ok(Vec::new()),
    }
}

pub(crate) fn span_of(original: OriginalView) -> SpanView {
    SpanView { span: SPAN, live: Ok(Vec::new()), originals: Ok(vec![original]) }
}

pub(crate) fn span(class: EvidentialClass) -> SpanView {
    span_of(original(class))
}

/// Expired, condemned for a full grace, and nothing rests on it.
pub(crate) fn removal() -> RemovalView {
    RemovalView {
        original: ORIGINAL,
        stage: Ok(Stage::Condemned { since: StoreTime::from_ms(NOW - GRACE) }),
        grace: Ok(ttl(GRACE)),
        retention: Ok(at(NOW - GRACE - 1)),
        leases: Ok(Vec::new()),
        demands: Ok(Vec::new()),
        holds: Ok(Vec::new()),
        live: Ok(Vec::new()),
        cited_by: Ok(Vec::new()),
    }
}

pub(crate) const OBLIGATION: LiveMark = LiveMark::Obligation { range: range() };
pub(crate) const NEGATIVE: LiveMark = LiveMark::Negative { range: range() };
pub(crate) const REFERENCE: LiveMark = LiveMark::Reference { range: range(), used_by: USER };

pub(crate) fn reasons<T: std::fmt::Debug>(decision: &Decision<T>) -> &[Reason] {
    decision.refusal().expect("a refusal").reasons()
}

pub(crate) fn ways_out<T: std::fmt::Debug>(decision: &Decision<T>) -> &[WayOut] {
    decision.refusal().expect("a refusal").ways_out()
}
