//! From a name to exact, verified bytes. Never writes, never changes a tier.

use spanvault_types::{ContentHash, Position};

use crate::catalog::Subject;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::Name;
use crate::ingest::{is_packed, pieces_of};
use crate::vault::Vault;

impl Vault {
    /// The exact bytes that `name` stands for: of an original, a summary, a checkpoint or a gap.
    ///
    /// What comes back hashes to the name, or is an error; never other bytes, never a part of them (I2).
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::{Name, SpanDraft};
    ///
    /// let receipt = session.record(SpanDraft::user("The invoice is INV-2025-08-44719."))?;
    /// assert_eq!(vault.recover(receipt.hash)?, receipt.bytes);
    /// assert_eq!(vault.recover(receipt.span)?, receipt.bytes);
    /// let first_digits: Name = receipt.hash.to_string()[..12].parse()?;
    /// assert_eq!(vault.recover(first_digits)?, receipt.bytes);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` for an unknown name; `Invalid` for a prefix of several; `Insufficient` with the tombstone where
    /// the bytes were reclaimed; `Corrupt` where they are damaged or missing.
    pub fn recover(&self, name: impl Into<Name>) -> Result<Vec<u8>> {
        let name = name.into();
        if let Name::Hash(digits) = &name
            && let Ok(hash) = digits.parse::<ContentHash>()
        {
            return self.bytes_named(&hash);
        }
        let subject = self.resolve(&name)?;
        self.bytes_at(subject.body())
    }

    /// The bytes that hash to `hash`: with one look-up, and one read of the log.
    fn bytes_named(&self, hash: &ContentHash) -> Result<Vec<u8>> {
        if let Some(original) = self.hinted_original(hash) {
            return Ok(original.bytes);
        }
        let found = self.store.original_named(hash)?;
        found.map(|original| original.bytes).ok_or_else(|| self.unknown_hash(&hash.to_string()))
    }

    /// Bytes `range` of what `name` stands for, verified; fewer where it is shorter.
    ///
    /// Of a long original in the cold tier no more is read than the pieces that the range lies in.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// let receipt = vault.session("run-42")?.record(spanvault::SpanDraft::user("From the middle of it."))?;
    /// assert_eq!(vault.recover_range(receipt.hash, 5..9)?, receipt.bytes[5..9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Vault::recover`].
    pub fn recover_range(&self, name: impl Into<Name>, range: std::ops::Range<u64>) -> Result<Vec<u8>> {
        let subject = self.resolve(&name.into())?;
        Ok(self.store.original_range(subject.body(), range)?)
    }

    /// The verified body of a frame.
    pub(crate) fn bytes_at(&self, at: Position) -> Result<Vec<u8>> {
        Ok(self.store.original(at)?.bytes)
    }

    /// The content hash of what `name` stands for, also where its bytes are gone.
    ///
    /// # Errors
    /// `NotFound` for an unknown name; `Invalid` for a prefix of several.
    pub fn hash_of(&self, name: impl Into<Name>) -> Result<ContentHash> {
        let body = self.resolve(&name.into())?.body();
        self.known_hash(body)
    }

    pub(crate) fn known_hash(&self, body: Position) -> Result<ContentHash> {
        self.hash_at(body)?
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("find the hash of the frame at {body}")))
    }

    /// Gives the file that was ingested from `path` again, byte for byte, piece by piece to `sink`.
    ///
    /// `path` is the path of the file, or its end in whole components.
    ///
    /// # Errors
    /// `NotFound` where no source has that path, `Invalid` where several have; `Insufficient` or `Corrupt` where a
    /// piece is gone: then `sink` has got everything before it.
    pub fn restore(&self, path: &str, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let source = self.one_source(path)?;
        let is_packed = is_packed(&self.source_at(source)?.format);
        let mut written = 0;
        for (_at, piece) in self.recipe(source)? {
            for (position, index) in piece.runs.iter().flat_map(pieces_of) {
                let body = match index {
                    // What was unpacked is no part of the file.
                    Some(_span) if is_packed => continue,
                    Some(_span) => self.span_at(position)?.original,
                    None => position,
                };
                let bytes = self.bytes_at(body)?;
                written += bytes.len() as u64;
                sink(&bytes)?;
            }
        }
        Ok(written)
    }

    /// The only source whose path is or ends with `path`.
    pub(crate) fn one_source(&self, path: &str) -> Result<Position> {
        match self.find_sources(path)?.as_slice() {
            [source] => Ok(*source),
            [] => Err(Error::not_found(format!("find source {path:?}: no ingested file has that path"))
                .with_hint("\"spanvault sessions\" lists the sources of each session")),
            several => {
                let exact =
                    several.iter().find(|at| self.source_at(**at).is_ok_and(|source| source.path == path));
                exact.copied().ok_or_else(|| {
                    Error::invalid(format!(
                        "find source {path:?}: {} ingested files end with it",
                        several.len()
                    ))
                    .with_hint("say more of the path")
                })
            }
        }
    }
}

impl Subject {
    /// The word for what this is.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Span { .. } => "span",
            Self::Summary(_) | Self::Imported { .. } => "summary",
            Self::Gap(_) => "gap",
            Self::Checkpoint(_) => "checkpoint",
        }
    }
}
