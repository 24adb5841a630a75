//! Numbers that take as many bytes as they need.

/// Appends a number, seven bits a byte, the lowest first.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// A signed number as one that is small where it is near zero.
pub const fn folded(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The signed number that [`folded`] made this of.
pub const fn unfolded(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}
