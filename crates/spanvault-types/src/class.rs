//! The evidential class of a span.

use bincode::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// What a span can prove; ordered, so that the strictest of several is their maximum.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EvidentialClass {
    /// Words only.
    Narrative = 0,
    /// Holds verifiable content: a read-only call or its result, an identifier, a path, a number.
    Structured = 1,
    /// Records a committed change to the world, or one that cannot be ruled out.
    SideEffecting = 2,
}

impl EvidentialClass {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Narrative => "narrative",
            Self::Structured => "structured",
            Self::SideEffecting => "side_effecting",
        }
    }
}
