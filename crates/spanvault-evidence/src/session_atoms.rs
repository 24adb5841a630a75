//! The atoms of the spans of a session, each span read once.
//!
//! Whatever is done with spans that are about to leave the context asks for their atoms again: what refers to them, what
//! a summary drops, what its digest says, whether it may stand for them. Reading them is most of that work.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Atom, SpanText, atoms};

/// No more is kept than this, in bytes. What has no room is read again whenever it is asked for.
const BYTES_MAX: usize = 32 << 20;

/// The atoms of the spans of one session that were asked for so far.
#[derive(Debug, Default)]
pub struct SessionAtoms {
    spans: Vec<OnceLock<Box<[Atom]>>>,
    /// Bytes that are kept.
    bytes: AtomicUsize,
}

impl SessionAtoms {
    /// For a session of so many spans, of which none was read yet.
    pub fn new(spans: usize) -> Self {
        Self { spans: (0..spans).map(|_span| OnceLock::new()).collect(), bytes: AtomicUsize::new(0) }
    }

    /// The atoms of span number `at`, which says `span`: always the same of one number. None where there is no such span.
    pub fn of(&self, at: usize, span: &SpanText<'_>) -> Cow<'_, [Atom]> {
        let Some(slot) = self.spans.get(at) else { return Cow::Borrowed(&[]) };
        if let Some(kept) = slot.get() {
            return Cow::Borrowed(kept);
        }
        let read = atoms(span.content, span.original);
        let bytes = read.iter().map(bytes_of).sum::<usize>();
        if self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > BYTES_MAX {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Cow::Owned(read);
        }
        // Who reads the same at the same time leaves it to the first of them.
        Cow::Borrowed(slot.get_or_init(|| read.into()))
    }
}

const fn bytes_of(atom: &Atom) -> usize {
    size_of::<Atom>() + atom.text.len() + atom.normal.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;

    #[test]
    fn whatever_is_kept_is_what_is_read_anew() {
        let session =
            Session::new().user("see /etc/app.conf").runs("ls", "/var/log/app/run-7.log").says("42 of them");
        let texts = session.texts();
        let kept = SessionAtoms::new(texts.len());
        for _twice in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(*kept.of(at, text), *atoms(text.content, text.original));
            }
        }
        assert!(kept.spans.iter().all(|slot| slot.get().is_some()));
        assert!(kept.of(texts.len(), &texts[0]).is_empty(), "there is no such span");
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for_and_the_rest_is_read_again() {
        let many = (0..120_000).fold(String::new(), |many, n| many + &format!("n{n}.rs "));
        let session = Session::new().user(&many).user(&many).user(&many).user("a.rs");
        let texts = session.texts();
        let kept = SessionAtoms::new(texts.len());
        for _twice in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(kept.of(at, text).len(), if at < 3 { 120_000 } else { 1 });
            }
        }
        let is_kept: Vec<bool> = kept.spans.iter().map(|slot| slot.get().is_some()).collect();
        assert_eq!(is_kept, [true, true, false, true]);
        assert!(kept.bytes.load(Ordering::Relaxed) <= BYTES_MAX);
    }
}
