//! What keeps an original, and until when: the instants that the gate compares, each computed in one place.

use spanvault_types::{Expiry, Horizon, Position, StoreTime};

use crate::view::{DemandView, LeaseView, Reach};

/// When an original expires: the end of its retention, or of a lease that runs longer.
///
/// A lease alone gives no expiry: where no rule made the original due, it is never due. A lease without an end of its
/// own moves nothing here, because it may end with its demand at any time; [`kept_until`] counts it.
pub fn expires_at(retention: Expiry, leases: &[LeaseView]) -> Expiry {
    match retention {
        Expiry::At(_) => {
            leases.iter().filter_map(|lease| end_of(lease.until)).map(Expiry::At).fold(retention, Ord::max)
        }
        Expiry::Never | Expiry::Forever => retention,
    }
}

/// The floor of an original: what removal compares with store time, strictly (I33, I35).
///
/// The maximum of its expiry, every demand's horizon, every lease and every hold. What has no known end (a hold, an
/// unknown horizon) keeps *forever*: until somebody ends it.
pub fn kept_until(
    retention: Expiry,
    leases: &[LeaseView],
    demands: &[DemandView],
    holds: &[Position],
) -> Expiry {
    let leased = leases.iter().map(|lease| floor_of(lease.until));
    let demanded = demands.iter().map(|demand| floor_of(demand.horizon));
    let held = holds.iter().map(|_hold| Expiry::Forever);
    leased.chain(demanded).chain(held).fold(retention, Ord::max)
}

/// Until when an original has to be there for a need that ends at `horizon`; what does not fit is unknown (I34).
pub fn needed_until(horizon: Horizon, reach: Reach) -> Horizon {
    match horizon {
        Horizon::Until(at) => match at.as_ms().checked_add(reach.as_ms()) {
            Some(ms) => Horizon::Until(StoreTime::from_ms(ms)),
            None => Horizon::Unknown,
        },
        Horizon::Unknown => Horizon::Unknown,
    }
}

/// Whether an original that expires at `expiry` is there until `need`; equality is enough (I24), and an unknown need
/// is met only where there is no expiry (I25).
pub(crate) fn covers(expiry: Expiry, need: Horizon) -> bool {
    match (expiry, need) {
        (Expiry::Never | Expiry::Forever, _) => true,
        (Expiry::At(at), Horizon::Until(needed)) => at >= needed,
        (Expiry::At(_), Horizon::Unknown) => false,
    }
}

/// Whether something that runs until `until` still counts at `now`: through its last instant (I35).
pub(crate) fn in_force(until: Horizon, now: StoreTime) -> bool {
    match until {
        Horizon::Until(at) => now <= at,
        Horizon::Unknown => true,
    }
}

/// The first instant that is strictly later; `Never` where there is none.
pub(crate) fn strictly_after(floor: Expiry) -> Expiry {
    match floor.instant().and_then(|at| at.as_ms().checked_add(1)) {
        Some(ms) => Expiry::At(StoreTime::from_ms(ms)),
        None => Expiry::Never,
    }
}

fn end_of(until: Horizon) -> Option<StoreTime> {
    match until {
        Horizon::Until(at) => Some(at),
        Horizon::Unknown => None,
    }
}

fn floor_of(until: Horizon) -> Expiry {
    end_of(until).map_or(Expiry::Forever, Expiry::At)
}

#[cfg(test)]
mod tests;
