//! Makes files and puts them in place.
//!
//! A file gets its name when it is whole and synced; the directory is synced before anything rests on the name (I10).

use std::io;
use std::path::Path;
use std::sync::Arc;

use spanvault_env::{DiskFile, OpenMode};

use spanvault_types::planted::{Bug, is_planted};

use crate::error::{Result, StoreError, io_error};
use crate::handles::FileId;
use crate::layout::tmp;
use crate::segment::SegmentHead;
use crate::sidecar::Sidecar;
use crate::store::Store;

impl Store {
    /// Makes a segment file that is durable, entry and all, before anything is written to it (I10).
    pub(crate) fn create_segment(&self, head: &SegmentHead) -> Result<Arc<dyn DiskFile>> {
        let path = self.layout.segment(head.number);
        let disk = &self.env.disk;
        let create = || -> io::Result<Arc<dyn DiskFile>> {
            let file = match disk.open(&path, OpenMode::CreateNew) {
                // Left over from an attempt that found the disk full: nothing was ever written to it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    disk.remove(&path)?;
                    disk.open(&path, OpenMode::CreateNew)?
                }
                other => other?,
            };
            file.write_at(&head.encode(&self.key), 0)?;
            file.sync()?;
            Ok(Arc::from(file))
        };
        let file = create().map_err(io_error("create", &path))?;
        if !is_planted(Bug::NoDirSync) {
            disk.sync_dir(&self.layout.log).map_err(io_error("sync", &self.layout.log))?;
        }
        Ok(file)
    }

    /// Writes the sidecar of a segment; `None` where the disk is too full for it.
    pub(crate) fn write_sidecar(&self, head: &SegmentHead, bytes: &[u8]) -> Result<Option<Sidecar>> {
        let path = self.layout.sidecar(head.number);
        match self.replace_file(&path, bytes) {
            Ok(()) => {}
            Err(StoreError::NoSpace { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
        let file = self.env.disk.open(&path, OpenMode::Read).map_err(io_error("open", &path))?;
        let sidecar = Sidecar::open(&*file, &self.key, head.number).ok();
        self.handles.keep(FileId::Sidecar(head.number, head.nonce), Arc::from(file));
        Ok(sidecar)
    }

    /// Writes a file under another name, syncs it and puts it in its place. The directory is not synced.
    fn replace_file(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let draft = tmp(path);
        self.write_draft(&draft, bytes)?;
        self.env.disk.rename(&draft, path).map_err(io_error("rename", &draft))
    }

    /// An empty file under a draft name.
    pub(crate) fn new_draft(&self, draft: &Path) -> Result<Box<dyn DiskFile>> {
        match self.env.disk.remove(draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("remove", draft)(error));
            }
            _gone => {}
        }
        self.env.disk.open(draft, OpenMode::CreateNew).map_err(io_error("create", draft))
    }

    /// Writes a whole file under its draft name, and syncs it.
    pub(crate) fn write_draft(&self, draft: &Path, bytes: &[u8]) -> Result<()> {
        let file = self.new_draft(draft)?;
        file.write_at(bytes, 0).and_then(|()| file.sync()).map_err(io_error("write", draft))
    }

    /// Puts finished files in the place of others and makes that durable. If it fails nobody knows which of them a
    /// crash would leave, so the store goes no further (I8).
    pub(crate) fn put_in_place(&self, files: &[(&Path, &Path)], dir: &Path) -> Result<()> {
        for (draft, path) in files {
            if let Err(error) = self.env.disk.rename(draft, path) {
                self.flush.poison();
                return Err(io_error("rename", draft)(error));
            }
        }
        self.sync_dir(dir)
    }

    /// Makes the entries of a directory durable; if that fails, the store goes no further (I8).
    pub(crate) fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.env.disk.sync_dir(dir).map_err(|error| {
            self.flush.poison();
            StoreError::Io { action: "sync", path: dir.to_owned(), source: error }
        })
    }
}
