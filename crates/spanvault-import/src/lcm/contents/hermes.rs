//! The tables of hermes-lcm.

use std::io::{self, Read, Seek};

use super::{Conversation, Groups, Message, Part, Summary, Tables, id, number, written};
use crate::json::Raw;
use crate::sqlite::{Database, Table};

pub(super) fn is_its_own(messages: &Table) -> bool {
    messages.has(&["store_id", "session_id", "role", "content", "tool_calls", "timestamp"])
}

pub(super) fn read<R: Read + Seek>(
    database: &mut Database<R>,
    messages: Table,
) -> io::Result<(Tables, Vec<Conversation>, Vec<Part>)> {
    let mut groups = Groups::new();
    let name = |session: &String| format!("sessions/{session}");
    let [of, key, created] = ["session_id", "store_id", "timestamp"].map(|name| messages.column(name));
    database.scan(&messages, &mut |row, place| {
        let session = id(row, of)?.unwrap_or_default();
        let number = number(row, key)?.unwrap_or_default();
        let message = Message { id: number, order: number, written_ms: written(row, created)?, place };
        groups.of(session, name).messages.push(message);
        Ok(())
    })?;
    let summaries =
        database.table("summary_nodes").filter(|table| table.has(&["node_id", "summary"])).cloned();
    if let Some(table) = &summaries {
        let columns = ["session_id", "node_id", "depth", "created_at", "source_ids", "source_type"];
        let [of, key, depth, created, sources, source_type] = columns.map(|name| table.column(name));
        database.scan(table, &mut |row, place| {
            let session = id(row, of)?.unwrap_or_default();
            let sources = numbers(&row.get(sources)?.text().unwrap_or_default());
            let of_nodes = id(row, source_type)?.as_deref() == Some("nodes");
            let (messages, parents) = if of_nodes {
                (Vec::new(), sources.iter().map(i64::to_string).collect())
            } else {
                (sources, Vec::new())
            };
            let summary = Summary {
                id: number(row, key)?.unwrap_or_default().to_string(),
                depth: number(row, depth)?.unwrap_or_default(),
                written_ms: written(row, created)?,
                place,
                messages,
                parents,
                after: 0,
            };
            groups.of(session, name).summaries.push(summary);
            Ok(())
        })?;
    }
    let tables = Tables { conversations: None, messages, parts: None, summaries };
    Ok((tables, groups.into_conversations(), Vec::new()))
}

/// The whole numbers of a list that is written as JSON.
fn numbers(list: &str) -> Vec<i64> {
    let Ok(list) = Raw::whole(list) else { return Vec::new() };
    list.elements().filter_map(|number| number.integer()).collect()
}
