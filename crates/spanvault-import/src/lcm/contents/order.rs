//! Where a summary stands between the messages.
//!
//! The tables do not say. It stands behind all that it replaced, and behind every message that was written no later
//! than it: so it keeps its place when more is said.

use std::collections::HashMap;

use super::Conversation;

pub(super) fn settle(conversation: &mut Conversation) {
    conversation.messages.sort_by_key(|message| (message.order, message.id));
    let messages = &conversation.messages;
    let place_of: HashMap<i64, usize> =
        messages.iter().enumerate().map(|(n, message)| (message.id, n)).collect();
    let latest = running_latest(messages.iter().map(|message| message.written_ms));
    let summaries = &mut conversation.summaries;
    // What a summary replaced is less deep.
    summaries.sort_by_key(|summary| (summary.depth, summary.written_ms));
    let mut after_of: HashMap<String, usize> = HashMap::with_capacity(summaries.len());
    for summary in summaries.iter_mut() {
        let earlier = match summary.written_ms {
            Some(written) => latest.partition_point(|latest| *latest <= written),
            None => messages.len(),
        };
        let replaced = summary.messages.iter().filter_map(|id| place_of.get(id)).map(|n| n + 1);
        let parents = summary.parents.iter().filter_map(|id| after_of.get(id)).copied();
        summary.after = replaced.chain(parents).fold(earlier, usize::max);
        after_of.insert(summary.id.clone(), summary.after);
    }
    summaries.sort_by_key(|summary| summary.after);
}

/// The latest time up to each message; a clock that was set back does not count.
fn running_latest(written: impl Iterator<Item = Option<i64>>) -> Vec<i64> {
    written
        .scan(i64::MIN, |latest, written| {
            *latest = written.map_or(*latest, |written| written.max(*latest));
            Some(*latest)
        })
        .collect()
}
