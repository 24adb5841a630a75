//! Store time and its suspicion (I5, I39).

use spanvault_types::StoreTime;

use crate::expect::Violation;

/// How far wall clock and boot clock of one boot may drift apart without suspicion.
pub const DRIFT_MS_MAX: u64 = 5 * 60 * 1_000;

/// The clocks of the machine, and what a vault may make of them.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that the words say or do not say of the clock"
)]
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// Store time, as far as is known: the vault's own once it was adopted.
    now: u64,
    /// The latest store time that an acknowledged record carries: it cannot be forgotten.
    durable: u64,
    /// No lawful store time is later: all the time that really passed is credited.
    latest: u64,
    /// How far the wall clock has moved against the boot clock since the boot or the last confirmation.
    drift: i128,
    /// The drift has been too wide at some instant, and somebody may have looked.
    may_be_suspect: bool,
    /// The drift was too wide when somebody looked.
    suspect: bool,
    /// Something was acknowledged. A vault without a record has no time yet: whoever opens it next makes it anew.
    is_anchored: bool,
    /// Something was acknowledged in this boot, so that another process can tell how far the wall clock moved in it.
    is_boot_on_record: bool,
    /// The suspicion was put on record, once for a boot or since the last confirmation.
    is_suspicion_on_record: bool,
}

impl Clock {
    pub(super) const fn starting_at(ms: u64) -> Self {
        Self {
            now: ms,
            durable: ms,
            latest: ms,
            drift: 0,
            may_be_suspect: false,
            suspect: false,
            is_anchored: false,
            is_boot_on_record: false,
            is_suspicion_on_record: false,
        }
    }

    pub(super) const fn now(&self) -> StoreTime {
        StoreTime::from_ms(self.now)
    }

    pub(super) const fn is_suspect(&self) -> bool {
        self.suspect
    }

    pub(super) const fn tick(&mut self, ms: u64) {
        self.now = self.now.saturating_add(ms);
        self.latest = self.latest.saturating_add(ms);
    }

    pub(super) fn jump_wall(&mut self, ms: i64) {
        self.drift += i128::from(ms);
        self.may_be_suspect |= self.is_too_wide();
    }

    /// A vault reads the clocks.
    pub(super) fn look(&mut self) {
        self.suspect |= self.is_too_wide();
    }

    /// An opening or a reclaim run puts suspicion on record.
    pub(super) fn note_suspicion(&mut self) {
        self.look();
        if self.suspect && !self.is_suspicion_on_record {
            self.acknowledge();
            self.is_suspicion_on_record = true;
        }
    }

    /// A record with the time in it was acknowledged.
    pub(super) const fn acknowledge(&mut self) {
        self.durable = self.now;
        self.is_anchored = true;
        self.is_boot_on_record = true;
    }

    /// A confirmation is an override: it may run ahead of real time, because somebody vouches for it.
    pub(super) const fn confirm(&mut self, ahead_ms: u64) {
        self.now = self.now.saturating_add(ahead_ms);
        self.latest = self.now;
        self.drift = 0;
        self.may_be_suspect = false;
        self.suspect = false;
        self.is_suspicion_on_record = false;
    }

    /// The process is killed. What it saw of the clocks and put on no record, nobody knows any more.
    pub(super) const fn kill(&mut self) {
        if !self.is_boot_on_record {
            self.drift = 0;
            self.may_be_suspect = false;
            self.suspect = false;
        }
    }

    /// Another boot: time since the last record and time down are credited zero, and suspicion ends.
    pub(super) const fn boot(&mut self) {
        self.now = self.durable;
        self.is_boot_on_record = false;
        self.is_suspicion_on_record = false;
        self.kill();
    }

    /// Takes over what a vault says, if it may say so.
    pub(super) fn adopt(&mut self, now: StoreTime, suspect: bool) -> Result<(), Violation> {
        let ms = now.as_ms();
        if !self.is_anchored {
            *self = Self::starting_at(ms);
        }
        if ms > self.latest {
            let what = format!("store time {ms} ms runs ahead of real time, which allows {} ms", self.latest);
            return Err(Violation { invariant: "I5", what });
        }
        if ms < self.durable {
            let what = format!("store time {ms} ms is before {} ms, which was acknowledged", self.durable);
            return Err(Violation { invariant: "I1", what });
        }
        if suspect && !self.may_be_suspect {
            return Err(Violation { invariant: "I39", what: "lag is taken for suspicion".into() });
        }
        if !suspect && (self.suspect || self.is_too_wide()) {
            let what = format!("a drift of {} ms goes unnoticed", self.drift);
            return Err(Violation { invariant: "I39", what });
        }
        self.now = ms;
        self.latest = ms;
        self.suspect = suspect;
        self.note_suspicion();
        Ok(())
    }

    const fn is_too_wide(&self) -> bool {
        self.drift.unsigned_abs() > DRIFT_MS_MAX as u128
    }
}
