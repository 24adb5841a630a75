//! A file on its way in: what it is, and the pieces that it is cut into.
//!
//! A container (zstd, gzip, ZIP, a database) is kept as it stands, so that it comes back byte for byte: its own bytes are
//! the gaps of its recipe. What it holds is unpacked as a stream and cut into records; what lies between them is not
//! kept twice.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use spanvault_env::{DiskFile, OpenMode};
use spanvault_import::{Container, ImportError, Importer, Limits, Piece};

use super::IngestOptions;
use crate::error::{Error, Result};
use crate::vault::Vault;

/// The bytes of a container go into gaps of this size.
const GAP_BYTES: usize = 1 << 20;
/// Between the format of a source and the container that it came in, where the log names it.
const PACKED: char = '+';

/// A file that is open, and known for what it is.
pub(super) struct SourceFile {
    pub(super) head: Head,
    file: Box<dyn DiskFile>,
    len: u64,
    packed: Option<Packed>,
    limits: Limits,
}

/// What a file is.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) path: PathBuf,
    pub(super) importer: &'static dyn Importer,
    pub(super) container: Option<Container>,
    /// What is to be said of how it is read.
    pub(super) note: Option<String>,
}

/// What is in a container.
struct Packed {
    container: Container,
    bytes: u64,
    /// The files that are read, by their place in the container, in order.
    members: Vec<usize>,
}

impl SourceFile {
    pub(super) fn open(vault: &Vault, path: PathBuf, options: &IngestOptions) -> Result<Self> {
        let file =
            vault.options.env.disk.open(&path, OpenMode::Read).map_err(|source| unreadable(&path, source))?;
        let len = file.len().map_err(|source| unreadable(&path, source))?;
        if len == 0 {
            return Err(empty(&path));
        }
        let limits = vault.options.limits.clone();
        let named = match &options.format {
            Some(format) => Some(by_name(&path, format)?),
            None => None,
        };
        let head = head_of(&path, &*file)?;
        let container = Container::of(&head).filter(|it| named.is_none_or(|importer| it.may_hold(importer)));
        let pending =
            container.filter(|it| *it == Container::Sqlite).and_then(|_| pending_beside(vault, &path));
        let (importer, packed) = match container {
            Some(container) => {
                let (importer, packed) = look_into(container, &path, &*file, len, named, &limits).map_err(
                    |error| match &pending {
                        Some(pending) => error.with_hint(pending),
                        None => error,
                    },
                )?;
                (importer, Some(packed))
            }
            None => (named.map_or_else(|| detected(&path, &head), Ok)?, None),
        };
        let bytes = packed.as_ref().map_or(len, |packed| packed.bytes);
        let (importer, note) = fitting(importer, bytes, &limits);
        let container = packed.as_ref().map(|packed| packed.container);
        let note = note.or(pending);
        Ok(Self { head: Head { path, importer, container, note }, file, len, packed, limits })
    }

    /// Length of the file in bytes.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Gives the pieces to `sink` until that breaks. `progress` is told how many bytes of how many were read.
    pub(super) fn cut(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<()> {
        let failed = |error| import_failed(&self.head.path, error);
        let Some(packed) = &self.packed else {
            let mut reader = FileReader { file: &*self.file, offset: 0, len: self.len };
            let mut reader = Watched { reader: &mut reader, done: 0, total: self.len, progress };
            return self.head.importer.cut(&mut reader, &self.limits, sink).map_err(failed);
        };
        let total = self.len + packed.bytes;
        if self.keep_packed(sink)?.is_break() {
            return Ok(());
        }
        let mut done = self.len;
        let mut failure = None;
        let mut n = 0;
        let bytes_max = unpacked_max(self.len, &self.limits);
        let file = FileReader { file: &*self.file, offset: 0, len: self.len };
        let unpacked = packed.container.unpack(file, bytes_max, &mut |member| {
            n += 1;
            if packed.members.binary_search(&(n - 1)).is_err() {
                return ControlFlow::Continue(());
            }
            let mut reader = Watched { reader: member.bytes, done, total, progress };
            let mut flow = ControlFlow::Continue(());
            let cut = self.head.importer.cut(&mut reader, &self.limits, &mut |piece| {
                flow = match piece {
                    Piece::Span(record) => sink(Piece::Span(record.inside(member.name))),
                    Piece::Gap(_between_records) => ControlFlow::Continue(()),
                };
                flow
            });
            done = reader.done;
            match cut {
                // White space alone is no transcript, and no damage.
                Ok(()) | Err(ImportError::EmptySource) => flow,
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        unpacked.map_err(failed)?;
        failure.map_or(Ok(()), |error| Err(failed(error)))
    }

    /// Gives the bytes of the container itself.
    fn keep_packed(&self, sink: &mut dyn FnMut(Piece) -> ControlFlow<()>) -> Result<ControlFlow<()>> {
        let mut offset = 0;
        loop {
            let mut bytes = vec![0; GAP_BYTES];
            let read = self
                .file
                .read_at(&mut bytes, offset)
                .map_err(|source| unreadable(&self.head.path, source))?;
            if read == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            bytes.truncate(read);
            offset += read as u64;
            if sink(Piece::Gap(bytes)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

impl Vault {
    /// The format that a file would be read as; `None` where its content is of no known one.
    ///
    /// # Errors
    /// `NotFound` and `Invalid` for a file that is missing, cannot be read, or is a container that cannot be
    /// unpacked.
    pub fn format_of(&self, path: impl AsRef<Path>) -> Result<Option<&'static str>> {
        let path = self.absolute(path.as_ref())?;
        let file =
            self.options.env.disk.open(&path, OpenMode::Read).map_err(|source| unreadable(&path, source))?;
        let head = head_of(&path, &*file)?;
        let Some(container) = Container::of(&head) else {
            return Ok(spanvault_import::detect(&head).ok().map(Importer::format));
        };
        let len = file.len().map_err(|source| unreadable(&path, source))?;
        let file = FileReader { file: &*file, offset: 0, len };
        let found = formats_in(container, file, unpacked_max(len, &self.options.limits))
            .map_err(|error| import_failed(&path, error))?;
        Ok(best_of(&found).map(Importer::format))
    }

    pub(super) fn absolute(&self, path: &Path) -> Result<PathBuf> {
        self.options.env.disk.canonical(path).map_err(|source| unreadable(path, source))
    }
}

/// What is to be said of a database whose newest changes are in another file.
fn pending_beside(vault: &Vault, path: &Path) -> Option<String> {
    let bytes_of = |end: &str| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        let file = vault.options.env.disk.open(Path::new(&beside), OpenMode::Read).ok()?;
        file.len().ok().filter(|bytes| *bytes > 0)
    };
    let (end, bytes) = ["-wal", "-journal"].into_iter().find_map(|end| Some((end, bytes_of(end)?)))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Some(format!(
        "{name}{end} beside it has {bytes} bytes of changes that may not be in it yet, and are not read: run \
         \"sqlite3 {name} 'PRAGMA wal_checkpoint(TRUNCATE)'\" and ingest it again"
    ))
}

/// Whether an error says that a file is empty or of no known format, and nothing else.
pub(super) fn is_of_no_format(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    source
        .and_then(|source| source.downcast_ref())
        .is_some_and(|it| matches!(it, ImportError::UnknownFormat | ImportError::EmptySource))
}

/// How the log names the format of a source that came in a container, or in none.
pub(super) fn format_in(container: Option<Container>, format: &str) -> String {
    container.map_or_else(|| format.to_owned(), |container| format!("{format}{PACKED}{}", container.as_str()))
}

/// The format of the records of a source, of what the log calls its format.
pub(crate) fn record_format(format: &str) -> &str {
    format.split_once(PACKED).map_or(format, |(format, _container)| format)
}

/// Whether a source is a container: its file is what its gaps hold.
pub(crate) fn is_packed(format: &str) -> bool {
    format.contains(PACKED)
}

/// Measures a container and finds what is in it.
fn look_into(
    container: Container,
    path: &Path,
    file: &dyn DiskFile,
    len: u64,
    named: Option<&'static dyn Importer>,
    limits: &Limits,
) -> Result<(&'static dyn Importer, Packed)> {
    let failed = |error| import_failed(path, error);
    let reader = || FileReader { file, offset: 0, len };
    let bytes_max = unpacked_max(len, limits);
    let bytes = container.measure(reader(), bytes_max).map_err(failed)?;
    let found = formats_in(container, reader(), bytes_max).map_err(failed)?;
    let importer = named.filter(|_| !found.is_empty()).or_else(|| best_of(&found)).ok_or_else(|| {
        if container == Container::Sqlite {
            let message =
                format!("ingest {}: an SQLite database with no conversations that are known", path.display());
            return Error::invalid(message)
                .with_hint(kept_as_bytes())
                .with_source(ImportError::UnknownFormat);
        }
        Error::invalid(format!(
            "ingest {}: nothing in the {} file is a transcript",
            path.display(),
            container.as_str()
        ))
        .with_hint("nothing was recorded; unpack it and ingest the files")
        .with_source(ImportError::UnknownFormat)
    })?;
    let is_read = |of: Option<&'static dyn Importer>| of.is_some_and(|of| of.format() == importer.format());
    let alone = found.len() == 1;
    let members = (0..found.len())
        .filter(|n| (alone && named.is_some()) || found.get(*n).copied().is_some_and(is_read));
    Ok((importer, Packed { container, bytes, members: members.collect() }))
}

/// The format of each file in a container.
fn formats_in(
    container: Container,
    file: FileReader<'_>,
    bytes_max: u64,
) -> std::result::Result<Vec<Option<&'static dyn Importer>>, ImportError> {
    let mut found = Vec::new();
    container.unpack(file, bytes_max, &mut |member| {
        let mut head = Vec::new();
        let read = member.bytes.take(spanvault_import::HEAD_BYTES as u64).read_to_end(&mut head);
        found.push(spanvault_import::detect(&head).ok());
        // What went wrong is told by whoever unpacks.
        if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// The format that a container is read as: the first that is more than generic.
fn best_of(found: &[Option<&'static dyn Importer>]) -> Option<&'static dyn Importer> {
    let known = found.iter().flatten().find(|of| !spanvault_import::is_generic(of.format()));
    match found {
        [only] => *only,
        _several => known.copied(),
    }
}

fn unpacked_max(len: u64, limits: &Limits) -> u64 {
    Container::bytes_max(len, limits.unpacked_bytes_max)
}

/// The importer for a source of `len` bytes: a document that is too large for its own is kept as text, and why.
fn fitting(
    importer: &'static dyn Importer,
    len: u64,
    limits: &Limits,
) -> (&'static dyn Importer, Option<String>) {
    let Some(bytes_max) = importer.source_bytes_max(limits).filter(|most| len > *most) else {
        return (importer, None);
    };
    let (format, fallback) = (importer.format(), spanvault_import::fallback());
    let note = format!(
        "a {format} document of more than {bytes_max} bytes: kept as {}, and not read",
        fallback.format()
    );
    (fallback, Some(note))
}

fn by_name(path: &Path, format: &str) -> Result<&'static dyn Importer> {
    spanvault_import::by_name(format).map_err(|error| {
        Error::invalid(format!("ingest {}: no format is called {format:?}", path.display()))
            .with_hint(known_formats())
            .with_source(error)
    })
}

fn detected(path: &Path, head: &[u8]) -> Result<&'static dyn Importer> {
    spanvault_import::detect(head).map_err(|error| {
        if matches!(error, ImportError::EmptySource) {
            return empty(path);
        }
        Error::invalid(format!("ingest {}: it is no text, and of no known format", path.display()))
            .with_hint(kept_as_bytes())
            .with_source(error)
    })
}

fn kept_as_bytes() -> String {
    let format = spanvault_import::fallback().format();
    format!("nothing was recorded; \"--format {format}\" keeps any bytes as they are; {}", known_formats())
}

fn known_formats() -> String {
    format!("known formats: {}", spanvault_import::formats().join(", "))
}

/// As much of a file as detection looks at.
fn head_of(path: &Path, file: &dyn DiskFile) -> Result<Vec<u8>> {
    let mut head = vec![0; spanvault_import::HEAD_BYTES];
    let read = file.read_at(&mut head, 0).map_err(|source| unreadable(path, source))?;
    head.truncate(read);
    Ok(head)
}

fn empty(path: &Path) -> Error {
    Error::invalid(format!("ingest {}: the file is empty", path.display()))
        .with_hint("nothing was recorded; ingest it when something has been written to it")
        .with_source(ImportError::EmptySource)
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    let message = format!("read {}", path.display());
    let error = if source.kind() == io::ErrorKind::NotFound {
        Error::not_found(format!("{message}: there is no such file"))
    } else if source.kind() == io::ErrorKind::PermissionDenied {
        Error::invalid(format!("{message}: permission denied"))
    } else {
        Error::internal(message)
    };
    error.with_source(source)
}

fn import_failed(path: &Path, error: ImportError) -> Error {
    let failed = Error::invalid(format!("ingest {}: {error}", path.display()));
    let failed = if matches!(error, ImportError::Database { .. }) {
        failed.with_hint(kept_as_bytes())
    } else {
        failed
    };
    failed.with_source(error)
}

/// Reads a [`DiskFile`] as a stream.
struct FileReader<'a> {
    file: &'a dyn DiskFile,
    offset: u64,
    len: u64,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buf, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Seek for FileReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
        };
        self.offset = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// Tells how far it has got.
struct Watched<'a> {
    reader: &'a mut dyn Read,
    done: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Read for Watched<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf)?;
        self.done += read as u64;
        (self.progress)(self.done.min(self.total), self.total);
        Ok(read)
    }
}
