//! The bare limit: the same bytes in a plain file, with nothing around them.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::Outcome;

/// Read and hashed at once, where a long body is.
const PIECE_BYTES: usize = 256 << 10;

/// A file that bytes are appended to.
#[derive(Debug)]
pub struct RawFile {
    file: File,
}

impl RawFile {
    /// Makes an empty one.
    ///
    /// # Errors
    /// What the file system says.
    #[expect(
        clippy::disallowed_methods,
        reason = "the bare limit is the operating system without anything between"
    )]
    pub fn create(path: &Path) -> Outcome<Self> {
        Ok(Self { file: OpenOptions::new().create_new(true).read(true).append(true).open(path)? })
    }

    /// Opens one for reading.
    ///
    /// # Errors
    /// What the file system says.
    #[expect(
        clippy::disallowed_methods,
        reason = "the bare limit is the operating system without anything between"
    )]
    pub fn open(path: &Path) -> Outcome<Self> {
        Ok(Self { file: File::open(path)? })
    }

    /// Hands out the whole file, at most `len` bytes at once.
    ///
    /// # Errors
    /// What the disk or `sink` says.
    pub fn each_piece(&self, len: usize, mut sink: impl FnMut(&[u8]) -> Outcome) -> Outcome {
        let mut piece = vec![0; len];
        let mut offset = 0;
        loop {
            let read = self.file.read_at(&mut piece, offset)?;
            let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
            sink(bytes)?;
            offset += read as u64;
        }
    }

    /// Appends.
    ///
    /// # Errors
    /// What the disk says.
    pub fn append(&mut self, bytes: &[u8]) -> Outcome {
        Ok(self.file.write_all(bytes)?)
    }

    /// Makes durable what was appended.
    ///
    /// # Errors
    /// What the disk says.
    pub fn sync(&self) -> Outcome {
        Ok(self.file.sync_data()?)
    }

    /// Reads `len` bytes at `offset`.
    ///
    /// # Errors
    /// What the disk says.
    pub fn read(&self, offset: u64, len: usize) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Reads `len` bytes at `offset` and hashes them in pieces, on all cores; how the pieces make one hash is left out.
    ///
    /// # Errors
    /// What the disk says.
    pub fn read_hashed(&self, offset: u64, len: usize) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; len];
        let share = len.div_ceil(std::thread::available_parallelism()?.get()).max(1);
        let work = |first: usize, share: &mut [u8]| {
            for (number, piece) in share.chunks_mut(PIECE_BYTES).enumerate() {
                self.file.read_exact_at(piece, offset + (first + number * PIECE_BYTES) as u64)?;
                black_box(blake3::hash(piece));
            }
            std::io::Result::Ok(())
        };
        std::thread::scope(|scope| -> Outcome {
            let shares = bytes.chunks_mut(share).enumerate();
            let running: Vec<_> =
                shares.map(|(number, part)| scope.spawn(move || work(number * share, part))).collect();
            for thread in running {
                thread.join().map_err(|_panic| "a thread panicked")??;
            }
            Ok(())
        })?;
        Ok(bytes)
    }
}
