//! Store time: the one time line that decides deletions (I5, I39).
//!
//! It advances by the boot-time clock within one boot and gets no credit for time in which the machine was down,
//! so it never runs faster than real time and merely lags. The wall clock gives a new vault its first instant;
//! after that it is only watched, and a drift between the two clocks of one boot makes the clock suspect.

use std::sync::{Arc, PoisonError};

use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{ClockStamp, ClockSuspected, StoreTime};

use crate::sync::Mutex;
use crate::{BootId, Clock};

/// How far the wall clock and the boot clock of one boot may drift apart, in milliseconds: 5 minutes.
pub const DRIFT_MS_MAX: u64 = 5 * 60 * 1_000;

/// Whether deletions may rest on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockState {
    /// They may.
    Trusted,
    /// They may not, until [`StoreClock::confirm`] or a new boot.
    Suspect {
        /// The widest drift seen: how much more the wall clock advanced than the boot clock, in milliseconds.
        /// Zero where there is another cause: the boot clock stepped back, or the boot has no id.
        drift_ms: i64,
    },
}

/// The clock of one vault. Every call reads the machine's clocks once.
#[derive(Debug)]
pub struct StoreClock {
    clock: Arc<dyn Clock>,
    drift_ms_max: u64,
    line: Mutex<Line>,
}

impl StoreClock {
    /// Goes on from the last stamp of the log; without one, a new vault's time begins at the wall clock.
    pub fn resume(clock: Arc<dyn Clock>, last: Option<ClockStamp>) -> Self {
        Self::resume_within(clock, last, DRIFT_MS_MAX)
    }

    /// Like [`StoreClock::resume`], with another bound for the drift than [`DRIFT_MS_MAX`].
    pub fn resume_within(clock: Arc<dyn Clock>, last: Option<ClockStamp>, drift_ms_max: u64) -> Self {
        let reading = Reading::of(&*clock);
        let line = match last {
            None => Line::begin(&reading, StoreTime::from_ms(reading.wall_ms)),
            Some(stamp) => Line::resume(&stamp, &reading, drift_ms_max),
        };
        Self { clock, drift_ms_max, line: Mutex::new(line) }
    }

    /// Remembers a suspicion that the log holds and no confirmation followed. One of another boot has ended.
    pub fn recall(&self, suspected: &ClockSuspected) {
        self.observe(|line, _| {
            if line.boot.map_or([0; 16], |boot| boot.0) == suspected.boot_id {
                line.suspect(suspected.drift_ms);
            }
        });
    }

    /// Store time.
    pub fn now(&self) -> StoreTime {
        self.observe(|line, reading| {
            if is_planted(Bug::WallClock) { StoreTime::from_ms(reading.wall_ms) } else { line.store }
        })
    }

    /// What a commit writes, and what [`StoreClock::resume`] wants back.
    ///
    /// `wall_ms` is the wall clock as this boot first showed it (or as it was last confirmed), carried on by the
    /// boot clock: so every stamp of a boot keeps the drift of the whole boot visible to the next process.
    pub fn stamp(&self) -> ClockStamp {
        self.observe(|line, _| line.stamp())
    }

    /// Whether deletions may rest on the clock.
    pub fn state(&self) -> ClockState {
        self.observe(|line, _| match line.suspicion {
            _ if is_planted(Bug::SuspectTrusted) => ClockState::Trusted,
            None => ClockState::Trusted,
            Some(drift_ms) => ClockState::Suspect { drift_ms },
        })
    }

    /// The wall clock minus store time, in milliseconds. Time spent down shows here; it is never suspicion.
    pub fn lag_ms(&self) -> i64 {
        self.observe(|line, reading| clamp(i128::from(reading.wall_ms) - i128::from(line.store.as_ms())))
    }

    /// Credits store time up to `at`, never backwards, and ends suspicion: the drift is measured anew from here.
    ///
    /// Somebody vouches for `at`. The caller logs who, before the effect is visible.
    pub fn confirm(&self, at: StoreTime) {
        self.observe(|line, reading| *line = Line::confirmed(reading, line.store.max(at)));
    }

    fn observe<T>(&self, then: impl FnOnce(&mut Line, &Reading) -> T) -> T {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that readings arrive in the order in which they were taken.
        let reading = Reading::of(&*self.clock);
        line.advance(&reading, self.drift_ms_max);
        then(&mut line, &reading)
    }
}

/// The machine's clocks at one instant.
#[derive(Debug)]
struct Reading {
    boot: Option<BootId>,
    boot_ms: u64,
    wall_ms: u64,
}

impl Reading {
    fn of(clock: &dyn Clock) -> Self {
        Self { boot: clock.boot_id(), boot_ms: clock.boot_ms(), wall_ms: clock.wall_ms() }
    }

    fn offset_ms(&self) -> i128 {
        i128::from(self.wall_ms) - i128::from(self.boot_ms)
    }
}

/// Store time within one boot.
#[derive(Debug)]
struct Line {
    boot: Option<BootId>,
    /// The highest boot time seen in this boot: time is credited once.
    boot_ms: u64,
    /// The wall clock minus the boot clock, as first seen in this boot or last confirmed.
    offset_ms: i128,
    store: StoreTime,
    /// The widest drift, once there is a reason for suspicion.
    suspicion: Option<i64>,
}

impl Line {
    fn begin(reading: &Reading, store: StoreTime) -> Self {
        let suspicion = reading.boot.is_none().then_some(0);
        Self { suspicion, ..Self::confirmed(reading, store) }
    }

    fn confirmed(reading: &Reading, store: StoreTime) -> Self {
        let (boot, boot_ms, offset_ms) = (reading.boot, reading.boot_ms, reading.offset_ms());
        Self { boot, boot_ms, offset_ms, store, suspicion: None }
    }

    fn resume(stamp: &ClockStamp, reading: &Reading, drift_ms_max: u64) -> Self {
        // A boot without an id is never known to be the same one.
        if reading.boot.is_none_or(|boot| boot.0 != stamp.boot_id) {
            let is_credited = is_planted(Bug::HighWaterClock);
            let wall = if is_credited { StoreTime::from_ms(reading.wall_ms) } else { stamp.store };
            return Self::begin(reading, stamp.store.max(wall));
        }
        let offset_ms = i128::from(stamp.wall_ms) - i128::from(stamp.boot_ms);
        let (boot, boot_ms, store) = (reading.boot, stamp.boot_ms, stamp.store);
        let mut line = Self { boot, boot_ms, offset_ms, store, suspicion: None };
        // Between two processes the boot clock itself may be another one (a time namespace). Where it gained on
        // the wall clock nobody can tell which of the two moved, so the time in between gets no credit.
        if reading.offset_ms() - offset_ms < -i128::from(drift_ms_max) {
            line.boot_ms = line.boot_ms.max(reading.boot_ms);
        }
        line.advance(reading, drift_ms_max);
        line
    }

    fn advance(&mut self, reading: &Reading, drift_ms_max: u64) {
        if reading.boot != self.boot {
            *self = Self::begin(reading, self.store);
            return;
        }
        match reading.boot_ms.checked_sub(self.boot_ms) {
            Some(elapsed) => {
                self.store = self.store.plus_ms(elapsed);
                self.boot_ms = reading.boot_ms;
            }
            None => self.suspect(0),
        }
        let drift_ms = reading.offset_ms() - self.offset_ms;
        if drift_ms.unsigned_abs() > u128::from(drift_ms_max) {
            self.suspect(clamp(drift_ms));
        }
    }

    fn suspect(&mut self, drift_ms: i64) {
        let widest = self.suspicion.unwrap_or(0);
        self.suspicion =
            Some(if drift_ms.unsigned_abs() > widest.unsigned_abs() { drift_ms } else { widest });
    }

    fn stamp(&self) -> ClockStamp {
        let wall_ms = (i128::from(self.boot_ms) + self.offset_ms).max(0);
        ClockStamp {
            boot_id: self.boot.map_or([0; 16], |boot| boot.0),
            boot_ms: self.boot_ms,
            wall_ms: u64::try_from(wall_ms).unwrap_or(u64::MAX),
            store: self.store,
        }
    }
}

fn clamp(ms: i128) -> i64 {
    i64::try_from(ms).unwrap_or(if ms < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests;
