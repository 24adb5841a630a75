//! OpenCode: a folder of small documents, each of which is a session, a message or a part of one.
//!
//! A file is one record. The words, calls and results stand in the part files; of a message there is only who
//! speaks and when. A tool call and its result are the same part.

mod part;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::blocks::usable_id;
use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::stamp::Stamp;
use crate::{Confidence, Head};

/// One file of the storage (`~/.local/share/opencode/storage/{session,message,part}/**/*.json`).
pub(crate) struct OpenCode;

impl ObjectFormat for OpenCode {
    const NAME: &'static str = "agent_opencode";
    const LAYOUT: Layout = Layout::Whole;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let Some(document) = head.document() else { return Confidence::No };
        let is_session = has_all(document, &["id", "projectID", "directory", "time"]);
        let is_message = has_all(document, &["id", "sessionID", "role", "time"]);
        let is_part = has_all(document, &["id", "messageID", "type"]);
        let begun = |document: &Value| document.get("time").is_some_and(|time| has_all(time, &["start"]));
        if is_session || is_message || is_part {
            Confidence::Certain
        } else if has_all(document, &["id", "text"]) && text(document, "type") == "text" && begun(document) {
            // Some versions leave out what a part belongs to.
            Confidence::Likely
        } else {
            Confidence::No
        }
    }

    fn read(document: Raw<'_>) -> Reading {
        let [id, project, session, kind, time, state] =
            document.fields(["id", "projectID", "sessionID", "type", "time", "state"]);
        let time = time.or_else(|| state.and_then(|state| state.field("time")));
        let [start, created] = time.map_or([None; 2], |time| time.fields(["start", "created"]));
        let stamp = Stamp::new(start.or(created), id);
        let kind = kind.and_then(|kind| kind.string()).unwrap_or_default();
        let content = match part::read(document, &kind) {
            Some((role, parts)) => stamp.says(role, parts),
            None => stamp.meta(),
        };
        Reading { content, session: usable_id(session.or(id.filter(|_| project.is_some()))) }
    }
}
