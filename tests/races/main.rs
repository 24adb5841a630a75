//! Models of races: the engines themselves, on a simulated disk, under a scheduler that chooses who runs next at every
//! lock and at every call of the disk.
//!
//! `cargo test -p spanvault-tests --features shuttle --test races`; ten thousand schedules a model, or as many as
//! `SPANVAULT_SCHEDULES` says. A failure prints a schedule that shuttle can replay. Every model is run once more with a
//! bug planted, to see that it can fail.
#![cfg(test)]

mod models;
mod world;

use std::panic::catch_unwind;

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};
use spanvault::types::planted::{Bug, plant};
use spanvault_testkit::reliability;

use models::{
    DEMAND_REMOVE, DEMOTE_RECOVER, DEMOTE_WALK, HOLD_REMOVE, Model, PERMIT_REMOVE, RECORD_RECORD,
    RECORD_REMOVE, REMOVE_RECOVER, REPACK_RECOVER,
};

/// Two runs with the same seed try the same schedules.
const SEED: u64 = 0x5ee5;

fn schedules() -> usize {
    std::env::var("SPANVAULT_SCHEDULES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config
}

/// Runs a model under wild schedules, and under twice as many with few changes of turn, which find most bugs.
fn explore(model: Model) {
    let wild = schedules() / 3;
    Runner::new(RandomScheduler::new_from_seed(SEED, wild), config()).run(model.run);
    Runner::new(PctScheduler::new_from_seed(SEED, 3, schedules() - wild), config()).run(model.run);
    reliability(&format!("t11_{}_schedules", model.name), schedules(), 10_000);
}

/// Runs a model with a bug planted until it fails.
fn finds(bug: Bug, model: Model) {
    let hunt = move || {
        plant(Some(bug));
        let mut config = config();
        config.failure_persistence = FailurePersistence::None;
        Runner::new(PctScheduler::new_from_seed(SEED, 3, schedules()), config).run(model.run);
    };
    let found = catch_unwind(hunt).is_err();
    plant(None);
    assert!(found, "{bug:?} was not found by {}", model.name);
}

#[test]
fn i21_i42_a_permit_is_never_given_on_what_a_reclaim_run_condemned_or_removed() {
    explore(PERMIT_REMOVE);
    finds(Bug::PlanForVerdict, PERMIT_REMOVE);
}

#[test]
fn i42_i52_a_hold_wins_or_hears_that_it_is_too_late() {
    explore(HOLD_REMOVE);
    finds(Bug::KeepersBeforeTheLock, HOLD_REMOVE);
}

#[test]
fn i36_i43_a_demand_is_kept_or_refused() {
    explore(DEMAND_REMOVE);
    finds(Bug::KeepersBeforeTheLock, DEMAND_REMOVE);
}

#[test]
fn i15_i37_what_is_recorded_again_while_it_goes_is_there() {
    explore(RECORD_REMOVE);
    finds(Bug::GoneForStored, RECORD_REMOVE);
}

#[test]
fn i1_what_another_thread_recorded_along_with_its_own_was_durable_when_the_receipt_came() {
    explore(RECORD_RECORD);
    finds(Bug::ToldBeforeDurable, RECORD_RECORD);
}

#[test]
fn i2_i44_what_is_recovered_while_it_cools_is_whole() {
    explore(DEMOTE_RECOVER);
    finds(Bug::NoSecondLook, DEMOTE_RECOVER);
}

#[test]
fn i16_whoever_walks_the_log_while_it_is_rewritten_meets_every_frame() {
    explore(DEMOTE_WALK);
    finds(Bug::OldPlaces, DEMOTE_WALK);
}

#[test]
fn i2_i41_what_is_recovered_while_it_goes_is_whole_or_behind_its_tombstone() {
    explore(REMOVE_RECOVER);
    finds(Bug::GoneForDamaged, REMOVE_RECOVER);
}

#[test]
fn i2_i44_what_stays_in_a_pack_that_is_written_anew_is_whole() {
    explore(REPACK_RECOVER);
    finds(Bug::LineOfAnotherPack, REPACK_RECOVER);
}
