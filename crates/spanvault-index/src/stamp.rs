//! The bytes of [`Applied`], as they stand in the index and in the note of a clean close.

use spanvault_env::BootId;
use spanvault_types::{Counts, Position, codec};

use crate::Applied;

/// The schema of a stamp; the numbers below 1,000 are those of the log's events.
const SCHEMA: u16 = 1_000;

type StampV1 = (Position, Counts, [u8; 32], [u8; 16]);

#[expect(
    clippy::expect_used,
    reason = "108 bytes are below the codec's limit, and it has no other reason to fail"
)]
pub(crate) fn encode(applied: &Applied) -> Vec<u8> {
    let boot_id = applied.boot_id.map_or([0; 16], |boot| boot.0);
    let stamp: StampV1 = (applied.position, applied.counts, applied.chain, boot_id);
    codec::encode(SCHEMA, 1, &stamp).expect("a stamp fits")
}

/// `None` for anything that is no stamp of this version: the index is then made anew.
pub(crate) fn decode(bytes: &[u8]) -> Option<Applied> {
    let (position, counts, chain, boot_id) = codec::decode::<StampV1>(SCHEMA, bytes).ok()?;
    let boot_id = (boot_id != [0; 16]).then_some(BootId(boot_id));
    Some(Applied { position, counts, chain, boot_id })
}
