//! What no format knows: JSON lines of any shape, and text.
//!
//! Every record is kept as it stands and nothing is read in it, so no question about calls or words is answered
//! from it: its spans are named as what could not be seen. A search for bytes does read them.

#[cfg(test)]
mod tests;
mod text;

use spanvault_types::SpanKind;

use crate::importer::{BOM, unread};
use crate::json::{Raw, is_space, sketch};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

pub(crate) use text::GenericText;

/// One JSON object a line, of a shape that nobody knows.
pub(crate) struct GenericJsonl;

/// The names of the formats that read nothing.
pub(crate) const NAMES: [&str; 2] = [GenericJsonl::NAME, text::NAME];

/// As many lines tell that a file is JSON lines.
const LINES_MAX: usize = 16;

impl ObjectFormat for GenericJsonl {
    const NAME: &'static str = "generic_jsonl";
    const LAYOUT: Layout = Layout::Lines;

    fn recognise(head: &Head<'_>) -> Confidence {
        let head = head.bytes().strip_prefix(BOM).unwrap_or(head.bytes());
        let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.iter().copied().all(is_space));
        let is_object = |line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            line.trim_start().starts_with('{') && sketch(&line).is_some()
        };
        // The last line may be cut off; a first one alone is a document as likely as a line.
        let found = lines.by_ref().take(LINES_MAX).take_while(|line| is_object(line)).count();
        if found >= 2 { Confidence::Possible } else { Confidence::No }
    }

    fn read(_object: Raw<'_>) -> Reading {
        Reading { content: unread(SpanKind::Quarantined), session: None }
    }
}
