//! `ingest`: records the spans of transcripts.

mod follow;
mod response;
mod total;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use spanvault::{FileToIngest, IngestNews, IngestOptions, IngestReport, Vault};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::files::{Found, walk};
use crate::output::{Output, Progress, count, counted};
use follow::Followed;
pub(crate) use response::IngestResponse;
use total::{Total, Totals};

/// Record the spans of transcripts, byte for byte
///
/// Each record of a transcript becomes a span; what lies between them is kept too, so that "restore" gives the file
/// again. Ingesting a file once more adds nothing, a grown file adds its tail. Records that cannot be read are kept
/// and counted as quarantined. Directories are walked in the order of names, without following links, and files of
/// no known format in them are listed and skipped. It may be stopped at any moment, and goes on where it was.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault ingest ~/.claude/projects/app/4f1c.jsonl\n  \
    spanvault ingest ~/.claude/projects ~/.codex/sessions\n  \
    spanvault ingest --follow ~/.claude/projects\n  \
    spanvault ingest runs/ --json")]
pub(crate) struct IngestArgs {
    /// Transcript files, or directories of them
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,
    /// The format of the files; found out from their content where it is not said
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The session that all spans go to; as the transcripts say where it is not said
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Stay, and ingest what is written to the files, or added to the directories, until stopped
    #[arg(long)]
    follow: bool,
}

/// Records every FILE and DIR, and goes on after a file that cannot be read.
pub(crate) fn run(args: &IngestArgs, context: &mut Context) -> Result<Exit, Failure> {
    let dir = context.dir().to_owned();
    context.writing(|vault, output| {
        let mut options = IngestOptions::default();
        options.format.clone_from(&args.format);
        options.session.clone_from(&args.session);
        let mut ingest = Ingest::new(vault, dir, options);
        if args.follow {
            return ingest.follow(&args.paths, output);
        }
        ingest.take(&args.paths, &mut |response| output.emit(&response))?;
        ingest.tell_total(output)?;
        Ok(ingest.end(output.is_json()))
    })
}

/// Files on their way into a vault.
pub(crate) struct Ingest<'v> {
    vault: &'v Vault,
    /// Where the vault is, so that it is not read as a transcript.
    dir: PathBuf,
    options: IngestOptions,
    /// The files that are in the vault now.
    pub(crate) sources: Vec<String>,
    totals: Totals,
    spans_new: u64,
    skipped: u64,
    failures: Vec<Failure>,
}

/// What the arguments lead to, in order.
enum Item {
    /// The file of this number.
    File(usize),
    /// Something in a directory that is no file, and why it is left out.
    Other(PathBuf, &'static str),
}

const NO_FORMAT: &str = "its content is of no known format";

impl<'v> Ingest<'v> {
    pub(crate) fn new(vault: &'v Vault, dir: PathBuf, options: IngestOptions) -> Self {
        Self {
            vault,
            dir,
            options,
            sources: Vec::new(),
            totals: Totals::default(),
            spans_new: 0,
            skipped: 0,
            failures: Vec::new(),
        }
    }

    /// Records files, and every file under directories.
    ///
    /// A file that cannot be read is told at the end; what stops the vault stops the run.
    pub(crate) fn take(
        &mut self,
        paths: &[PathBuf],
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (items, files) = self.look(paths);
        self.record(&items, &files, tell)
    }

    /// Records files, and again what is written to them.
    fn follow(&mut self, paths: &[PathBuf], output: &mut Output) -> Result<Exit, Failure> {
        let mut followed = Followed::default();
        loop {
            let (items, mut files) = self.look(paths);
            files.retain(|file| followed.has_changed(&file.path));
            let first = self.sources.is_empty() && self.skipped == 0;
            let items = if first { items } else { (0..files.len()).map(Item::File).collect() };
            self.record(&items, &files, &mut |response| output.emit(&response))?;
            for failure in self.failures.drain(..) {
                failure.tell(output.is_json());
            }
            output.flush()?;
            follow::pause();
        }
    }

    /// Everything that is to be recorded, and what is left out of directories.
    fn look(&mut self, paths: &[PathBuf]) -> (Vec<Item>, Vec<FileToIngest>) {
        let (mut items, mut files) = (Vec::new(), Vec::new());
        for path in paths {
            let mut dir = path.clone();
            if !path.is_dir() {
                items.push(Item::File(files.len()));
                files.push(FileToIngest { path: path.clone(), is_named: true });
                // What a runtime keeps beside a session file: its sub-agents, and results that it moved there.
                dir.set_extension("");
                if path.extension().is_none() || !dir.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                    continue;
                }
            }
            for found in walk(&dir, self.dir.clone()) {
                match found {
                    Ok(Found::File(path)) => {
                        items.push(Item::File(files.len()));
                        let is_named = is_result(&path);
                        files.push(FileToIngest { path, is_named });
                    }
                    Ok(Found::Other(path, why)) => items.push(Item::Other(path, why)),
                    Err(failure) => self.failures.push(failure),
                }
            }
        }
        (items, files)
    }

    fn record(
        &mut self,
        items: &[Item],
        files: &[FileToIngest],
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut meter = Meter::new(files);
        let mut items = items.iter();
        let mut failed = None;
        let (vault, options) = (self.vault, self.options.clone());
        vault.ingest_all(files, &options, &mut |news| {
            let said = match news {
                IngestNews::Read { file, bytes } => {
                    meter.read(file, bytes);
                    Ok(())
                }
                IngestNews::Recorded { file, report } => self.before(file, &mut items, tell).and_then(|()| {
                    meter.done(file);
                    self.recorded(*report, tell)
                }),
                IngestNews::Skipped { file } => self.before(file, &mut items, tell).and_then(|()| {
                    meter.done(file);
                    let path = files.get(file).map_or(Path::new(""), |file| file.path.as_path());
                    self.skip(path, NO_FORMAT, tell)
                }),
                IngestNews::Failed { file, error } => self.before(file, &mut items, tell).map(|()| {
                    meter.done(file);
                    self.failures.push(error.into());
                }),
            };
            match said {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    failed = Some(failure);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)?;
        self.before(usize::MAX, &mut items, tell)
    }

    /// Tells of what stands before the file of this number.
    fn before(
        &mut self,
        number: usize,
        items: &mut std::slice::Iter<'_, Item>,
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for item in items {
            match item {
                Item::File(file) if *file == number => return Ok(()),
                Item::File(_other) => {}
                Item::Other(path, why) => self.skip(path, why, tell)?,
            }
        }
        Ok(())
    }

    fn recorded(
        &mut self,
        report: IngestReport,
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.spans_new += report.spans_new;
        self.sources.push(report.source.clone());
        let mut response = IngestResponse::recorded(report);
        if response.sessions.is_empty() {
            response.sessions = self.sessions_of(&response.source)?;
        }
        self.totals.add(&response);
        tell(response)
    }

    /// The sessions of a file of which nothing was new.
    fn sessions_of(&self, source: &str) -> Result<Vec<String>, Failure> {
        let sessions = self.vault.sessions_of_source(source)?;
        Ok(sessions.iter().map(|session| session.name().to_owned()).collect())
    }

    fn skip(
        &mut self,
        file: &Path,
        why: &'static str,
        tell: &mut dyn FnMut(IngestResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.skipped += 1;
        tell(IngestResponse::skipped(file, why))
    }

    /// Adds up, for people, where there were several files.
    fn tell_total(&self, output: &mut Output) -> Result<(), Failure> {
        let files = self.sources.len() as u64 + self.skipped;
        if output.is_json() || files < 2 {
            return Ok(());
        }
        let skipped = count(self.skipped);
        let total =
            format!("{}: {}, {skipped} skipped", counted(files, "file"), counted(self.spans_new, "new span"));
        output.page().heading(&total).map_err(Failure::printing)?;
        if self.sources.len() < 2 {
            return Ok(());
        }
        let mut table = output.list::<Total>();
        for row in self.totals.rows() {
            table.push(row)?;
        }
        table.finish()
    }

    /// Tells what failed; the first failure gives the exit code.
    pub(crate) fn end(self, is_json: bool) -> Exit {
        for failure in &self.failures {
            failure.tell(is_json);
        }
        self.failures.first().map_or(Exit::Done, Failure::exit)
    }
}

/// How far a run over files is, in bytes of all of them.
struct Meter {
    progress: Progress,
    lengths: Vec<u64>,
    total: u64,
    /// Bytes of the files that are done.
    done: u64,
}

impl Meter {
    fn new(files: &[FileToIngest]) -> Self {
        let lengths: Vec<u64> =
            files.iter().map(|file| file.path.metadata().map_or(0, |found| found.len())).collect();
        let what = match files {
            [only] => format!("ingest {}", only.path.display()),
            several => format!("ingest {}", counted(several.len() as u64, "file")),
        };
        Self { progress: Progress::of_bytes(what), total: lengths.iter().sum(), lengths, done: 0 }
    }

    fn len(&self, file: usize) -> u64 {
        self.lengths.get(file).copied().unwrap_or_default()
    }

    fn read(&mut self, file: usize, bytes: u64) {
        self.progress.update(self.done + bytes.min(self.len(file)), self.total);
    }

    fn done(&mut self, file: usize) {
        self.done += self.len(file);
        self.progress.update(self.done, self.total);
    }
}

/// Whether a file is the result of a call that a runtime moved out of its transcript.
fn is_result(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "tool-results")
}
