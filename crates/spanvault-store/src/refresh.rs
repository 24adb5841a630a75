//! A reader follows the writer.

use std::sync::{Arc, PoisonError};

use spanvault_env::OpenMode;
use spanvault_types::Position;

use crate::bytes::len_u64;
use crate::error::{Result, io_error};
use crate::hint::Hint;
use crate::segment::{Cursor, Replay, SEGMENT_HEAD_BYTES};
use crate::store::Store;
use crate::tail::Loader;
use crate::view::{Open, View};

impl Store {
    /// Lets a reader see what was committed since it opened or refreshed, always whole batches, and returns the last
    /// position. A writer sees everything anyway.
    ///
    /// # Errors
    /// What the file system says; what was seen before stays.
    pub fn refresh(&self) -> Result<Position> {
        if self.lock.is_some() {
            return Ok(self.head().position);
        }
        let _turn = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the log is looked at: what was acknowledged by now is there.
        let acked = self.acked()?;
        loop {
            let view = self.view();
            let next = view.open.head.number + 1;
            let until = self.begun(next)?;
            self.follow(&view.open, until.map_or(acked, |first| first - 1))?;
            if until.is_none() {
                return Ok(self.head().position);
            }
            self.move_on(&view, next, acked)?;
        }
    }

    fn acked(&self) -> Result<u64> {
        let path = &self.layout.acked;
        let hint = match self.env.disk.open(path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            opened => opened.and_then(|file| Hint::read(&*file, &self.key)),
        };
        Ok(hint.map_err(io_error("read", path))?.acked)
    }

    /// The first position of a segment that has frames.
    fn begun(&self, number: u64) -> Result<Option<u64>> {
        let path = self.layout.segment(number);
        let file = match self.env.disk.open(&path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io_error("open", &path))?,
        };
        let len = file.len().map_err(io_error("read", &path))?;
        if len <= len_u64(SEGMENT_HEAD_BYTES) {
            return Ok(None);
        }
        let head = self.loader().head(&*file, number).map_err(io_error("read", &path))?;
        Ok(head.map(|head| head.first))
    }

    /// Replays what was added to the open segment.
    fn follow(&self, open: &Arc<Open>, known: u64) -> Result<()> {
        let path = self.layout.segment(open.head.number);
        let (offset, next) = {
            let map = open.map();
            (map.end, map.next())
        };
        let tip = self.tip();
        let cursor = Cursor { next, known: tip.known.max(known), ..tip };
        let begin = || Replay::new(&*open.file, &self.key, open.head.number, offset, cursor);
        let replayed = Replay::run_beside_a_writer(begin).map_err(io_error("read", &path))?;
        for damage in replayed.damage {
            self.note_damage(damage);
        }
        {
            let mut map = open.map.write().unwrap_or_else(PoisonError::into_inner);
            map.slots.extend(replayed.map.slots);
            map.keys.extend(replayed.map.keys.into_entries());
            map.body_bytes += replayed.map.body_bytes;
            map.end = replayed.map.end;
        }
        self.set_tip(Cursor { next: replayed.cursor.next.max(tip.next), ..replayed.cursor });
        Ok(())
    }

    /// Takes the next segment as the open one.
    fn move_on(&self, view: &View, number: u64, acked: u64) -> Result<()> {
        let loader = self.loader();
        let tip = self.tip();
        let mut sealed = view.sealed.clone();
        let left = loader.sealed(&[view.open.head.number])?;
        sealed.extend(left.segments.into_iter().map(|(segment, _state)| Arc::new(segment)));
        let opened = loader.open(number, tip.next, acked, OpenMode::Read)?;
        for damage in &opened.replayed.damage {
            self.note_damage(*damage);
        }
        *opened.open.map.write().unwrap_or_else(PoisonError::into_inner) = opened.replayed.map;
        self.set_view(View { sealed, open: Arc::new(opened.open) });
        let cursor = opened.replayed.cursor;
        self.set_tip(Cursor { next: cursor.next.max(tip.next), ..cursor });
        Ok(())
    }

    pub(crate) fn loader(&self) -> Loader<'_> {
        Loader { env: &self.env, layout: &self.layout, key: &self.key }
    }
}
