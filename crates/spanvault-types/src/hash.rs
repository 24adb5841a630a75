//! Content hashes and the salted commitments that stand for them in the chained part of the log.

use std::fmt;
use std::str::FromStr;

use bincode::{Decode, Encode};

/// The BLAKE3-256 digest of an original's bytes: its identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes the exact bytes of an original.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Takes 32 bytes that were a hash before.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The salted commitment that the chained part of the log carries in place of this hash.
    pub fn commit(&self, salt: &Salt) -> Commitment {
        let mut salted = [0; 48];
        salted[..16].copy_from_slice(&salt.0);
        salted[16..].copy_from_slice(&self.0);
        Commitment(*blake3::hash(&salted).as_bytes())
    }
}

/// Sixteen random bytes that make a commitment unguessable even where the content is short.
#[derive(Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Salt([u8; 16]);

impl Salt {
    /// Takes sixteen bytes from a random source, or from a frame that held them.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The sixteen bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// `BLAKE3(salt || content hash)`: names an original without giving its hash away.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct Commitment([u8; 32]);

impl Commitment {
    /// Takes 32 bytes that were a commitment before.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the commitment.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Text that is not a whole content hash of 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read a content hash: expected 64 hexadecimal digits")]
pub struct ParseHashError;

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseHashError);
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let nibble = |digit: u8| char::from(digit).to_digit(16).ok_or(ParseHashError);
            let value = nibble(pair[0])? << 4 | nibble(pair[1])?;
            *byte = u8::try_from(value).map_err(|_overflow| ParseHashError)?;
        }
        Ok(Self(bytes))
    }
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0[..6], f)
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("commitment ")?;
        hex(&self.0[..6], f)
    }
}

impl fmt::Debug for Salt {
    /// Never shows the salt: with it a short content could be guessed from its commitment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("salt …")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_from_its_own_text() {
        let hash = ContentHash::of(b"span");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!("xyz".parse::<ContentHash>(), Err(ParseHashError));
        assert_eq!("é".repeat(32).parse::<ContentHash>(), Err(ParseHashError));
    }

    #[test]
    fn a_commitment_depends_on_the_salt() {
        let hash = ContentHash::of(b"1234");
        let commitment = |byte| hash.commit(&Salt::from_bytes([byte; 16]));
        assert_eq!(commitment(1), commitment(1));
        assert_ne!(commitment(1), commitment(2));
    }
}
