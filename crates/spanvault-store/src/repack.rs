//! Replaces a pack by its living entries.
//!
//! The new file is written beside the old one, synced and read back before it is renamed over it. What is damaged is
//! carried over as it is, unless something in the same block has to go: then the pack stays, and is reported.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use spanvault_env::OpenMode;
use spanvault_types::Position;
use spanvault_types::key::{self, Table};

use crate::cold::{Line, Member, Method, Pack, PackWriter};
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

    /// Writes the new file of a pack and reads back every living original that was good; `None` where one is not, or where
    /// what is dead cannot be parted from what is not.
    fn copy_pack(&self, id: u64, old: &Pack, lines: &[Line], draft: &Path) -> Result<Option<u64>> {
        let file = self.new_draft(draft)?;
        let write = || -> std::result::Result<u64, Unusable> {
            let packing = self.options.packing;
            let mut writer = PackWriter::new(&*file, &self.key, id, old.dictionary(), packing)?;
            let mut good = BTreeMap::new();
            // As they lay in the old file: neighbours stay neighbours.
            let mut lines = lines.to_vec();
            lines.sort_by_key(|line| (line.offset, line.position));
            for block in lines.chunk_by(|line, next| line.offset == next.offset) {
                let (dead, living): (Vec<Line>, Vec<Line>) =
                    block.iter().partition(|line| line.method == Method::Dropped);
                for line in dead {
                    writer.add_dropped(line.position);
                }
                for line in &living {
                    good.extend(old.original(line).ok().map(|(hash, _bytes)| (line.position, hash)));
                }
                copy_living(&mut writer, old, &living)?;
            }
            let len = writer.finish()?;
            let reader = self.env.disk.open(draft, OpenMode::Read)?;
            let pack = Pack::open(Arc::from(reader), &self.key, id)?;
            for number in 0..pack.count() {
                let line = pack.line(number)?;
                if let Some(hash) = good.get(&line.position)
                    && pack.original(&line)?.0 != *hash
                {
                    return Err(Unusable::Damaged);
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

/// Copies what lives of one block: as it is stored where all of it does, packed anew where some of it is dead.
fn copy_living(
    writer: &mut PackWriter<'_>,
    old: &Pack,
    living: &[Line],
) -> std::result::Result<(), Unusable> {
    let Some(first) = living.first() else { return Ok(()) };
    let member = |line: &Line, name| Member { position: line.position, name, raw: line.raw };
    if first.method == Method::Chunked {
        let (list, names) = old.packed(first)?;
        let name = first.name_in(&names).ok_or(Unusable::Damaged)?;
        let pieces = Pack::pieces_of(&list)?;
        return writer.add_stored_pieces(member(first, name), &pieces, |piece| old.stored_piece(piece));
    }
    if living.len() == first.together() {
        let (packed, names) = old.packed(first)?;
        let named = living.iter().map(|line| Some(member(line, line.name_in(&names)?)));
        let members = named.collect::<Option<Vec<Member>>>().ok_or(Unusable::Damaged)?;
        return Ok(writer.add_packed(&members, first.method, &packed)?);
    }
    let block = old.block(first)?;
    let (mut members, mut bytes) = (Vec::new(), Vec::new());
    for line in living {
        let (original, name) = block.of(line).ok_or(Unusable::Damaged)?;
        members.push(member(line, name));
        bytes.extend_from_slice(original);
    }
    Ok(writer.add_together(&members, &bytes)?)
}
