//! How a vault is opened. Every default is the safe one.

use std::path::PathBuf;

use spanvault_env::Env;
use spanvault_gate::Reach;
use spanvault_import::Limits;
use spanvault_store::Packing;
use spanvault_types::{Ttl, TtlRule};

/// Settings of one open vault. `Options::default()` is right for one machine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The world: disk, clock, randomness.
    pub env: Env,
    /// At which size a log segment is sealed, in bytes.
    pub segment_bytes: u64,
    /// Room on the disk that is kept for what must go on when it is full, in bytes: verdicts, demands, holds and
    /// freeing (I9). Default 4 MiB.
    pub reserve_bytes: u64,
    /// How originals are packed when they are demoted: each by itself, or those of a session in blocks, which are a quarter
    /// smaller and take longer to get one out of.
    pub packing: Packing,
    /// What importers may take.
    pub limits: Limits,
    /// How long after the instant of need an original has to be there, in either tier (I24). Default 5 minutes.
    pub reach: Reach,
    /// How far past now a lease of `--extend` may run. Default one year.
    pub extend_budget: TtlRule,
    /// Where the derived index is kept.
    pub index: IndexKind,
    /// The file that says what further tools do; `registry.json` in the vault's directory where `None`.
    pub registry: Option<PathBuf>,
}

/// Where the derived index of a vault for writing is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexKind {
    /// In sled, beside the log.
    #[default]
    Sled,
    /// In memory, made anew at each opening: for simulations, whose disk sled cannot use.
    Memory,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            env: Env::real(),
            segment_bytes: 64 << 20,
            reserve_bytes: 4 << 20,
            packing: Packing::Single,
            limits: Limits::default(),
            reach: Reach::LOCAL,
            extend_budget: TtlRule::For(Ttl::days(365)),
            index: IndexKind::Sled,
            registry: None,
        }
    }
}

impl Options {
    /// The default settings in a simulated world, with an index in memory.
    #[must_use]
    pub fn simulated(env: Env) -> Self {
        Self { env, index: IndexKind::Memory, ..Self::default() }
    }
}
