//! What a summary dropped: the exact difference between the atoms of its originals and those of its text.
//!
//! A manifest names every detail of the originals, with an original that holds it and whether the text still
//! says it. It is merged from the manifests of the summaries that a new summary covers, so it stays complete
//! over generations, also where the originals are gone.

mod manifest;
mod sources;

pub use manifest::ManifestError;
pub use sources::SourceDetails;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use spanvault_types::{ContentHash, Fidelity, Position};

use crate::{AtomKind, atoms_of_text};
use sources::{Held, SourceDetail, each_once};

/// A detail that the originals of a summary hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detail {
    /// What it is.
    pub kind: AtomKind,
    /// The form in which equal details are equal. A long one is named by its head and a hash of the whole.
    pub normal: String,
    /// As it stood in the original, where that differs; a long one by its head.
    pub text: Option<String>,
    /// An original that holds it: the first.
    pub at: Position,
    /// Whether the text of the summary says it.
    pub kept: bool,
}

impl Detail {
    /// The detail as a person reads it.
    pub fn words(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.normal)
    }
}

/// Every detail of a summary's originals, sorted by kind and normal form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    details: Vec<Detail>,
}

/// What a manifest shows of one kind: the details, or a range where an original has too many numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown<'a> {
    /// One detail.
    Detail(&'a Detail),
    /// The numbers of one original.
    Numbers {
        /// The original.
        at: Position,
        /// How many.
        count: usize,
        /// The least and the greatest, as they stand.
        range: (&'a str, &'a str),
    },
}

/// From how many numbers on an original shows a count and a range.
pub const NUMBERS_SHOWN_MAX: usize = 100;

/// The longest normal form that a manifest repeats, in bytes.
const NORMAL_BYTES_MAX: usize = 256;

/// How much of a longer one it repeats.
const HEAD_BYTES: usize = 64;

impl Manifest {
    /// Compares `text` with the details of the originals in `sources` and of the summaries in `covered`.
    pub fn of<'a>(
        text: &str,
        covered: impl IntoIterator<Item = &'a Self>,
        sources: &SourceDetails<'a>,
    ) -> Self {
        let covered = covered.into_iter().flat_map(|manifest| &manifest.details);
        let mut all: Vec<SourceDetail<'a>> = covered
            .map(|detail| SourceDetail {
                kind: detail.kind,
                normal: detail.normal.as_str().into(),
                text: detail.text.as_deref(),
                at: detail.at,
            })
            .collect();
        let details = if all.is_empty() {
            sources.as_slice()
        } else {
            all.extend_from_slice(sources.as_slice());
            each_once(&mut all);
            &all
        };
        let said = said_in(text);
        let mut said = Held::in_sorted(&said, key_of);
        let named = |detail: &SourceDetail<'_>| Detail {
            kind: detail.kind,
            normal: detail.normal.clone().into_owned(),
            text: detail.surface(),
            at: detail.at,
            kept: said.next(detail.key()).is_some(),
        };
        Self { details: details.iter().map(named).collect() }
    }

    /// A manifest of these details.
    pub(crate) fn from_sorted(details: Vec<Detail>) -> Self {
        Self { details }
    }

    /// Every detail of the originals, sorted by kind and normal form.
    pub fn details(&self) -> &[Detail] {
        &self.details
    }

    /// The details that the text does not carry.
    pub fn omissions(&self) -> impl Iterator<Item = &Detail> {
        self.details.iter().filter(|detail| !detail.kept)
    }

    /// How many details of `kind` the text does not carry.
    pub fn omitted(&self, kind: AtomKind) -> u64 {
        self.of_kind(kind).iter().filter(|detail| !detail.kept).count() as u64
    }

    /// The details of `kind`.
    pub fn of_kind(&self, kind: AtomKind) -> &[Detail] {
        let start = self.details.partition_point(|detail| detail.kind < kind);
        let end = self.details.partition_point(|detail| detail.kind <= kind);
        &self.details[start..end]
    }

    /// The detail with this kind and normal form.
    pub fn find(&self, kind: AtomKind, normal: &str) -> Option<&Detail> {
        let normal = bounded(normal);
        let of_kind = self.of_kind(kind);
        let at = of_kind.binary_search_by(|detail| detail.normal.as_str().cmp(&normal)).ok()?;
        of_kind.get(at)
    }

    /// How much of each kind the text kept; kinds that the originals do not hold are left out.
    pub fn fidelity(&self) -> Vec<Fidelity> {
        let of = |kind: AtomKind| {
            let total = self.of_kind(kind).len() as u64;
            Fidelity { kind: kind as u8, total, kept: total - self.omitted(kind) }
        };
        AtomKind::ALL.into_iter().map(of).filter(|fidelity| fidelity.total > 0).collect()
    }

    /// How many distinct details of `sources` neither the text nor this manifest names: 0 for an honest summary.
    ///
    /// What the manifest says is kept counts only if `text` says it.
    pub fn unnamed(&self, text: &str, sources: &SourceDetails<'_>) -> u64 {
        let said = said_in(text);
        let mut said = Held::in_sorted(&said, key_of);
        let mut named =
            Held::in_sorted(&self.details, |detail: &Detail| (detail.kind, detail.normal.as_str()));
        let is_unnamed = |detail: &&SourceDetail<'_>| {
            let is_omitted = named.next(detail.key()).is_some_and(|detail| !detail.kept);
            said.next(detail.key()).is_none() && !is_omitted
        };
        sources.as_slice().iter().filter(is_unnamed).count() as u64
    }

    /// The omissions of `kind` as they are shown: many numbers of one original are a count and a range.
    pub fn shown(&self, kind: AtomKind) -> Vec<Shown<'_>> {
        let omitted = || self.of_kind(kind).iter().filter(|detail| !detail.kept);
        if kind != AtomKind::Number {
            return omitted().map(Shown::Detail).collect();
        }
        let mut by_original: HashMap<Position, Vec<&Detail>> = HashMap::new();
        for detail in omitted() {
            by_original.entry(detail.at).or_default().push(detail);
        }
        let originals: BTreeSet<_> = by_original.keys().copied().collect();
        let mut shown = Vec::new();
        for at in originals {
            let Some(numbers) = by_original.get(&at) else { continue };
            if numbers.len() <= NUMBERS_SHOWN_MAX {
                shown.extend(numbers.iter().copied().map(Shown::Detail));
                continue;
            }
            let value = |detail: &Detail| leading_number(&detail.normal);
            let least = numbers.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
            let greatest = numbers.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
            if let (Some(least), Some(greatest)) = (least, greatest) {
                shown.push(Shown::Numbers {
                    at,
                    count: numbers.len(),
                    range: (least.words(), greatest.words()),
                });
            }
        }
        shown
    }
}

/// What a text says: the details of a manifest, sorted.
fn said_in(text: &str) -> Vec<(AtomKind, String)> {
    let atoms = atoms_of_text(text);
    let mut said: Vec<_> = atoms.iter().map(|atom| (atom.kind, bounded(&atom.normal).into_owned())).collect();
    said.sort_unstable();
    said.dedup();
    said
}

fn key_of((kind, normal): &(AtomKind, String)) -> (AtomKind, &str) {
    (*kind, normal)
}

/// A normal form that is short enough to be listed, and still equal only where the whole is.
fn bounded(normal: &str) -> Cow<'_, str> {
    if normal.len() <= NORMAL_BYTES_MAX {
        return normal.into();
    }
    let hash = ContentHash::of(normal.as_bytes()).to_string();
    format!("{}… {} bytes {}", head(normal), normal.len(), &hash[..32]).into()
}

fn head(text: &str) -> &str {
    if text.len() <= NORMAL_BYTES_MAX {
        return text;
    }
    let mut end = HEAD_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The number at the head of a normal form, its unit left out.
fn leading_number(normal: &str) -> f64 {
    let end =
        normal.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(normal.len());
    normal[..end].parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
