//! Little-endian integers in fixed layouts, read and put together without a panic.

/// Reads fields one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u48(&mut self) -> Option<u64> {
        let mut wide = [0; 8];
        wide.first_chunk_mut::<6>()?.copy_from_slice(&self.array::<6>()?);
        Some(u64::from_le_bytes(wide))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of at most ten bytes, seven bits each, the lowest first.
    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        match self.rest {
            // Most are short.
            [byte @ 0..0x80, rest @ ..] => {
                self.rest = rest;
                Some(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    pub(crate) const fn len(&self) -> usize {
        self.rest.len()
    }
}

/// Appends the low 48 bits of `value`.
pub(crate) fn put_u48(out: &mut Vec<u8>, value: u64) {
    let wide = value.to_le_bytes();
    out.extend_from_slice(wide.get(..6).unwrap_or_default());
}

/// The length of something in memory as a file length. No machine that this runs on has longer addresses.
pub(crate) fn len_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Fills a place of a known length with one thing after the other.
#[derive(Debug)]
pub(crate) struct Filler<'a> {
    rest: &'a mut [u8],
}

impl<'a> Filler<'a> {
    pub(crate) const fn new(place: &'a mut [u8]) -> Self {
        Self { rest: place }
    }

    /// Puts these bytes next. What finds no room is left out, which is our mistake.
    pub(crate) fn put(self, bytes: &[u8]) -> Self {
        debug_assert!(bytes.len() <= self.rest.len(), "more than there is room for");
        let len = bytes.len().min(self.rest.len());
        let (place, rest) = self.rest.split_at_mut(len);
        place.copy_from_slice(bytes.get(..len).unwrap_or_default());
        Self { rest }
    }
}

#[cfg(test)]
mod tests {
    use spanvault_types::varint::put_varint;

    use super::*;

    proptest::proptest! {
        #[test]
        fn numbers_read_back(value: u64) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            put_u48(&mut bytes, value);
            let mut fields = Fields::new(&bytes);
            proptest::prop_assert_eq!(fields.varint(), Some(value));
            proptest::prop_assert_eq!(fields.u48(), Some(value & 0xffff_ffff_ffff));
            proptest::prop_assert!(fields.is_empty());
        }
    }
}
