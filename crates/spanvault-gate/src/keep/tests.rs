use spanvault_types::{DemandRef, Ttl};

use super::*;

const fn at(ms: u64) -> Expiry {
    Expiry::At(StoreTime::from_ms(ms))
}

const fn until(ms: u64) -> Horizon {
    Horizon::Until(StoreTime::from_ms(ms))
}

fn lease(until: Horizon) -> LeaseView {
    LeaseView { given_by: Position::new(9), until, demands: vec![DemandRef::Assumed] }
}

fn demand(horizon: Horizon) -> DemandView {
    DemandView { demand: DemandRef::Declared(Position::new(7)), horizon }
}

const HOLD: [Position; 1] = [Position::new(5)];

#[test]
fn i33_the_floor_is_the_maximum_of_expiry_leases_demands_and_holds() {
    let leases = [lease(until(30)), lease(until(20))];
    let demands = [demand(until(40)), demand(until(10))];
    assert_eq!(kept_until(at(25), &[], &[], &[]), at(25));
    assert_eq!(kept_until(at(25), &leases, &[], &[]), at(30));
    assert_eq!(kept_until(at(25), &leases, &demands, &[]), at(40));
    assert_eq!(kept_until(at(50), &leases, &demands, &[]), at(50));
    assert_eq!(kept_until(at(50), &leases, &demands, &HOLD), Expiry::Forever);
}

#[test]
fn i33_what_has_no_known_end_keeps_for_ever() {
    assert_eq!(kept_until(at(25), &[], &[demand(Horizon::Unknown)], &[]), Expiry::Forever);
    assert_eq!(kept_until(at(25), &[lease(Horizon::Unknown)], &[], &[]), Expiry::Forever);
    assert_eq!(kept_until(at(25), &[], &[], &HOLD), Expiry::Forever);
    assert_eq!(kept_until(Expiry::Forever, &[], &[], &[]), Expiry::Forever);
}

#[test]
fn i4_a_need_does_not_make_due_what_no_rule_made_due() {
    assert_eq!(kept_until(Expiry::Never, &[lease(until(30))], &[demand(until(40))], &[]), Expiry::Never);
    assert_eq!(expires_at(Expiry::Never, &[lease(until(30))]), Expiry::Never);
    assert_eq!(expires_at(Expiry::Forever, &[lease(until(30))]), Expiry::Forever);
}

#[test]
fn an_expiry_is_raised_by_the_longest_lease_and_lowered_by_none() {
    assert_eq!(expires_at(at(25), &[]), at(25));
    assert_eq!(expires_at(at(25), &[lease(until(30)), lease(until(40)), lease(until(20))]), at(40));
    assert_eq!(expires_at(at(50), &[lease(until(30))]), at(50));
}

#[test]
fn i25_a_lease_that_may_end_at_any_time_promises_no_later_expiry() {
    assert_eq!(expires_at(at(25), &[lease(Horizon::Unknown)]), at(25));
}

#[test]
fn i34_a_need_that_does_not_fit_is_unknown() {
    let reach = Reach::LOCAL;
    assert_eq!(needed_until(until(1), reach), until(1 + 300_000));
    assert_eq!(needed_until(until(u64::MAX - 300_000), reach), until(u64::MAX));
    assert_eq!(needed_until(until(u64::MAX - 299_999), reach), Horizon::Unknown);
    assert_eq!(needed_until(Horizon::Unknown, reach), Horizon::Unknown);
}

#[test]
fn i34_a_reach_saturates_and_always_has_a_margin() {
    let margin = Ttl::from_ms(1).unwrap();
    assert_eq!(Reach::new(2, 3, margin).as_ms(), 6);
    assert_eq!(Reach::new(u64::MAX, u64::MAX, margin).as_ms(), u64::MAX);
    assert_eq!(Reach::LOCAL.as_ms(), Ttl::parse("5m").unwrap().as_ms());
}

#[test]
fn i24_equality_covers_and_one_millisecond_less_does_not() {
    assert!(covers(at(100), until(100)));
    assert!(covers(at(101), until(100)));
    assert!(!covers(at(99), until(100)));
}

#[test]
fn i25_an_unknown_need_is_covered_only_without_an_expiry() {
    assert!(!covers(at(u64::MAX), Horizon::Unknown));
    assert!(covers(Expiry::Never, Horizon::Unknown));
    assert!(covers(Expiry::Forever, Horizon::Unknown));
}

#[test]
fn i35_what_runs_until_an_instant_counts_through_it() {
    assert!(in_force(until(100), StoreTime::from_ms(100)));
    assert!(!in_force(until(100), StoreTime::from_ms(101)));
    assert!(in_force(Horizon::Unknown, StoreTime::from_ms(u64::MAX)));
}

#[test]
fn the_instant_after_the_end_of_time_never_comes() {
    assert_eq!(strictly_after(at(7)), at(8));
    assert_eq!(strictly_after(at(u64::MAX)), Expiry::Never);
    assert_eq!(strictly_after(Expiry::Never), Expiry::Never);
    assert_eq!(strictly_after(Expiry::Forever), Expiry::Never);
}
