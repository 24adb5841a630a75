//! The segments of a log at one moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use spanvault_env::DiskFile;
use spanvault_env::sync::{RwLock, RwLockReadGuard};

use crate::handles::FileId;
use crate::segment::{KeyRange, SegmentHead, SegmentMap};
use crate::sidecar::Sidecar;

/// A segment that nothing is added to any more.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) head: SegmentHead,
    /// Whether the head was read from the file; otherwise it was put together from what the frames say.
    pub(crate) head_intact: bool,
    sidecar: Option<Sidecar>,
    /// A read found the sidecar damaged: it is not used again.
    distrusted: AtomicBool,
}

impl Sealed {
    pub(crate) const fn new(head: SegmentHead, head_intact: bool, sidecar: Option<Sidecar>) -> Self {
        Self { head, head_intact, sidecar, distrusted: AtomicBool::new(false) }
    }

    pub(crate) const fn number(&self) -> u64 {
        self.head.number
    }

    /// The sidecar, as long as it can be trusted.
    pub(crate) fn sidecar(&self) -> Option<&Sidecar> {
        self.sidecar.as_ref().filter(|_| !self.distrusted.load(Ordering::Relaxed))
    }

    /// Whether its sidecar tells, without a read, that it has no key of a range.
    pub(crate) fn rules_out(&self, range: &KeyRange) -> bool {
        self.sidecar().is_some_and(|sidecar| sidecar.rules_out(range))
    }

    pub(crate) fn distrust(&self) {
        self.distrusted.store(true, Ordering::Relaxed);
    }

    pub(crate) const fn log_id(&self) -> FileId {
        FileId::Segment(self.head.number, self.head.nonce)
    }

    pub(crate) const fn sidecar_id(&self) -> FileId {
        FileId::Sidecar(self.head.number, self.head.nonce)
    }
}

/// The segment that batches are added to.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) head: SegmentHead,
    pub(crate) head_intact: bool,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) map: RwLock<SegmentMap>,
}

impl Open {
    /// The map, held for a moment: never while a disk is waited for.
    pub(crate) fn map(&self) -> RwLockReadGuard<'_, SegmentMap> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All segments, in order.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) sealed: Vec<Arc<Sealed>>,
    pub(crate) open: Arc<Open>,
}

/// Which segment a position belongs to.
#[derive(Debug)]
pub(crate) enum Home<'v> {
    Open(&'v Arc<Open>),
    /// A sealed segment, and the position at which the next segment begins.
    Sealed(&'v Arc<Sealed>, u64),
    /// Before the first segment that is there.
    Nowhere,
}

impl View {
    pub(crate) fn home(&self, at: u64) -> Home<'_> {
        if at >= self.open.head.first {
            return Home::Open(&self.open);
        }
        let after = self.sealed.partition_point(|segment| segment.head.first <= at);
        match after.checked_sub(1).and_then(|index| self.sealed.get(index)) {
            Some(segment) => Home::Sealed(segment, self.first_after(after)),
            None => Home::Nowhere,
        }
    }

    /// The sealed segments, each with the position at which the next one begins.
    pub(crate) fn sealed(&self) -> impl DoubleEndedIterator<Item = (&Arc<Sealed>, u64)> {
        self.sealed.iter().enumerate().map(|(index, segment)| (segment, self.first_after(index + 1)))
    }

    fn first_after(&self, index: usize) -> u64 {
        self.sealed.get(index).map_or(self.open.head.first, |next| next.head.first)
    }

    /// This view with one sealed segment exchanged.
    pub(crate) fn with_sealed(&self, segment: Sealed) -> Self {
        let number = segment.number();
        let mut sealed = self.sealed.clone();
        if let Some(old) = sealed.iter_mut().find(|old| old.number() == number) {
            *old = Arc::new(segment);
        }
        Self { sealed, open: Arc::clone(&self.open) }
    }
}
