//! What a power cut leaves of the things that were not synced.

use super::rng::Rng;

/// Which unsynced things a crash image keeps.
///
/// The units are, in this order: each change of a directory, then file by file each unsynced 512-byte sector and
/// the file's length, if that changed. Any subset of them may reach a disk, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// All of them.
    All,
    /// None of them.
    Nothing,
    /// Unit *n* is kept where bit *n* is set; units from 64 on are lost.
    Subset(u64),
    /// The seed decides for each unit: kept, lost or torn. A torn sector ends in its old bytes, a torn length
    /// lies between the old and the new one, a torn rename leaves both names.
    Seeded(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Lost,
    /// Partly kept; the number says how far.
    Torn(u64),
}

/// Deals a fate to one unit after another.
#[derive(Debug)]
pub(super) struct Fates {
    survival: Survival,
    rng: Rng,
    /// Of 8 units, how many are kept and how many are lost; the others are torn. A property of the whole crash, so
    /// that some keep nearly all and some nearly nothing.
    kept: u64,
    lost: u64,
    dealt: usize,
}

impl Fates {
    pub(super) fn new(survival: Survival) -> Self {
        let seed = if let Survival::Seeded(seed) = survival { seed } else { 0 };
        let mut rng = Rng::new(seed);
        let (kept, lost) = match rng.below(4) {
            0 => (7, 0),
            1 => (0, 7),
            _ => (3, 4),
        };
        Self { survival, rng, kept, lost, dealt: 0 }
    }

    pub(super) fn deal(&mut self) -> Fate {
        let unit = self.dealt;
        self.dealt += 1;
        let keep = match self.survival {
            Survival::All => true,
            Survival::Nothing => false,
            Survival::Subset(mask) => u32::try_from(unit)
                .ok()
                .and_then(|unit| mask.checked_shr(unit))
                .is_some_and(|rest| rest & 1 == 1),
            Survival::Seeded(_) => {
                let draw = self.rng.below(8);
                if draw >= self.kept + self.lost {
                    return Fate::Torn(self.rng.next());
                }
                draw < self.kept
            }
        };
        if keep { Fate::Kept } else { Fate::Lost }
    }

    pub(super) fn dealt(&self) -> usize {
        self.dealt
    }
}
