//! OpenHands: single events as the server stores them, lists of them, and the output of evaluations.
//!
//! An event is an action or an observation. Those of newer versions have ids, and an observation names the
//! action that caused it; old ones have neither, and are paired by order.

mod event;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::document::{LineNames, Step};
use crate::json::Raw;
use crate::marks::has_all;
use crate::object_format::{Layout, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head, Kept};

/// One event of a session, or the session's own data (`sessions/<id>/events/<n>.json`, `metadata.json`).
pub(crate) struct OpenHandsEvent;

/// A list of events.
pub(crate) struct OpenHandsTrajectory;

/// Output of an evaluation or of the resolver: an instance a line, with its events as `history`.
pub(crate) struct OpenHandsOutput;

impl ObjectFormat for OpenHandsEvent {
    const NAME: &'static str = "openhands_event";
    const LAYOUT: Layout = Layout::Whole;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        match head.document() {
            Some(document) if is_new_event(document) => Confidence::Certain,
            Some(document) if has_all(document, &["conversation_id", "selected_repository"]) => {
                Confidence::Certain
            }
            Some(_) | None => Confidence::No,
        }
    }

    fn read(event: Raw<'_>) -> Reading {
        event::read(event)
    }

    fn kept_by_compaction(event: Raw<'_>) -> Kept {
        event::kept(event)
    }

    /// The folder of the conversation.
    fn transcript_of(source: &str) -> &str {
        let Some((folder, file)) = source.rsplit_once('/') else { return source };
        let is_numbered = file.strip_suffix(".json").is_some_and(|stem| stem.parse::<u64>().is_ok());
        match (folder.strip_suffix("/events"), file) {
            (Some(conversation), _) if is_numbered => conversation,
            (None, "metadata.json") => folder,
            _ => source,
        }
    }
}

impl ObjectFormat for OpenHandsTrajectory {
    const NAME: &'static str = "openhands_traj";
    const LAYOUT: Layout = Layout::Document(&[&[Step::Each]]);
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        match head.document() {
            Some(Value::Array(events)) => of_events(events),
            Some(_) | None => Confidence::No,
        }
    }

    fn read(event: Raw<'_>) -> Reading {
        event::read(event)
    }

    fn kept_by_compaction(event: Raw<'_>) -> Kept {
        event::kept(event)
    }
}

impl ObjectFormat for OpenHandsOutput {
    const NAME: &'static str = "openhands_out";
    const LAYOUT: Layout =
        Layout::DocumentLines(&[&[Step::Member("history"), Step::Each]], LineNames::LineAndPlace);
    // Some versions pair an action with its observation.
    const LISTS: bool = true;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        let of_line = |line: &Value| {
            let events = line.get("history").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let pairs = events.iter().filter_map(Value::as_array).map(|pair| of_events(pair));
            let known = pairs.max().unwrap_or(Confidence::No).max(of_events(events));
            // An instruction may fill the head.
            let begins = has_all(line, &["instance_id", "instruction", "metadata"])
                || has_all(line, &["issue", "issue_type", "instruction"]);
            if known == Confidence::No && begins { Confidence::Likely } else { known }
        };
        head.surest(of_line)
    }

    fn read(event: Raw<'_>) -> Reading {
        event::read(event)
    }

    fn kept_by_compaction(event: Raw<'_>) -> Kept {
        event::kept(event)
    }
}

/// An event with its arguments or extras apart, as newer versions write it.
fn is_new_event(event: &Value) -> bool {
    has_all(event, &["source", "action", "args"]) || has_all(event, &["source", "observation", "extras"])
}

/// An event with its fields inline.
fn is_old_event(event: &Value) -> bool {
    has_all(event, &["observation", "content"])
        || has_all(event, &["action", "thought"])
        || has_all(event, &["action", "wait_for_response"])
}

fn of_events(events: &[Value]) -> Confidence {
    let is_old = |event: &Value| is_old_event(event) && event.get("role").is_none();
    if events.iter().any(|event| is_new_event(event) || is_old(event)) {
        Confidence::Certain
    } else {
        Confidence::No
    }
}
