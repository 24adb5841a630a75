//! Conversations that a lossless context manager keeps in an SQLite database (`lcm.db`): lossless-claw, a plug-in of
//! OpenClaw, and hermes-lcm, its like for Hermes.
//!
//! The source is the database as it stands. Each conversation in it is a transcript, and each of its rows a record that
//! is written here, as one line of JSON: `"table"`, then the columns that the row stores, in their order and without
//! those that are null; a message with its `"parts"`, a summary with the ids of the `"messages"` and the `"parents"`
//! that it replaced. The same row always gives the same line. A summary stands behind what it replaced.

mod contents;
mod line;
mod lines;
mod part;
#[cfg(test)]
mod tests;
mod write;

use serde_json::Value;

use crate::json::Raw;
use crate::marks::{has_all, text};
use crate::object_format::{Layout, Named, ObjectFormat};
use crate::reading::Reading;
use crate::{Confidence, Head, Kept};

pub(crate) use contents::Contents;
pub(crate) use lines::Lines;

/// A conversation of a lossless context manager.
pub(crate) struct Lcm;

impl ObjectFormat for Lcm {
    const NAME: &'static str = "lcm";
    const LAYOUT: Layout = Layout::Lines;
    const NAMED: Named = Named::First;
    const KEEPS_WORDS: bool = true;

    fn recognise(head: &Head<'_>) -> Confidence {
        head.surest(of_line)
    }

    fn read(line: Raw<'_>) -> Reading {
        line::read(line)
    }

    fn kept_by_compaction(line: Raw<'_>) -> Kept {
        line::kept(line)
    }
}

fn of_line(line: &Value) -> Confidence {
    let is_row = match text(line, "table") {
        "conversations" => has_all(line, &["conversation_id", "session_id"]),
        "messages" => has_all(line, &["role"]) && (line.get("store_id").or(line.get("message_id"))).is_some(),
        "summaries" => has_all(line, &["summary_id", "content"]),
        "summary_nodes" => has_all(line, &["node_id", "summary"]),
        _ => false,
    };
    if is_row { Confidence::Certain } else { Confidence::No }
}
