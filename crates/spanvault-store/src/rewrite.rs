//! Replaces a segment by its events and living bodies.
//!
//! The new file is written beside the old one, synced, renamed over it, and the directory is synced; whenever that is
//! cut, one of the two is there and whole. Positions stay, so no pointer moves. What is damaged is carried over as it
//! is: a rewrite neither mends nor hides.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use spanvault_env::{DiskFile, OpenMode};
use spanvault_types::Position;

use crate::bytes::len_u64;
use crate::error::{Result, io_error};
use crate::frame::{Form, FrameHead};
use crate::layout::tmp;
use crate::lookup::Index;
use crate::segment::{SEGMENT_HEAD_BYTES, Scanned, Scanner, SegmentHead, SegmentMap, Slot, Step};
use crate::sidecar::{self, Sidecar};
use crate::stamp::Place;
use crate::store::Store;
use crate::view::Sealed;

/// A piece of a file that is copied at once.
const COPY_BYTES: usize = 1 << 20;

impl Store {
    /// Rewrites a segment without the bodies that need not stay. Returns the bytes that were freed; `None` where the
    /// segment cannot be read well enough to be replaced.
    pub(crate) fn rewrite_segment(&self, number: u64) -> Result<Option<u64>> {
        let view = self.view();
        let Some((segment, until)) = view.sealed().find(|(segment, _)| segment.number() == number) else {
            return Ok(None);
        };
        if !segment.head_intact {
            return Ok(None);
        }
        let old = self.log_file(segment)?;
        let map = self.with_index(segment, until, |index| match index {
            Index::Sidecar(sidecar, file) => sidecar.load(&*file()?),
            Index::Scanned(map) => Ok(SegmentMap::clone(map)),
        })?;
        let mut nonce = [0; 16];
        self.env.random.fill(&mut nonce);
        let head = SegmentHead { nonce, ..segment.head };
        let path = self.layout.segment(number);
        let index_path = self.layout.sidecar(number);

        let dead = self.bodies_to_drop(head.first, until)?.into_iter().map(|(at, _bytes)| at).collect();
        let written = self.copy_living(&*old, &head, map, &dead);
        let drafts = [tmp(&path), tmp(&index_path)];
        let ready = written.and_then(|(file, map)| {
            self.write_draft(&drafts[1], &sidecar::encode(&map, &head, &self.key))?;
            Ok((file, map))
        });
        let (file, map) = match ready {
            Ok(ready) => ready,
            Err(error) => {
                // Nothing was replaced. What is left of the drafts is removed now, or when the vault is opened next.
                for draft in &drafts {
                    drop(self.env.disk.remove(draft));
                }
                return Err(error);
            }
        };
        let old_bytes = old.len().map_err(io_error("read", &path))?;
        let replacing = self.replacing();
        self.put_in_place(&[(&drafts[0], &path), (&drafts[1], &index_path)], &self.layout.log)?;

        self.handles.forget(segment.log_id());
        self.handles.forget(segment.sidecar_id());
        let index = self.env.disk.open(&index_path, OpenMode::Read).map_err(io_error("open", &index_path))?;
        let renewed = Sealed::new(head, true, Sidecar::open(&*index, &self.key, number).ok());
        self.handles.keep(renewed.log_id(), file);
        self.handles.keep(renewed.sidecar_id(), Arc::from(index));
        self.set_view(self.view().with_sealed(renewed));
        drop(replacing);
        Ok(Some(old_bytes.saturating_sub(map.end)))
    }

    /// Writes the new file of a segment, synced, under its draft name.
    fn copy_living(
        &self,
        old: &dyn DiskFile,
        head: &SegmentHead,
        map: SegmentMap,
        dead: &BTreeSet<Position>,
    ) -> Result<(Arc<dyn DiskFile>, SegmentMap)> {
        let path = self.layout.segment(head.number);
        let draft = tmp(&path);
        let failed = io_error("rewrite", &path);
        let file = self.new_draft(&draft)?;
        let mut copy = Copy {
            store: self,
            old,
            new: &*file,
            number: head.number,
            dead,
            buffer: head.encode(&self.key),
            written: 0,
            slots: map.slots,
            first: map.first,
            body_bytes: 0,
        };
        let start = len_u64(SEGMENT_HEAD_BYTES);
        let mut scanner = Scanner::new(old, &self.key, head.number, start, head.first).map_err(&failed)?;
        loop {
            match scanner.step().map_err(&failed)? {
                Step::Frame(frame) => copy.frame(&frame)?,
                Step::Bad { offset, end, from, to } => {
                    copy.damaged(offset, end, from, to).map_err(&failed)?;
                }
                Step::End => break,
            }
        }
        let end = copy.finish(scanner.next()).map_err(&failed)?;
        let map = SegmentMap {
            first: map.first,
            slots: std::mem::take(&mut copy.slots),
            keys: map.keys,
            body_bytes: copy.body_bytes,
            end,
        };
        Ok((Arc::from(file), map))
    }
}

/// A segment that is being copied.
struct Copy<'a> {
    store: &'a Store,
    old: &'a dyn DiskFile,
    new: &'a dyn DiskFile,
    number: u64,
    /// What looked dead when the segment was chosen; it is asked about again, one by one.
    dead: &'a BTreeSet<Position>,
    buffer: Vec<u8>,
    written: u64,
    /// The slots of the old file, brought up to date frame by frame.
    slots: Vec<Slot>,
    first: u64,
    body_bytes: u64,
}

impl Copy<'_> {
    fn offset(&self) -> u64 {
        self.written + len_u64(self.buffer.len())
    }

    fn frame(&mut self, frame: &Scanned) -> Result<()> {
        let path = self.store.layout.segment(self.number);
        let at = Position::new(frame.head.seq);
        let named = || frame.decoded().and(frame.name.hash());
        let is_dead = frame.head.form == Form::Full
            && self.dead.contains(&at)
            && self.store.need_not_stay(at, named())?;
        let form = if is_dead { Form::Named } else { frame.head.form };
        // The checksum stays what it was: one that did not fit still does not.
        let head = FrameHead { form, ..frame.head };
        let offset = self.offset();
        self.moved(frame.head.seq, offset);
        self.buffer.extend_from_slice(&head.encode(&self.store.key, Place { file: self.number, offset }));
        self.buffer.extend_from_slice(&frame.event);
        frame.name.encode(&mut self.buffer);
        self.body_bytes += head.body_here();
        let body = frame.offset + frame.head.body_offset();
        self.bytes(body, body + head.body_here()).map_err(io_error("rewrite", &path))
    }

    /// Bytes that are no frame are carried over as they are, and what was found in them is found there again.
    fn damaged(&mut self, offset: u64, end: u64, from: u64, to: Option<u64>) -> io::Result<()> {
        let new = self.offset();
        let next = self.first + len_u64(self.slots.len());
        for seq in from..to.unwrap_or(next) {
            let old = self.slot(seq).and_then(|slot| slot.offset());
            if let Some(old) = old.filter(|old| (offset..end).contains(old)) {
                self.moved(seq, new + (old - offset));
            }
        }
        self.bytes(offset, end)
    }

    fn slot(&mut self, seq: u64) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(seq.checked_sub(self.first)?).ok()?)
    }

    fn moved(&mut self, seq: u64, offset: u64) {
        if let Some(slot) = self.slot(seq) {
            slot.offset = offset;
        }
    }

    /// Copies a stretch of the old file.
    fn bytes(&mut self, from: u64, to: u64) -> io::Result<()> {
        let mut from = from;
        while from < to {
            let want = usize::try_from(to - from).unwrap_or(usize::MAX).min(COPY_BYTES);
            let filled = self.buffer.len();
            self.buffer.resize(filled + want, 0);
            let read = self.old.read_at(self.buffer.get_mut(filled..).unwrap_or_default(), from)?;
            self.buffer.truncate(filled + read);
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            from += len_u64(read);
            self.flush_from(COPY_BYTES)?;
        }
        self.flush_from(COPY_BYTES)
    }

    fn flush_from(&mut self, bytes: usize) -> io::Result<()> {
        if self.buffer.len() >= bytes {
            self.new.write_at(&self.buffer, self.written)?;
            self.written += len_u64(self.buffer.len());
            self.buffer.clear();
        }
        Ok(())
    }

    /// Ends the file and makes it durable; `next` is the position after the last frame that was there.
    fn finish(&mut self, next: u64) -> io::Result<u64> {
        self.flush_from(0)?;
        self.new.sync()?;
        // Frames that the old file was too short for are missing in the new one too.
        let last = self.first + len_u64(self.slots.len());
        for seq in next..last {
            self.moved(seq, self.written);
        }
        Ok(self.written)
    }
}
