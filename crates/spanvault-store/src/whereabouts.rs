//! Where an original is, and what the log says about its life.

use spanvault_types::key::{self, Table};
use spanvault_types::{Event, Position};

use crate::damage::{Damage, Fault};
use crate::error::{Result, StoreError, io_error};
use crate::frame::Form;
use crate::lookup::Located;
use crate::read::{EVENT_READ_BYTES, RawFrame};
use crate::store::Store;

/// Where an original is (I64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// In the log.
    Hot,
    /// In a cold pack. The log may still have it too.
    Cold {
        /// The pack.
        pack: u64,
    },
    /// Due, and waiting for its grace; the bytes are there.
    Condemned {
        /// The record that condemned it.
        by: Position,
    },
    /// Gone, lawfully.
    Reclaimed {
        /// Its tombstone.
        tombstone: Position,
    },
    /// Damaged, as far as is known without hashing it again.
    Corrupt,
    /// Not there, though it was acknowledged.
    Missing,
    /// There is no original at this position.
    Nothing,
}

impl Whereabouts {
    /// Whether the bytes can be read.
    pub const fn is_retrievable(self) -> bool {
        matches!(self, Self::Hot | Self::Cold { .. } | Self::Condemned { .. })
    }

    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold { .. } => "cold",
            Self::Condemned { .. } => "condemned",
            Self::Reclaimed { .. } => "reclaimed",
            Self::Corrupt => "corrupt",
            Self::Missing => "missing",
            Self::Nothing => "nothing",
        }
    }
}

/// What the log says about the life of an original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Condemned(Position),
    Reclaimed(Position),
}

impl Store {
    /// Says where the original is that the frame at `at` carries or shares. Its bytes are not hashed; what was found
    /// damaged before is known.
    pub fn whereabouts(&self, at: Position) -> Whereabouts {
        self.retrying(|| self.place(at)).unwrap_or(Whereabouts::Corrupt)
    }

    fn place(&self, at: Position) -> Result<Whereabouts> {
        let carrier = match self.carrier(at, EVENT_READ_BYTES) {
            Err(StoreError::NotFound { .. } | StoreError::NoOriginal { .. }) => {
                return Ok(Whereabouts::Nothing);
            }
            Err(rewritten @ StoreError::Rewritten { .. }) => return Err(rewritten),
            other => other,
        };
        let at = carrier.as_ref().map_or(at, |(located, _raw)| Position::new(located.at));
        self.place_of(at, carrier, self.last_fate(at)?, || self.last_demotion(at))
    }

    /// As [`Store::whereabouts`], of what was read of the carrier at `at`, and the last records of its fate and of its
    /// demotion.
    pub(crate) fn place_of(
        &self,
        at: Position,
        carrier: Result<(Located, RawFrame)>,
        last_fate: Option<Position>,
        last_demotion: impl FnOnce() -> Result<Option<Position>>,
    ) -> Result<Whereabouts> {
        let fate = self.fate_after(last_fate)?;
        if let Fate::Reclaimed(tombstone) = fate {
            return Ok(Whereabouts::Reclaimed { tombstone });
        }
        let hot = match carrier {
            Ok((located, raw)) => self.hot_place(&located, &raw)?,
            Err(StoreError::Missing { .. }) => Whereabouts::Missing,
            Err(_unreadable) => Whereabouts::Corrupt,
        };
        let cold = match last_demotion().and_then(|last| self.readable_demotion_by(at, last)) {
            // What the log has is there, whatever became of a copy.
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) if hot == Whereabouts::Hot => None,
            found => found?.filter(|demotion| self.is_cold(at, demotion)),
        };
        Ok(match (cold, hot, fate) {
            (Some(_), _, Fate::Condemned(by)) | (None, Whereabouts::Hot, Fate::Condemned(by)) => {
                Whereabouts::Condemned { by }
            }
            (Some(demotion), _, _) => Whereabouts::Cold { pack: demotion.pack },
            (None, Whereabouts::Missing, _)
                if self.has_damage(at, |damage| damage.fault == Fault::ColdCopy) =>
            {
                Whereabouts::Corrupt
            }
            (None, hot, _) => hot,
        })
    }

    /// What a frame says of its own body.
    fn hot_place(&self, located: &Located, raw: &RawFrame) -> Result<Whereabouts> {
        let at = Position::new(located.at);
        if raw.head.form != Form::Full {
            return Ok(Whereabouts::Missing);
        }
        let spoils_body =
            |damage: &Damage| matches!(damage.fault, Fault::Body | Fault::Frame | Fault::Missing);
        if self.has_damage(at, spoils_body) {
            return Ok(Whereabouts::Corrupt);
        }
        if raw.is_read_whole() {
            return Ok(Whereabouts::Hot);
        }
        let len = located.file.len().map_err(io_error("read", &self.layout.segment(located.segment)))?;
        let whole = located.slot.offset + raw.head.frame_len() <= len;
        Ok(if whole { Whereabouts::Hot } else { Whereabouts::Missing })
    }

    /// Whether the damaged record at `record` tells the fate of several originals, as its keys say. A tombstone never does.
    fn names_several(&self, record: Position) -> Result<bool> {
        let count = || {
            let fates = self.scan(&[Table::Fate as u8])?;
            Ok(fates.iter().filter(|(_key, at)| *at == record).nth(1).is_some())
        };
        self.cold.names_several.get(record.get(), count).map(|several| *several)
    }

    /// The last that the log says about an original's life.
    pub(crate) fn fate(&self, at: Position) -> Result<Fate> {
        self.fate_after(self.last_fate(at)?)
    }

    /// What the last record of its fate says about the life of an original; without one it is kept.
    pub(crate) fn fate_after(&self, last: Option<Position>) -> Result<Fate> {
        last.map_or(Ok(Fate::Kept), |record| self.fate_by(record))
    }

    /// The last record that condemned, rescued or reclaimed the original at `at`.
    fn last_fate(&self, at: Position) -> Result<Option<Position>> {
        Ok(self.last_under(&key::key(Table::Fate, &[at]))?.map(|entry| Position::new(entry.at)))
    }

    /// What a record says about the life of the originals that it is about.
    fn fate_by(&self, record: Position) -> Result<Fate> {
        self.cold.fates.get(record.get(), || self.read_fate(record)).map(|fate| *fate)
    }

    fn read_fate(&self, record: Position) -> Result<Fate> {
        let event = match self.frame(record) {
            Ok(frame) => frame.event,
            // Condemned or rescued: nobody can read since when, so it is condemned anew before it may go.
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) if self.names_several(record)? => {
                return Ok(Fate::Kept);
            }
            Err(error) => return Err(error),
        };
        if matches!(event, Event::Reclaimed(_)) {
            return Ok(Fate::Reclaimed(record));
        }
        Ok(if matches!(event, Event::Condemned(_)) { Fate::Condemned(record) } else { Fate::Kept })
    }
}
