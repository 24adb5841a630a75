//! What a tool call does to the world.

use spanvault_types::Call;

/// What a call does, as far as its words show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It changes resources that its words name.
    Mutates,
    /// It changes something outside the machine: a booking, a message, a push.
    External,
    /// It cannot be seen through; never read as harmless.
    Opaque,
}

impl Effect {
    /// The word that JSON, queries and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Mutates => "mutates",
            Self::External => "external",
            Self::Opaque => "opaque",
        }
    }
}

/// What one call does and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEffect {
    /// The strongest effect of the call.
    pub effect: Effect,
    /// Every path that it touches, in order of first mention, without repeats.
    pub paths: Vec<String>,
    /// Those of `paths` that it writes, moves or deletes.
    pub writes: Vec<String>,
    /// Whether it is a known check (test, lint, build): a call that reports on the world rather than changes it.
    pub is_check: bool,
}

/// What `call` does to the world.
pub fn effect_of(call: &Call) -> CallEffect {
    let _ = call;
    CallEffect { effect: Effect::Opaque, paths: Vec::new(), writes: Vec::new(), is_check: false }
}
