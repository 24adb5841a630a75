//! What keeps an original, and from when: each rule that a history in the small world once found broken.

use spanvault::types::{Actor, DemandKind, Expiry, StoreTime, Ttl, TtlRule};
use spanvault::{
    Act, BuiltIn, CompactionOptions, Cooling, ErrorKind, Keep, NeededUntil, NewRetention, Receipt, Run,
    ScopeName, SpanDraft, SpanId, SummaryId, Vault, Whereabouts,
};

use crate::world::World;

const DAY: u64 = 86_400_000;

fn ann() -> Actor {
    Actor { name: "ann".into(), reason: "the test says so".into() }
}

fn record(vault: &Vault, session: &str, words: &str) -> Receipt {
    vault.session(session).unwrap().record(SpanDraft::user(words)).unwrap()
}

fn set(vault: &Vault, hot_for: Option<u32>, keep_for: Option<u32>) {
    let days = |days| TtlRule::For(Ttl::days(days));
    let rule =
        NewRetention { hot_for: hot_for.map(days), keep_for: keep_for.map(days), ..NewRetention::default() };
    vault.set_retention(&rule, ann()).unwrap();
}

fn demand(vault: &Vault, scope: &ScopeName, days: u32) -> spanvault::DemandId {
    vault.declare(DemandKind::Audit, scope, NeededUntil::For(Ttl::days(days)), ann()).unwrap().demand
}

fn kept_until(vault: &Vault, span: SpanId) -> Expiry {
    vault.why(span).unwrap().kept_until
}

fn days_after(start: StoreTime, days: u64) -> Expiry {
    Expiry::At(start.plus_ms(days * DAY))
}

fn reclaim(vault: &Vault) -> Vec<Act> {
    let mut acts = Vec::new();
    vault.reclaim(Run::Real, &mut |step| acts.push(step.act.clone())).unwrap();
    acts
}

/// A summary over one span, with the lease of the assumed audit.
fn summarised(vault: &Vault, session: &str) -> (SpanId, SummaryId) {
    let words =
        "The gauge shows 4172 litres in the morning. ".to_owned() + &"It was read by hand. ".repeat(60);
    let span = record(vault, session, &words).span;
    let options = CompactionOptions { keep: Keep::last(0), ..CompactionOptions::default() };
    let made = vault.session(session).unwrap().compact_with(&options, &mut BuiltIn).unwrap();
    (span, made.summaries[0].summary.unwrap())
}

#[test]
fn i4_a_time_in_the_hot_tier_counts_from_when_it_is_set_and_a_shorter_one_shortens_nothing() {
    let world = World::new(61);
    let vault = world.open().unwrap();
    record(&vault, "run", "Good morning.");
    world.clock.advance(30 * DAY);
    let demote = || vault.demote(Cooling::ByRule, Run::Real, &mut |_progress| {}).unwrap().demoted;
    set(&vault, Some(7), None);
    assert_eq!(demote(), 0, "a rule acts on what is there from the instant that it is set");
    set(&vault, Some(1), None);
    world.clock.advance(7 * DAY);
    assert_eq!(demote(), 0, "seven days were given");
    world.clock.advance(1);
    assert_eq!(demote(), 1);
}

#[test]
fn i33_bytes_that_occur_outside_of_a_demands_scope_keep_their_assumed_audit() {
    let world = World::new(62);
    let vault = world.open().unwrap();
    let start = vault.now();
    let span = record(&vault, "first", "Good morning.").span;
    record(&vault, "second", "Good morning.");
    set(&vault, None, Some(1));
    demand(&vault, &ScopeName::Session("first".into()), 3);
    assert_eq!(kept_until(&vault, span), days_after(start, 90), "the second session still has its audit");
    demand(&vault, &ScopeName::Session("second".into()), 5);
    assert_eq!(kept_until(&vault, span), days_after(start, 5));
}

#[test]
fn a_demand_replaces_the_assumed_audit_of_what_is_recorded_only_while_it_is_in_force() {
    let world = World::new(63);
    let vault = world.open().unwrap();
    let start = vault.now();
    set(&vault, None, Some(1));
    record(&vault, "run", "Good morning.");
    let withdrawn = demand(&vault, &ScopeName::All, 10);
    let covered = record(&vault, "run", "Good day.").span;
    vault.withdraw(withdrawn, ann()).unwrap();
    let after = record(&vault, "run", "Good evening.").span;
    assert_eq!(kept_until(&vault, covered), days_after(start, 1), "its end does not bring the audit back");
    assert_eq!(kept_until(&vault, after), days_after(start, 90), "it never covered this one");
    demand(&vault, &ScopeName::All, 10);
    world.clock.advance(11 * DAY);
    let late = record(&vault, "run", "Good night.").span;
    assert_eq!(
        kept_until(&vault, late),
        days_after(start, 11 + 90),
        "a demand that is over covers nothing new"
    );
}

#[test]
fn a_new_setting_of_the_assumed_audit_ends_the_leases_of_the_one_before() {
    let world = World::new(64);
    let vault = world.open().unwrap();
    let start = vault.now();
    let (span, summary) = summarised(&vault, "run");
    let leases = || vault.why(span).unwrap().leases.into_iter().map(|(by, _lease)| by).collect::<Vec<_>>();
    assert_eq!(leases(), [summary]);
    set(&vault, None, Some(1));
    vault.assume_audit(Some(Ttl::days(2)), ann()).unwrap();
    assert_eq!(leases(), []);
    assert_eq!(kept_until(&vault, span), days_after(start, 2));
}

/// Condemned, with a day of grace still to come.
fn condemned(world: &World) -> (Vault, SpanId) {
    let vault = world.open().unwrap();
    vault.assume_audit(None, ann()).unwrap();
    set(&vault, None, Some(1));
    let span = record(&vault, "run", "Good morning.").span;
    world.clock.advance(2 * DAY);
    assert_eq!(reclaim(&vault), [Act::Condemn]);
    (vault, span)
}

fn is_condemned(vault: &Vault, span: SpanId) -> bool {
    matches!(vault.why(span).unwrap().whereabouts, Whereabouts::Condemned { .. })
}

#[test]
fn i43_the_same_bytes_again_rescue_what_is_condemned_and_a_full_grace_follows() {
    let world = World::new(65);
    let (vault, span) = condemned(&world);
    record(&vault, "other", "Good morning.");
    assert!(!is_condemned(&vault, span));
    world.clock.advance(2 * DAY);
    assert_eq!(reclaim(&vault), [Act::Condemn], "what was rescued has all of its grace again");
}

#[test]
fn i37_a_longer_rule_rescues_what_is_condemned_and_a_full_grace_follows() {
    let world = World::new(66);
    let (vault, span) = condemned(&world);
    set(&vault, None, Some(10));
    world.clock.advance(DAY);
    assert!(matches!(reclaim(&vault).as_slice(), [Act::Rescue { .. }]));
    assert!(!is_condemned(&vault, span));
    world.clock.advance(10 * DAY);
    assert_eq!(reclaim(&vault), [Act::Condemn]);
}

#[test]
fn i42_a_hold_on_a_summary_of_which_nothing_is_left_is_told_so() {
    let world = World::new(67);
    let vault = world.open().unwrap();
    let (first, summary) = summarised(&vault, "run");
    vault.assume_audit(None, ann()).unwrap();
    set(&vault, None, Some(1));
    world.clock.advance(2 * DAY);
    reclaim(&vault);
    world.clock.advance(DAY);
    assert_eq!(reclaim(&vault), [Act::Reclaim]);
    for gone in [ScopeName::Named(first.into()), ScopeName::Named(summary.into())] {
        assert_eq!(vault.hold(&gone, ann()).unwrap_err().kind(), ErrorKind::Insufficient);
    }
    let session = ScopeName::Session("run".into());
    assert_eq!(vault.hold(&session, ann()).unwrap().originals, 0, "a session may get more");
}
