//! Replaces a pack by its living entries.
//!
//! The new file is written beside the old one, synced and read back before it is renamed over it. What is damaged is
//! carried over as it is.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use spanvault_env::OpenMode;
use spanvault_types::Position;
use spanvault_types::key::{self, Table};

use crate::cold::{Line, Method, Pack, PackWriter};
use crate::error::{Result, io_error};
use crate::layout::tmp;
use crate::sidecar::Unusable;
use crate::store::Store;
use crate::whereabouts::Fate;

impl Store {
    /// Rewrites a pack without the entries of reclaimed originals, or removes it if no other is left. Returns the bytes
    /// that were freed; `None` where the pack cannot be read well enough to be replaced.
    pub(crate) fn rewrite_pack(&self, id: u64) -> Result<Option<u64>> {
        let path = self.layout.pack(id);
        let Some(old) = self.usable_pack(id)? else { return Ok(None) };
        let Some(lines) = self.living_lines(id, &old)? else { return Ok(None) };
        let old_bytes = self.len_of(&path)?;
        if lines.iter().all(|line| line.method == Method::Dropped) {
            drop(old);
            self.env.disk.remove(&path).map_err(io_error("remove", &path))?;
            self.forget_pack(id);
            self.sync_dir(&self.layout.cold)?;
            return Ok(Some(old_bytes));
        }
        let draft = tmp(&path);
        let written = self.copy_pack(id, &old, &lines, &draft);
        let new_bytes = match written {
            Ok(Some(bytes)) => bytes,
            refused => {
                drop(self.env.disk.remove(&draft));
                return refused;
            }
        };
        self.put_in_place(&[(&draft, &path)], &self.layout.cold)?;
        self.forget_pack(id);
        Ok(Some(old_bytes.saturating_sub(new_bytes)))
    }

    /// The lines of a pack, those of reclaimed originals dropped; `None` where one cannot be read.
    fn living_lines(&self, id: u64, pack: &Pack) -> Result<Option<Vec<Line>>> {
        let Some((_key, record)) = self.scan_last(&key::key(Table::Pack, &[Position::new(id)]))? else {
            return Ok(None);
        };
        let Some(demotion) = self.demotion_at(record)? else { return Ok(None) };
        let mut lines = Vec::with_capacity(demotion.originals.len());
        for (number, at) in (0..).zip(&demotion.originals) {
            match self.usable_line(pack, id, number)? {
                Some(line) if line.position == at.get() => {
                    let is_dead = matches!(self.fate(*at)?, Fate::Reclaimed(_));
                    let method = if is_dead { Method::Dropped } else { line.method };
                    lines.push(Line { method, ..line });
                }
                _other => return Ok(None),
            }
        }
        Ok(Some(lines))
    }

    /// Writes the new file of a pack and reads back every living original that was good; `None` where one is not.
    fn copy_pack(&self, id: u64, old: &Pack, lines: &[Line], draft: &Path) -> Result<Option<u64>> {
        let file = self.new_draft(draft)?;
        let write = || -> std::result::Result<u64, Unusable> {
            let mut writer = PackWriter::new(&*file, &self.key, id, old.dictionary())?;
            let mut good = BTreeSet::new();
            // As they lay in the old file: neighbours stay neighbours.
            let mut lines = lines.to_vec();
            lines.sort_by_key(|line| line.offset);
            for line in lines {
                if line.method == Method::Dropped {
                    writer.add_stored(line, &[])?;
                    continue;
                }
                good.extend(old.original(&line).is_ok().then_some(line.position));
                if line.method == Method::Chunked {
                    writer.add_stored_pieces(line, &old.pieces(&line)?, |piece| old.stored_piece(piece))?;
                } else {
                    writer.add_stored(line, &old.stored(&line)?)?;
                }
            }
            let len = writer.finish()?;
            let reader = self.env.disk.open(draft, OpenMode::Read)?;
            let pack = Pack::open(Arc::from(reader), &self.key, id)?;
            for number in 0..pack.count() {
                let line = pack.line(number)?;
                if good.contains(&line.position) {
                    pack.original(&line)?;
                }
            }
            Ok(len)
        };
        match write() {
            Ok(len) => Ok(Some(len)),
            Err(Unusable::Damaged) => Ok(None),
            Err(Unusable::Io(error)) => Err(io_error("write", draft)(error)),
        }
    }

    fn len_of(&self, path: &Path) -> Result<u64> {
        let len = self.env.disk.open(path, OpenMode::Read).and_then(|file| file.len());
        len.map_err(io_error("read", path))
    }
}
