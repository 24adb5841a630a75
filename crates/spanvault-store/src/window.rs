//! A piece of a file, for whoever reads it from front to back.

use std::io;

use spanvault_env::DiskFile;

use crate::bytes::len_u64;

/// Read with one call. It fits the cache of a core, so what was copied is looked at while it is there.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;

/// What was read last of one file.
#[derive(Debug, Default)]
pub(crate) struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// `len` bytes at `offset`, read on from there where they are not at hand; `None` where the file has them not.
    pub(crate) fn bytes(
        &mut self,
        file: &dyn DiskFile,
        offset: u64,
        len: usize,
    ) -> io::Result<Option<&[u8]>> {
        let end = offset.saturating_add(len_u64(len));
        if offset < self.start || end > self.start.saturating_add(len_u64(self.bytes.len())) {
            self.bytes.resize(len.max(WINDOW_BYTES), 0);
            let read = file.read_at(&mut self.bytes, offset);
            self.bytes.truncate(*read.as_ref().unwrap_or(&0));
            self.start = offset;
            read?;
        }
        let from = usize::try_from(offset - self.start).ok();
        Ok(from.and_then(|from| self.bytes.get(from..from.checked_add(len)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use spanvault_env::{Disk, OpenMode, SimDisk};

    use super::*;

    #[test]
    fn a_window_gives_what_the_file_has_wherever_it_is_asked() {
        let file = SimDisk::new().open(Path::new("/file"), OpenMode::CreateNew).unwrap();
        let content: Vec<u8> =
            (0..WINDOW_BYTES + 1_000).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
        file.write_at(&content, 0).unwrap();
        let mut window = Window::default();
        let len = WINDOW_BYTES + 500;
        for (offset, len) in
            [(0, 10), (900, 40), (WINDOW_BYTES - 5, 10), (3, 7), (0, len), (WINDOW_BYTES + 990, 10)]
        {
            let found = window.bytes(&*file, offset as u64, len).unwrap();
            assert_eq!(found, content.get(offset..offset + len), "{len} bytes at {offset}");
        }
        for (offset, len) in [(WINDOW_BYTES + 995, 10), (WINDOW_BYTES * 9, 1)] {
            assert_eq!(window.bytes(&*file, offset as u64, len).unwrap(), None);
        }
        assert_eq!(window.bytes(&*file, 5, 5).unwrap(), content.get(5..10));
    }
}
