//! What a summary dropped: the exact difference between the atoms of its originals and those of its text.
//!
//! A manifest names every detail of the originals, with an original that holds it and whether the text still
//! says it. It is merged from the manifests of the summaries that a new summary covers, so it stays complete
//! over generations, also where the originals are gone.

mod manifest;

pub use manifest::ManifestError;

use std::collections::{BTreeSet, HashMap, HashSet};

use spanvault_types::{ContentHash, Fidelity, Position};

use crate::{Atom, AtomKind, atoms_of_text};

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
        sources: impl IntoIterator<Item = (Position, &'a [Atom])>,
    ) -> Self {
        let said = said_in(text);
        let mut found: HashMap<(AtomKind, String), (Option<String>, Position)> = HashMap::new();
        for manifest in covered {
            for detail in &manifest.details {
                let first = found
                    .entry((detail.kind, detail.normal.clone()))
                    .or_insert_with(|| (detail.text.clone(), detail.at));
                first.1 = first.1.min(detail.at);
            }
        }
        for (at, atoms) in sources {
            for atom in atoms {
                let normal = bounded(&atom.normal);
                let surface = (atom.text != atom.normal).then(|| head(&atom.text));
                let first = found.entry((atom.kind, normal)).or_insert_with(|| (surface, at));
                first.1 = first.1.min(at);
            }
        }
        let mut details: Vec<_> = found
            .into_iter()
            .map(|((kind, normal), (text, at))| {
                let kept = said.contains(&(kind, normal.as_str()));
                Detail { kind, normal, text, at, kept }
            })
            .collect();
        details.sort_unstable();
        Self { details }
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
    pub fn unnamed<'a>(&self, text: &str, sources: impl IntoIterator<Item = &'a Atom>) -> u64 {
        let said = said_in(text);
        let mut missing = HashSet::new();
        for atom in sources {
            let normal = bounded(&atom.normal);
            let said = said.contains(&(atom.kind, normal.as_str()));
            let omitted = || self.find(atom.kind, &atom.normal).is_some_and(|detail| !detail.kept);
            if !(said || omitted()) {
                missing.insert((atom.kind, normal));
            }
        }
        missing.len() as u64
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

/// What a text says, as a set that looks details up.
struct Said(HashMap<AtomKind, HashSet<String>>);

impl Said {
    fn contains(&self, (kind, normal): &(AtomKind, &str)) -> bool {
        self.0.get(kind).is_some_and(|of_kind| of_kind.contains(*normal))
    }
}

fn said_in(text: &str) -> Said {
    let mut said: HashMap<AtomKind, HashSet<String>> = HashMap::new();
    for atom in atoms_of_text(text) {
        said.entry(atom.kind).or_default().insert(bounded(&atom.normal));
    }
    Said(said)
}

/// A normal form that is short enough to be listed, and still equal only where the whole is.
fn bounded(normal: &str) -> String {
    if normal.len() <= NORMAL_BYTES_MAX {
        return normal.to_owned();
    }
    let hash = ContentHash::of(normal.as_bytes()).to_string();
    format!("{}… {} bytes {}", head(normal), normal.len(), &hash[..32])
}

fn head(text: &str) -> String {
    if text.len() <= NORMAL_BYTES_MAX {
        return text.to_owned();
    }
    let mut end = HEAD_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// The number at the head of a normal form, its unit left out.
fn leading_number(normal: &str) -> f64 {
    let end =
        normal.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(normal.len());
    normal[..end].parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
