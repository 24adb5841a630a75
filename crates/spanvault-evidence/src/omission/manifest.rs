//! The bytes of a manifest: a version, then columns of sorted, prefix-compressed details under zstd.

use std::io::Read;

use spanvault_types::Position;

use crate::AtomKind;
use crate::omission::{Detail, Manifest};

/// The version that is written.
const VERSION: u8 = 1;

/// The largest manifest that is read, decompressed, in bytes.
const BYTES_MAX: u64 = 256 << 20;

/// The longest name of a detail that is read, in bytes: twice what is written. It bounds what a crafted manifest
/// of shared prefixes can grow to.
const NAME_BYTES_MAX: usize = 512;

/// Higher levels take most of the time of an import with compactions, and save a tenth of a manifest.
const LEVEL: i32 = 6;

/// Bytes that are no manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// A version that this program is too old to read.
    #[error("read a manifest: version {version} is newer than this program")]
    NewerVersion {
        /// The version.
        version: u8,
    },
    /// Bytes that do not decompress, or to more than is ever written.
    #[error("decompress a manifest")]
    Compression(#[source] std::io::Error),
    /// Columns that do not fit together.
    #[error("read a manifest: its columns do not fit together")]
    Malformed,
}

impl Manifest {
    /// The manifest as it is stored.
    ///
    /// # Errors
    /// [`ManifestError::Compression`] where zstd has no memory.
    pub fn encode(&self) -> Result<Vec<u8>, ManifestError> {
        let mut stored = vec![VERSION];
        stored.extend(
            zstd::bulk::compress(&columns(self.details()), LEVEL).map_err(ManifestError::Compression)?,
        );
        Ok(stored)
    }

    /// Reads what [`Manifest::encode`] wrote; no bytes panic or take memory beyond a bound.
    ///
    /// # Errors
    /// Any [`ManifestError`].
    pub fn decode(stored: &[u8]) -> Result<Self, ManifestError> {
        let (version, compressed) = stored.split_first().ok_or(ManifestError::Malformed)?;
        if *version != VERSION {
            return Err(ManifestError::NewerVersion { version: *version });
        }
        let mut bytes = Vec::new();
        let decoder = zstd::stream::read::Decoder::new(compressed).map_err(ManifestError::Compression)?;
        decoder.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(ManifestError::Compression)?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(ManifestError::Malformed);
        }
        let details = Columns { rest: &bytes }.details().ok_or(ManifestError::Malformed)?;
        Ok(Self::from_sorted(details))
    }
}

fn columns(details: &[Detail]) -> Vec<u8> {
    let mut originals: Vec<u64> = details.iter().map(|detail| detail.at.get()).collect();
    originals.sort_unstable();
    originals.dedup();
    let mut bytes = Vec::new();
    put(&mut bytes, originals.len() as u64);
    let mut before = 0;
    for original in &originals {
        put(&mut bytes, original - before);
        before = *original;
    }
    for of_kind in details.chunk_by(|a, b| a.kind == b.kind) {
        let Some(first) = of_kind.first() else { continue };
        bytes.push(first.kind as u8);
        put(&mut bytes, of_kind.len() as u64);
        let mut before = "";
        for detail in of_kind {
            let shared = shared_prefix(before, &detail.normal);
            put(&mut bytes, shared as u64);
            put(&mut bytes, (detail.normal.len() - shared) as u64);
            before = &detail.normal;
        }
        before = "";
        for detail in of_kind {
            bytes.extend(&detail.normal.as_bytes()[shared_prefix(before, &detail.normal)..]);
            before = &detail.normal;
        }
        let texts: Vec<_> =
            of_kind.iter().map(|detail| Some(detail.normal.as_str()).zip(detail.text.as_deref())).collect();
        for change in texts.iter().map(|both| both.map(|(normal, text)| Change::of(normal, text))) {
            put(&mut bytes, change.as_ref().map_or(0, |change| change.head as u64 + 1));
            if let Some(change) = change {
                put(&mut bytes, change.tail as u64);
                put(&mut bytes, change.middle.len() as u64);
            }
        }
        for (normal, text) in texts.into_iter().flatten() {
            bytes.extend(Change::of(normal, text).middle.as_bytes());
        }
        for detail in of_kind {
            let original = originals.partition_point(|original| *original < detail.at.get());
            put(&mut bytes, (original as u64) << 1 | u64::from(detail.kept));
        }
    }
    bytes
}

/// How many bytes of whole characters `b` begins with as `a` does.
fn shared_prefix(a: &str, b: &str) -> usize {
    let mut shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !b.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

/// How a text differs from its normal form: mostly in the case of a letter, or by what stands before it.
struct Change<'a> {
    head: usize,
    middle: &'a str,
    tail: usize,
}

impl<'a> Change<'a> {
    fn of(normal: &str, text: &'a str) -> Self {
        let head = shared_prefix(normal, text);
        let rest = |text: &str| text.len() - head;
        let shared = normal.bytes().rev().zip(text.bytes().rev()).take(rest(normal).min(rest(text)));
        let mut tail = shared.take_while(|(a, b)| a == b).count();
        while !text.is_char_boundary(text.len() - tail) || !normal.is_char_boundary(normal.len() - tail) {
            tail -= 1;
        }
        Self { head, middle: &text[head..text.len() - tail], tail }
    }
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// The lengths of a [`Change`], or that there is none.
enum Lengths {
    Same,
    Changed { head: usize, middle: usize, tail: usize },
}

struct Columns<'a> {
    rest: &'a [u8],
}

impl<'a> Columns<'a> {
    fn details(mut self) -> Option<Vec<Detail>> {
        let mut originals = Vec::new();
        let mut original: u64 = 0;
        for _ in 0..self.count()? {
            original = original.checked_add(self.number()?)?;
            originals.push(Position::new(original));
        }
        let mut details: Vec<Detail> = Vec::new();
        while let Some((kind, rest)) = self.rest.split_first() {
            self.rest = rest;
            let kind = AtomKind::ALL.into_iter().find(|known| *known as u8 == *kind)?;
            if details.last().is_some_and(|last| last.kind >= kind) {
                return None;
            }
            self.kind(kind, &originals, &mut details)?;
        }
        Some(details)
    }

    fn kind(&mut self, kind: AtomKind, originals: &[Position], details: &mut Vec<Detail>) -> Option<()> {
        let count = self.count()?;
        let lengths =
            (0..count).map(|_| Some((self.length()?, self.length()?))).collect::<Option<Vec<_>>>()?;
        let mut normals: Vec<String> = Vec::with_capacity(count);
        for (shared, own) in lengths {
            if shared.checked_add(own)? > NAME_BYTES_MAX {
                return None;
            }
            let shared = normals.last().map_or("", String::as_str).get(..shared)?;
            let normal = [shared, self.text(own)?].concat();
            if normals.last().is_some_and(|last| *last >= normal) {
                return None;
            }
            normals.push(normal);
        }
        let changes = (0..count).map(|_| self.lengths()).collect::<Option<Vec<_>>>()?;
        let mut texts = Vec::with_capacity(count);
        for (normal, change) in normals.iter().zip(changes) {
            texts.push(match change {
                Lengths::Changed { head, middle, tail } => {
                    let before = normal.get(..head)?;
                    let after = normal.get(normal.len().checked_sub(tail)?..)?;
                    Some([before, self.text(middle)?, after].concat())
                }
                Lengths::Same => None,
            });
        }
        for (normal, text) in normals.into_iter().zip(texts) {
            let flagged = self.number()?;
            let at = *originals.get(usize::try_from(flagged >> 1).ok()?)?;
            details.push(Detail { kind, normal, text, at, kept: flagged & 1 == 1 });
        }
        Some(())
    }

    /// What a text has in common with its normal form.
    fn lengths(&mut self) -> Option<Lengths> {
        let Some(head) = self.length()?.checked_sub(1) else { return Some(Lengths::Same) };
        let (tail, middle) = (self.length()?, self.length()?);
        let length = head.checked_add(tail)?.checked_add(middle)?;
        (length <= NAME_BYTES_MAX).then_some(Lengths::Changed { head, middle, tail })
    }

    fn number(&mut self) -> Option<u64> {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// A count of things that take at least a byte each: never more than there are bytes.
    fn count(&mut self) -> Option<usize> {
        let count = self.length()?;
        (count <= self.rest.len()).then_some(count)
    }

    fn text(&mut self, length: usize) -> Option<&'a str> {
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }
}
