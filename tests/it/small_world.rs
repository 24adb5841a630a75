//! Every history of a few steps, in a vault and in its model.

use spanvault_testkit::small_world;

use crate::twin::{Look, Twin};

/// How many steps follow each beginning.
fn steps() -> u32 {
    if std::env::var_os("SPANVAULT_LONG").is_some() { 3 } else { 2 }
}

#[test]
fn every_history_of_a_few_steps_leads_a_vault_where_its_model_says() {
    let world = small_world();
    let mut histories = 0;
    for history in world.histories(steps()) {
        Twin::new(histories).walk(&history, Look::Step);
        histories += 1;
    }
    assert_eq!(histories, (world.beginnings.len() * world.letters.len().pow(steps())) as u64);
}
