//! The decision table of compaction: the product of all inputs, against docs/GATE.md.
//!
//! What is expected is written from that page alone and calls nothing of the gate's own reasoning.

use spanvault_gate::{
    ClockTrust, CompactionRequest, Decision, ExpiryMode, LiveMark, OriginalView, Presence, Reach, Reading,
    SpanView, StoreState, SummaryView, Unknown, VaultState, decide_compaction,
};
use spanvault_types::{AdmissionFault, EvidentialClass, Expiry, Lease, Mode, ReasonKind, TtlRule};

use crate::levels::{for_each, levels};
use crate::world::{
    DEMAND, HOLD, NEGATIVE, NOW, OBLIGATION, ORIGINAL, REACH, REFERENCE, SPAN, at, demand, lease, request,
    ttl, until, vault,
};

levels! {
    Class { Narrative, Structured, SideEffecting }
    Words { Plain, WithAtom, WithDenial, WithPromise }
    Provenance {
        HotVerified, HotStale, ColdVerified, ColdStale, Condemned, Reclaimed, Erased, Corrupt, Missing, Unreadable,
    }
    /// Against an expiry at an instant; without an expiry every horizon is covered.
    Need { None, Covered, NotCovered, Unknown }
    Expires { AtAnInstant, WithoutRule, Forever, Unreadable }
    Liveness { Quiescent, Obligation, Negative, Reference, Unreadable }
    Holds { None, One, Unreadable }
    Leases { None, InForce, Over, Unreadable }
    Cited { Yes, No }
    Honest { Yes, No }
    Admitted { Yes, No }
    Asked { Check, ExtendEnough, ExtendTooLittle }
    Store { Ok, Poisoned, NoSpace }
    Clock { Trusted, Suspect }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    class: Class,
    words: Words,
    provenance: Provenance,
    need: Need,
    expires: Expires,
    liveness: Liveness,
    holds: Holds,
    leases: Leases,
    cited: Cited,
    honest: Honest,
    admitted: Admitted,
    asked: Asked,
    store: Store,
    clock: Clock,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Permit(Mode, Vec<Lease>),
    Refuse(Vec<ReasonKind>),
}

/// The expiry of the rows that have one; leases of the rows that are over have run out long before.
const EXPIRY: u64 = NOW + 50_000_000;
const COVERED: u64 = EXPIRY - REACH;
const NOT_COVERED: u64 = EXPIRY - REACH + 1;
const LEASED_UNTIL: u64 = NOW + 1;

fn expected(row: Row) -> Expected {
    let mut against = Vec::new();

    // "What it cannot read it refuses."
    let unreadable = row.provenance == Provenance::Unreadable
        || row.expires == Expires::Unreadable
        || row.liveness == Liveness::Unreadable
        || row.holds == Holds::Unreadable
        || row.leases == Leases::Unreadable;
    if unreadable {
        against.push(ReasonKind::Unreadable);
    }
    // A verdict that cannot be logged is refused (I22, I31).
    match row.store {
        Store::Ok => {}
        Store::Poisoned => against.push(ReasonKind::StorePoisoned),
        Store::NoSpace => against.push(ReasonKind::NoSpace),
    }
    if row.admitted == Admitted::No {
        against.push(ReasonKind::SummaryNotAdmitted);
    }
    // "live (any class): refuse".
    match row.liveness {
        Liveness::Quiescent | Liveness::Unreadable => {}
        Liveness::Obligation => against.push(ReasonKind::OpenObligation),
        Liveness::Negative => against.push(ReasonKind::UnabsorbedNegative),
        Liveness::Reference => against.push(ReasonKind::DanglingReference),
    }

    // The left column: "pointer present and original retrievable past the horizon".
    let mut right_column = Vec::new();
    if row.cited == Cited::No {
        right_column.push(ReasonKind::NoPointer);
    }
    match row.provenance {
        Provenance::HotVerified | Provenance::ColdVerified | Provenance::Unreadable => {}
        Provenance::HotStale
        | Provenance::ColdStale
        | Provenance::Condemned
        | Provenance::Reclaimed
        | Provenance::Erased
        | Provenance::Corrupt
        | Provenance::Missing => right_column.push(ReasonKind::NotRetrievable),
    }
    // "No expiry is always enough; an unknown horizon only if there is no expiry." Nothing can be said of a horizon
    // where the expiry, or a lease that could raise it, cannot be read.
    let compared =
        row.expires == Expires::AtAnInstant && row.leases != Leases::Unreadable && row.need != Need::None;
    let past_the_horizon = match row.need {
        Need::None | Need::Covered => true,
        Need::NotCovered => row.asked == Asked::ExtendEnough,
        Need::Unknown => false,
    };
    if compared && !past_the_horizon {
        right_column.push(ReasonKind::ExpiresBeforeNeed);
    }
    // "Clock suspect: no permit that rests on an expiry" (I39).
    if compared && row.clock == Clock::Suspect {
        right_column.push(ReasonKind::ClockUntrusted);
    }

    let narrative_as_the_gate_reads_it = row.class == Class::Narrative && row.words == Words::Plain;
    let mut mode = Mode::PointerRewrite;
    if narrative_as_the_gate_reads_it {
        // Permitted in both columns; in the right one as a substitution, which a hold or lease forbids.
        if !right_column.is_empty() {
            mode = Mode::Substitution;
            let mut forbids = Vec::new();
            if row.holds == Holds::One {
                forbids.push(ReasonKind::Held);
            }
            match (row.leases, row.clock) {
                (Leases::InForce, _) => forbids.push(ReasonKind::Leased),
                (Leases::Over, Clock::Suspect) => forbids.push(ReasonKind::ClockUntrusted),
                (Leases::None | Leases::Over | Leases::Unreadable, _) => {}
            }
            if !forbids.is_empty() {
                against.extend(forbids);
                against.extend(right_column);
            }
        }
    } else {
        // "Permit if the summary is honest" on the left, "refuse" on the right.
        if row.honest == Honest::No {
            against.push(ReasonKind::DishonestSummary);
        }
        against.extend(right_column);
    }

    if against.is_empty() {
        // "Leases run to horizon + reach of the demands it was checked against, and name them; no demand, no lease."
        let lease_until = match (mode, row.need) {
            (Mode::Substitution, _) | (_, Need::None) => None,
            (Mode::PointerRewrite, Need::Covered) => Some(until(COVERED + REACH)),
            (Mode::PointerRewrite, Need::NotCovered) => Some(until(NOT_COVERED + REACH)),
            (Mode::PointerRewrite, Need::Unknown) => Some(spanvault_types::Horizon::Unknown),
        };
        let leases = lease_until.map(|until| Lease { original: ORIGINAL, until, demands: vec![DEMAND] });
        Expected::Permit(mode, leases.into_iter().collect())
    } else {
        against.sort_unstable();
        against.dedup();
        Expected::Refuse(against)
    }
}

fn decided(state: &VaultState, request: &CompactionRequest, span: &SpanView) -> Expected {
    match decide_compaction(state, request, span) {
        Decision::Permit(terms) => Expected::Permit(terms.mode, terms.leases),
        Decision::Refuse(refusal) => Expected::Refuse(refusal.kinds()),
    }
}

fn original_of(row: Row) -> OriginalView {
    OriginalView {
        original: ORIGINAL,
        reading: Ok(Reading {
            class: match row.class {
                Class::Narrative => EvidentialClass::Narrative,
                Class::Structured => EvidentialClass::Structured,
                Class::SideEffecting => EvidentialClass::SideEffecting,
            },
            atom: row.words == Words::WithAtom,
            denial: row.words == Words::WithDenial,
            promise: row.words == Words::WithPromise,
        }),
        cited: row.cited == Cited::Yes,
        presence: match row.provenance {
            Provenance::HotVerified => Ok(Presence::HotVerified),
            Provenance::HotStale => Ok(Presence::HotStale),
            Provenance::ColdVerified => Ok(Presence::ColdVerified),
            Provenance::ColdStale => Ok(Presence::ColdStale),
            Provenance::Condemned => Ok(Presence::Condemned),
            Provenance::Reclaimed => Ok(Presence::Reclaimed),
            Provenance::Erased => Ok(Presence::Erased),
            Provenance::Corrupt => Ok(Presence::Corrupt),
            Provenance::Missing => Ok(Presence::Missing),
            Provenance::Unreadable => Err(Unknown),
        },
        reach: Reach::LOCAL,
        retention: match row.expires {
            Expires::AtAnInstant => Ok(at(EXPIRY)),
            Expires::WithoutRule => Ok(Expiry::Never),
            Expires::Forever => Ok(Expiry::Forever),
            Expires::Unreadable => Err(Unknown),
        },
        leases: match row.leases {
            Leases::None => Ok(vec![]),
            Leases::InForce => Ok(vec![lease(until(LEASED_UNTIL))]),
            Leases::Over => Ok(vec![lease(until(NOW - 1))]),
            Leases::Unreadable => Err(Unknown),
        },
        demands: Ok(match row.need {
            Need::None => vec![],
            Need::Covered => vec![demand(until(COVERED))],
            Need::NotCovered => vec![demand(until(NOT_COVERED))],
            Need::Unknown => vec![demand(spanvault_types::Horizon::Unknown)],
        }),
        holds: match row.holds {
            Holds::None => Ok(vec![]),
            Holds::One => Ok(vec![HOLD]),
            Holds::Unreadable => Err(Unknown),
        },
    }
}

fn live_of(row: Row) -> Result<Vec<LiveMark>, Unknown> {
    match row.liveness {
        Liveness::Quiescent => Ok(vec![]),
        Liveness::Obligation => Ok(vec![OBLIGATION]),
        Liveness::Negative => Ok(vec![NEGATIVE]),
        Liveness::Reference => Ok(vec![REFERENCE]),
        Liveness::Unreadable => Err(Unknown),
    }
}

fn request_of(row: Row) -> CompactionRequest {
    CompactionRequest {
        mode: match row.asked {
            Asked::Check => ExpiryMode::Check,
            // The need of the rows that are not covered ends one millisecond after the expiry.
            Asked::ExtendEnough => ExpiryMode::Extend { budget: TtlRule::For(ttl(EXPIRY + 1 - NOW)) },
            Asked::ExtendTooLittle => ExpiryMode::Extend { budget: TtlRule::For(ttl(EXPIRY - NOW)) },
        },
        summary: SummaryView {
            admission: match row.admitted {
                Admitted::Yes => Ok(()),
                Admitted::No => Err(AdmissionFault::Unrelated),
            },
            unnamed: Ok(match row.honest {
                Honest::Yes => 0,
                Honest::No => 3,
            }),
        },
    }
}

fn state_of(row: Row) -> VaultState {
    VaultState {
        store: match row.store {
            Store::Ok => StoreState::Ok,
            Store::Poisoned => StoreState::Poisoned,
            Store::NoSpace => StoreState::NoSpace,
        },
        clock: match row.clock {
            Clock::Trusted => ClockTrust::Trusted,
            Clock::Suspect => ClockTrust::Suspect,
        },
        ..vault()
    }
}

/// Every row of one class and one way of reading its words; their number.
fn check(class: Class, words: Words) -> u64 {
    let mut rows = 0_u64;
    let mut check = |row: Row, span: &SpanView| {
        let decided = decided(&state_of(row), &request_of(row), span);
        assert_eq!(decided, expected(row), "{row:?}");
        rows += 1;
    };
    let mut row = Row {
        class,
        words,
        provenance: Provenance::HotVerified,
        need: Need::None,
        expires: Expires::AtAnInstant,
        liveness: Liveness::Quiescent,
        holds: Holds::None,
        leases: Leases::None,
        cited: Cited::Yes,
        honest: Honest::Yes,
        admitted: Admitted::Yes,
        asked: Asked::Check,
        store: Store::Ok,
        clock: Clock::Trusted,
    };
    for_each!(row, provenance: Provenance, need: Need, expires: Expires, liveness: Liveness, holds: Holds,
        leases: Leases, cited: Cited; {
        let span = SpanView { span: SPAN, live: live_of(row), originals: Ok(vec![original_of(row)]) };
        for_each!(row, honest: Honest, admitted: Admitted, asked: Asked, store: Store, clock: Clock; {
            check(row, &span);
        });
    });
    rows
}

#[test]
fn i22_i23_i24_i25_i26_i27_i28_every_row_of_the_compaction_table() {
    let rows: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = Class::ALL
            .iter()
            .flat_map(|&class| Words::ALL.iter().map(move |&words| (class, words)))
            .map(|(class, words)| scope.spawn(move || check(class, words)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("every row agrees")).sum()
    });
    println!("{rows} rows of the compaction table");
    assert_eq!(rows, 3 * 4 * 10 * 4 * 4 * 5 * 3 * 4 * 2 * 2 * 2 * 3 * 3 * 2);
}

#[test]
fn i22_a_policy_or_a_reading_or_a_closure_that_cannot_be_read_is_refused_in_every_cell() {
    for &class in Class::ALL {
        let row = Row {
            class,
            words: Words::Plain,
            provenance: Provenance::HotVerified,
            need: Need::Covered,
            expires: Expires::AtAnInstant,
            liveness: Liveness::Quiescent,
            holds: Holds::None,
            leases: Leases::None,
            cited: Cited::Yes,
            honest: Honest::Yes,
            admitted: Admitted::Yes,
            asked: Asked::Check,
            store: Store::Ok,
            clock: Clock::Trusted,
        };
        let readable = SpanView { span: SPAN, live: Ok(vec![]), originals: Ok(vec![original_of(row)]) };
        assert!(decide_compaction(&vault(), &request(), &readable).is_permit());

        let refused = Expected::Refuse(vec![ReasonKind::Unreadable]);
        let no_policy = VaultState { policy: Err(Unknown), ..vault() };
        assert_eq!(decided(&no_policy, &request(), &readable), refused);
        let no_reading = OriginalView { reading: Err(Unknown), ..original_of(row) };
        let no_demands = OriginalView { demands: Err(Unknown), ..original_of(row) };
        for originals in [Err(Unknown), Ok(vec![]), Ok(vec![no_reading]), Ok(vec![no_demands])] {
            let span = SpanView { originals, ..readable.clone() };
            assert_eq!(decided(&vault(), &request(), &span), refused);
        }
    }
}
