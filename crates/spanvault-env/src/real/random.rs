//! The kernel's random bytes.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::Random;

/// `getrandom(2)`.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealRandom;

impl Random for RealRandom {
    #[expect(clippy::panic, reason = "a salt that is not random would break a promise in silence")]
    fn fill(&self, bytes: &mut [u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match getrandom(&mut *rest, GetRandomFlags::empty()) {
                Ok(filled) => rest = rest.get_mut(filled..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(errno) => panic!("the kernel has no random bytes: {errno}"),
            }
        }
    }
}
