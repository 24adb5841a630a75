//! The model says what docs/INVARIANTS.md and docs/GATE.md say: stories, properties, and agreement with the gate.

mod agreement;
mod properties;
mod stories;

use spanvault_types::{DemandKind, StoreTime};

use super::Model;
use crate::expect::{Expectation, Reclaim};
use crate::op::{About, Content, Length, Op, Rule, SessionId};

const START: u64 = 1_700_000_000_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const FIRST: SessionId = SessionId(0);
const SECOND: SessionId = SessionId(1);

fn model() -> Model {
    Model::new(StoreTime::from_ms(START))
}

fn record(session: SessionId, content: Content) -> Op {
    Op::Record { session, content }
}

fn tick(ms: u64) -> Op {
    Op::Tick { ms }
}

fn keep_for(length: Length) -> Op {
    Op::SetRetention(Rule { keep_for: Some(length), ..Rule::default() })
}

fn demand(about: About, length: Length) -> Op {
    Op::Declare { kind: DemandKind::Audit, about, length }
}

const NOBODY_ASSUMED: Op = Op::AssumeAudit { for_ms: None };
const COMPACT: Op = Op::Compact { session: FIRST, keep_last: 0, extend: false };
const EXTEND: Op = Op::Compact { session: FIRST, keep_last: 0, extend: true };

fn run(model: &mut Model, ops: &[Op]) {
    for op in ops {
        let expected = model.apply(op);
        assert_ne!(expected, Expectation::NotApplicable, "{op:?}");
        assert_ne!(expected, Expectation::Invalid, "{op:?}");
    }
}

fn reclaim(model: &mut Model) -> Reclaim {
    let expected = model.apply(&Op::Reclaim);
    let Expectation::Reclaimed(run) = expected else { panic!("a reclaim run is expected, not {expected:?}") };
    run
}
