//! The `FORMAT` file: which format, which vault.
//!
//! One line of text, written twice, so that a damaged byte spoils one copy only. Without the vault's id no frame could
//! be told from noise.

use spanvault_env::Random;

use crate::bytes::Filler;

/// The newest format that this program reads and the one that it writes.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The largest stamp that is read, in bytes.
pub(crate) const STAMP_BYTES_MAX: usize = 4096;

/// The random name that a vault is given when it is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct VaultId([u8; 16]);

impl VaultId {
    pub(crate) fn random(random: &dyn Random) -> Self {
        let mut bytes = [0; 16];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// The key that makes the checks of this vault its own.
    pub(crate) fn check_key(&self) -> CheckKey {
        CheckKey(blake3::derive_key("spanvault format 1: checks", &self.0))
    }
}

impl std::fmt::Debug for VaultId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "vault {:032x}", u128::from_be_bytes(self.0))
    }
}

/// Eight bytes that say: written by this vault, for this place.
///
/// A keyed BLAKE3 is the checksum and the tag of the vault in one: bytes of another vault's log, or of this one's at
/// another place, never pass.
#[derive(Clone)]
pub(crate) struct CheckKey([u8; 32]);

pub(crate) const CHECK_BYTES: usize = 8;

impl CheckKey {
    /// The check of `bytes` at `place`.
    pub(crate) fn check(&self, bytes: &[u8], place: Place) -> [u8; CHECK_BYTES] {
        let hash = blake3::keyed_hash(&self.0, Checked::new(bytes, place).bytes());
        let mut check = [0; CHECK_BYTES];
        check.copy_from_slice(&hash.as_bytes()[..CHECK_BYTES]);
        check
    }
}

/// What a check is made of, in one piece: that is what hashing is quickest with.
enum Checked {
    Short([u8; Self::SHORT_BYTES], usize),
    Long(Vec<u8>),
}

impl Checked {
    /// Most of what is checked is shorter, and needs no allocation.
    const SHORT_BYTES: usize = 64;

    fn new(bytes: &[u8], place: Place) -> Self {
        let (file, offset) = (place.file.to_le_bytes(), place.offset.to_le_bytes());
        let len = bytes.len() + file.len() + offset.len();
        if len > Self::SHORT_BYTES {
            return Self::Long([bytes, &file, &offset].concat());
        }
        let mut short = [0; Self::SHORT_BYTES];
        Filler::new(&mut short).put(bytes).put(&file).put(&offset);
        Self::Short(short, len)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(bytes, len) => bytes.get(..*len).unwrap_or_default(),
            Self::Long(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for CheckKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("check key")
    }
}

/// A byte of a numbered file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: u64,
    pub(crate) offset: u64,
}

/// What a `FORMAT` file says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// This program can read it. `intact` is false where one of the two copies is damaged.
    Known { id: VaultId, intact: bool },
    /// Made by a newer program.
    Newer { found: u32 },
    /// Neither copy can be read.
    Unreadable,
}

/// The text of a stamp.
pub(crate) fn encode(id: VaultId) -> String {
    let line = line(FORMAT_VERSION, id);
    format!("{line}\n{line}\n")
}

fn line(version: u32, id: VaultId) -> String {
    let body = format!("spanvault format {version} vault {:032x}", u128::from_be_bytes(id.0));
    let check = crc32fast::hash(body.as_bytes());
    format!("{body} check {check:08x}")
}

/// Length of a line of this format, without its end.
const LINE_BYTES: usize = 72;

/// Reads a stamp.
pub(crate) fn decode(bytes: &[u8]) -> Stamp {
    let second = bytes.get(LINE_BYTES + 1..).unwrap_or_default();
    if let Some(id) = [bytes, second].into_iter().find_map(decode_line) {
        return Stamp::Known { id, intact: encode(id).as_bytes() == bytes };
    }
    let text = String::from_utf8_lossy(bytes);
    match text.lines().filter_map(claimed_version).max() {
        Some(found) if found > FORMAT_VERSION => Stamp::Newer { found },
        _ => Stamp::Unreadable,
    }
}

/// The id, if the bytes begin with a line as this program writes it.
fn decode_line(bytes: &[u8]) -> Option<VaultId> {
    let text = str::from_utf8(bytes.get(..LINE_BYTES)?).ok()?;
    let id = VaultId(u128::from_str_radix(text.get(25..57)?, 16).ok()?.to_be_bytes());
    (line(FORMAT_VERSION, id) == text).then_some(id)
}

/// The version that a line of any format begins with.
fn claimed_version(line: &str) -> Option<u32> {
    line.strip_prefix("spanvault format ")?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: VaultId = VaultId([0x3f; 16]);

    #[test]
    fn a_stamp_reads_back() {
        assert_eq!(decode(encode(ID).as_bytes()), Stamp::Known { id: ID, intact: true });
    }

    #[test]
    fn i17_one_damaged_byte_of_the_stamp_costs_nothing() {
        let good = encode(ID).into_bytes();
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << bit;
                assert_eq!(decode(&bytes), Stamp::Known { id: ID, intact: false }, "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn i72_a_newer_format_is_known_for_what_it_is() {
        assert_eq!(decode(b"spanvault format 2 and whatever follows\n"), Stamp::Newer { found: 2 });
        assert_eq!(decode(b"spanvault format 1 vault"), Stamp::Unreadable);
        assert_eq!(decode(b""), Stamp::Unreadable);
        assert_eq!(decode(&[0xff; 100]), Stamp::Unreadable);
    }

    #[test]
    fn a_check_belongs_to_one_vault_and_one_place() {
        let place = Place { file: 1, offset: 168 };
        let check = ID.check_key().check(b"head", place);
        assert_eq!(check, ID.check_key().check(b"head", place));
        assert_ne!(check, VaultId([0x40; 16]).check_key().check(b"head", place));
        assert_ne!(check, ID.check_key().check(b"head", Place { offset: 169, ..place }));
        assert_ne!(check, ID.check_key().check(b"head", Place { file: 2, ..place }));
    }
}
