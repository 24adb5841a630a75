//! The rules of removal one by one, with every particular of what they say.

use spanvault_gate::{
    LeaseView, LockEpoch, RemovalView, Stage, VaultState, decide_condemn, decide_removal, permit_removal,
};
use spanvault_types::{Expiry, Horizon, Position, Reason, StoreTime, WayOut};

use crate::world::{
    DEMAND, GRACE, HOLD, LEASE, NOW, OBLIGATION, ORIGINAL, REFERENCE, REVISION, USER, at, demand, lease,
    range, reasons, removal, ttl, until, vault, ways_out,
};

const LOCK: LockEpoch = LockEpoch::new(7);

#[test]
fn a_removal_is_refused_with_every_particular() {
    let view = RemovalView {
        stage: Ok(Stage::Condemned { since: StoreTime::from_ms(NOW) }),
        retention: Ok(at(NOW)),
        leases: Ok(vec![lease(until(NOW + 5))]),
        demands: Ok(vec![demand(until(NOW + 7))]),
        holds: Ok(vec![HOLD]),
        live: Ok(vec![REFERENCE]),
        ..removal()
    };
    let decision = decide_removal(&vault(), &view);
    assert_eq!(
        reasons(&decision),
        [
            Reason::ExpiresBeforeNeed { expires_at: at(NOW), needed_until: until(NOW + 7), demand: DEMAND },
            Reason::Held { hold: HOLD },
            Reason::Leased { lease: LEASE, until: until(NOW + 5) },
            Reason::NotDue { kept_until: Expiry::Forever },
            Reason::NotCondemned { ready_at: Some(at(NOW + GRACE)) },
            Reason::DanglingReference { range: range(), used_by: USER },
        ]
    );
    assert_eq!(
        ways_out(&decision),
        [
            WayOut::Checkpoint,
            WayOut::Wait { until: Expiry::Never },
            WayOut::ReleaseHold { hold: HOLD },
            WayOut::WithdrawDemand { demand: DEMAND },
        ]
    );
}

#[test]
fn i35_an_original_goes_strictly_after_its_floor() {
    let expiring = |retention| RemovalView { retention: Ok(at(retention)), ..removal() };
    assert!(decide_removal(&vault(), &expiring(NOW - 1)).is_permit());
    assert_eq!(reasons(&decide_removal(&vault(), &expiring(NOW))), [Reason::NotDue { kept_until: at(NOW) }]);
    let needed = |horizon| RemovalView { demands: Ok(vec![demand(until(horizon))]), ..removal() };
    assert!(decide_removal(&vault(), &needed(NOW - 1)).is_permit());
    assert!(!decide_removal(&vault(), &needed(NOW)).is_permit());
}

#[test]
fn i41_condemning_asks_everything_but_the_grace() {
    let kept = RemovalView { stage: Ok(Stage::Kept), ..removal() };
    assert!(decide_condemn(&vault(), &kept).is_permit());
    assert_eq!(reasons(&decide_removal(&vault(), &kept)), [Reason::NotCondemned { ready_at: None }]);
    let held = RemovalView { holds: Ok(vec![HOLD]), ..kept };
    assert_eq!(reasons(&decide_condemn(&vault(), &held)), [Reason::Held { hold: HOLD }]);
}

#[test]
fn a_refusal_of_removal_says_when_it_could_pass() {
    let wait = |view: &RemovalView| {
        let decision = decide_removal(&vault(), view);
        let waits: Vec<WayOut> =
            ways_out(&decision).iter().filter(|way| matches!(way, WayOut::Wait { .. })).cloned().collect();
        assert_eq!(waits.len(), 1);
        waits[0].clone()
    };
    let condemned = Ok(Stage::Condemned { since: StoreTime::from_ms(NOW - 1) });
    let in_grace = RemovalView { stage: condemned, ..removal() };
    assert_eq!(wait(&in_grace), WayOut::Wait { until: at(NOW - 1 + GRACE) });
    let kept = RemovalView { stage: Ok(Stage::Kept), ..removal() };
    assert_eq!(wait(&kept), WayOut::Wait { until: at(NOW + GRACE) });
    let needed = RemovalView { demands: Ok(vec![demand(until(NOW + 3))]), ..removal() };
    assert_eq!(wait(&needed), WayOut::Wait { until: at(NOW + 4) });
    let leased = RemovalView { leases: Ok(vec![lease(until(NOW + 5))]), ..kept };
    assert_eq!(wait(&leased), WayOut::Wait { until: at(NOW + 6 + GRACE) });
    let unknown = RemovalView { demands: Ok(vec![demand(Horizon::Unknown)]), ..removal() };
    assert_eq!(wait(&unknown), WayOut::Wait { until: Expiry::Never });
    let live = RemovalView { live: Ok(vec![OBLIGATION]), ..removal() };
    assert_eq!(wait(&live), WayOut::Wait { until: Expiry::Never });
}

#[test]
fn i4_without_a_rule_nothing_is_ever_due_and_the_way_out_is_a_rule() {
    let decision = decide_removal(&vault(), &RemovalView { retention: Ok(Expiry::Never), ..removal() });
    assert_eq!(reasons(&decision), [Reason::NotDue { kept_until: Expiry::Never }]);
    assert_eq!(ways_out(&decision), [WayOut::Wait { until: Expiry::Never }, WayOut::SetRetention]);
    let forever = decide_removal(&vault(), &RemovalView { retention: Ok(Expiry::Forever), ..removal() });
    assert_eq!(ways_out(&forever), [WayOut::Wait { until: Expiry::Never }]);
}

#[test]
fn i34_a_grace_that_does_not_fit_never_passes() {
    let view = RemovalView {
        stage: Ok(Stage::Condemned { since: StoreTime::from_ms(2) }),
        grace: Ok(ttl(u64::MAX)),
        retention: Ok(at(1)),
        ..removal()
    };
    let end_of_time = VaultState { now: StoreTime::from_ms(u64::MAX), ..vault() };
    let decision = decide_removal(&end_of_time, &view);
    assert_eq!(reasons(&decision), [Reason::NotCondemned { ready_at: Some(Expiry::Forever) }]);
    assert_eq!(ways_out(&decision), [WayOut::Wait { until: Expiry::Never }]);
}

#[test]
fn i46_a_citation_keeps_nothing_and_is_told() {
    let citing = vec![Position::new(50), Position::new(51)];
    let view = RemovalView { cited_by: Ok(citing.clone()), ..removal() };
    let permit = permit_removal(LOCK, &vault(), &view).expect("a permit");
    assert_eq!(permit.cited_by(), citing);
}

#[test]
fn i42_a_removal_permit_names_its_lock_revision_and_what_it_rested_on() {
    let permit = permit_removal(LOCK, &vault(), &removal()).expect("a permit");
    assert_eq!(permit.epoch(), LOCK);
    assert_eq!(permit.revision(), REVISION);
    assert_eq!(permit.at(), StoreTime::from_ms(NOW));
    assert_eq!(permit.original(), ORIGINAL);
    assert_eq!(permit.expired_at(), at(NOW - GRACE - 1));
    assert_eq!(permit.condemned_at(), StoreTime::from_ms(NOW - GRACE));
    let held = RemovalView { holds: Ok(vec![HOLD]), ..removal() };
    let refusal = permit_removal(LOCK, &vault(), &held).unwrap_err();
    assert_eq!(refusal.into_reasons(), [Reason::Held { hold: HOLD }]);
}

#[test]
fn i42_what_is_gone_is_not_removed_twice() {
    let gone = RemovalView { stage: Ok(Stage::Gone), ..removal() };
    assert_eq!(reasons(&decide_removal(&vault(), &gone)), [Reason::NotRetrievable { original: ORIGINAL }]);
    assert!(!decide_condemn(&vault(), &gone).is_permit());
}

#[test]
fn i37_the_end_of_the_last_reason_starts_no_shorter_grace() {
    // Condemned an instant ago, with everything that kept it long over.
    let view = RemovalView {
        stage: Ok(Stage::Condemned { since: StoreTime::from_ms(NOW) }),
        leases: Ok(vec![LeaseView { given_by: LEASE, until: until(1), demands: vec![] }]),
        ..removal()
    };
    let just_before = VaultState { now: StoreTime::from_ms(NOW + GRACE - 1), ..vault() };
    let then = VaultState { now: StoreTime::from_ms(NOW + GRACE), ..vault() };
    assert!(!decide_removal(&just_before, &view).is_permit());
    assert!(decide_removal(&then, &view).is_permit());
}
