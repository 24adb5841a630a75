//! Long random histories, in a vault and in its model.

use proptest::prelude::*;
use spanvault_testkit::history;

use crate::twin::{Look, Twin};

/// Few by default, many with `SPANVAULT_LONG`; `PROPTEST_RNG_SEED` gives one run again.
fn cases() -> u32 {
    if std::env::var_os("SPANVAULT_LONG").is_some() { 2_000 } else { 24 }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_long_history_leads_a_vault_where_its_model_says(ops in history(40), seed in any::<u64>()) {
        Twin::new(seed).walk(&ops, Look::All);
    }
}
