//! May the bytes of this original be removed?
//!
//! Two stages and one list of rules: what is due is condemned, and what has been condemned for a full grace is asked
//! about again. Deliberately absent: the tier, the size, whether anybody cites it (a citing summary is told, it keeps
//! nothing), and whether the context shows it verbatim.

use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Expiry, Horizon, Position, Reason, ReasonKind, StoreTime, WayOut};

use crate::keep::{in_force, kept_until, strictly_after};
use crate::permit::RemovalPermit;
use crate::reasons::{Decision, Reasons, Refusal};
use crate::state::{ClockTrust, LockEpoch, StoreState, VaultState};
use crate::view::{RemovalView, Stage};

/// What a permit would rest on; the tombstone repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovalTerms {
    /// When its retention ended.
    pub expired_at: Expiry,
    /// When it was condemned.
    pub condemned_at: StoreTime,
    /// The summaries that are told.
    pub cited_by: Vec<Position>,
}

/// Decides whether the original may be condemned: everything that removal asks, except for the grace.
///
/// Condemning removes nothing and can be undone, so it needs no permit; what it starts is asked about again.
pub fn decide_condemn(state: &VaultState, view: &RemovalView) -> Decision<()> {
    let mut reasons = Reasons::new();
    vault(&mut reasons, state);
    roots(&mut reasons, state, view);
    let until = if passes_with_time(&reasons) { strictly_after(floor(view)) } else { Expiry::Never };
    reasons.into_decision(Some(()), WayOut::Wait { until })
}

/// Decides whether the original's bytes may be removed, for a plan. Allows nothing; see [`permit_removal`].
///
/// A refusal always says in its [`WayOut::Wait`] when it could pass at the earliest: the grace of what is not
/// condemned yet cannot start before it is due.
pub fn decide_removal(state: &VaultState, view: &RemovalView) -> Decision<RemovalTerms> {
    let mut reasons = Reasons::new();
    vault(&mut reasons, state);
    roots(&mut reasons, state, view);
    let condemned_at = grace(&mut reasons, state, view);
    let until = if passes_with_time(&reasons) { earliest(state, view) } else { Expiry::Never };
    let terms = match (view.retention, condemned_at, &view.cited_by) {
        (Ok(expired_at), Some(condemned_at), Ok(cited_by)) => {
            Some(RemovalTerms { expired_at, condemned_at, cited_by: cited_by.clone() })
        }
        _ => None,
    };
    reasons.into_decision(terms, WayOut::Wait { until })
}

/// Decides under the writer lock whether the original's bytes may be removed.
///
/// The same predicate as [`decide_removal`]. The permit is the first of three barriers, which do not trust each other;
/// see [`RemovalPermit`].
///
/// # Errors
/// The refusal.
pub fn permit_removal(
    lock: LockEpoch,
    state: &VaultState,
    view: &RemovalView,
) -> Result<RemovalPermit, Refusal> {
    match decide_removal(state, view) {
        Decision::Permit(terms) => Ok(RemovalPermit::new(lock, state, view.original, terms)),
        Decision::Refuse(refusal) => Err(refusal),
    }
}

/// A full disk is no reason: freeing is what helps it (I9). A clock in doubt always is one (I39).
fn vault(reasons: &mut Reasons, state: &VaultState) {
    match state.store {
        StoreState::Ok | StoreState::NoSpace => {}
        StoreState::Poisoned => reasons.add(Reason::StorePoisoned, [WayOut::Reopen]),
    }
    if state.clock == ClockTrust::Suspect {
        reasons.add(Reason::ClockUntrusted, [WayOut::ConfirmClock]);
    }
    if state.policy.is_err() {
        reasons.add_unreadable();
    }
}

/// Everything that could rest on the bytes, each thing by its own reason (I35). What cannot be read rests (I47).
fn roots(reasons: &mut Reasons, state: &VaultState, view: &RemovalView) {
    match view.retention {
        Ok(retention) if retention.is_past(state.now) => {}
        Ok(retention) => {
            let rule = (retention == Expiry::Never).then_some(WayOut::SetRetention);
            reasons.add(Reason::NotDue { kept_until: floor(view) }, rule);
        }
        Err(_unknown) => reasons.add_unreadable(),
    }
    match &view.demands {
        Ok(demands) => {
            for demand in demands.iter().filter(|demand| in_force(demand.horizon, state.now)) {
                // A demand that ends within the retention adds nothing to it: withdrawn or not, the bytes stay as long.
                let Ok(expires_at) = view.retention else { continue };
                if outlasts(demand.horizon, expires_at) {
                    reasons.add(
                        Reason::ExpiresBeforeNeed {
                            expires_at,
                            needed_until: demand.horizon,
                            demand: demand.demand,
                        },
                        [WayOut::WithdrawDemand { demand: demand.demand }],
                    );
                }
            }
        }
        Err(_unknown) => reasons.add_unreadable(),
    }
    match &view.leases {
        Ok(leases) => {
            leases
                .iter()
                .filter(|lease| in_force(lease.until, state.now))
                .for_each(|lease| reasons.add_lease(lease));
        }
        Err(_unknown) => reasons.add_unreadable(),
    }
    match &view.holds {
        Ok(holds) => {
            for &hold in holds {
                reasons.add(Reason::Held { hold }, [WayOut::ReleaseHold { hold }]);
            }
        }
        Err(_unknown) => reasons.add_unreadable(),
    }
    match &view.live {
        Ok(marks) => reasons.add_live(marks),
        Err(_unknown) => reasons.add_unreadable(),
    }
    if view.cited_by.is_err() {
        reasons.add_unreadable();
    }
    match view.stage {
        Ok(Stage::Kept | Stage::Condemned { .. }) => {}
        Ok(Stage::Gone) => reasons.add(Reason::NotRetrievable { original: view.original }, []),
        Err(_unknown) => reasons.add_unreadable(),
    }
}

/// Whether a demand needs bytes that retention alone would let go. Without an expiry it never does.
fn outlasts(horizon: Horizon, retention: Expiry) -> bool {
    match (horizon, retention) {
        (_, Expiry::Never | Expiry::Forever) => false,
        (Horizon::Unknown, Expiry::At(_)) => true,
        (Horizon::Until(needed), Expiry::At(at)) => needed > at,
    }
}

/// Gives the instant from which the grace counts, if all of it has passed.
fn grace(reasons: &mut Reasons, state: &VaultState, view: &RemovalView) -> Option<StoreTime> {
    let (Ok(stage), Ok(grace)) = (view.stage, view.grace) else {
        reasons.add_unreadable();
        return None;
    };
    match stage {
        Stage::Kept => reasons.add(Reason::NotCondemned { ready_at: None }, []),
        Stage::Condemned { since } => {
            let ready_at = since.after(grace);
            if is_planted(Bug::NoGrace) || ready_at.instant().is_some_and(|ready| state.now >= ready) {
                return Some(since);
            }
            reasons.add(Reason::NotCondemned { ready_at: Some(ready_at) }, []);
        }
        Stage::Gone => {}
    }
    None
}

/// What removal compares with store time, as far as it can be read.
fn floor(view: &RemovalView) -> Expiry {
    kept_until(
        view.retention.unwrap_or(Expiry::Forever),
        view.leases.as_deref().unwrap_or_default(),
        view.demands.as_deref().unwrap_or_default(),
        view.holds.as_deref().unwrap_or_default(),
    )
}

/// The first instant at which both the floor and a full grace could be behind it.
fn earliest(state: &VaultState, view: &RemovalView) -> Expiry {
    let (Ok(stage), Ok(grace)) = (view.stage, view.grace) else { return Expiry::Never };
    let due = strictly_after(floor(view)).max(Expiry::At(state.now));
    let ready = match stage {
        Stage::Condemned { since } => since.after(grace).max(due),
        Stage::Kept | Stage::Gone => due.instant().map_or(due, |due| due.after(grace)),
    };
    ready.instant().map_or(Expiry::Never, Expiry::At)
}

/// Whether nothing but time has to pass. What ends by somebody's act, or not at all, has no instant.
fn passes_with_time(reasons: &Reasons) -> bool {
    !reasons.has(|reason| {
        !matches!(
            reason.kind(),
            ReasonKind::NotDue
                | ReasonKind::ExpiresBeforeNeed
                | ReasonKind::Leased
                | ReasonKind::NotCondemned
        )
    })
}
