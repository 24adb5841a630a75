//! Reads the log from front to back with the originals in it: for whoever wants all of them.
//!
//! Where [`Store::frame`] and [`Store::original`] look up a place, and read it with a call of its own, a sweep reads a
//! segment in large pieces and hands over what lies in them. It is held to the same checks. At anything that is not as
//! it should be it gives up, and leaves it to a reader of single frames to say what is wrong.

use std::ops::ControlFlow;
use std::sync::Arc;

use spanvault_types::{ContentHash, Event, Position, SpanRecorded};

use crate::bytes::len_u64;
use crate::frame::{Form, FrameHead, HEAD_BYTES, Name};
use crate::segment::SEGMENT_HEAD_BYTES;
use crate::stamp::Place;
use crate::store::Store;
use crate::view::{Open, Sealed};
use crate::window::Window;

/// A longer frame is handed over without its original.
const FRAME_BYTES_MAX: u64 = 64 << 20;

/// The frames of one segment, as far as they are swept.
#[derive(Debug)]
pub struct Stretch {
    home: Home,
    first: u64,
    /// The position after the last frame.
    end: u64,
}

#[derive(Debug)]
enum Home {
    Open(Arc<Open>),
    Sealed(Arc<Sealed>),
}

/// A span that a sweep came by.
#[derive(Debug)]
pub struct SweptSpan<'a> {
    /// Its position.
    pub at: Position,
    /// What was recorded.
    pub span: SpanRecorded,
    /// The content hash of the original that its frame carries or carried, if it did.
    pub hash: Option<ContentHash>,
    body: Option<&'a [u8]>,
}

impl<'a> SweptSpan<'a> {
    /// The original, where its own frame has it and it has its hash.
    pub fn original(&self) -> Option<&'a [u8]> {
        self.body.filter(|body| self.hash == Some(ContentHash::of(body)))
    }
}

impl Stretch {
    /// The first position.
    pub const fn first(&self) -> Position {
        Position::new(self.first)
    }

    /// The position after the last.
    pub const fn end(&self) -> Position {
        Position::new(self.end)
    }
}

impl Store {
    /// The log from its start up to `end`, segment by segment; `None` where a part of it is missing.
    pub fn stretches(&self, end: Position) -> Option<Vec<Stretch>> {
        let end = end.get().min(self.tip().next);
        let view = self.view();
        let sealed = view
            .sealed()
            .map(|(segment, next)| (Home::Sealed(Arc::clone(segment)), segment.head.first, next));
        let open = (Home::Open(Arc::clone(&view.open)), view.open.head.first, end);
        let mut stretches = Vec::new();
        let mut next = 1;
        for (home, first, until) in sealed.chain([open]) {
            if first >= end {
                break;
            }
            if first != next {
                return None;
            }
            next = until.min(end);
            stretches.push(Stretch { home, first, end: next });
        }
        (next >= end).then_some(stretches)
    }

    /// Hands every span of a stretch to `each`, in order; `None` where a frame is not as it should be, or the segment was
    /// written anew meanwhile.
    pub fn sweep(
        &self,
        stretch: &Stretch,
        each: &mut dyn FnMut(SweptSpan<'_>) -> ControlFlow<()>,
    ) -> Option<()> {
        let (file, number) = match &stretch.home {
            Home::Open(open) => (Arc::clone(&open.file), open.head.number),
            Home::Sealed(segment) => (self.log_file(segment).ok()?, segment.number()),
        };
        let mut window = Window::default();
        let mut offset = len_u64(SEGMENT_HEAD_BYTES);
        for at in stretch.first..stretch.end {
            let place = Place { file: number, offset };
            let head = FrameHead::decode(window.bytes(&*file, offset, HEAD_BYTES).ok()??, &self.key, place)?;
            if head.seq != at {
                return None;
            }
            let middle_end = HEAD_BYTES + head.middle_len();
            let is_whole = head.frame_len() <= FRAME_BYTES_MAX;
            let wanted = if is_whole { usize::try_from(head.frame_len()).ok()? } else { middle_end };
            let frame = window.bytes(&*file, offset, wanted).ok()??;
            let (front, body) = frame.split_at_checked(middle_end)?;
            let middle = front.get(HEAD_BYTES..)?;
            if crc32fast::hash(middle) != head.crc {
                return None;
            }
            let (event, name) = middle.split_at_checked(head.event_len as usize)?;
            let name = Name::decode(name, head.form)?;
            if let Event::SpanRecorded(span) = name.event(event, &head)? {
                let hash = name.hash();
                let body = (is_whole && head.form == Form::Full).then_some(body);
                if each(SweptSpan { at: Position::new(at), span, hash, body }).is_break() {
                    return Some(());
                }
            }
            offset += head.frame_len();
        }
        Some(())
    }
}
