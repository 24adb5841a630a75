//! T4: every call of the disk fails once, in every way, alone and from then on.

use spanvault::Packing;
use spanvault_env::{Count, Fault, ScheduledFault, Survival};
use spanvault_testkit::reliability;

use crate::is_full;
use crate::script::{Act, Stage};

const SCRIPT: [Act; 12] = [
    Act::Record(0),
    Act::Record(1),
    Act::Compact,
    Act::Demote,
    Act::Record(2),
    Act::Wait,
    Act::Reclaim,
    Act::Hold,
    Act::Wait,
    Act::Reclaim,
    Act::Record(0),
    Act::Demote,
];

const FAULTS: [Fault; 4] = [Fault::Io, Fault::NoSpace, Fault::ShortWrite, Fault::SyncDrops];

/// Goes through the script whatever fails, and notes what was acknowledged.
fn perform(stage: &mut Stage) {
    let Ok(vault) = stage.open() else { return };
    if Stage::found(&vault).is_err() {
        // Without the rule nothing is ever due, which the ledger allows.
        return;
    }
    for act in SCRIPT {
        // An error is an answer here: what counts is that nothing that failed was acknowledged.
        drop(stage.act(&vault, act));
    }
}

#[test]
fn whichever_call_fails_nothing_acknowledged_is_lost() {
    let mut whole = Stage::new(4);
    perform(&mut whole);
    let calls = whole.disk.count(Count::Calls);
    let stride = usize::try_from(if is_full() { 1 } else { calls / 8 }).expect("few");
    let mut trials = 0;
    for nth in (1..=calls).step_by(stride) {
        for fault in FAULTS {
            for sticky in [false, true] {
                // Both ways of packing, in turn.
                let packing = if sticky { Packing::Solid } else { Packing::Single };
                let mut stage = Stage::new(4).packing(packing);
                let scheduled = ScheduledFault::any(fault, nth);
                stage.disk.fail(if sticky { scheduled.sticky() } else { scheduled });
                perform(&mut stage);
                let moment = format!("call {nth} of {calls} fails with {fault:?}, sticky: {sticky}");
                for disk in [stage.disk.restart(), stage.disk.crash(Survival::Nothing)] {
                    stage.with_disk(disk).look(&moment);
                }
                trials += 1;
            }
        }
    }
    reliability("t4_failing_calls", trials, calls * 8);
}
