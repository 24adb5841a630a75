//! The bytes of a run: constants, integers, and its foot.
//!
//! `magic · blocks of postings · unread spans · sessions · foot`. A block holds the entries of ascending terms until one
//! reaches [`BLOCK_BYTES`], then its CRC-32. Everything that is read at opening (directory, unread spans, sessions) is
//! under the BLAKE3 of the foot.

use spanvault_types::Position;

/// The first bytes of a run.
pub(super) const MAGIC: &[u8; 8] = b"SPANVPO1";
/// From this length on a block is ended, in bytes.
pub(super) const BLOCK_BYTES: usize = 4096;
/// Length of the foot in bytes.
pub(super) const FOOT_BYTES: usize = 8 * 6 + 32 + 32 + 32 + 8;
/// Length of a session's row in bytes, without its sum.
pub(super) const ROW_BYTES: usize = 8 * 4 + 8;

/// The end of a run: what it covers, and where its pieces are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foot {
    pub(super) first: Position,
    pub(super) last: Position,
    /// The chain value of the commit at `last`.
    pub(super) chain: [u8; 32],
    /// What program read the spans, and how.
    pub(super) reader: [u8; 32],
    /// Where the directory begins; before it are the blocks.
    pub(super) directory_at: u64,
    pub(super) unread_at: u64,
    pub(super) sessions_at: u64,
    /// Where the tables end and the foot begins.
    pub(super) tables_end: u64,
    /// BLAKE3 of everything from the directory to the foot, and of the foot before this field.
    pub(super) check: [u8; 32],
}

impl Foot {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.unchecked();
        bytes.extend_from_slice(&self.check);
        bytes.extend_from_slice(MAGIC);
        bytes
    }

    /// The foot without its check.
    pub(super) fn unchecked(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FOOT_BYTES);
        for field in [
            self.first.get(),
            self.last.get(),
            self.directory_at,
            self.unread_at,
            self.sessions_at,
            self.tables_end,
        ] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.extend_from_slice(&self.chain);
        bytes.extend_from_slice(&self.reader);
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let foot = Self {
            first: Position::new(fields.u64()?),
            last: Position::new(fields.u64()?),
            directory_at: fields.u64()?,
            unread_at: fields.u64()?,
            sessions_at: fields.u64()?,
            tables_end: fields.u64()?,
            chain: fields.array()?,
            reader: fields.array()?,
            check: fields.array()?,
        };
        let in_order = foot.directory_at <= foot.unread_at
            && foot.unread_at <= foot.sessions_at
            && foot.sessions_at <= foot.tables_end
            && foot.first <= foot.last;
        (in_order && fields.0 == MAGIC).then_some(foot)
    }
}

/// The check over what is read at opening.
pub(super) fn check_of(tables: &[u8], foot: &Foot) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tables);
    hasher.update(&foot.unchecked());
    *hasher.finalize().as_bytes()
}

/// Reads fields one after the other, without a panic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array::<1>()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Ascending numbers as [`push_ascending`] wrote them.
    pub(super) fn ascending(&mut self, base: u64) -> Option<Vec<u64>> {
        let count = self.varint()?;
        let mut numbers = Vec::new();
        let mut last = base;
        for _ in 0..count {
            last = last.checked_add(self.varint()?)?;
            numbers.push(last);
        }
        Some(numbers)
    }

    /// Goes past ascending numbers.
    pub(super) fn skip_ascending(&mut self) -> Option<()> {
        for _ in 0..self.varint()? {
            let last = self.0.iter().position(|byte| byte & 0x80 == 0)?;
            self.0 = self.0.get(last + 1..)?;
        }
        Some(())
    }
}

/// Appends a number in seven bits a byte, the lowest first.
pub(super) fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// Appends how many numbers there are, then the distance of each from the one before, the first from `base`.
pub(super) fn push_ascending(bytes: &mut Vec<u8>, base: u64, numbers: &[u64]) {
    push_varint(bytes, numbers.len() as u64);
    let mut last = base;
    for number in numbers {
        push_varint(bytes, number.saturating_sub(last));
        last = *number;
    }
}
