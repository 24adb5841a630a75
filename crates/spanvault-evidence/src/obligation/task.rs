//! The agent's own task list: each pending item is a promise, and the newest state of the list says which are over.

use serde_json::Value;
use spanvault_types::{Call, Part};

use super::pending::acts_of_item;
use super::{Opened, head, owing};
use crate::atom::Locator;

/// The state of a task list that a call writes: its items, and whether each is still to be done.
pub(crate) fn task_list(call: &Call) -> Option<Vec<(String, bool)>> {
    let name = call.tool.to_lowercase();
    if !(name.contains("todo") || name.contains("plan") || name.contains("task")) {
        return None;
    }
    let items = ["todos", "plan", "items", "tasks"].iter().find_map(|key| call.args.get(key)?.as_array())?;
    let read = |item: &Value| {
        let words = ["content", "step", "title", "subject", "task", "text", "description"]
            .iter()
            .find_map(|key| item.get(key)?.as_str())?;
        let status = item.get("status")?.as_str()?;
        Some((words.to_owned(), !is_over(status)))
    };
    items.iter().map(read).collect()
}

/// Whether a status says that nothing is left to do.
pub(crate) fn is_over(status: &str) -> bool {
    let status = status.to_lowercase();
    ["complete", "done", "cancel", "delete", "skip", "fail", "reject"].iter().any(|end| status.contains(end))
}

/// The subject of a call that adds one item to the list.
pub(crate) fn added_task(call: &Call) -> Option<&str> {
    let name = call.tool.to_lowercase().replace('_', "");
    let subject = call.args.get("subject").or_else(|| call.args.get("content"))?.as_str()?;
    matches!(name.as_str(), "taskcreate" | "todoadd" | "createtask" | "addtodo").then_some(subject)
}

/// What the task list of a call leaves pending.
pub(crate) fn task_items(part: &Part, call: &Call, original: &[u8]) -> Vec<Opened> {
    let items = task_list(call).or_else(|| Some(vec![(added_task(call)?.to_owned(), true)]));
    let pending: Vec<_> =
        items.into_iter().flatten().filter(|(_, pending)| *pending).map(|(words, _)| words).collect();
    // The items stand in the call's arguments one after the other, and are looked for in that order.
    let text = pending.join("\n");
    let bound = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(original.len());
    let start = bound(part.range.start);
    let whole = start..bound(part.range.end).max(start);
    let mut places = Locator::searching(original, &text, whole);
    let mut start = 0;
    let open = |words: String| {
        let range = places.locate(start, start + words.len());
        start += words.len() + 1;
        let acts = acts_of_item(&words);
        let obligation = owing(acts.kind(), range, head(&words).to_owned());
        Opened { obligation, acts, later: false, put_off: Vec::new(), thought: false, task: Some(words) }
    };
    pending.into_iter().map(open).collect()
}
