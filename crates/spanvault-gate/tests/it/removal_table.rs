//! The decision table of removal: the product of all inputs, against docs/GATE.md and docs/INVARIANTS.md.
//!
//! What is expected is written from those pages alone and calls nothing of the gate's own reasoning.

use spanvault_gate::{
    ClockTrust, Decision, RemovalTerms, RemovalView, Stage, StoreState, Unknown, VaultState, decide_condemn,
    decide_removal,
};
use spanvault_types::{Expiry, Horizon, Position, ReasonKind, StoreTime, WayOut};

use crate::levels::{for_each, levels};
use crate::world::{
    GRACE, HOLD, NEGATIVE, NOW, OBLIGATION, ORIGINAL, POLICY, REFERENCE, at, demand, lease, ttl, until, vault,
};

levels! {
    Retention { Past, EndsNow, Later, WithoutRule, Forever, Unreadable }
    Holds { None, One, Unreadable }
    Leases { None, Over, EndsNow, Later, WithoutEnd, Unreadable }
    Demands { None, Over, EndsNow, Later, Unknown, Unreadable }
    Liveness { Quiescent, Obligation, Negative, Reference, Unreadable }
    Removal { Kept, JustCondemned, AMillisecondShort, GracePassed, Gone, Unreadable }
    Grace { Known, Unreadable }
    CitedBy { Nobody, ASummary, Unreadable }
    Policy { Known, Unreadable }
    Clock { Trusted, Suspect }
    Store { Ok, Poisoned, NoSpace }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    retention: Retention,
    holds: Holds,
    leases: Leases,
    demands: Demands,
    liveness: Liveness,
    removal: Removal,
    grace: Grace,
    cited_by: CitedBy,
    policy: Policy,
    clock: Clock,
    store: Store,
}

const EXPIRED: u64 = NOW - GRACE - 10;
const LATER: u64 = NOW + 1_000;
const CITING: Position = Position::new(40);

/// What speaks against removal, the grace left out.
fn against_condemning(row: Row) -> Vec<ReasonKind> {
    let mut against = Vec::new();
    // "every view part readable", "unreadable root, edge, policy: deletes nothing" (I47).
    if row.retention == Retention::Unreadable
        || row.holds == Holds::Unreadable
        || row.leases == Leases::Unreadable
        || row.demands == Demands::Unreadable
        || row.liveness == Liveness::Unreadable
        || row.removal == Removal::Unreadable
        || row.cited_by == CitedBy::Unreadable
        || row.policy == Policy::Unreadable
    {
        against.push(ReasonKind::Unreadable);
    }
    // "the clock trusted"; "a reclaim run can still free space" (I9); poisoned: nothing is acknowledged (I8).
    if row.clock == Clock::Suspect {
        against.push(ReasonKind::ClockUntrusted);
    }
    if row.store == Store::Poisoned {
        against.push(ReasonKind::StorePoisoned);
    }
    // "only if expired by its retention", strictly (I35); without a rule it is never due.
    match row.retention {
        Retention::Past | Retention::Unreadable => {}
        Retention::EndsNow | Retention::Later | Retention::WithoutRule | Retention::Forever => {
            against.push(ReasonKind::NotDue);
        }
    }
    // "no hold, no lease".
    if row.holds == Holds::One {
        against.push(ReasonKind::Held);
    }
    match row.leases {
        Leases::None | Leases::Over | Leases::Unreadable => {}
        Leases::EndsNow | Leases::Later | Leases::WithoutEnd => against.push(ReasonKind::Leased),
    }
    // "no demand whose horizon is later than now (or unknown)", strictly (I35): one that ends now still counts. It is a
    // reason of its own where it needs the bytes for longer than retention keeps them.
    let ends = |demands| match demands {
        Demands::EndsNow => Some(NOW),
        Demands::Later => Some(LATER),
        Demands::Unknown => Some(u64::MAX),
        Demands::None | Demands::Over | Demands::Unreadable => None,
    };
    let retention_ends = match row.retention {
        Retention::Past => Some(EXPIRED),
        Retention::EndsNow => Some(NOW),
        Retention::Later => Some(LATER),
        Retention::WithoutRule | Retention::Forever | Retention::Unreadable => None,
    };
    if let (Some(needed), Some(kept)) = (ends(row.demands), retention_ends)
        && needed > kept
    {
        against.push(ReasonKind::ExpiresBeforeNeed);
    }
    // "nothing live in it".
    match row.liveness {
        Liveness::Quiescent | Liveness::Unreadable => {}
        Liveness::Obligation => against.push(ReasonKind::OpenObligation),
        Liveness::Negative => against.push(ReasonKind::UnabsorbedNegative),
        Liveness::Reference => against.push(ReasonKind::DanglingReference),
    }
    // What is gone cannot go again (I42).
    if row.removal == Removal::Gone {
        against.push(ReasonKind::NotRetrievable);
    }
    against.sort_unstable();
    against
}

/// The same and "condemned for a full grace".
fn against_removing(row: Row) -> Vec<ReasonKind> {
    let mut against = against_condemning(row);
    match (row.removal, row.grace) {
        (_, Grace::Unreadable) => against.push(ReasonKind::Unreadable),
        (Removal::Kept | Removal::JustCondemned | Removal::AMillisecondShort, Grace::Known) => {
            against.push(ReasonKind::NotCondemned);
        }
        (Removal::GracePassed | Removal::Gone | Removal::Unreadable, Grace::Known) => {}
    }
    against.sort_unstable();
    against.dedup();
    against
}

fn view_of(row: Row) -> RemovalView {
    RemovalView {
        original: ORIGINAL,
        stage: match row.removal {
            Removal::Kept => Ok(Stage::Kept),
            Removal::JustCondemned => Ok(Stage::Condemned { since: StoreTime::from_ms(NOW) }),
            Removal::AMillisecondShort => Ok(Stage::Condemned { since: StoreTime::from_ms(NOW - GRACE + 1) }),
            Removal::GracePassed => Ok(Stage::Condemned { since: StoreTime::from_ms(NOW - GRACE) }),
            Removal::Gone => Ok(Stage::Gone),
            Removal::Unreadable => Err(Unknown),
        },
        grace: match row.grace {
            Grace::Known => Ok(ttl(GRACE)),
            Grace::Unreadable => Err(Unknown),
        },
        retention: match row.retention {
            Retention::Past => Ok(at(EXPIRED)),
            Retention::EndsNow => Ok(at(NOW)),
            Retention::Later => Ok(at(LATER)),
            Retention::WithoutRule => Ok(Expiry::Never),
            Retention::Forever => Ok(Expiry::Forever),
            Retention::Unreadable => Err(Unknown),
        },
        leases: match row.leases {
            Leases::None => Ok(vec![]),
            Leases::Over => Ok(vec![lease(until(NOW - 1))]),
            Leases::EndsNow => Ok(vec![lease(until(NOW))]),
            Leases::Later => Ok(vec![lease(until(LATER))]),
            Leases::WithoutEnd => Ok(vec![lease(Horizon::Unknown)]),
            Leases::Unreadable => Err(Unknown),
        },
        demands: match row.demands {
            Demands::None => Ok(vec![]),
            Demands::Over => Ok(vec![demand(until(NOW - 1))]),
            Demands::EndsNow => Ok(vec![demand(until(NOW))]),
            Demands::Later => Ok(vec![demand(until(LATER))]),
            Demands::Unknown => Ok(vec![demand(Horizon::Unknown)]),
            Demands::Unreadable => Err(Unknown),
        },
        holds: match row.holds {
            Holds::None => Ok(vec![]),
            Holds::One => Ok(vec![HOLD]),
            Holds::Unreadable => Err(Unknown),
        },
        live: match row.liveness {
            Liveness::Quiescent => Ok(vec![]),
            Liveness::Obligation => Ok(vec![OBLIGATION]),
            Liveness::Negative => Ok(vec![NEGATIVE]),
            Liveness::Reference => Ok(vec![REFERENCE]),
            Liveness::Unreadable => Err(Unknown),
        },
        cited_by: cited_by_of(row),
    }
}

fn cited_by_of(row: Row) -> Result<Vec<Position>, Unknown> {
    match row.cited_by {
        CitedBy::Nobody => Ok(vec![]),
        CitedBy::ASummary => Ok(vec![CITING]),
        CitedBy::Unreadable => Err(Unknown),
    }
}

fn state_of(row: Row) -> VaultState {
    VaultState {
        policy: match row.policy {
            Policy::Known => Ok(POLICY),
            Policy::Unreadable => Err(Unknown),
        },
        clock: match row.clock {
            Clock::Trusted => ClockTrust::Trusted,
            Clock::Suspect => ClockTrust::Suspect,
        },
        store: match row.store {
            Store::Ok => StoreState::Ok,
            Store::Poisoned => StoreState::Poisoned,
            Store::NoSpace => StoreState::NoSpace,
        },
        ..vault()
    }
}

fn agrees<T: std::fmt::Debug + PartialEq>(
    row: Row,
    decision: &Decision<T>,
    terms: &T,
    against: &[ReasonKind],
) {
    match decision {
        Decision::Permit(permitted) => {
            assert!(against.is_empty(), "permitted, but {against:?} in {row:?}");
            assert_eq!(permitted, terms, "{row:?}");
        }
        Decision::Refuse(refusal) => {
            assert_eq!(refusal.kinds(), against, "{row:?}");
            let waits = refusal.ways_out().iter().filter(|way| matches!(way, WayOut::Wait { .. })).count();
            assert_eq!(waits, 1, "a refusal says when it could pass: {row:?}");
        }
    }
}

#[test]
fn i22_i27_i33_i35_i39_i47_every_row_of_the_removal_table() {
    let mut row = Row {
        retention: Retention::Past,
        holds: Holds::None,
        leases: Leases::None,
        demands: Demands::None,
        liveness: Liveness::Quiescent,
        removal: Removal::GracePassed,
        grace: Grace::Known,
        cited_by: CitedBy::Nobody,
        policy: Policy::Known,
        clock: Clock::Trusted,
        store: Store::Ok,
    };
    let mut rows = 0_u64;
    for_each!(row, retention: Retention, holds: Holds, leases: Leases, demands: Demands, liveness: Liveness,
        removal: Removal, grace: Grace, cited_by: CitedBy; {
        let view = view_of(row);
        let terms = RemovalTerms {
            expired_at: at(EXPIRED),
            condemned_at: StoreTime::from_ms(NOW - GRACE),
            cited_by: cited_by_of(row).unwrap_or_default(),
        };
        for_each!(row, policy: Policy, clock: Clock, store: Store; {
            let state = state_of(row);
            agrees(row, &decide_condemn(&state, &view), &(), &against_condemning(row));
            agrees(row, &decide_removal(&state, &view), &terms, &against_removing(row));
            rows += 2;
        });
    });
    println!("{rows} rows of the removal table");
    assert_eq!(rows, 6 * 3 * 6 * 6 * 5 * 6 * 2 * 3 * 2 * 2 * 3 * 2);
}
