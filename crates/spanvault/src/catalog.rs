//! Look-ups: from names, hashes and positions to what the log says.
//!
//! Answers come from the log alone. The index may say where to look; what it says is verified there, and what it
//! does not know is looked for in the sidecars before anything is called absent (E4).

use std::path::{Path, PathBuf};

use spanvault_store::{Frame, Store, Whereabouts};
use spanvault_types::key::{self, Key, Table};
use spanvault_types::{
    Checkpointed, ContentHash, Event, OriginalRef, Position, SessionOpened, SourceExtended, SourceOpened,
    SpanRecorded, Summarised, SummaryImported,
};

use crate::error::{Error, ErrorKind, Result};
use crate::ids::Name;
use crate::vault::Vault;

/// What a [`Name`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A span, and the original that it is an occurrence of.
    Span { span: Position, original: Position },
    /// A summary; its own frame holds its text.
    Summary(Position),
    /// A summary that its source's own runtime wrote: the record of it, and the original that holds its text.
    Imported { summary: Position, original: Position },
    /// An original without a span: a gap.
    Gap(Position),
    /// A checkpoint; its own frame holds its text.
    Checkpoint(Position),
}

impl Subject {
    /// The frame whose body is the subject's bytes.
    pub(crate) const fn body(self) -> Position {
        match self {
            Self::Span { original, .. } | Self::Imported { original, .. } => original,
            Self::Summary(at) | Self::Gap(at) | Self::Checkpoint(at) => at,
        }
    }
}

/// A summary, whoever wrote it.
pub(crate) enum AnySummary {
    /// This vault's own.
    Made(Box<Summarised>),
    /// One that the source's own runtime wrote.
    Imported(Box<SummaryImported>),
}

impl AnySummary {
    pub(crate) fn spans(&self) -> &[Position] {
        match self {
            Self::Made(summary) => &summary.spans,
            Self::Imported(summary) => &summary.spans,
        }
    }

    pub(crate) fn citations(&self) -> &[OriginalRef] {
        match self {
            Self::Made(summary) => &summary.citations,
            Self::Imported(summary) => &summary.citations,
        }
    }
}

macro_rules! typed_frames {
    ($($name:ident, $variant:ident, $type:ty, $word:literal;)+) => {$(
        pub(crate) fn $name(&self, at: Position) -> Result<$type> {
            match self.frame(at)?.event {
                Event::$variant(event) => Ok(event),
                other => Err(is_other($word, at, &other)),
            }
        }
    )+};
}

pub(crate) fn is_other(word: &str, at: Position, event: &Event) -> Error {
    Error::not_found(format!("find {word} at {at}: the log has schema {} there", event.schema()))
}

/// The source that was opened at a position.
pub(crate) fn source_at(store: &Store, at: Position) -> Result<SourceOpened> {
    let event = store.frame(at)?.event;
    if let Event::SourceOpened(source) = event { Ok(source) } else { Err(is_other("a source", at, &event)) }
}

impl Vault {
    pub(crate) fn frame(&self, at: Position) -> Result<Frame> {
        Ok(self.store().frame(at)?)
    }

    typed_frames! {
        span_at, SpanRecorded, SpanRecorded, "a span";
        session_at, SessionOpened, SessionOpened, "a session";
        piece_at, SourceExtended, SourceExtended, "a piece of a source";
        summary_at, Summarised, Box<Summarised>, "a summary";
        imported_at, SummaryImported, Box<SummaryImported>, "an imported summary";
        checkpoint_at, Checkpointed, Checkpointed, "a checkpoint";
    }

    pub(crate) fn source_at(&self, at: Position) -> Result<SourceOpened> {
        source_at(&self.store, at)
    }

    /// A summary, whoever wrote it.
    pub(crate) fn any_summary_at(&self, at: Position) -> Result<AnySummary> {
        let event = self.frame(at)?.event;
        if let Event::Summarised(summary) = event {
            Ok(AnySummary::Made(summary))
        } else if let Event::SummaryImported(summary) = event {
            Ok(AnySummary::Imported(summary))
        } else {
            Err(is_other("a summary", at, &event))
        }
    }

    /// The positions under `prefix`, ascending by key.
    pub(crate) fn positions(&self, prefix: &[u8]) -> Result<Vec<Position>> {
        Ok(self.store().scan(prefix)?.into_iter().map(|(_key, at)| at).collect())
    }

    /// All keys and positions under `prefix`.
    pub(crate) fn entries(&self, prefix: &[u8]) -> Result<Vec<(Key, Position)>> {
        Ok(self.store().scan(prefix)?)
    }

    /// The session of that exact name.
    pub(crate) fn session_named(&self, name: &str) -> Result<Option<Position>> {
        for at in self.positions(&key::session_name(name))? {
            if self.session_at(at)?.name == name {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The session of that name, or the only one whose name starts with it.
    pub(crate) fn find_session(&self, name: &str) -> Result<Position> {
        if let Some(at) = self.session_named(name)? {
            return Ok(at);
        }
        let mut found = Vec::new();
        for at in self.positions(&key::key(Table::Session, &[]))? {
            let opened = self.session_at(at)?;
            if opened.name.starts_with(name) {
                found.push((at, opened.name));
            }
        }
        match found.as_slice() {
            [(at, _name)] => Ok(*at),
            [] => Err(Error::not_found(format!("find session {name:?}"))
                .with_hint("\"spanvault sessions\" lists them")),
            several => {
                let names: Vec<&str> = several.iter().take(5).map(|(_at, name)| name.as_str()).collect();
                Err(Error::invalid(format!("find session {name:?}: {} names start with it", several.len()))
                    .with_hint(format!("say more of the name, for example one of {}", names.join(", "))))
            }
        }
    }

    /// The source of that path.
    pub(crate) fn source_of_path(&self, path: &str) -> Result<Option<Position>> {
        for at in self.positions(&key::source_path(path))? {
            if self.source_at(at)?.path == path {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The sources whose path is `path`, or ends with it in whole components; where there is none, the source of the
    /// file that `path` leads to from here.
    pub(crate) fn find_sources(&self, path: &str) -> Result<Vec<Position>> {
        let mut found = Vec::new();
        for at in self.positions(&key::key(Table::Source, &[]))? {
            if is_path_suffix(&self.source_at(at)?.path, path) {
                found.push(at);
            }
        }
        if found.is_empty()
            && let Some(absolute) = self.absolute_path(Path::new(path))
        {
            found.extend(self.source_of_path(&absolute.to_string_lossy())?);
        }
        Ok(found)
    }

    /// Where a path leads to from here; the file itself may be gone.
    fn absolute_path(&self, path: &Path) -> Option<PathBuf> {
        let disk = &self.options.env.disk;
        if let Ok(absolute) = disk.canonical(path) {
            return Some(absolute);
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(disk.canonical(parent.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
    }

    /// The original that `hash` names: the newest whose bytes are there, else the newest that was.
    pub(crate) fn original_of(&self, hash: &ContentHash) -> Result<Option<Position>> {
        let found = self.positions(&key::original(hash))?;
        let living = found.iter().rev().find(|at| self.store().whereabouts(**at).is_retrievable());
        Ok(living.or(found.last()).copied())
    }

    /// Resolves a name; a prefix must be unique.
    pub(crate) fn resolve(&self, name: &Name) -> Result<Subject> {
        match name {
            Name::Span(span) => {
                let unknown = || {
                    Error::not_found(format!("find span {span}")).with_hint("\"spanvault spans\" lists them")
                };
                match self.span_at(span.0) {
                    Ok(recorded) => Ok(Subject::Span { span: span.0, original: recorded.original }),
                    Err(error) if error.kind() == ErrorKind::NotFound => Err(unknown()),
                    Err(error) => Err(error),
                }
            }
            Name::Summary(summary) => match self.any_summary_at(summary.0) {
                Ok(AnySummary::Made(_made)) => Ok(Subject::Summary(summary.0)),
                Ok(AnySummary::Imported(imported)) => {
                    let original = self.span_at(imported.span)?.original;
                    Ok(Subject::Imported { summary: summary.0, original })
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Err(Error::not_found(format!("find summary {summary}"))
                        .with_hint("\"spanvault context SESSION\" shows a session's summaries"))
                }
                Err(error) => Err(error),
            },
            Name::Hash(digits) => self.resolve_hash(digits),
        }
    }

    fn resolve_hash(&self, digits: &str) -> Result<Subject> {
        let hash = match digits.parse::<ContentHash>() {
            Ok(hash) => hash,
            Err(_prefix) => self.complete_hash(digits)?,
        };
        let at = self.original_of(&hash)?.ok_or_else(|| self.unknown_hash(digits))?;
        self.subject_at(at)
    }

    /// The subject whose bytes the frame at `at` carries.
    pub(crate) fn subject_at(&self, at: Position) -> Result<Subject> {
        let event = self.frame(at)?.event;
        if let Event::SpanRecorded(span) = event {
            return Ok(Subject::Span { span: at, original: span.original });
        }
        if matches!(event, Event::Summarised(_)) {
            return Ok(Subject::Summary(at));
        }
        if matches!(event, Event::Checkpointed(_)) {
            return Ok(Subject::Checkpoint(at));
        }
        Ok(Subject::Gap(at))
    }

    fn complete_hash(&self, digits: &str) -> Result<ContentHash> {
        let whole_bytes: Vec<u8> = digits
            .as_bytes()
            .chunks_exact(2)
            .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let mut hashes = Vec::new();
        for (found, at) in self.entries(&key::original_prefix(&whole_bytes))? {
            let Some(bytes) = found.get(1..).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) else {
                // The rest of this hash stands in a frame that is damaged.
                self.frame(at)?;
                continue;
            };
            let hash = ContentHash::from_bytes(bytes);
            if hash.to_string().starts_with(digits) && hashes.last() != Some(&hash) {
                hashes.push(hash);
            }
        }
        match hashes.as_slice() {
            [hash] => Ok(*hash),
            [] => Err(self.unknown_hash(digits)),
            several => {
                let shown: Vec<String> = several.iter().take(5).map(ToString::to_string).collect();
                Err(Error::invalid(format!("find hash {digits}: {} originals start with it", several.len()))
                    .with_hint(format!("say more digits: {}", shown.join(", "))))
            }
        }
    }

    /// The content hash of what the frame at `at` carries or carried; a tombstone repeats it.
    pub(crate) fn hash_at(&self, at: Position) -> Result<Option<ContentHash>> {
        if let Some(hash) = self.frame(at)?.hash {
            return Ok(Some(hash));
        }
        let Whereabouts::Reclaimed { tombstone } = self.store.whereabouts(at) else { return Ok(None) };
        Ok(self.frame(tombstone)?.hash)
    }

    /// All spans that have this original, the one in its own frame first.
    pub(crate) fn occurrences(&self, original: Position) -> Result<Vec<(Position, SpanRecorded)>> {
        let event = self.frame(original)?.event;
        let own = if let Event::SpanRecorded(span) = event { Some(span) } else { None };
        self.occurrences_beside(original, own, self.positions(&key::key(Table::Occurrence, &[original]))?)
    }

    /// As [`Vault::occurrences`], where the span in the original's own frame was read already.
    pub(crate) fn occurrences_of_own(
        &self,
        original: Position,
        own: SpanRecorded,
    ) -> Result<Vec<(Position, SpanRecorded)>> {
        let others = self.positions(&key::key(Table::Occurrence, &[original]))?;
        self.occurrences_beside(original, Some(own), others)
    }

    /// As [`Vault::occurrences`], where the span in the original's own frame was read already and it is known where the
    /// others are.
    pub(crate) fn occurrences_beside(
        &self,
        original: Position,
        own: Option<SpanRecorded>,
        others: impl IntoIterator<Item = Position>,
    ) -> Result<Vec<(Position, SpanRecorded)>> {
        let mut found: Vec<_> = own.map(|span| (original, span)).into_iter().collect();
        for at in others {
            found.push((at, self.span_at(at)?));
        }
        Ok(found)
    }

    /// Nothing has that hash. In a damaged log that proves nothing: the frame that had it may be what is damaged (I16).
    pub(crate) fn unknown_hash(&self, digits: &str) -> Error {
        if self.store.damage().is_empty() {
            return Error::not_found(format!("find hash {digits}: no original, summary or gap has it"))
                .with_hint("\"spanvault spans\" lists the hashes of a vault");
        }
        Error::new(
            ErrorKind::Corrupt,
            format!("find hash {digits}: nothing has it, and a part of the log is damaged"),
        )
        .with_hint("\"spanvault verify --read-data\" lists all damage")
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }
}

/// Whether `suffix` is the end of `path` in whole components.
pub(crate) fn is_path_suffix(path: &str, suffix: &str) -> bool {
    let suffix = suffix.trim_start_matches("./");
    path == suffix
        || path
            .strip_suffix(suffix)
            .is_some_and(|head| !suffix.is_empty() && (head.ends_with('/') || suffix.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::is_path_suffix;

    #[test]
    fn a_path_suffix_is_made_of_whole_components() {
        assert!(is_path_suffix("/a/b/c.jsonl", "b/c.jsonl"));
        assert!(is_path_suffix("/a/b/c.jsonl", "./c.jsonl"));
        assert!(is_path_suffix("/a/b/c.jsonl", "/a/b/c.jsonl"));
        assert!(!is_path_suffix("/a/b/c.jsonl", "c"));
        assert!(!is_path_suffix("/a/bb/c.jsonl", "b/c.jsonl"));
        assert!(!is_path_suffix("/a/b/c.jsonl", ""));
    }
}
