//! Clocks that a test turns.

use std::sync::PoisonError;

use super::rng::Rng;
use crate::sync::Mutex;
use crate::{BootId, Clock};

/// True time where a simulation starts: 2026-01-01.
const START_MS: u64 = 1_767_225_600_000;

/// How long the machine is up when a simulation starts, in milliseconds.
const START_UPTIME_MS: u64 = 60_000;

/// The clocks of a simulated machine, beside a true time that no engine can see.
#[derive(Debug)]
pub struct SimClock {
    machine: Mutex<Machine>,
}

#[derive(Debug)]
struct Machine {
    rng: Rng,
    true_ms: u64,
    boot_ms: u64,
    /// The wall clock minus true time.
    wall_off_ms: i128,
    boot_id: BootId,
    boot_id_hidden: bool,
}

impl SimClock {
    /// A machine whose clocks are right. The seed gives the boot ids.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let boot_id = draw_boot_id(&mut rng);
        Self {
            machine: Mutex::new(Machine {
                rng,
                true_ms: START_MS,
                boot_ms: START_UPTIME_MS,
                wall_off_ms: 0,
                boot_id,
                boot_id_hidden: false,
            }),
        }
    }

    /// The time that it really is, in milliseconds after the epoch.
    pub fn true_ms(&self) -> u64 {
        self.with(|machine| machine.true_ms)
    }

    /// Lets time pass.
    pub fn advance(&self, ms: u64) {
        self.with(|machine| {
            machine.true_ms = machine.true_ms.saturating_add(ms);
            machine.boot_ms = machine.boot_ms.saturating_add(ms);
        });
    }

    /// Lets the machine sleep: the boot clock counts that time, so this differs from [`SimClock::advance`] in
    /// nothing that an engine may notice.
    pub fn suspend(&self, ms: u64) {
        self.advance(ms);
    }

    /// Stops the whole machine, as a hypervisor does: true time passes and neither of its clocks sees it.
    pub fn pause(&self, ms: u64) {
        self.with(|machine| {
            machine.true_ms = machine.true_ms.saturating_add(ms);
            machine.wall_off_ms -= i128::from(ms);
        });
    }

    /// Moves the wall clock by any amount, either way.
    pub fn jump_wall(&self, by_ms: i64) {
        self.with(|machine| machine.wall_off_ms += i128::from(by_ms));
    }

    /// Sets the wall clock right.
    pub fn mend_wall(&self) {
        self.with(|machine| machine.wall_off_ms = 0);
    }

    /// Restarts the machine after `down_ms` of being off: the boot clock begins at 0 and the boot has a new id.
    pub fn reboot(&self, down_ms: u64) {
        self.with(|machine| {
            machine.true_ms = machine.true_ms.saturating_add(down_ms);
            machine.boot_ms = 0;
            machine.boot_id = draw_boot_id(&mut machine.rng);
        });
    }

    /// Moves the boot clock within its boot, which no sane kernel does; another time namespace looks like it.
    pub fn jump_boot(&self, by_ms: i64) {
        self.with(|machine| machine.boot_ms = machine.boot_ms.saturating_add_signed(by_ms));
    }

    /// Makes the boot id unreadable.
    pub fn hide_boot_id(&self) {
        self.with(|machine| machine.boot_id_hidden = true);
    }

    /// Makes the boot id readable again.
    pub fn show_boot_id(&self) {
        self.with(|machine| machine.boot_id_hidden = false);
    }

    fn with<T>(&self, turn: impl FnOnce(&mut Machine) -> T) -> T {
        turn(&mut self.machine.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for SimClock {
    /// Stops at 0 and at the largest number.
    fn wall_ms(&self) -> u64 {
        self.with(|machine| {
            let wall = i128::from(machine.true_ms) + machine.wall_off_ms;
            u64::try_from(wall.max(0)).unwrap_or(u64::MAX)
        })
    }

    fn boot_ms(&self) -> u64 {
        self.with(|machine| machine.boot_ms)
    }

    fn boot_id(&self) -> Option<BootId> {
        self.with(|machine| (!machine.boot_id_hidden).then_some(machine.boot_id))
    }
}

fn draw_boot_id(rng: &mut Rng) -> BootId {
    // Zeros stand for "could not be read".
    let drawn = u128::from(rng.next()) << 64 | u128::from(rng.next());
    BootId(drawn.max(1).to_be_bytes())
}
