//! The recipe of a source: the pieces that give its file again, byte for byte.

use spanvault_types::key::{self, Table};
use spanvault_types::{Position, SourceExtended};

use crate::error::Result;
use crate::vault::Vault;

impl Vault {
    /// The newest piece of a source's recipe.
    pub(crate) fn recipe_head(&self, source: Position) -> Result<Option<Position>> {
        Ok(self.positions(&key::key(Table::SourcePiece, &[source]))?.last().copied())
    }

    /// The pieces of a source's newest recipe, first to last.
    pub(crate) fn recipe(&self, source: Position) -> Result<Vec<(Position, SourceExtended)>> {
        let mut pieces = Vec::new();
        let mut next = self.recipe_head(source)?.unwrap_or(Position::ZERO);
        while next != Position::ZERO {
            let piece = self.piece_at(next)?;
            // A piece names an older one, so a chain cannot run in a circle even in a damaged log.
            let prior = if piece.prior < next { piece.prior } else { Position::ZERO };
            pieces.push((next, piece));
            next = prior;
        }
        pieces.reverse();
        Ok(pieces)
    }
}
