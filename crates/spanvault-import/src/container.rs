//! Files that hold transcripts: zstd and gzip streams, ZIP archives, and the databases of runtimes that keep theirs in one.
//!
//! A container is known by its first bytes. What it holds is read as a stream, and never more of it than the caller
//! allows: a small file cannot be made to fill a disk. Names inside an archive are names, never paths.

use std::io::{self, Read, Seek};
use std::ops::ControlFlow;

use crate::lcm::{Contents, Lcm, Lines};
use crate::{ImportError, Importer, sqlite};

/// What is unpacked at once at most.
const READ_BYTES_MAX: usize = (128 << 10) - 1;

/// A way of packing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A zstd stream, of one frame or several.
    Zstd,
    /// A gzip stream, of one member or several.
    Gzip,
    /// A ZIP archive, as Inspect AI writes its logs (`.eval`).
    Zip,
    /// An SQLite database. What is in it are the conversations of a lossless context manager, written as lines of JSON;
    /// nothing is in any other.
    Sqlite,
}

/// One file of a container.
pub struct Member<'a> {
    /// Its name in the archive; empty where the container holds one file without a name.
    pub name: &'a str,
    /// Its bytes, unpacked as they are read.
    pub bytes: &'a mut dyn Read,
}

impl std::fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Container {
    /// The container that a file which starts with `head` is.
    pub fn of(head: &[u8]) -> Option<Self> {
        const MAGICS: [(&[u8], Container); 4] = [
            (sqlite::MAGIC, Container::Sqlite),
            (b"\x28\xb5\x2f\xfd", Container::Zstd),
            (b"\x1f\x8b\x08", Container::Gzip),
            (b"PK\x03\x04", Container::Zip),
        ];
        MAGICS.into_iter().find(|(magic, _container)| head.starts_with(magic)).map(|(_magic, it)| it)
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Zip => "zip",
            Self::Sqlite => "sqlite",
        }
    }

    /// Whether what is in the container can be of this format; to any other one, it is the bytes that it is.
    pub fn may_hold(self, importer: &dyn Importer) -> bool {
        self != Self::Sqlite || importer.format() == Lcm.format()
    }

    /// How many bytes a container of `packed` bytes may unpack to: transcripts repeat themselves, bombs do more so.
    pub fn bytes_max(packed: u64, limit: u64) -> u64 {
        const RATIO_MAX: u64 = 1_000;
        const SMALL_BYTES: u64 = 64 << 20;
        packed.saturating_mul(RATIO_MAX).max(SMALL_BYTES).min(limit)
    }

    /// Gives each file of the container to `take`, in order, until that breaks.
    ///
    /// # Errors
    /// [`ImportError::Unpack`] and [`ImportError::Database`] where the container is damaged or cut off, [`ImportError::UnpacksTooFar`] where what
    /// was asked for of all its files is more than `bytes_max`; a reader that was given to `take` says the same.
    pub fn unpack(
        self,
        mut file: impl Read + Seek,
        bytes_max: u64,
        take: &mut dyn FnMut(Member<'_>) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        let mut bounds = Bounds { container: self, left: bytes_max, bytes_max, failure: None };
        match self {
            Self::Zstd => {
                let stream = zstd::stream::read::Decoder::new(file).map_err(|error| self.broken(error))?;
                // The library checks less where it is asked for few bytes at a time: so it is always asked for as many.
                let mut stream = io::BufReader::with_capacity(READ_BYTES_MAX + 1, stream);
                // There is nothing after it that a break could leave out.
                let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
                    bounds.give("", &mut stream, take)?;
            }
            Self::Gzip => {
                let mut stream = flate2::read::MultiGzDecoder::new(io::BufReader::new(&mut file));
                // There is nothing after it that a break could leave out.
                let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
                    bounds.give("", &mut stream, take)?;
            }
            Self::Zip => {
                let mut archive = zip::ZipArchive::new(file).map_err(|error| self.broken(error.into()))?;
                for n in 0..archive.len() {
                    let mut member = archive.by_index(n).map_err(|error| self.broken(error.into()))?;
                    if member.is_dir() {
                        continue;
                    }
                    let name = member.name().map_err(|error| self.broken(error.into()))?.into_owned();
                    if bounds.give(&name, &mut member, take)?.is_break() {
                        break;
                    }
                }
            }
            Self::Sqlite => {
                let contents = Contents::open(file).map_err(|error| self.broken(error))?;
                let Some(mut contents) = contents else { return Ok(()) };
                for conversation in std::mem::take(&mut contents.conversations) {
                    let mut lines = Lines::new(&mut contents, &conversation);
                    if bounds.give(&conversation.name, &mut lines, take)?.is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// How many bytes all files of the container have; every one of them is unpacked, and checked as far as the
    /// container can be.
    ///
    /// # Errors
    /// As [`Container::unpack`].
    pub fn measure(self, file: impl Read + Seek, bytes_max: u64) -> Result<u64, ImportError> {
        let mut total = 0;
        self.unpack(file, bytes_max, &mut |member| match io::copy(member.bytes, &mut io::sink()) {
            Ok(bytes) => {
                total += bytes;
                ControlFlow::Continue(())
            }
            // The bounds remember why.
            Err(_failed) => ControlFlow::Break(()),
        })?;
        Ok(total)
    }

    const fn broken(self, source: io::Error) -> ImportError {
        match self {
            Self::Sqlite => ImportError::Database { source },
            Self::Zstd | Self::Gzip | Self::Zip => ImportError::Unpack { container: self.as_str(), source },
        }
    }
}

/// How much may still be unpacked, and what went wrong.
struct Bounds {
    container: Container,
    left: u64,
    bytes_max: u64,
    failure: Option<ImportError>,
}

impl Bounds {
    fn give(
        &mut self,
        name: &str,
        bytes: &mut dyn Read,
        take: &mut dyn FnMut(Member<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ImportError> {
        let mut bytes = Bounded { bounds: self, bytes };
        let flow = take(Member { name, bytes: &mut bytes });
        self.failure.take().map_or(Ok(flow), Err)
    }
}

struct Bounded<'a> {
    bounds: &'a mut Bounds,
    bytes: &'a mut dyn Read,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let bounds = &mut *self.bounds;
        // One byte more than is allowed is asked for, so that a file of just that length is no bomb.
        let room = usize::try_from(bounds.left.saturating_add(1)).unwrap_or(usize::MAX);
        let room = room.min(buffer.len()).min(READ_BYTES_MAX);
        let read = match self.bytes.read(buffer.get_mut(..room).unwrap_or_default()) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                let told = io::Error::new(error.kind(), error.to_string());
                bounds.failure = Some(bounds.container.broken(error));
                return Err(told);
            }
        };
        let Some(left) = bounds.left.checked_sub(read as u64) else {
            let Bounds { container, bytes_max, .. } = *bounds;
            let error = || ImportError::UnpacksTooFar { container: container.as_str(), bytes_max };
            bounds.failure = Some(error());
            return Err(io::Error::other(error()));
        };
        bounds.left = left;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
