//! What became of a call.

use spanvault_types::{Call, Outcome};

/// What became of a call, as its result reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// The result reports no failure.
    Succeeded,
    /// The result reports a failure, or that the call never ran.
    Failed,
    /// There is no result.
    Unknown,
}

impl Fate {
    /// The word that JSON, queries and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// The fate of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FateReading {
    /// What became of it.
    pub fate: Fate,
    /// `false` where the result says that the call was rejected or never started.
    pub executed: bool,
}

/// What became of `call`.
pub fn fate_of(call: &Call, outcome: Option<&Outcome>) -> FateReading {
    let _ = call;
    let Some(outcome) = outcome else { return FateReading { fate: Fate::Unknown, executed: true } };
    let failed = outcome.is_error == Some(true) || outcome.executed == Some(false);
    FateReading {
        fate: if failed { Fate::Failed } else { Fate::Succeeded },
        executed: outcome.executed != Some(false),
    }
}

/// The process exit status that a result reports.
pub fn exit_code_of(outcome: &Outcome) -> Option<i64> {
    outcome.exit_code
}

/// Whether a call returned nothing: see `result.empty` of the query contract.
pub fn is_empty_result(call: &Call, outcome: &Outcome) -> bool {
    let _ = call;
    outcome.text.trim().is_empty()
}
