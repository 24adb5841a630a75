//! The machine's clocks.

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::{BootId, Clock};

/// The kernel's clocks. The boot id is read once: a process lives within one boot.
#[derive(Debug, Clone)]
pub struct RealClock {
    boot_id: Option<BootId>,
}

impl RealClock {
    /// Reads the boot id of this machine.
    pub fn new() -> Self {
        Self { boot_id: read_boot_id() }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    fn wall_ms(&self) -> u64 {
        millis(clock_gettime(ClockId::Realtime))
    }

    fn boot_ms(&self) -> u64 {
        millis(clock_gettime(ClockId::Boottime))
    }

    fn elapsed_us(&self) -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
        seconds.unwrap_or(0).saturating_mul(1_000_000).saturating_add(nanos.unwrap_or(0) / 1_000)
    }

    fn boot_id(&self) -> Option<BootId> {
        self.boot_id
    }
}

/// Whole milliseconds; an instant before the epoch is 0.
fn millis(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let millis = u64::try_from(time.tv_nsec / 1_000_000).unwrap_or(0);
    seconds.saturating_mul(1_000).saturating_add(millis)
}

#[expect(clippy::disallowed_methods, reason = "this crate is the door, and the file is the kernel's")]
fn read_boot_id() -> Option<BootId> {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    parse_boot_id(&text)
}

/// Reads the 32 hex digits of a UUID, with or without its dashes.
pub(super) fn parse_boot_id(text: &[u8]) -> Option<BootId> {
    let mut digits = text.trim_ascii().iter().filter(|byte| **byte != b'-');
    let mut id = [0; 16];
    for byte in &mut id {
        let high = char::from(*digits.next()?).to_digit(16)?;
        let low = char::from(*digits.next()?).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    // A stamp uses all zeros for "could not be read", so zeros name no boot.
    (digits.next().is_none() && id != [0; 16]).then_some(BootId(id))
}
