//! Behaviour of `ask`, over transcripts held in memory.
