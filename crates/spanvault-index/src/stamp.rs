//! What an index on disk says about itself, in it and in the note of a clean close.

use spanvault_env::BootId;
use spanvault_types::{Counts, Position, codec};

use crate::Applied;

/// The schema of a stamp; the numbers below 1,000 are those of the log's events.
const SCHEMA: u16 = 1_000;

/// How far an index has followed the log, and how many entries it must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    pub(crate) applied: Applied,
    /// Entries that lead to a position up to the applied one: sled can lose some without a word.
    pub(crate) entries: u64,
}

type StampV1 = (Position, Counts, [u8; 32], [u8; 16], u64);

#[expect(
    clippy::expect_used,
    reason = "92 bytes are below the codec's limit, and it has no other reason to fail"
)]
pub(crate) fn encode(Stamp { applied, entries }: &Stamp) -> Vec<u8> {
    let boot_id = applied.boot_id.map_or([0; 16], |boot| boot.0);
    let stamp: StampV1 = (applied.position, applied.counts, applied.chain, boot_id, *entries);
    codec::encode(SCHEMA, 1, &stamp).expect("a stamp fits")
}

/// `None` for anything that is no stamp of this version: the index is then made anew.
pub(crate) fn decode(bytes: &[u8]) -> Option<Stamp> {
    let (position, counts, chain, boot_id, entries) = codec::decode::<StampV1>(SCHEMA, bytes).ok()?;
    let boot_id = (boot_id != [0; 16]).then_some(BootId(boot_id));
    Some(Stamp { applied: Applied { position, counts, chain, boot_id }, entries })
}
