//! What one name stands for, whole.

use spanvault_types::{ContentHash, Position};

use crate::catalog::Subject;
use crate::context::words_of;
use crate::error::{Error, Result};
use crate::ids::{CheckpointId, Name, SpanId, SummaryId};
use crate::provenance::Expansion;
use crate::spans::SpanInfo;
use crate::vault::Vault;
use crate::view::Formats;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A span.
    Span {
        /// What lists say of it.
        info: Box<SpanInfo>,
        /// What it says; of bytes that were never parsed, the bytes as far as they are text.
        text: String,
    },
    /// A summary, taken apart.
    Summary(Box<Expansion>),
    /// The text of a checkpoint.
    Checkpoint {
        /// Its id.
        checkpoint: CheckpointId,
        /// Its text.
        text: String,
    },
    /// Bytes between the records of a file.
    Gap {
        /// The content hash.
        hash: ContentHash,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl Vault {
    /// Everything about the span, summary, checkpoint or gap that `name` stands for.
    ///
    /// # Errors
    /// As [`Vault::recover`]; `NotFound` also for a span that a newer state of its source replaced.
    pub fn show(&self, name: impl Into<Name>) -> Result<Shown> {
        match self.resolve(&name.into())? {
            Subject::Span { span, original } => self.show_span(span, original),
            Subject::Summary(summary) | Subject::Imported { summary, .. } => {
                Ok(Shown::Summary(Box::new(self.expand(SummaryId(summary))?)))
            }
            Subject::Checkpoint(at) => {
                let text = String::from_utf8_lossy(&self.bytes_at(at)?).into_owned();
                Ok(Shown::Checkpoint { checkpoint: CheckpointId(at), text })
            }
            Subject::Gap(at) => Ok(Shown::Gap { hash: self.known_hash(at)?, bytes: self.bytes_at(at)? }),
        }
    }

    fn show_span(&self, at: Position, original: Position) -> Result<Shown> {
        let bytes = self.bytes_at(original)?;
        let span = self.span_at(at)?;
        let content = self.content_of(&span, &bytes, &Formats::default())?;
        let text = if content.parts.is_empty() {
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            words_of(&content)
        };
        let mut info = None;
        self.list_session(span.session, Some(&[(at, span.index)]), &mut |found| {
            info = Some(Box::new(found));
            Ok(())
        })?;
        let info = info.ok_or_else(|| {
            let span = SpanId(at);
            Error::not_found(format!("show {span}: a newer state of its source replaced it"))
                .with_hint(format!("\"spanvault recover {span}\" gives its bytes"))
        })?;
        Ok(Shown::Span { info, text })
    }
}
