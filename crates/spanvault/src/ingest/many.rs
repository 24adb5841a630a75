//! Many files at once: read, cut and parsed on several threads, recorded in order by one.
//!
//! Files are recorded in the order in which they were given, whoever is done first, so the vault comes out the same as
//! if they had come one by one. What one thread is ahead is bounded. Small files share a sync: a file is reported
//! when it is durable, and a run that is stopped at any moment goes on where it was.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Condvar, Mutex, PoisonError};

use spanvault_types::Position;

use super::source_file::{Head, SourceFile, is_of_no_format};
use super::{CutPiece, IngestOptions, IngestReport, Ingested, Run, SourceNames};
use crate::error::{Error, ErrorKind, Result};
use crate::threads::threads;
use crate::vault::Vault;

/// Files are taken together until so many, or so many bytes of them, wait for a sync.
const GROUP_FILES: usize = 256;
const GROUP_BYTES: u64 = 16 << 20;
/// A thread hands over what it has cut when it is this much.
const PARCEL_BYTES: usize = 256 << 10;
const PARCEL_PIECES: usize = 256;
/// How many parcels of a file wait to be recorded.
const PARCELS_AHEAD: usize = 4;
/// A file of more bytes is not read before its turn, so that at most one large file is in memory, whatever it holds.
const AHEAD_BYTES_MAX: u64 = 32 << 20;
/// A thread waits until a parcel of more bytes is recorded before it reads on.
const HEAVY_BYTES: usize = 8 << 20;
/// More threads than these would wait for the one that records.
const THREADS_MAX: usize = 4;

/// A file to ingest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToIngest {
    /// Where it is.
    pub path: PathBuf,
    /// Whether somebody asked for this file. One that was only met in a directory is left out where no format knows
    /// it, instead of being kept unread.
    pub is_named: bool,
}

/// What is told while many files are ingested.
#[derive(Debug)]
pub enum IngestNews {
    /// So many bytes of the file of this number have been read.
    Read {
        /// The number of the file, from 0.
        file: usize,
        /// Bytes of it.
        bytes: u64,
    },
    /// A file is in the vault, durably.
    Recorded {
        /// The number of the file.
        file: usize,
        /// What was recorded.
        report: Box<IngestReport>,
    },
    /// A file that was met in a directory is of no known format.
    Skipped {
        /// The number of the file.
        file: usize,
    },
    /// A file could not be ingested; the others are.
    Failed {
        /// The number of the file.
        file: usize,
        /// Why.
        error: Error,
    },
}

/// What a thread says of a file.
enum Parcel {
    Opened(Head),
    Pieces {
        pieces: Vec<CutPiece>,
        /// Whether the thread waits until they are recorded.
        is_heavy: bool,
    },
    Skipped,
    End(Result<()>),
}

impl Vault {
    /// Ingests files in order, reading several at a time. `tell` hears of each, and stops the run when it breaks.
    ///
    /// # Errors
    /// What stops the vault; what is wrong with one file is told, and does not stop the others.
    pub fn ingest_all(
        &self,
        files: &[FileToIngest],
        options: &IngestOptions,
        tell: &mut dyn FnMut(IngestNews) -> ControlFlow<()>,
    ) -> Result<()> {
        let _one_at_a_time = self.ingesting.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, turn) = (AtomicUsize::new(0), Turn::default());
        let names = SourceNames::read(self)?;
        let threads = threads().clamp(1, THREADS_MAX);
        std::thread::scope(|scope| {
            // When this side ends, what the threads hand over is refused, and they end.
            let (begun, begins) = mpsc::channel();
            for _thread in 0..threads.min(files.len()) {
                let cutting = Cutting { vault: self, files, options, next: &next, turn: &turn };
                let begun = begun.clone();
                scope.spawn(move || cutting.run(&begun));
            }
            drop(begun);
            let recording = Recording {
                vault: self,
                options,
                tell,
                begins,
                turn: &turn,
                waiting: HashMap::new(),
                group: Vec::new(),
                group_bytes: 0,
                names,
            };
            let done = recording.run(files.len());
            turn.end();
            done
        })
    }
}

/// Whose turn it is to be recorded.
#[derive(Default)]
struct Turn {
    /// Files before this one are recorded.
    number: Mutex<usize>,
    moved: Condvar,
}

impl Turn {
    fn is_at(&self, number: usize) {
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = number;
        self.moved.notify_all();
    }

    /// Nobody has to wait any more.
    fn end(&self) {
        self.is_at(usize::MAX);
    }

    fn wait_for(&self, number: usize) {
        let turn = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.moved.wait_while(turn, |turn| *turn < number));
    }
}

/// What every thread that cuts files knows.
#[derive(Clone, Copy)]
struct Cutting<'a> {
    vault: &'a Vault,
    files: &'a [FileToIngest],
    options: &'a IngestOptions,
    next: &'a AtomicUsize,
    turn: &'a Turn,
}

/// What is handed over of one file, and what comes back when a heavy parcel is recorded.
struct Line {
    parcels: Receiver<Parcel>,
    recorded: Sender<()>,
}

impl Cutting<'_> {
    /// Cuts one file after the other, as long as there are any and somebody takes what is cut.
    fn run(self, begun: &Sender<(usize, Line)>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(number) else { return };
            let (sender, parcels) = mpsc::sync_channel(PARCELS_AHEAD);
            let (recorded, is_recorded) = mpsc::channel();
            if begun.send((number, Line { parcels, recorded })).is_err() {
                return;
            }
            let end = self.cut(number, file, &sender, &is_recorded);
            // Nobody listens any more: the next file will find out.
            let (Ok(()) | Err(_)) = sender.send(end);
        }
    }

    fn cut(
        self,
        number: usize,
        file: &FileToIngest,
        sender: &SyncSender<Parcel>,
        is_recorded: &Receiver<()>,
    ) -> Parcel {
        let is_optional = !file.is_named && self.options.format.is_none();
        let opened =
            self.vault.absolute(&file.path).and_then(|path| SourceFile::open(self.vault, path, self.options));
        let source = match opened {
            Ok(source) => source,
            // What is neither text nor known was not asked for.
            Err(error) if is_optional && is_of_no_format(&error) => return Parcel::Skipped,
            Err(error) => return Parcel::End(Err(error)),
        };
        let importer = source.head.importer;
        if is_optional && spanvault_import::is_generic(importer.format()) && source.head.note.is_none() {
            return Parcel::Skipped;
        }
        if source.len() > AHEAD_BYTES_MAX {
            self.turn.wait_for(number);
        }
        if sender.send(Parcel::Opened(source.head.clone())).is_err() {
            return Parcel::Skipped;
        }
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        let mut is_heard = true;
        let cut = source.cut(&mut |_done, _total| {}, &mut |piece| {
            bytes += piece.bytes().len();
            pieces.push(CutPiece::of(importer, piece));
            if bytes < PARCEL_BYTES && pieces.len() < PARCEL_PIECES {
                return ControlFlow::Continue(());
            }
            let is_heavy = std::mem::take(&mut bytes) > HEAVY_BYTES;
            let parcel = Parcel::Pieces { pieces: std::mem::take(&mut pieces), is_heavy };
            is_heard = sender.send(parcel).is_ok() && (!is_heavy || is_recorded.recv().is_ok());
            if is_heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if cut.is_ok() && is_heard && !pieces.is_empty() {
            is_heard = sender.send(Parcel::Pieces { pieces, is_heavy: false }).is_ok();
        }
        if is_heard { Parcel::End(cut) } else { Parcel::Skipped }
    }
}

/// The one that records.
struct Recording<'v, 't> {
    vault: &'v Vault,
    options: &'v IngestOptions,
    tell: &'t mut dyn FnMut(IngestNews) -> ControlFlow<()>,
    begins: Receiver<(usize, Line)>,
    turn: &'v Turn,
    /// Files that a thread has begun and whose turn has not come.
    waiting: HashMap<usize, Line>,
    /// Files that are in the log and not yet durable.
    group: Vec<(usize, IngestReport, Position)>,
    group_bytes: u64,
    names: SourceNames,
}

impl Recording<'_, '_> {
    fn run(mut self, files: usize) -> Result<()> {
        for number in 0..files {
            self.turn.is_at(number);
            let Some(line) = self.line_of(number) else { break };
            let flow = self.record(number, &line)?;
            if flow.is_break() {
                return Ok(());
            }
        }
        // Whether anybody goes on listening does not matter any more.
        self.settle().map(drop)
    }

    /// What a thread hands over of the file of this number, waiting until one has begun it.
    fn line_of(&mut self, number: usize) -> Option<Line> {
        loop {
            if let Some(line) = self.waiting.remove(&number) {
                return Some(line);
            }
            let (begun, line) = self.begins.recv().ok()?;
            self.waiting.insert(begun, line);
        }
    }

    fn record(&mut self, number: usize, line: &Line) -> Result<ControlFlow<()>> {
        let mut run = None;
        let mut taken = 0;
        loop {
            match line.parcels.recv() {
                Ok(Parcel::Opened(head)) => {
                    run = Some(Run::start(self.vault, &head, self.options, &self.names)?);
                }
                Ok(Parcel::Pieces { pieces, is_heavy }) => {
                    let Some(run) = &mut run else { continue };
                    for piece in pieces {
                        taken += piece.len();
                        run.take(piece)?;
                    }
                    if is_heavy {
                        // Whether the thread still waits does not matter.
                        let (Ok(()) | Err(_)) = line.recorded.send(());
                    }
                    if (self.tell)(IngestNews::Read { file: number, bytes: taken }).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(Parcel::Skipped) => return self.say(IngestNews::Skipped { file: number }),
                Ok(Parcel::End(Ok(()))) => break,
                Ok(Parcel::End(Err(error))) if is_about_the_file(&error) => {
                    return self.say(IngestNews::Failed { file: number, error });
                }
                Ok(Parcel::End(Err(error))) => return Err(error),
                Err(_hung_up) => return Err(Error::internal("a thread that reads files ended too early")),
            }
        }
        let Some(run) = run else { return Ok(ControlFlow::Continue(())) };
        let Ingested { report, commit, source } = run.finish()?;
        if let Some(source) = source {
            self.names.add(&report.source, source);
        }
        self.group_bytes += report.bytes_new;
        self.group.push((number, report, commit));
        if self.group.len() >= GROUP_FILES || self.group_bytes >= GROUP_BYTES {
            return self.settle();
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Says something after all that came before it.
    fn say(&mut self, news: IngestNews) -> Result<ControlFlow<()>> {
        if self.settle()?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        Ok((self.tell)(news))
    }

    /// Makes durable what is in the log, and tells of it.
    fn settle(&mut self) -> Result<ControlFlow<()>> {
        self.group_bytes = 0;
        let group = std::mem::take(&mut self.group);
        let newest = group.iter().map(|(_number, _report, commit)| *commit).max();
        if let Some(commit) = newest.filter(|commit| *commit != Position::ZERO) {
            self.vault.make_durable(commit)?;
        }
        for (file, report, _commit) in group {
            report.trace();
            if (self.tell)(IngestNews::Recorded { file, report: Box::new(report) }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Whether an error is about one file, so that the others can still be recorded.
fn is_about_the_file(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid | ErrorKind::NotFound)
}
