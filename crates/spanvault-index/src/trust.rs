//! Whether an index that is found on disk may be used (E2, E4, I12).

use std::path::{Path, PathBuf};

use spanvault_env::BootId;
use spanvault_types::{Commit, IndexClosed, Position};

use crate::stamp::Stamp;
use crate::{Applied, Index, IndexError, SledIndex, files};

/// What the log says about itself: all that an index is compared with.
pub struct LogView<'a> {
    /// The last position of the log.
    pub end: Position,
    /// The newest clean close that the log notes.
    pub closed: Option<IndexClosed>,
    /// The commit at a position, if there is one.
    pub commit: &'a dyn Fn(Position) -> Option<Commit>,
}

impl std::fmt::Debug for LogView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogView")
            .field("end", &self.end)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

/// An index that may be used, and why.
#[derive(Debug)]
pub struct Opened {
    /// The index. It follows the log up to [`Index::applied`]; what comes after is still to be applied.
    pub index: SledIndex,
    /// What was found.
    pub trust: Trust,
}

/// What was found where the index belongs.
#[derive(Debug)]
pub enum Trust {
    /// An index that agrees with the log.
    Trusted,
    /// Nothing; the index is empty.
    Fresh,
    /// Something that cannot be trusted; the index is empty.
    SetAside {
        /// Why.
        why: Distrust,
        /// Where it is now. The next one that is set aside replaces it.
        aside: PathBuf,
    },
}

/// Why an index is not trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Distrust {
    /// It does not open.
    #[error("it does not open")]
    Unreadable(#[source] IndexError),
    /// It does not say how far it followed the log.
    #[error("it does not say how far it followed the log")]
    NoStamp,
    /// It followed the log further than the log goes.
    #[error("it followed the log up to {applied}, and the log ends at {end}")]
    AheadOfLog {
        /// How far it says.
        applied: Position,
        /// The end of the log.
        end: Position,
    },
    /// It followed another log, or another history of this one.
    #[error("the log has no such commit at {applied}")]
    AnotherLog {
        /// How far it says.
        applied: Position,
    },
    /// It has lost entries, or has more than it should.
    #[error("it has {found} entries and should have {expected}")]
    Entries {
        /// How many it should have.
        expected: u64,
        /// How many it has.
        found: u64,
    },
    /// It was written in another boot and not closed cleanly, so a power cut may have taken any part of it.
    #[error("it was written in another boot and not closed cleanly")]
    NotClosed,
}

/// Opens the index in `dir` if it can be trusted; otherwise sets it aside and makes an empty one.
///
/// `boot_id` is the boot that the machine is in. An index is trusted within the boot that wrote it, where a process
/// that was killed can have lost no more than its newest entries, or after a clean close; and only if the log
/// has the commit that it was last brought up to, with the same chain value and the same counts. Without a clean
/// close its entries are counted too, which takes seconds for a million of them: after a crash, open it in the
/// background.
///
/// # Errors
/// [`IndexError::InUse`] and [`IndexError::NoSpace`] say nothing against the index, and it stays as it is. Others
/// mean that no index can be kept here at all.
pub fn open_trusted(dir: &Path, boot_id: Option<BootId>, log: &LogView<'_>) -> Result<Opened, IndexError> {
    if !files::exists(dir) {
        return Ok(Opened { index: SledIndex::create(dir)?, trust: Trust::Fresh });
    }
    let why = match open_as_found(dir, boot_id, log) {
        Ok(index) => return Ok(Opened { index, trust: Trust::Trusted }),
        Err(Distrust::Unreadable(error @ (IndexError::InUse { .. } | IndexError::NoSpace { .. }))) => {
            return Err(error);
        }
        Err(why) => why,
    };
    let aside = files::set_aside(dir)?;
    Ok(Opened { index: SledIndex::create(dir)?, trust: Trust::SetAside { why, aside } })
}

fn open_as_found(dir: &Path, boot_id: Option<BootId>, log: &LogView<'_>) -> Result<SledIndex, Distrust> {
    files::check_private(dir).map_err(Distrust::Unreadable)?;
    let note = files::take_note(dir).map_err(Distrust::Unreadable)?;
    let (index, stamp) = SledIndex::open(dir).map_err(Distrust::Unreadable)?;
    let stamp = stamp.ok_or(Distrust::NoStamp)?;
    if judge(&stamp, note.as_ref(), boot_id, log)? == Evidence::SameBoot {
        let found = index.count_entries().map_err(Distrust::Unreadable)?;
        if found != stamp.entries {
            return Err(Distrust::Entries { expected: stamp.entries, found });
        }
    }
    // From here on it is this boot that writes, and the next process of this boot has to know.
    let applied = Applied { boot_id, ..stamp.applied };
    index.apply(&[], applied).and_then(|()| index.hand_over()).map_err(Distrust::Unreadable)?;
    Ok(index)
}

/// What speaks for the files of an index that agrees with the log.
#[derive(Debug, PartialEq, Eq)]
enum Evidence {
    /// They were closed cleanly, and nobody has touched them since.
    CleanClose,
    /// They were written in this boot, so no power cut came between.
    SameBoot,
}

/// Decides by the stamp in the index, the note of a clean close beside it, and the log.
fn judge(
    stamp: &Stamp,
    note: Option<&Stamp>,
    boot_id: Option<BootId>,
    log: &LogView<'_>,
) -> Result<Evidence, Distrust> {
    let Applied { position: applied, counts, chain, boot_id: written_in } = stamp.applied;
    if applied > log.end {
        return Err(Distrust::AheadOfLog { applied, end: log.end });
    }
    let agrees = |commit: &Commit| commit.chain == chain && commit.counts == counts;
    if !(log.commit)(applied).as_ref().is_some_and(agrees) {
        return Err(Distrust::AnotherLog { applied });
    }
    let noted = log.closed.is_some_and(|closed| closed.applied == applied && closed.counts == counts);
    if noted && note == Some(stamp) {
        Ok(Evidence::CleanClose)
    } else if boot_id.is_some() && boot_id == written_in {
        Ok(Evidence::SameBoot)
    } else {
        Err(Distrust::NotClosed)
    }
}

#[cfg(test)]
mod tests;
