//! Store time as an operator meets it: suspicion is put on record, and a person may credit time.

use spanvault_env::ClockState;
use spanvault_types::key::{self, Table};
use spanvault_types::{Actor, ClockConfirmed, ClockSuspected, Event, StoreTime};

use crate::demand::require_reason;
use crate::error::{Error, Result};
use crate::vault::Vault;

impl Vault {
    /// Credits store time up to `at`, and trusts the clock again. An override: goes into the log with who and why.
    ///
    /// Store time never goes back: an instant before now only ends the suspicion.
    ///
    /// # Errors
    /// `Invalid` without a reason, or for an instant later than the wall clock says: nobody can vouch for the future.
    pub fn confirm_clock(&self, at: StoreTime, by: Actor) -> Result<StoreTime> {
        require_reason("confirm the clock", &by)?;
        let wall_ms = self.options.env.clock.wall_ms();
        if at.as_ms() > wall_ms {
            return Err(Error::invalid(
                "confirm the clock: the instant is later than this machine's clock says",
            )
            .with_hint("set the machine's clock right first, then confirm what it shows"));
        }
        let mut writer = self.store.lock()?;
        let before = self.now();
        let after = before.max(at);
        let mut batch = writer.begin();
        batch.push(Event::ClockConfirmed(ClockConfirmed { before, after, by }), None);
        // On record before its effect is visible; a reopening takes the credit from the record.
        writer.commit(batch)?;
        self.store.clock().confirm(at);
        Ok(self.now())
    }

    /// Puts it on record when the clock became suspect, once per boot. A vault for reading keeps it to itself.
    pub(crate) fn note_suspicion(&self) -> Result<()> {
        let ClockState::Suspect { drift_ms } = self.store.clock_state() else { return Ok(()) };
        let boot_id = self.options.env.clock.boot_id().map_or([0; 16], |boot| boot.0);
        let last = self.store.scan_last(&key::key(Table::Clock, &[]))?;
        if let Some((_key, at)) = last
            && let Event::ClockSuspected(noted) = self.frame(at)?.event
            && noted.boot_id == boot_id
        {
            return Ok(());
        }
        let mut writer = self.store.lock()?;
        let mut batch = writer.begin();
        batch.push(Event::ClockSuspected(ClockSuspected { boot_id, drift_ms }), None);
        writer.commit(batch)?;
        Ok(())
    }
}
