//! Logs of Inspect AI: whole ones, and the files that an archive of one (`.eval`) holds.
//!
//! A string may be a reference, `attachment://<hash>`, to an attachment of its sample. It is shown as that: what a
//! span says must stand in its own bytes. The attachments are spans of their own, each with its hash, so that what
//! one of them says is found there.

mod message;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::document::Step;
use crate::json::Raw;
use crate::marks::has_all;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head};

/// A log, a sample of one, or one of the lists that an archive keeps beside its samples.
pub(crate) struct Inspect;

const SAMPLES: Step = Step::Member("samples");

impl ObjectFormat for Inspect {
    const NAME: &'static str = "inspect";
    const LAYOUT: Layout = Layout::Document(&[
        &[SAMPLES, Step::Each, Step::Member("messages"), Step::Each],
        &[SAMPLES, Step::Each, Step::Member("attachments"), Step::EachMember],
        &[SAMPLES, Step::Each, Step::Member("events"), Step::Each],
        &[SAMPLES, Step::Each, Step::Member("transcript"), Step::Member("content"), Step::EachMember],
        &[SAMPLES, Step::Each, Step::Member("transcript"), Step::Member("events"), Step::Each],
        &[Step::Member("messages"), Step::Each],
        &[Step::Member("attachments"), Step::EachMember],
        &[Step::Member("events"), Step::Each],
        &[Step::Each],
    ]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(document) = head.document() else { return Confidence::No };
        let is_log = has_all(document, &["version", "eval"])
            && document.get("eval").is_some_and(|eval| has_all(eval, &["task", "model"]));
        let is_sample = has_all(document, &["epoch", "input", "target", "messages"]);
        let is_list = document.as_array().is_some_and(|entries| {
            let is_summary = |entry: &Value| has_all(entry, &["id", "epoch", "input", "target"]);
            let is_reduction = |entry: &Value| has_all(entry, &["scorer", "samples"]);
            !entries.is_empty() && entries.iter().all(|entry| is_summary(entry) || is_reduction(entry))
        });
        if is_log || is_sample || is_list {
            Confidence::Certain
        } else if head.is_full() && begins_a_sample(document) {
            // What it was given fills the head.
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(object: Raw<'_>) -> Reading {
        Reading { content: message::read(object), session: None }
    }
}

/// Whether a document has the members that a sample begins with, and no others.
fn begins_a_sample(document: &Value) -> bool {
    let names = || document.as_object().into_iter().flat_map(serde_json::Map::keys).map(String::as_str);
    names().all(|name| matches!(name, "id" | "epoch" | "input")) && has_all(document, &["id", "epoch"])
}
