//! Moves originals to the cold tier: copy, sync, read back, compare, commit the switch.
//!
//! The log keeps its copy until space is freed, and that asks again whether the cold one is there. So at no instant is
//! there less than one good copy (I44).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use spanvault_env::{DiskFile, OpenMode};
use spanvault_types::key::{self, Table};
use spanvault_types::{ContentHash, Demoted, Event, Position};

use crate::bytes::len_u64;
use crate::cold::{DICTIONARY_HELPS_BYTES, Pack, PackWriter, train};
use crate::error::{Result, StoreError, io_error};
use crate::layout::{self, tmp};
use crate::read::BodyState;
use crate::rebuild::Progress;
use crate::sidecar::Unusable;
use crate::store::Store;
use crate::whereabouts::Whereabouts;
use crate::writer::Writer;

/// Originals in one pack at most.
const PACK_ORIGINALS_MAX: usize = 4096;
/// A pack is ended once it is this long, in bytes.
const PACK_BYTES: u64 = 32 << 20;
/// A dictionary is trained on samples of originals that have this many bytes together.
const SAMPLED_BYTES: u64 = 32 << 20;
/// A dictionary is trained on at most this many bytes of originals.
const SAMPLE_BYTES: u64 = 4 << 20;

/// What a demotion did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DemoteReport {
    /// Originals that have a verified cold copy from now on.
    pub demoted: u64,
    /// Their bytes.
    pub bytes_before: u64,
    /// Bytes of the packs that have them.
    pub bytes_after: u64,
    /// The packs.
    pub packs: Vec<u64>,
    /// Originals that were not demoted, and where they are: cold already, gone, or damaged.
    pub skipped: Vec<(Position, Whereabouts)>,
}

impl Store {
    /// Gives originals a verified copy in cold packs and commits the switch, pack by pack. The hot copies stay until
    /// [`Store::free_space`]. `progress` counts originals.
    ///
    /// # Errors
    /// What the file system says; [`StoreError::Corrupt`] where a pack does not read back as it was written. Packs that
    /// were committed before stay; one that was not is removed by a later run.
    pub fn demote(
        &self,
        writer: &mut Writer<'_>,
        originals: &[Position],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<DemoteReport> {
        writer.belongs_to(self)?;
        let mut report = DemoteReport::default();
        self.sweep_packs()?;
        let total = len_u64(originals.len());
        let mut seen = BTreeSet::new();
        let wanted: Vec<Position> = originals.iter().copied().filter(|at| seen.insert(*at)).collect();
        let mut chosen: Vec<Choice> = Vec::new();
        for at in wanted {
            match self.choose(at)? {
                Ok(choice) => chosen.push(choice),
                Err(elsewhere) => report.skipped.push((at, elsewhere)),
            }
        }
        let mut rest = chosen.as_slice();
        while !rest.is_empty() {
            progress(Progress { done: total.saturating_sub(len_u64(rest.len())), total });
            let taken = self.demote_into_pack(writer, rest, &mut report)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        progress(Progress { done: total, total });
        Ok(report)
    }

    /// Whether the original at `at` is to be demoted; if not, where it is.
    fn choose(&self, at: Position) -> Result<std::result::Result<Choice, Whereabouts>> {
        let place = self.whereabouts(at);
        let is_cold = match self.demotion(at) {
            Ok(demotion) => demotion.is_some_and(|demotion| self.is_cold(at, &demotion)),
            // Where its record is damaged the original is demoted once more.
            Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => false,
            Err(error) => return Err(error),
        };
        if is_cold || !matches!(place, Whereabouts::Hot | Whereabouts::Condemned { .. }) {
            return Ok(Err(place));
        }
        let frame = self.frame(at)?;
        let session =
            if let Event::SpanRecorded(span) = &frame.event { span.session } else { Position::ZERO };
        Ok(match frame.body {
            BodyState::Hot { len } => Ok(Choice { at, session, bytes: len }),
            // A span that shares the original of an earlier one: that one is demoted, not this.
            BodyState::None | BodyState::Dropped { .. } => Err(Whereabouts::Nothing),
        })
    }

    /// Demotes as many of the chosen as one pack takes, and gives their number.
    fn demote_into_pack(
        &self,
        writer: &mut Writer<'_>,
        chosen: &[Choice],
        report: &mut DemoteReport,
    ) -> Result<usize> {
        let id = self.new_pack_id()?;
        let path = self.layout.pack(id);
        let draft = tmp(&path);
        let disk = &self.env.disk;
        let packed = match self.write_pack(id, &draft, chosen, report) {
            Ok(packed) if !packed.originals.is_empty() => packed,
            nothing => {
                // What cannot be removed now, a later run removes.
                drop(disk.remove(&draft));
                return nothing.map(|empty| empty.taken);
            }
        };
        disk.rename(&draft, &path).map_err(io_error("rename", &draft))?;
        disk.sync_dir(&self.layout.cold).map_err(io_error("sync", &self.layout.cold))?;
        self.read_back(id, &packed.originals)?;

        let mut batch = writer.begin();
        let originals: Vec<Position> = packed.originals.iter().map(|(at, _hash)| *at).collect();
        let count = len_u64(originals.len());
        batch.push(Event::Demoted(Demoted { pack: id, originals }), None);
        writer.commit(batch)?;
        report.demoted += count;
        report.bytes_before += packed.bytes_before;
        report.bytes_after += packed.bytes_after;
        report.packs.push(id);
        Ok(packed.taken)
    }

    /// Writes a pack under its draft name, durable but for its entry in the directory.
    fn write_pack(
        &self,
        id: u64,
        draft: &Path,
        chosen: &[Choice],
        report: &mut DemoteReport,
    ) -> Result<Packed> {
        let dictionary = self.dictionary_for(chosen)?;
        let disk = &self.env.disk;
        disk.create_dir(&self.layout.cold).map_err(io_error("create", &self.layout.cold))?;
        let file = disk.open(draft, OpenMode::CreateNew).map_err(io_error("create", draft))?;
        let failed = io_error("write", draft);
        let packing = self.options.packing;
        let mut pack = PackWriter::new(&*file, &self.key, id, &dictionary, packing).map_err(&failed)?;
        let mut packed = Packed::default();
        for choice in chosen.iter().take(PACK_ORIGINALS_MAX) {
            packed.taken += 1;
            match self.original(choice.at) {
                Ok(original) => {
                    let (at, session) = (choice.at.get(), choice.session.get());
                    pack.add(at, session, &original.hash, &original.bytes).map_err(&failed)?;
                    packed.originals.push((choice.at, original.hash));
                    packed.bytes_before += choice.bytes;
                }
                Err(StoreError::Corrupt { .. }) => report.skipped.push((choice.at, Whereabouts::Corrupt)),
                Err(StoreError::Missing { .. }) => report.skipped.push((choice.at, Whereabouts::Missing)),
                Err(error) => return Err(error),
            }
            if pack.len() >= PACK_BYTES {
                break;
            }
        }
        packed.originals.sort_unstable();
        packed.bytes_after = pack.finish().map_err(&failed)?;
        Ok(packed)
    }

    /// Reads every original back out of a pack and compares its hash with the one in the log.
    fn read_back(&self, id: u64, packed: &[(Position, ContentHash)]) -> Result<()> {
        let path = self.layout.pack(id);
        let file: Arc<dyn DiskFile> =
            Arc::from(self.env.disk.open(&path, OpenMode::Read).map_err(io_error("open", &path))?);
        let check = || {
            let pack = Pack::open(file, &self.key, id)?;
            let mut same = pack.count() == len_u64(packed.len()) && pack.is_whole(&self.key)?;
            for (number, (at, hash)) in (0..).zip(packed) {
                let line = pack.line(number)?;
                let (found, _bytes) = pack.original(&line)?;
                same &= line.position == at.get() && found == *hash;
            }
            if same { Ok(()) } else { Err(Unusable::Damaged) }
        };
        check().map_err(|unusable| match unusable {
            Unusable::Io(error) => io_error("read", &path)(error),
            Unusable::Damaged => {
                StoreError::Damaged { path: path.clone(), what: "it does not read back as it was written" }
            }
        })
    }

    /// A dictionary trained on some of the originals, or an empty one.
    fn dictionary_for(&self, chosen: &[Choice]) -> Result<Vec<u8>> {
        let mut bytes = 0;
        let fits = |choice: &&Choice| {
            bytes += choice.bytes;
            bytes <= SAMPLED_BYTES
        };
        let chosen: Vec<Choice> = chosen.iter().take(PACK_ORIGINALS_MAX).take_while(fits).copied().collect();
        let total_bytes: u64 = chosen.iter().map(|choice| choice.bytes).sum();
        let short = || chosen.iter().filter(|choice| choice.bytes <= len_u64(DICTIONARY_HELPS_BYTES));
        let short_bytes: u64 = short().map(|choice| choice.bytes).sum();
        let step = usize::try_from(short_bytes / SAMPLE_BYTES + 1).unwrap_or(usize::MAX);
        let mut samples = Vec::new();
        for choice in short().step_by(step) {
            match self.original(choice.at) {
                Ok(original) => samples.push(original.bytes),
                Err(StoreError::Corrupt { .. } | StoreError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(train(&samples, total_bytes, self.options.packing).unwrap_or_default())
    }

    fn new_pack_id(&self) -> Result<u64> {
        loop {
            let mut bytes = [0; 8];
            self.env.random.fill(&mut bytes);
            let id = u64::from_le_bytes(bytes);
            if self.scan_last(&key::key(Table::Pack, &[Position::new(id)]))?.is_none() {
                return Ok(id);
            }
        }
    }

    /// Removes packs that no record of the log speaks of, and drafts: what an interrupted demotion left (I50).
    ///
    /// Where any of the log is damaged a record may be there and not be found, so nothing is removed (I47); nor is what
    /// holds an original that is nowhere else.
    pub(crate) fn sweep_packs(&self) -> Result<()> {
        let disk = &self.env.disk;
        let entries = match disk.list(&self.layout.cold) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            listed => listed.map_err(io_error("list", &self.layout.cold))?,
        };
        let mut removed = false;
        for entry in entries {
            let is_draft = entry.name.ends_with(layout::TMP) && !entry.is_dir;
            let is_left_over = match layout::pack_id(&entry.name) {
                Some(id) => self.scan_last(&key::key(Table::Pack, &[Position::new(id)]))?.is_none(),
                None => is_draft,
            };
            let may_go =
                || Ok::<_, StoreError>(self.damage_set().is_empty() && !self.is_last_copy(&entry.name)?);
            if is_left_over && (is_draft || may_go()?) {
                let path = self.layout.cold.join(&entry.name);
                disk.remove(&path).map_err(io_error("remove", &path))?;
                removed = true;
            }
        }
        if removed {
            disk.sync_dir(&self.layout.cold).map_err(io_error("sync", &self.layout.cold))?;
        }
        Ok(())
    }
}

impl Store {
    /// Whether a pack without a record has an original that neither the log nor another pack has: then there was a record.
    fn is_last_copy(&self, name: &str) -> Result<bool> {
        let Some(originals) = layout::pack_id(name).map(|id| self.directory(id)).transpose()?.flatten()
        else {
            return Ok(false);
        };
        let is_lost = |place: Whereabouts| matches!(place, Whereabouts::Missing | Whereabouts::Corrupt);
        Ok(originals.iter().any(|at| is_lost(self.whereabouts(*at))))
    }
}

/// An original that is to be demoted.
#[derive(Debug, Clone, Copy)]
struct Choice {
    at: Position,
    /// The session that it was recorded in first; zero where it is of none.
    session: Position,
    bytes: u64,
}

/// What went into a pack.
#[derive(Debug, Default)]
struct Packed {
    /// How many of the chosen it took, or found to be damaged.
    taken: usize,
    /// Ascending.
    originals: Vec<(Position, ContentHash)>,
    bytes_before: u64,
    bytes_after: u64,
}
