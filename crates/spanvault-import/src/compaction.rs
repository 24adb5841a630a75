//! What a compaction in a transcript left standing.

/// Which of the records before it a compaction did not replace.
///
/// A record with a part that is a [`PartBody::Summary`](spanvault_types::PartBody::Summary) is such a compaction:
/// its text stands for the records of its session since the compaction before, as far as this does not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// None: the summary replaced everything.
    Nothing,
    /// Those from the record of this index in the source on.
    FromIndex(u64),
    /// Those from the record with this event key on; all of them were replaced where there is none of that key.
    FromEvent(String),
    /// All but those with these event keys, which it replaced, and no others.
    AllBut(Vec<String>),
}
