//! Walks the recipe that a source has already, beside the file that arrives.

use spanvault_import::Record;
use spanvault_types::{ContentHash, Position, SourceExtended, SpanKind};

use super::runs::pieces_of;
use crate::error::Result;
use crate::vault::Vault;

/// The known recipe and how far the file has matched it.
pub(super) struct KnownRecipe<'v> {
    vault: &'v Vault,
    pieces: Vec<(Position, SourceExtended)>,
    /// The parts of the piece that is being matched, in reverse.
    parts: Vec<(Position, Option<u64>)>,
    /// How many pieces have been taken up.
    taken: usize,
    has_diverged: bool,
}

/// A piece that matched to its end.
pub(super) struct FinishedPiece {
    pub(super) at: Position,
    pub(super) to_byte: u64,
}

/// A quarantined span at the place where the file went on differently.
#[derive(Debug, Clone, Copy)]
pub(super) struct Torn {
    pub(super) span: Position,
    index: u64,
}

impl<'v> KnownRecipe<'v> {
    pub(super) fn of(vault: &'v Vault, source: Option<Position>) -> Result<Self> {
        let pieces = source.map_or_else(|| Ok(Vec::new()), |source| vault.recipe(source))?;
        let mut known = Self { vault, pieces, parts: Vec::new(), taken: 0, has_diverged: false };
        known.take_up();
        Ok(known)
    }

    fn take_up(&mut self) {
        while self.parts.is_empty() {
            let Some((_at, piece)) = self.pieces.get(self.taken) else { return };
            self.parts = piece.runs.iter().flat_map(pieces_of).collect();
            self.parts.reverse();
            self.taken += 1;
        }
    }

    /// The position of the next known part, if it has these bytes and this index.
    pub(super) fn next_if(&mut self, hash: &ContentHash, index: Option<u64>) -> Result<Option<Position>> {
        if self.has_diverged {
            return Ok(None);
        }
        let Some((position, known_index)) = self.parts.last().copied() else { return Ok(None) };
        if known_index != index || self.hash_of(position, index)? != Some(*hash) {
            return Ok(None);
        }
        self.parts.pop();
        Ok(Some(position))
    }

    fn hash_of(&self, position: Position, index: Option<u64>) -> Result<Option<ContentHash>> {
        let original = match index {
            Some(_span) => self.vault.span_at(position)?.original,
            None => position,
        };
        self.vault.hash_at(original)
    }

    /// The piece whose last part has just matched, once.
    pub(super) fn finished_piece(&mut self) -> Option<FinishedPiece> {
        if !self.parts.is_empty() {
            return None;
        }
        let (at, piece) = self.taken.checked_sub(1).and_then(|last| self.pieces.get(last))?;
        let finished = FinishedPiece { at: *at, to_byte: piece.to_byte };
        self.take_up();
        Some(finished)
    }

    /// From here on the file goes its own way. Gives what stood here, if that could not be read.
    pub(super) fn diverge(&mut self) -> Result<Option<Torn>> {
        if std::mem::replace(&mut self.has_diverged, true) {
            return Ok(None);
        }
        let Some((span, Some(index))) = self.parts.last().copied() else { return Ok(None) };
        let is_quarantined = self.vault.span_at(span)?.kind == SpanKind::Quarantined;
        Ok(is_quarantined.then_some(Torn { span, index }))
    }

    /// Whether the file has all that is known.
    pub(super) fn is_exhausted(&self) -> bool {
        self.has_diverged || (self.parts.is_empty() && self.taken == self.pieces.len())
    }

    /// Whether the newest piece was written by a run that saw the end of the file.
    pub(super) fn head_is_complete(&self) -> bool {
        self.pieces.last().is_some_and(|(_at, piece)| piece.complete)
    }
}

impl Torn {
    /// Whether `record` starts with all bytes of the torn record at the same place: then nothing of it is lost.
    pub(super) fn is_completed_by(self, vault: &Vault, record: &Record) -> bool {
        let torn =
            || vault.span_at(self.span).and_then(|span| Ok(vault.store.original(span.original)?.bytes));
        record.index == self.index && torn().is_ok_and(|torn| record.bytes.starts_with(&torn))
    }
}
