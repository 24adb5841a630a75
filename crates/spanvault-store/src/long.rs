//! Long bodies: read and hashed piece by piece, on several threads.

use std::io;

use spanvault_env::DiskFile;
use spanvault_types::{ContentHash, PIECE_BYTES, PieceHash};

use crate::bytes::len_u64;
use crate::shares::in_shares;

/// Bodies from this length on are worth a thread, in bytes.
pub(crate) const LONG_BYTES: usize = 4 << 20;

/// The hash of `bytes`.
pub(crate) fn hash_of(bytes: &[u8]) -> ContentHash {
    if bytes.len() < LONG_BYTES {
        return ContentHash::of(bytes);
    }
    let hashed = each(bytes.chunks(PIECE_BYTES), &|number, piece| Ok(PieceHash::of(number, piece)));
    hashed.unwrap_or_else(|_never| ContentHash::of(bytes))
}

/// `len` bytes of a file and their hash.
///
/// # Errors
/// What the disk says; `UnexpectedEof` where the file has not so many.
pub(crate) fn read(file: &dyn DiskFile, offset: u64, len: usize) -> io::Result<(Vec<u8>, ContentHash)> {
    let mut bytes = vec![0; len];
    let read = |number: usize, piece: &mut [u8]| {
        let at = offset.saturating_add(len_u64(number).saturating_mul(len_u64(PIECE_BYTES)));
        if file.read_at(piece, at)? < piece.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(PieceHash::of(number, piece))
    };
    let hash = each(bytes.chunks_mut(PIECE_BYTES), &read)?;
    Ok((bytes, hash))
}

/// Does `work` with each piece, the pieces shared out among threads, and puts their hashes together.
fn each<T: Send>(
    pieces: impl Iterator<Item = T>,
    work: &(impl Fn(usize, T) -> io::Result<PieceHash> + Sync),
) -> io::Result<ContentHash> {
    let hashes = in_shares(pieces.enumerate().collect(), &|(number, piece)| work(number, piece));
    let hashes = hashes.into_iter().collect::<io::Result<Vec<PieceHash>>>()?;
    ContentHash::of_pieces(&hashes).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use spanvault_env::{Disk, OpenMode, SimDisk};

    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        blake3::Hasher::new().update(&len.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    #[test]
    fn a_long_body_has_the_hash_that_one_thread_gives_it() {
        for len in [LONG_BYTES - 1, LONG_BYTES, LONG_BYTES + 1, 7 * PIECE_BYTES + 77] {
            let bytes = noise(len);
            assert_eq!(hash_of(&bytes), ContentHash::of(&bytes), "{len} bytes");
        }
    }

    #[test]
    fn a_long_body_is_read_as_it_was_written_or_not_at_all() {
        let bytes = noise(LONG_BYTES + 5);
        let file = SimDisk::new().open(Path::new("/long"), OpenMode::CreateNew).unwrap();
        file.write_at(&bytes, 9).unwrap();
        let (found, hash) = read(&*file, 9, bytes.len()).unwrap();
        assert!(found == bytes && hash == ContentHash::of(&bytes));
        assert_eq!(read(&*file, 9, bytes.len() + 1).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
