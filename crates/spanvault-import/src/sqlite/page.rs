//! The pages of a database file.

use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use super::{MAGIC, damaged};

/// The header that the first page begins with, in bytes.
pub(super) const HEADER_BYTES: usize = 100;
/// How many pages are remembered: those on the way down a tree are asked for again and again.
const REMEMBERED: usize = 64;

/// How text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEncoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

/// A database file as numbered pages.
pub(super) struct Pages<R> {
    file: R,
    page_bytes: usize,
    /// What of each page is used; the rest is reserved for extensions.
    pub(super) usable: usize,
    /// How many pages there are; they are counted from 1.
    pub(super) count: u32,
    pub(super) encoding: TextEncoding,
    remembered: Vec<Option<(u32, Rc<[u8]>)>>,
}

impl<R: Read + Seek> Pages<R> {
    pub(super) fn open(mut file: R) -> io::Result<Self> {
        let len = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header)?;
        if !header.starts_with(MAGIC) {
            return Err(damaged("it is no SQLite database"));
        }
        let page_bytes = match number(&header, 16, 2)? {
            1 => 65_536,
            bytes if bytes.is_power_of_two() && bytes >= 512 => bytes as usize,
            _ => return Err(damaged("its pages have no possible size")),
        };
        let usable = page_bytes.saturating_sub(number(&header, 20, 1)? as usize);
        if usable < 480 {
            return Err(damaged("its pages have no room"));
        }
        let encoding = match number(&header, 56, 4)? {
            // A database in which nothing was ever written says nothing.
            0 | 1 => TextEncoding::Utf8,
            2 => TextEncoding::Utf16Le,
            3 => TextEncoding::Utf16Be,
            _ => return Err(damaged("its text is in no possible encoding")),
        };
        let in_file = u32::try_from(len / page_bytes as u64).unwrap_or(u32::MAX);
        // Old programs do not count the pages: their number is then not of the last change.
        let is_counted = number(&header, 24, 4)? == number(&header, 92, 4)?;
        let counted = number(&header, 28, 4)?;
        let count = if is_counted && counted > 0 { counted } else { in_file };
        if count > in_file {
            return Err(damaged("it is cut off: pages are missing at its end"));
        }
        Ok(Self { file, page_bytes, usable, count, encoding, remembered: vec![None; REMEMBERED] })
    }

    /// The bytes of a page.
    pub(super) fn page(&mut self, number: u32) -> io::Result<Rc<[u8]>> {
        let slot = number as usize % REMEMBERED;
        if let Some(Some((remembered, page))) = self.remembered.get(slot)
            && *remembered == number
        {
            return Ok(Rc::clone(page));
        }
        if number == 0 || number > self.count {
            return Err(damaged("it names a page that is not there"));
        }
        self.file.seek(SeekFrom::Start(u64::from(number - 1) * self.page_bytes as u64))?;
        let mut page = vec![0; self.page_bytes];
        self.file.read_exact(&mut page)?;
        let page: Rc<[u8]> = page.into();
        if let Some(slot) = self.remembered.get_mut(slot) {
            *slot = Some((number, Rc::clone(&page)));
        }
        Ok(page)
    }
}

/// The unsigned number of `len` bytes, at most four, at a place.
pub(super) fn number(bytes: &[u8], at: usize, len: usize) -> io::Result<u32> {
    let digits = at.checked_add(len).and_then(|end| bytes.get(at..end));
    let digits = digits.ok_or_else(|| damaged("a page ends too early"))?;
    Ok(digits.iter().fold(0, |number, digit| number << 8 | u32::from(*digit)))
}

/// The number of variable length at a place, and the place behind it.
pub(super) fn varint(bytes: &[u8], at: usize) -> io::Result<(u64, usize)> {
    let mut number = 0_u64;
    for (n, byte) in bytes.get(at..).unwrap_or_default().iter().enumerate().take(9) {
        if n == 8 {
            return Ok((number << 8 | u64::from(*byte), at + 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok((number, at + n + 1));
        }
    }
    Err(damaged("a number is cut off"))
}
