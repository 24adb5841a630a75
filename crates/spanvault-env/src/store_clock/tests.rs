use proptest::prelude::*;

use super::*;
use crate::SimClock;

const DAY: u64 = 86_400_000;
const YEAR: i64 = 365 * 86_400_000;

fn new_vault(sim: &Arc<SimClock>) -> StoreClock {
    StoreClock::resume(sim.clone(), None)
}

/// What the next process sees.
fn reopen(clock: &StoreClock, sim: &Arc<SimClock>) -> StoreClock {
    StoreClock::resume(sim.clone(), Some(clock.stamp()))
}

#[test]
fn a_new_vault_begins_at_the_wall_clock_and_follows_the_boot_clock() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    assert_eq!(clock.now().as_ms(), sim.true_ms());
    sim.advance(5);
    sim.suspend(2 * DAY);
    assert_eq!(clock.now().as_ms(), sim.true_ms());
    assert_eq!((clock.state(), clock.lag_ms()), (ClockState::Trusted, 0));
}

#[test]
fn i5_time_spent_down_is_lag_and_gets_no_credit() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    let before = clock.now();
    let stamp = clock.stamp();
    sim.reboot(3 * DAY);
    sim.advance(7);
    let clock = StoreClock::resume(sim.clone(), Some(stamp));
    assert_eq!(
        clock.now(),
        before,
        "the 7 ms before the vault was opened again are not known to be of this boot"
    );
    sim.advance(11);
    assert_eq!(clock.now(), before.plus_ms(11));
    assert_eq!(clock.lag_ms(), i64::try_from(3 * DAY).unwrap() + 7);
    assert_eq!(clock.state(), ClockState::Trusted);
}

#[test]
fn time_between_two_processes_of_one_boot_is_credited() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    let stamp = clock.stamp();
    sim.advance(2 * DAY);
    let clock = StoreClock::resume(sim.clone(), Some(stamp));
    assert_eq!((clock.now().as_ms(), clock.state()), (sim.true_ms(), ClockState::Trusted));
}

#[test]
fn i5_a_wall_jump_moves_store_time_neither_way() {
    for jump in [10 * YEAR, -10 * YEAR] {
        let sim = Arc::new(SimClock::new(1));
        let clock = new_vault(&sim);
        let before = clock.now();
        sim.jump_wall(jump);
        sim.advance(3);
        assert_eq!(clock.now(), before.plus_ms(3));
        assert_eq!(clock.state(), ClockState::Suspect { drift_ms: jump });
    }
}

#[test]
fn i39_a_drift_is_suspect_from_the_first_millisecond_beyond_five_minutes() {
    let limit = i64::try_from(DRIFT_MS_MAX).unwrap();
    for sign in [1, -1] {
        let sim = Arc::new(SimClock::new(1));
        let clock = new_vault(&sim);
        sim.jump_wall(sign * limit);
        assert_eq!(clock.state(), ClockState::Trusted);
        sim.jump_wall(sign);
        assert_eq!(clock.state(), ClockState::Suspect { drift_ms: sign * (limit + 1) });
    }
}

#[test]
fn i39_small_jumps_add_up_over_the_processes_of_a_boot() {
    let sim = Arc::new(SimClock::new(1));
    let mut clock = new_vault(&sim);
    for _ in 0..2 {
        sim.jump_wall(200_000);
        clock = reopen(&clock, &sim);
    }
    assert_eq!(clock.state(), ClockState::Suspect { drift_ms: 400_000 });
}

#[test]
fn i39_suspicion_outlives_the_process_and_the_wall_clock_that_comes_back() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    sim.jump_wall(10 * YEAR);
    assert!(matches!(reopen(&clock, &sim).state(), ClockState::Suspect { .. }));
    sim.mend_wall();
    assert_eq!(clock.state(), ClockState::Suspect { drift_ms: 10 * YEAR }, "within the process");

    // The next process sees sane clocks; the record of the log tells it.
    let next = reopen(&clock, &sim);
    let boot_id = clock.stamp().boot_id;
    next.recall(&ClockSuspected { boot_id: [9; 16], drift_ms: 10 * YEAR });
    assert_eq!(next.state(), ClockState::Trusted, "a record of another boot");
    next.recall(&ClockSuspected { boot_id, drift_ms: 10 * YEAR });
    assert_eq!(next.state(), ClockState::Suspect { drift_ms: 10 * YEAR });
}

#[test]
fn i39_a_new_boot_ends_suspicion() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    sim.jump_wall(YEAR);
    assert!(matches!(clock.state(), ClockState::Suspect { .. }));
    let stamp = clock.stamp();
    sim.reboot(1);
    assert_eq!(StoreClock::resume(sim.clone(), Some(stamp)).state(), ClockState::Trusted);
}

#[test]
fn i39_a_boot_clock_that_steps_back_is_suspect_and_credits_nothing_twice() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    sim.advance(DAY);
    let before = clock.now();
    sim.jump_boot(-1_000);
    assert_eq!(clock.state(), ClockState::Suspect { drift_ms: 0 });
    sim.advance(900);
    assert_eq!(clock.now(), before);
    sim.advance(150);
    assert_eq!(clock.now(), before.plus_ms(50));
    assert!(matches!(clock.state(), ClockState::Suspect { .. }));

    sim.jump_boot(-1_000);
    assert!(matches!(reopen(&clock, &sim).state(), ClockState::Suspect { .. }), "between two processes");
    clock.confirm(clock.now());
    assert_eq!(clock.state(), ClockState::Trusted);
    sim.advance(10);
    assert_eq!(clock.now(), before.plus_ms(60), "after a confirmation the clock counts as it stands");
}

#[test]
fn i5_a_boot_clock_that_is_another_one_between_two_processes_gives_no_credit() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    let before = clock.now();
    let stamp = clock.stamp();
    sim.jump_boot(YEAR);
    let clock = StoreClock::resume(sim.clone(), Some(stamp));
    assert_eq!(clock.now(), before);
    assert_eq!(clock.state(), ClockState::Suspect { drift_ms: -YEAR });
}

#[test]
fn i39_without_a_boot_id_the_clock_is_suspect_and_a_process_credits_only_its_own_time() {
    let sim = Arc::new(SimClock::new(1));
    sim.hide_boot_id();
    let clock = new_vault(&sim);
    let before = clock.now();
    sim.advance(5);
    assert_eq!((clock.now(), clock.state()), (before.plus_ms(5), ClockState::Suspect { drift_ms: 0 }));
    let stamp = clock.stamp();
    sim.advance(DAY);
    let clock = StoreClock::resume(sim.clone(), Some(stamp));
    assert_eq!((clock.now(), clock.state()), (before.plus_ms(5), ClockState::Suspect { drift_ms: 0 }));
    clock.confirm(before);
    assert_eq!((clock.now(), clock.state()), (before.plus_ms(5), ClockState::Trusted));
}

#[test]
fn a_confirmation_credits_time_never_backwards_and_measures_the_drift_anew() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    let stamp = clock.stamp();
    sim.reboot(10 * DAY);
    let clock = StoreClock::resume(sim.clone(), Some(stamp));
    sim.jump_wall(YEAR);
    assert!(matches!(clock.state(), ClockState::Suspect { .. }));
    clock.confirm(StoreTime::from_ms(sim.true_ms()));
    assert_eq!((clock.now().as_ms(), clock.state()), (sim.true_ms(), ClockState::Trusted));
    clock.confirm(StoreTime::from_ms(5));
    assert_eq!(clock.now().as_ms(), sim.true_ms());
    assert_eq!(reopen(&clock, &sim).state(), ClockState::Trusted, "the next process measures from there too");
}

#[test]
fn another_bound_for_the_drift_is_kept() {
    let sim = Arc::new(SimClock::new(1));
    let clock = StoreClock::resume_within(sim.clone(), None, 10);
    sim.jump_wall(11);
    assert_eq!(clock.state(), ClockState::Suspect { drift_ms: 11 });
}

#[test]
fn clocks_at_their_ends_neither_panic_nor_wrap() {
    let sim = Arc::new(SimClock::new(1));
    let clock = new_vault(&sim);
    for jump in [i64::MAX, i64::MAX, i64::MIN, i64::MIN, i64::MIN] {
        sim.jump_wall(jump);
        sim.jump_boot(jump);
        let before = clock.now();
        assert!(reopen(&clock, &sim).now() >= before);
        clock.lag_ms();
    }
    clock.confirm(StoreTime::from_ms(u64::MAX));
    sim.advance(5);
    assert_eq!(clock.now().as_ms(), u64::MAX);
}

#[derive(Debug, Clone)]
enum Step {
    Advance(u64),
    Pause(u64),
    JumpWall(i64),
    MendWall,
    Reboot(u64),
    HideBootId,
    ShowBootId,
    BootClockBack(u64),
    /// The process ends and another one begins; the log may have lost the newest stamps.
    Reopen(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..=30 * DAY).prop_map(Step::Advance),
        1 => (1..=DAY).prop_map(Step::Pause),
        2 => (-10 * YEAR..=10 * YEAR).prop_map(Step::JumpWall),
        1 => (-600_000_i64..=600_000).prop_map(Step::JumpWall),
        1 => Just(Step::MendWall),
        2 => (0..=30 * DAY).prop_map(Step::Reboot),
        1 => Just(Step::HideBootId),
        1 => Just(Step::ShowBootId),
        1 => (1..=DAY).prop_map(Step::BootClockBack),
        3 => (0..=2_u8).prop_map(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn i5_store_time_never_runs_faster_than_real_time_nor_backwards(
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let sim = Arc::new(SimClock::new(seed));
        let mut clock = new_vault(&sim);
        // (true time, stamp) of every commit; a promise made at one of them is E + d.
        let mut commits = vec![(sim.true_ms(), clock.stamp())];
        let mut last_now = clock.now();
        for step in steps {
            let mut lost = 0;
            match step {
                Step::Advance(ms) => sim.advance(ms),
                Step::Pause(ms) => sim.pause(ms),
                Step::JumpWall(ms) => sim.jump_wall(ms),
                Step::MendWall => sim.mend_wall(),
                Step::Reboot(down_ms) => {
                    sim.reboot(down_ms);
                    clock = StoreClock::resume(sim.clone(), Some(commits[commits.len() - 1].1));
                    last_now = clock.now();
                }
                Step::HideBootId => sim.hide_boot_id(),
                Step::ShowBootId => sim.show_boot_id(),
                Step::BootClockBack(ms) => sim.jump_boot(-i64::try_from(ms).unwrap()),
                Step::Reopen(n) => {
                    lost = usize::from(n);
                    let kept = commits.len().saturating_sub(lost).max(1);
                    commits.truncate(kept);
                    clock = StoreClock::resume(sim.clone(), Some(commits[kept - 1].1));
                    last_now = commits[kept - 1].1.store;
                }
            }
            let now = clock.now();
            prop_assert!(now >= last_now, "backwards: {last_now:?} {now:?}");
            last_now = now;
            for (true_then, stamp) in &commits {
                let real = sim.true_ms() - true_then;
                let counted = now.as_ms() - stamp.store.as_ms();
                prop_assert!(counted <= real, "{counted} ms of store time in {real} ms (lost {lost})");
            }
            commits.push((sim.true_ms(), clock.stamp()));
        }
    }
}
