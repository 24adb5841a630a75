//! What is wrong with a vault, as openings, reads and `verify` report it.

use std::path::{Path, PathBuf};

use spanvault_types::Position;

use crate::layout::Layout;

/// What is wrong with a stretch of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// The heads of the frames cannot be read, so nothing of them can.
    Frame,
    /// The event cannot be read; an original beside it still can, if it hashes to its name.
    Event,
    /// The original does not hash to its name.
    Body,
    /// The frames of a batch do not add up to its chain value.
    Chain,
    /// The head of a segment cannot be read. Its frames can.
    SegmentHead,
    /// The copy in the cold pack is damaged or gone.
    ColdCopy,
    /// The file ends before.
    Missing,
}

impl Fault {
    /// The number by which a sidecar tells what of a frame could not be read, where its keys are lost with that.
    pub(crate) const fn unread_code(self) -> Option<u64> {
        match self {
            Self::Frame => Some(1),
            Self::Event => Some(2),
            Self::Body | Self::Chain | Self::SegmentHead | Self::ColdCopy | Self::Missing => None,
        }
    }

    /// What a number of [`Fault::unread_code`] stands for.
    pub(crate) const fn of_unread(code: u64) -> Option<Self> {
        match code {
            1 => Some(Self::Frame),
            2 => Some(Self::Event),
            _ => None,
        }
    }

    /// The words that complete "read position 17:".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Frame => "the frame is damaged",
            Self::Event => "the event is damaged",
            Self::Body => "the original does not hash to its name",
            Self::Chain => "the batch does not fit the chain",
            Self::ColdCopy => "its copy in the cold pack is damaged",
            Self::SegmentHead => "the head of its segment is damaged",
            Self::Missing => "the file ends before it",
        }
    }
}

/// A stretch of the log that is not as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Damage {
    /// The first position that it concerns.
    pub from: Position,
    /// The last one.
    pub to: Position,
    /// The number of the segment: its file is `log/<8 digits>.log`. For a cold copy, the id of its pack.
    pub segment: u64,
    /// Where in the segment it begins.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

impl Damage {
    /// The file that it is in, as a path below the directory of the vault.
    pub fn file(&self) -> PathBuf {
        let layout = Layout::new(Path::new(""));
        match self.fault {
            Fault::ColdCopy => layout.pack(self.segment),
            Fault::Frame
            | Fault::Event
            | Fault::Body
            | Fault::Chain
            | Fault::SegmentHead
            | Fault::Missing => layout.segment(self.segment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_names_its_file() {
        let at = Position::new(3);
        let damage = |fault| Damage { from: at, to: at, segment: 17, offset: 0, fault };
        assert_eq!(damage(Fault::Body).file(), Path::new("log/00000017.log"));
        assert_eq!(damage(Fault::ColdCopy).file(), Path::new("cold/0000000000000011.pack"));
    }
}
