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

use spanvault_types::Position;

use super::source_file::{Head, SourceFile, is_of_no_format};
use super::{CutPiece, IngestOptions, IngestReport, Run};
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
    Pieces(Vec<CutPiece>),
    Read(u64),
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
        let _one_at_a_time = self.ingesting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let next = AtomicUsize::new(0);
        let threads = threads().clamp(1, THREADS_MAX);
        std::thread::scope(|scope| {
            // When this side ends, what the threads hand over is refused, and they end.
            let (begun, begins) = mpsc::channel();
            for _thread in 0..threads.min(files.len()) {
                let (begun, next) = (begun.clone(), &next);
                scope.spawn(move || cut_files(self, files, options, next, &begun));
            }
            drop(begun);
            Recording {
                vault: self,
                options,
                tell,
                begins,
                waiting: HashMap::new(),
                group: Vec::new(),
                group_bytes: 0,
            }
            .run(files.len())
        })
    }
}

/// Cuts one file after the other, as long as there are any and somebody takes what is cut.
fn cut_files(
    vault: &Vault,
    files: &[FileToIngest],
    options: &IngestOptions,
    next: &AtomicUsize,
    begun: &Sender<(usize, Receiver<Parcel>)>,
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(file) = files.get(number) else { return };
        let (sender, parcels) = mpsc::sync_channel(PARCELS_AHEAD);
        if begun.send((number, parcels)).is_err() {
            return;
        }
        let end = cut_file(vault, file, options, &sender);
        // Nobody listens any more: the next file will find out.
        let (Ok(()) | Err(_)) = sender.send(end);
    }
}

fn cut_file(
    vault: &Vault,
    file: &FileToIngest,
    options: &IngestOptions,
    sender: &SyncSender<Parcel>,
) -> Parcel {
    let opened = vault.absolute(&file.path).and_then(|path| SourceFile::open(vault, path, options));
    let source = match opened {
        Ok(source) => source,
        // What is neither text nor known was not asked for.
        Err(error) if !file.is_named && options.format.is_none() && is_of_no_format(&error) => {
            return Parcel::Skipped;
        }
        Err(error) => return Parcel::End(Err(error)),
    };
    let is_generic = spanvault_import::is_generic(source.head.importer.format());
    if is_generic && source.head.note.is_none() && !file.is_named && options.format.is_none() {
        return Parcel::Skipped;
    }
    if sender.send(Parcel::Opened(source.head.clone())).is_err() {
        return Parcel::Skipped;
    }
    let (mut pieces, mut bytes) = (Vec::new(), 0);
    let mut is_heard = true;
    let mut read = 0;
    let importer = source.head.importer;
    let cut = source.cut(&mut |done, _total| read = done, &mut |piece| {
        bytes += piece.bytes().len();
        pieces.push(CutPiece::of(importer, piece));
        if bytes < PARCEL_BYTES && pieces.len() < PARCEL_PIECES {
            return ControlFlow::Continue(());
        }
        bytes = 0;
        is_heard = sender.send(Parcel::Pieces(std::mem::take(&mut pieces))).is_ok();
        if is_heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if cut.is_ok() && is_heard && !pieces.is_empty() && sender.send(Parcel::Pieces(pieces)).is_err() {
        return Parcel::Skipped;
    }
    if sender.send(Parcel::Read(read)).is_err() {
        return Parcel::Skipped;
    }
    Parcel::End(cut)
}

/// The one that records.
struct Recording<'v, 't> {
    vault: &'v Vault,
    options: &'v IngestOptions,
    tell: &'t mut dyn FnMut(IngestNews) -> ControlFlow<()>,
    begins: Receiver<(usize, Receiver<Parcel>)>,
    /// Files that a thread has begun and whose turn has not come.
    waiting: HashMap<usize, Receiver<Parcel>>,
    /// Files that are in the log and not yet durable.
    group: Vec<(usize, IngestReport, Position)>,
    group_bytes: u64,
}

impl Recording<'_, '_> {
    fn run(mut self, files: usize) -> Result<()> {
        for number in 0..files {
            let Some(parcels) = self.parcels_of(number) else { break };
            let flow = self.record(number, &parcels)?;
            if flow.is_break() {
                return Ok(());
            }
        }
        // Whether anybody goes on listening does not matter any more.
        self.settle().map(drop)
    }

    /// What a thread hands over of the file of this number, waiting until one has begun it.
    fn parcels_of(&mut self, number: usize) -> Option<Receiver<Parcel>> {
        loop {
            if let Some(parcels) = self.waiting.remove(&number) {
                return Some(parcels);
            }
            let (begun, parcels) = self.begins.recv().ok()?;
            self.waiting.insert(begun, parcels);
        }
    }

    fn record(&mut self, number: usize, parcels: &Receiver<Parcel>) -> Result<ControlFlow<()>> {
        let mut run = None;
        let mut taken = 0;
        loop {
            match parcels.recv() {
                Ok(Parcel::Opened(head)) => run = Some(Run::start(self.vault, &head, self.options)?),
                Ok(Parcel::Pieces(pieces)) => {
                    let Some(run) = &mut run else { continue };
                    for piece in pieces {
                        taken += piece.piece.bytes().len() as u64;
                        run.take(piece)?;
                    }
                    if (self.tell)(IngestNews::Read { file: number, bytes: taken }).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(Parcel::Read(_all)) => {}
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
        let (report, commit) = run.finish()?;
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
