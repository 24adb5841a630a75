//! Long random histories, in a vault and in its model.

use proptest::prelude::*;
use spanvault_testkit::{About, Content, Length, Op, SessionId, SpanId, history};

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

#[test]
fn a_lease_for_an_audit_that_a_demand_replaced_does_not_come_back_with_the_same_bytes() {
    let session = SessionId(0);
    let change = Op::Record { session, content: Content::Change(0) };
    let history = [
        change,
        Op::Compact { session, keep_last: 0, extend: false },
        Op::Declare {
            kind: spanvault::types::DemandKind::Audit,
            about: About::Span(SpanId(0)),
            length: Length::Ms(3_600_000),
        },
        change,
    ];
    Twin::new(0).walk(&history, Look::All);
}
