//! Sifts the originals of a whole vault for words: one sweep over the log instead of a look-up for each span.
//!
//! What a sweep rules out was read and verified in it, and its bytes cannot say what is looked for. How many spans that
//! are, of which sessions and with which hashes, the runs know already. What the sieve lets through, what has no bytes
//! that can be had, and the sessions that the runs do not tell all of, are handed over and read one by one.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use spanvault_store::{ColdBodies, Stretch, SweptSpan};
use spanvault_types::{Position, SpanKind};

use super::narrow::{InPart, LookUp, Search, known};
use crate::ask::{Narrowed, Sieve};
use crate::asking::{Recorded, VaultOriginals};
use crate::error::{Error, Result};
use crate::threads::map_in_order;

/// Where more spans are let through than this, reading everything in its order is not slower, and holds less at once.
const LET_THROUGH_MAX: usize = 1 << 15;

/// All transcripts without the spans that `sieve` rules out; see [`crate::ask::Originals::sifted`].
pub(crate) fn sifted<'v>(
    originals: &'v VaultOriginals<'v>,
    sieve: &Sieve,
) -> Result<Option<Narrowed<'v, Error>>> {
    let vault = originals.vault;
    let Some(known) = known(originals)? else { return Ok(None) };
    let runs = &known.runs;
    let Some(stretches) = vault.store.stretches(runs.next()) else { return Ok(None) };
    let look_up = LookUp { runs, scope: None };
    let search = Search { originals, look_up, whole: known.whole.clone() };
    let sifting = Sifting { search: &search, sieve, let_through: AtomicUsize::new(0) };
    let swept: Option<Vec<Swept>> =
        map_in_order(&stretches, |stretch| sifting.sweep(stretch)).into_iter().collect();
    let Some(swept) = swept else { return Ok(None) };
    let mut in_part = InPart::new();
    let mut hand_over = |recorded: Recorded| {
        in_part.entry(recorded.span.session).or_default().insert(recorded.span.ordinal, recorded);
    };
    for copy in swept.iter().flat_map(|swept| &swept.copies) {
        let has_none = swept.iter().any(|swept| swept.has_none(copy.original));
        if !(has_none && copy.keeps_words) {
            hand_over(vault.span_and_hash_at(copy.at)?);
        }
    }
    for at in runs.iter().flat_map(|run| run.unread().collect::<Vec<_>>()) {
        let recorded = vault.span_and_hash_at(at)?;
        if !search.whole.contains(&recorded.span.session) {
            hand_over(recorded);
        }
    }
    swept.into_iter().flat_map(|swept| swept.let_through).for_each(&mut hand_over);
    search.hand_over_all(in_part, 0).map(Some)
}

struct Sifting<'s, 'v> {
    search: &'s Search<'v, 's>,
    sieve: &'s Sieve,
    /// How many spans were let through.
    let_through: AtomicUsize,
}

/// What was found of a stretch.
struct Swept {
    let_through: Vec<Recorded>,
    copies: Vec<Copy>,
    first: Position,
    /// A bit for each position: whether the original that it carries is ruled out in every format that keeps words.
    without: Vec<u64>,
}

/// A span whose original an earlier frame carries.
struct Copy {
    at: Position,
    original: Position,
    keeps_words: bool,
}

impl Swept {
    const WORD_BITS: u64 = 64;

    fn new(stretch: &Stretch) -> Self {
        let positions = stretch.end().get().saturating_sub(stretch.first().get());
        let words = usize::try_from(positions.div_ceil(Self::WORD_BITS)).unwrap_or(0);
        let without = vec![0; words];
        Self { let_through: Vec::new(), copies: Vec::new(), first: stretch.first(), without }
    }

    /// The word and the bit of a position.
    fn place(&self, at: Position) -> Option<(usize, u64)> {
        let offset = at.get().checked_sub(self.first.get())?;
        Some((usize::try_from(offset / Self::WORD_BITS).ok()?, 1 << (offset % Self::WORD_BITS)))
    }

    fn note_none(&mut self, at: Position) {
        if let Some((word, bit)) = self.place(at)
            && let Some(word) = self.without.get_mut(word)
        {
            *word |= bit;
        }
    }

    fn has_none(&self, at: Position) -> bool {
        let place = self.place(at);
        place.is_some_and(|(word, bit)| self.without.get(word).is_some_and(|word| word & bit != 0))
    }
}

impl Sifting<'_, '_> {
    /// `None` where the stretch has to be read frame by frame, and where too much is let through.
    fn sweep(&self, stretch: &Stretch) -> Option<Swept> {
        let mut swept = Swept::new(stretch);
        let mut is_too_much = false;
        let mut cold = self.search.originals.vault.store.cold_bodies();
        self.search.originals.vault.store.sweep(stretch, &mut |found| {
            if let Some(recorded) = self.take(found, &mut cold, &mut swept) {
                swept.let_through.push(recorded);
                is_too_much = self.let_through.fetch_add(1, Ordering::Relaxed) >= LET_THROUGH_MAX;
            }
            if is_too_much { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        (!is_too_much).then_some(swept)
    }

    /// Looks at a span, and gives it back if it is let through.
    fn take(&self, found: SweptSpan<'_>, cold: &mut ColdBodies<'_>, swept: &mut Swept) -> Option<Recorded> {
        let (at, hash, kind, original) = (found.at, found.hash, found.span.kind, found.span.original);
        if kind == SpanKind::Meta || self.search.whole.contains(&found.span.session) {
            return None;
        }
        let VaultOriginals { vault, formats, .. } = self.search.originals;
        if kind.was_parsed() {
            let format = formats.of(&vault.store, found.span.source, found.span.session);
            let keeps_words = format.is_ok_and(|format| format.keeps_words);
            if original != at {
                swept.copies.push(Copy { at, original, keeps_words });
                return None;
            }
            let is_ruled_out = match found.original() {
                Some(original) => self.sieve.rules_out(original),
                None => match hash.and_then(|hash| cold.read(at, &hash)) {
                    Some(original) => self.sieve.rules_out(&original),
                    None => {
                        vault.store.original(at).is_ok_and(|original| self.sieve.rules_out(&original.bytes))
                    }
                },
            };
            if is_ruled_out {
                swept.note_none(at);
                if keeps_words {
                    return None;
                }
            }
        }
        Some(Recorded { at, span: found.span, hash: hash.filter(|_hash| original == at) })
    }
}

#[cfg(test)]
mod tests;
