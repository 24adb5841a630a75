//! From a transcript file to spans in the log: cut, match what is known, record what is new.
//!
//! The file's bytes all become originals: records and the gaps between them. A source keeps its recipe as a chain
//! of pieces; ingesting again walks that chain, so that an unchanged file writes nothing, a grown file adds its
//! tail and a rewritten file adds a new end that shares what it can. What was read is committed in batches, each
//! with its piece of the recipe, so an interrupted run goes on where it stopped.

mod compactions;
mod known;
mod many;
mod report;
mod runs;
mod side_files;
mod source_file;
mod source_names;
mod stretches;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use spanvault_import::{Container, Importer, Piece, Record};
use spanvault_types::{
    ContentHash, Event, EvidentialClass, Position, SourceExtended, SourceOpened, SpanSuperseded,
};

use crate::classes::ClassStreams;
use crate::error::Result;
use crate::recorder::{Identity, NewSpan, Recorder};
use crate::vault::Vault;
pub use compactions::ImportedSummary;
pub(crate) use compactions::summary_text;
use compactions::{Compactions, Mark};
use known::KnownRecipe;
pub use many::{FileToIngest, IngestNews};
pub use report::{IngestReport, QuarantinedRecord, SideFile};
use runs::Runs;
pub(crate) use runs::pieces_of;
use source_file::{Head, SourceFile, format_in};
pub(crate) use source_file::{is_packed, record_format};
use source_names::{SourceNames, folder_name};
use stretches::Stretches;

/// How much is read before it is committed.
const BATCH_BYTES: usize = 8 << 20;
/// How many pieces are read before they are committed.
const BATCH_PIECES: usize = 4_096;

/// What an ingest may be told.
#[derive(Debug, Clone, Default)]
pub struct IngestOptions {
    /// The format; detected from the content where `None`.
    pub format: Option<String>,
    /// The session that every span goes to; as the transcript says where `None`.
    pub session: Option<String>,
}

impl Vault {
    /// Records the spans of one transcript file.
    ///
    /// Again is a no-op; a grown file adds its tail. `progress` is told the bytes read so far and the length.
    ///
    /// # Errors
    /// `NotFound` and `Invalid` for a file that is missing, empty or of no known format; what the disk says
    /// otherwise. What was committed before the error stays and is not read again.
    pub fn ingest(
        &self,
        path: impl AsRef<Path>,
        options: &IngestOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<IngestReport> {
        let path = self.absolute(path.as_ref())?;
        let _one_at_a_time = self.ingesting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let source = SourceFile::open(self, path, options)?;
        let mut run = Run::start(self, &source.head, options, &SourceNames::read(self)?)?;
        let mut failure = None;
        let cut =
            source.cut(progress, &mut |piece| match run.take(CutPiece::of(source.head.importer, piece)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            });
        if let Some(error) = failure {
            return Err(error);
        }
        cut?;
        let Ingested { report, commit, .. } = run.finish()?;
        if commit != Position::ZERO {
            self.make_durable(commit)?;
        }
        report.trace();
        Ok(report)
    }
}

/// A piece with all that is read of it while its bytes are at hand.
struct CutPiece {
    hash: ContentHash,
    cut: Cut,
}

enum Cut {
    Gap(Vec<u8>),
    Record(Box<Record>, Mark),
}

impl CutPiece {
    fn of(importer: &dyn Importer, piece: Piece) -> Self {
        let hash = ContentHash::of(piece.bytes());
        let cut = match piece {
            Piece::Gap(bytes) => Cut::Gap(bytes),
            Piece::Span(record) => {
                let mark = Mark::of(importer, &record);
                Cut::Record(Box::new(record), mark)
            }
        };
        Self { hash, cut }
    }

    fn len(&self) -> u64 {
        let bytes = match &self.cut {
            Cut::Gap(bytes) => bytes,
            Cut::Record(record, _mark) => &record.bytes,
        };
        bytes.len() as u64
    }
}

/// One piece of the file, waiting for the writer lock.
enum Pending {
    /// A piece that the recipe has at this place already.
    Known { position: Position, index: Option<u64> },
    /// A gap.
    Gap { bytes: Vec<u8>, hash: ContentHash },
    /// A record.
    Record { record: Box<Record>, hash: ContentHash, mark: Mark, replaces: Option<Position> },
}

/// A file that is in the log.
struct Ingested {
    report: IngestReport,
    /// What was recorded is durable when this position is; zero where nothing was.
    commit: Position,
    source: Option<Position>,
}

/// One ingest of one file.
struct Run<'v> {
    vault: &'v Vault,
    path: String,
    source_name: String,
    source: Option<Position>,
    session_override: Option<String>,
    known: KnownRecipe<'v>,
    /// The piece of the recipe that the next one follows, and where in the file it ends.
    base: (Position, u64),
    pending: Vec<Pending>,
    pending_bytes: usize,
    /// Where in the file the pieces taken so far end.
    offset: u64,
    classes: ClassStreams,
    compactions: Compactions,
    /// Files that records with a stub name, with the index of each.
    side_files: Vec<(u64, String)>,
    importer: &'static dyn Importer,
    container: Option<Container>,
    /// Spans that this file has at another place already: a repeated line is a span of its own.
    taken: Stretches,
    /// The newest span of each identity in this file, where the format writes records again: about 50 bytes for each
    /// record of such a file, a chat that one program keeps for one conversation.
    newest: HashMap<[u8; 16], Position>,
    report: IngestReport,
    changed: bool,
    /// The last thing that it wrote.
    commit: Position,
}

impl<'v> Run<'v> {
    fn start(vault: &'v Vault, file: &Head, options: &IngestOptions, names: &SourceNames) -> Result<Self> {
        let path = file.path.to_string_lossy().into_owned();
        let importer = file.importer;
        let source = vault.source_of_path(&path)?;
        let source_name = match importer.transcript_of(&path) {
            whole if whole == path => names.name_of(&path, source),
            folder => folder_name(folder),
        };
        let known = KnownRecipe::of(vault, source)?;
        Ok(Self {
            vault,
            report: IngestReport::new(&path, file),
            container: file.container,
            path,
            source_name,
            source,
            session_override: options.session.clone(),
            known,
            base: (Position::ZERO, 0),
            pending: Vec::new(),
            pending_bytes: 0,
            offset: 0,
            classes: ClassStreams::default(),
            compactions: Compactions::default(),
            side_files: Vec::new(),
            importer,
            taken: Stretches::default(),
            newest: HashMap::new(),
            changed: false,
            commit: Position::ZERO,
        })
    }

    fn take(&mut self, piece: CutPiece) -> Result<()> {
        let len = piece.len();
        let CutPiece { hash, cut } = piece;
        let start = self.offset;
        // The records of a container are no part of its bytes.
        if self.container.is_none() || matches!(cut, Cut::Gap(_)) {
            self.offset += len;
            self.report.bytes += len;
        }
        let index = match &cut {
            Cut::Gap(_) => None,
            Cut::Record(record, mark) => {
                if let Some(name) = &mark.side_file {
                    self.side_files.push((record.index, name.clone()));
                }
                self.report.note(record, start);
                Some(record.index)
            }
        };
        match self.known.next_if(&hash, index)? {
            Some(position) => {
                self.pending.push(Pending::Known { position, index });
                if let Cut::Record(record, mark) = cut {
                    self.report.spans_known += 1;
                    self.taken.insert(position);
                    self.classes.pass(&record.session, &record.content, &self.vault.registry);
                    self.is_newest(mark.event, position);
                    self.compactions.pass(&self.session_name(&record), mark, position);
                }
                if let Some(piece) = self.known.finished_piece() {
                    self.base = (piece.at, piece.to_byte);
                    self.pending.clear();
                    self.pending_bytes = 0;
                }
            }
            None => self.take_new(cut, hash)?,
        }
        if self.pending_bytes >= BATCH_BYTES || self.pending.len() >= BATCH_PIECES {
            self.flush(false)?;
        }
        Ok(())
    }

    fn take_new(&mut self, cut: Cut, hash: ContentHash) -> Result<()> {
        let torn = self.known.diverge()?;
        self.changed = true;
        match cut {
            Cut::Gap(bytes) => {
                self.pending_bytes += bytes.len();
                self.pending.push(Pending::Gap { bytes, hash });
            }
            Cut::Record(record, mark) => {
                self.pending_bytes += record.bytes.len();
                let replaces =
                    torn.filter(|torn| torn.is_completed_by(self.vault, &record)).map(|torn| torn.span);
                self.pending.push(Pending::Record { record, hash, mark, replaces });
            }
        }
        Ok(())
    }

    /// Commits what is pending as one piece of the recipe.
    fn flush(&mut self, complete: bool) -> Result<()> {
        // Pieces that matched are not written again unless something new follows them in the same piece.
        if !self.changed {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        let classes = self.classes.classify(pending.iter().map(Pending::in_session), &self.vault.registry);
        let mut recorder = Recorder::start(self.vault)?;
        let source = self.ensure_source(&mut recorder);
        let mut runs = Runs::default();
        for (pending, class) in pending.into_iter().zip(classes) {
            match pending {
                Pending::Known { position, index } => runs.push(position, index),
                Pending::Gap { bytes, hash } => runs.push(recorder.gap(bytes, hash)?, None),
                Pending::Record { record, hash, mark, replaces } => {
                    let index = record.index;
                    let at = self.record(&mut recorder, *record, mark, hash, class, source)?;
                    if let Some(span) = replaces {
                        recorder.push(Event::SpanSuperseded(SpanSuperseded { span, by: at }), None);
                    }
                    runs.push(at, Some(index));
                }
            }
        }
        let (prior, from_byte) = self.base;
        let piece =
            SourceExtended { source, prior, from_byte, to_byte: self.offset, runs: runs.finish(), complete };
        let at = recorder.push(Event::SourceExtended(piece), None);
        self.report.bytes_new += recorder.bytes_new;
        self.commit = recorder.append()?;
        if !complete {
            // A large file is made durable as it goes; the end of one waits for its caller.
            self.vault.make_durable(self.commit)?;
        }
        self.base = (at, self.offset);
        Ok(())
    }

    fn ensure_source(&mut self, recorder: &mut Recorder<'_>) -> Position {
        *self.source.get_or_insert_with(|| {
            let opened = SourceOpened {
                path: self.path.clone(),
                format: format_in(self.container, self.importer.format()),
            };
            recorder.push(Event::SourceOpened(opened), None)
        })
    }

    fn record(
        &mut self,
        recorder: &mut Recorder<'_>,
        record: Record,
        mark: Mark,
        hash: ContentHash,
        class: EvidentialClass,
        source: Position,
    ) -> Result<Position> {
        let name = self.session_name(&record);
        let session = recorder.session(&name, self.importer.format())?;
        if !self.report.sessions.contains(&name) {
            self.report.sessions.push(name.clone());
        }
        let event = mark.event;
        let known = match &event {
            Some(event) => recorder.identity(session, event, &hash, &|at| self.taken.contains(at))?,
            None => recorder.anonymous(session, &hash, record.index)?.map_or(Identity::New, Identity::Same),
        };
        match known {
            Identity::Same(at) => {
                self.report.spans_known += 1;
                self.taken.insert(at);
                self.is_newest(event, at);
                self.compactions.pass(&name, mark, at);
                return Ok(at);
            }
            Identity::OtherBytes(at) if self.importer.writes_again() && self.taken.contains(at) => {}
            Identity::OtherBytes(at) => self.report.conflicts.push(at),
            Identity::New => {}
        }
        self.report.spans_new += 1;
        let Record { bytes, record, index, content, .. } = record;
        let at = recorder.span(NewSpan {
            session,
            source,
            record,
            index,
            content: &content,
            class,
            bytes,
            hash,
            terms: self.vault.terms_of(session, &content, hash),
        })?;
        self.taken.insert(at);
        if let Some(span) = self.is_newest(event, at) {
            recorder.push(Event::SpanSuperseded(SpanSuperseded { span, by: at }), None);
        }
        self.compactions.pass(&name, mark, at);
        Ok(at)
    }

    /// Takes note of a span that may be a record of this file written again; gives the one that it takes the place of.
    fn is_newest(&mut self, event: Option<[u8; 16]>, at: Position) -> Option<Position> {
        self.newest.insert(event.filter(|_| self.importer.writes_again())?, at)
    }

    fn session_name(&self, record: &Record) -> String {
        match &self.session_override {
            Some(name) => format!("{name}{}", record.record),
            None => record.session_name(&self.source_name),
        }
    }

    /// Ends the file.
    fn finish(mut self) -> Result<Ingested> {
        // A shorter file, or one that ends inside a known piece, is a new state of the source.
        let shrank = !self.known.is_exhausted() || !self.pending.is_empty();
        self.changed |= shrank;
        let incomplete = self.source.is_some() && !self.known.head_is_complete();
        if self.changed || incomplete {
            self.changed = true;
            self.flush(true)?;
        }
        self.report.side_files = self.vault.find_side_files(&self.path, self.side_files);
        let (imported, commit) = self.compactions.import(self.vault)?;
        self.report.imported = imported;
        Ok(Ingested { report: self.report, commit: commit.max(self.commit), source: self.source })
    }
}

impl Pending {
    /// The session that a new record names, and its content.
    fn in_session(&self) -> Option<(&str, &spanvault_types::SpanContent)> {
        match self {
            Self::Record { record, .. } => Some((record.session.as_str(), &record.content)),
            Self::Known { .. } | Self::Gap { .. } => None,
        }
    }
}
