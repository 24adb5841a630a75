//! Hands the words of a reading, and what may hold them, to a seeker.

use std::borrow::Cow;

use spanvault_evidence::{At, Atom, AtomKind, atoms};
use spanvault_types::{ByteRange, PartBody, SpanContent};

use super::answer::MissingReason;
use super::coverage::Ledger;
use super::doubt::Doubt;
use super::get::Get;
use super::ground::{Candidate, Ground};
use super::kinds::PartKind;
use super::locate::Place;
use super::originals::{AskSpan, Originals, UnseenReason};
use super::plan::{Getter, Pick};
use super::reading::Slot;
use super::seek::{Exhibit, Extracted, Hit, Seeker, Spot};
use super::text::{ByteSearch, Found, TextFilter, strings_of};

/// Whether words stand in a span that was seen, in any of the places where `filter` looks.
pub(super) fn holds_words<O: Originals + ?Sized>(
    filter: &TextFilter,
    span: &AskSpan,
    content: &SpanContent,
    originals: &O,
) -> Result<bool, O::Error> {
    let kinds = &filter.kinds;
    let bodies = content.parts.iter().map(|part| &part.body);
    let mut searched = bodies.filter(|body| kinds.parts.contains(&PartKind::of(body)));
    if searched.any(|body| strings_of(body).into_iter().any(|string| filter.occurs_in(string))) {
        return Ok(true);
    }
    if kinds.atoms.is_empty() && !kinds.original {
        return Ok(false);
    }
    // What cannot be read again is left to the search itself.
    let Some(bytes) = originals.bytes(span)? else { return Ok(true) };
    let in_original = || filter.occurs_in(&String::from_utf8_lossy(&bytes));
    let in_atom = |atom: &Atom| {
        kinds.atoms.contains(&atom.kind) && (filter.occurs_in(&atom.text) || filter.occurs_in(&atom.normal))
    };
    Ok((kinds.original && in_original())
        || (!kinds.atoms.is_empty() && atoms(content, &bytes).iter().any(in_atom)))
}

/// One search for words.
#[derive(Debug)]
pub(super) struct TextSearch<'a, O: ?Sized> {
    pub(super) filter: &'a TextFilter,
    pub(super) getter: &'a Getter,
    pub(super) pick: Pick,
    pub(super) ground: Ground<'a>,
    pub(super) originals: &'a O,
}

impl<O: Originals + ?Sized> TextSearch<'_, O> {
    /// Finds words; what is searched as bytes is noted in `ledger`.
    pub(super) fn run(&self, seeker: &mut Seeker, ledger: &mut Ledger) -> Result<(), O::Error> {
        for candidate in self.ground.candidates() {
            let seen = matches!(candidate.slot, Slot::Seen(_) | Slot::WithoutWords);
            if !seen && !self.filter.kinds.may_be_in(candidate.span.kind) {
                continue;
            }
            if candidate.is_untimed() {
                seeker.doubts(candidate.doubt());
            } else if matches!(candidate.slot, Slot::WithoutWords) {
            } else if self.filter.kinds.original {
                self.in_original(candidate, seeker, ledger)?;
            } else if let Slot::Seen(content) = candidate.slot {
                self.in_parts(candidate, content, seeker);
                self.in_atoms(candidate, content, seeker)?;
            } else if let Some(doubt) = candidate.doubt() {
                self.in_unparsed(candidate, doubt, seeker, ledger)?;
            }
        }
        Ok(())
    }

    fn in_parts(&self, candidate: Candidate<'_>, content: &SpanContent, seeker: &mut Seeker) {
        for (at, part) in content.parts.iter().enumerate() {
            if !self.filter.kinds.parts.contains(&PartKind::of(&part.body)) {
                continue;
            }
            // The strings of a call are not the decoded text of its part, so the place in one is no place in it.
            let is_text_of_part = !matches!(part.body, PartBody::Call(_));
            let mut offset = 0;
            for string in strings_of(&part.body) {
                self.filter.search(string, |found| {
                    seeker.hit(|_depth| {
                        let spot = self.spot(candidate, at, offset + found.range.start);
                        let place = if is_text_of_part {
                            Place::decoded(part, found.range.clone(), string)
                        } else {
                            Place::somewhere_in(part, string.get(found.range.clone()).unwrap_or_default())
                        };
                        hit(spot, candidate.span, place, string, &found)
                    });
                });
                offset += string.len() + 1;
            }
        }
    }

    /// Finds words in atoms of the wanted kinds, apart from those in parts that are searched as a whole.
    fn in_atoms(
        &self,
        candidate: Candidate<'_>,
        content: &SpanContent,
        seeker: &mut Seeker,
    ) -> Result<(), O::Error> {
        let kinds = &self.filter.kinds;
        if kinds.atoms.is_empty() {
            return Ok(());
        }
        let Some(bytes) = self.originals.bytes(candidate.span)? else {
            seeker.doubt(Doubt::of(candidate.span, MissingReason::Missing));
            return Ok(());
        };
        for atom in atoms(content, &bytes) {
            let part = content.parts.get(atom.part).map(|part| PartKind::of(&part.body));
            if !kinds.atoms.contains(&atom.kind) || part.is_some_and(|part| kinds.parts.contains(&part)) {
                continue;
            }
            if let Some(value) = self.in_atom(&atom) {
                let offset = usize::try_from(atom.range.start).unwrap_or(usize::MAX);
                seeker.hit(|_depth| Hit {
                    spot: self.spot(candidate, atom.part, offset),
                    timestamp_ms: candidate.span.timestamp_ms,
                    proof: vec![Exhibit { span: candidate.span.clone(), place: Place::Exact(atom.range) }],
                    extracted: Extracted::Value(value.into()),
                    paths: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// What an atom gives as value, if the words stand in it as it is written, or in its normal form.
    ///
    /// The normal form of an argument starts with where it stands, which is nothing that it says.
    fn in_atom(&self, atom: &Atom) -> Option<String> {
        let normal = if atom.kind == AtomKind::Argument { "" } else { atom.normal.as_str() };
        let mut value = None;
        for form in [atom.text.as_str(), normal] {
            self.filter.search(form, |found| {
                value.get_or_insert_with(|| form.get(found.value).unwrap_or_default().to_owned());
            });
        }
        value
    }

    /// Looks in the exact bytes of an original.
    fn in_original(
        &self,
        candidate: Candidate<'_>,
        seeker: &mut Seeker,
        ledger: &mut Ledger,
    ) -> Result<(), O::Error> {
        let span = candidate.span;
        let Some(bytes) = self.originals.bytes(span)? else {
            let gone = candidate.doubt().unwrap_or_else(|| Doubt::of(span, MissingReason::Missing));
            seeker.doubt(gone);
            return Ok(());
        };
        if !matches!(candidate.slot, Slot::Seen(_)) {
            ledger.in_bytes(span);
        }
        let text = String::from_utf8_lossy(&bytes);
        self.filter.search(&text, |found| {
            let place = match text {
                Cow::Borrowed(_) => {
                    ByteRange { start: found.range.start as u64, end: found.range.end as u64 }
                }
                Cow::Owned(_) => whole(span),
            };
            let spot = self.spot(candidate, 0, found.range.start);
            seeker.hit(|_depth| hit(spot, span, Place::Exact(place), &text, &found));
        });
        Ok(())
    }

    /// Looks in bytes that were never parsed. They can rule the words out; that they are there answers only whether
    /// they are, because an envelope may repeat them.
    fn in_unparsed(
        &self,
        candidate: Candidate<'_>,
        doubt: Doubt,
        seeker: &mut Seeker,
        ledger: &mut Ledger,
    ) -> Result<(), O::Error> {
        let span = candidate.span;
        let unparsed = UnseenReason::Quarantined..=UnseenReason::TooLarge;
        let has_bytes = matches!(candidate.slot, Slot::Unseen { reason, .. } if unparsed.contains(reason));
        let bytes = if has_bytes { self.originals.bytes(span)? } else { None };
        let Some(bytes) = bytes else {
            seeker.doubt(doubt);
            return Ok(());
        };
        ledger.in_bytes(span);
        let presence_is_enough = self.filter.kinds.all
            && self.pick == Pick::All
            && matches!(self.getter.get, Get::Exists | Get::Spans);
        match self.filter.search_bytes(&bytes) {
            ByteSearch::NotThere => {}
            ByteSearch::Found if presence_is_enough => seeker.hit(|_depth| Hit {
                spot: self.spot(candidate, 0, 0),
                timestamp_ms: span.timestamp_ms,
                proof: vec![Exhibit { span: span.clone(), place: Place::Exact(whole(span)) }],
                extracted: Extracted::NotAsked,
                paths: Vec::new(),
            }),
            ByteSearch::Found | ByteSearch::Unclear => seeker.doubt(doubt),
        }
        Ok(())
    }

    fn spot(&self, candidate: Candidate<'_>, part: usize, offset: usize) -> Spot {
        self.ground.spot(At { span: candidate.at, part }, offset)
    }
}

const fn whole(span: &AskSpan) -> ByteRange {
    ByteRange { start: 0, end: span.bytes }
}

fn hit(spot: Spot, span: &AskSpan, place: Place, text: &str, found: &Found) -> Hit {
    Hit {
        spot,
        timestamp_ms: span.timestamp_ms,
        proof: vec![Exhibit { span: span.clone(), place }],
        extracted: Extracted::Value(text.get(found.value.clone()).unwrap_or_default().into()),
        paths: Vec::new(),
    }
}
