//! The tables of lossless-claw.

use std::collections::HashMap;
use std::io::{self, Read, Seek};

use super::{Conversation, Groups, Message, Part, Summary, Tables, id, number, written};
use crate::sqlite::{Database, Row, Table};

pub(super) fn is_its_own<R: Read + Seek>(database: &Database<R>, messages: &Table) -> bool {
    let conversations = database.table("conversations");
    conversations.is_some_and(|table| table.has(&["conversation_id", "session_id"]))
        && messages.has(&["message_id", "conversation_id", "seq", "role", "content"])
}

pub(super) fn read<R: Read + Seek>(
    database: &mut Database<R>,
    messages: Table,
) -> io::Result<(Tables, Vec<Conversation>, Vec<Part>)> {
    let mut groups = Groups::new();
    let name = |id: &i64| format!("conversations/{id}");
    let conversations = database.table("conversations").cloned();
    if let Some(table) = &conversations {
        let key = table.column("conversation_id");
        database.scan(table, &mut |row, place| {
            let conversation = number(row, key)?.unwrap_or_default();
            groups.of(conversation, name).row = Some(place);
            Ok(())
        })?;
    }
    let columns = ["conversation_id", "message_id", "seq", "created_at"].map(|name| messages.column(name));
    let [of, key, order, created] = columns;
    database.scan(&messages, &mut |row, place| {
        let conversation = number(row, of)?.unwrap_or_default();
        let message = Message {
            id: number(row, key)?.unwrap_or_default(),
            order: number(row, order)?.unwrap_or_default(),
            written_ms: written(row, created)?,
            place,
        };
        groups.of(conversation, name).messages.push(message);
        Ok(())
    })?;
    let parts =
        database.table("message_parts").filter(|table| table.has(&["message_id", "ordinal"])).cloned();
    let found = parts.as_ref().map(|table| read_parts(database, table)).transpose()?.unwrap_or_default();
    let summaries =
        database.table("summaries").filter(|table| table.has(&["summary_id", "content"])).cloned();
    if let Some(table) = &summaries {
        read_summaries(database, table, &mut |conversation, summary| {
            groups.of(conversation, name).summaries.push(summary);
        })?;
    }
    let tables = Tables { conversations, messages, parts, summaries };
    Ok((tables, groups.into_conversations(), found))
}

fn read_parts<R: Read + Seek>(database: &mut Database<R>, table: &Table) -> io::Result<Vec<Part>> {
    let [of, order] = ["message_id", "ordinal"].map(|name| table.column(name));
    let mut parts = Vec::new();
    database.scan(table, &mut |row, place| {
        if let Some(message) = number(row, of)? {
            parts.push(Part { message, ordinal: number(row, order)?.unwrap_or_default(), place });
        }
        Ok(())
    })?;
    parts.sort_by_key(|part| (part.message, part.ordinal));
    Ok(parts)
}

fn read_summaries<R: Read + Seek>(
    database: &mut Database<R>,
    table: &Table,
    give: &mut dyn FnMut(i64, Summary),
) -> io::Result<()> {
    let mut messages = edges(database, "summary_messages", "message_id", number)?;
    let mut parents = edges(database, "summary_parents", "parent_summary_id", id)?;
    let columns =
        ["conversation_id", "summary_id", "depth", "kind", "created_at"].map(|name| table.column(name));
    let [of, key, depth, kind, created] = columns;
    database.scan(table, &mut |row, place| {
        let summary = id(row, key)?.unwrap_or_default();
        // Old databases have no depth.
        let condensed = i64::from(id(row, kind)?.as_deref() == Some("condensed"));
        let depth = number(row, depth)?.unwrap_or(condensed);
        let conversation = number(row, of)?.unwrap_or_default();
        let summary = Summary {
            depth,
            written_ms: written(row, created)?,
            place,
            messages: messages.remove(&summary).unwrap_or_default(),
            parents: parents.remove(&summary).unwrap_or_default(),
            id: summary,
            after: 0,
        };
        give(conversation, summary);
        Ok(())
    })
}

/// How an id is read.
type ReadId<R, T> = fn(&mut Row<'_, R>, Option<usize>) -> io::Result<Option<T>>;

/// What each summary replaced, in order, by a table of such pairs.
fn edges<R: Read + Seek, T>(
    database: &mut Database<R>,
    table: &str,
    to: &str,
    read: ReadId<R, T>,
) -> io::Result<HashMap<String, Vec<T>>> {
    let mut found: HashMap<String, Vec<(i64, T)>> = HashMap::new();
    let Some(table) = database.table(table).cloned() else { return Ok(HashMap::new()) };
    let [from, to, order] = ["summary_id", to, "ordinal"].map(|name| table.column(name));
    database.scan(&table, &mut |row, _place| {
        if let (Some(summary), Some(to)) = (id(row, from)?, read(row, to)?) {
            found.entry(summary).or_default().push((number(row, order)?.unwrap_or_default(), to));
        }
        Ok(())
    })?;
    let in_order = |mut to: Vec<(i64, T)>| {
        to.sort_by_key(|(order, _to)| *order);
        to.into_iter().map(|(_order, to)| to).collect()
    };
    Ok(found.into_iter().map(|(summary, to)| (summary, in_order(to))).collect())
}
