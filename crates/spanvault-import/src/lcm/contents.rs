//! What is in a database: its conversations, and where their rows stand. Of the rows themselves only ids, order and
//! times are held, about 50 bytes for each.

mod hermes;
mod lossless;
mod order;

use std::collections::HashMap;
use std::io::{self, Read, Seek};

use crate::sqlite::{Database, Place, Row, Table, Value};
use crate::time::{ms_of, ms_of_number};

/// The tables that anything is read of.
const TABLES: [&str; 7] = [
    "conversations",
    "messages",
    "message_parts",
    "summaries",
    "summary_messages",
    "summary_parents",
    "summary_nodes",
];
/// A longer id is none.
const ID_BYTES_MAX: usize = 512;

/// A database with the conversations in it.
pub(crate) struct Contents<R> {
    pub(super) database: Database<R>,
    pub(super) tables: Tables,
    pub(crate) conversations: Vec<Conversation>,
    /// Ascending by message, and in the order that they have there.
    pub(super) parts: Vec<Part>,
}

/// The tables that the records come from.
pub(super) struct Tables {
    pub(super) conversations: Option<Table>,
    pub(super) messages: Table,
    pub(super) parts: Option<Table>,
    pub(super) summaries: Option<Table>,
}

/// One conversation.
#[derive(Default)]
pub(crate) struct Conversation {
    /// Its name in the database, which is that of a file in a container.
    pub(crate) name: String,
    pub(super) row: Option<Place>,
    /// In order.
    pub(super) messages: Vec<Message>,
    /// In the order in which they take their places between the messages.
    pub(super) summaries: Vec<Summary>,
}

pub(super) struct Message {
    pub(super) id: i64,
    pub(super) order: i64,
    pub(super) written_ms: Option<i64>,
    pub(super) place: Place,
}

pub(super) struct Part {
    pub(super) message: i64,
    pub(super) ordinal: i64,
    pub(super) place: Place,
}

pub(super) struct Summary {
    pub(super) id: String,
    pub(super) depth: i64,
    pub(super) written_ms: Option<i64>,
    pub(super) place: Place,
    /// The messages that it replaced, and the summaries.
    pub(super) messages: Vec<i64>,
    pub(super) parents: Vec<String>,
    /// How many messages stand before it.
    pub(super) after: usize,
}

impl<R: Read + Seek> Contents<R> {
    /// Opens a database; `None` where it is of no program that is known here.
    ///
    /// # Errors
    /// What the file says, and `InvalidData` where it is no database or is damaged.
    pub(crate) fn open(file: R) -> io::Result<Option<Self>> {
        let mut database = Database::open(file, &TABLES)?;
        let Some(messages) = database.table("messages").cloned() else { return Ok(None) };
        let (tables, mut conversations, parts) = if lossless::is_its_own(&database, &messages) {
            lossless::read(&mut database, messages)?
        } else if hermes::is_its_own(&messages) {
            hermes::read(&mut database, messages)?
        } else {
            return Ok(None);
        };
        for conversation in &mut conversations {
            order::settle(conversation);
        }
        Ok(Some(Self { database, tables, conversations, parts }))
    }
}

/// An id that is a number.
fn number<R: Read + Seek>(row: &mut Row<'_, R>, column: Option<usize>) -> io::Result<Option<i64>> {
    Ok(row.get(column)?.integer())
}

/// An id that is text.
fn id<R: Read + Seek>(row: &mut Row<'_, R>, column: Option<usize>) -> io::Result<Option<String>> {
    Ok(row.get(column)?.text().filter(|id| (1..=ID_BYTES_MAX).contains(&id.len())))
}

/// When a row was written.
fn written<R: Read + Seek>(row: &mut Row<'_, R>, column: Option<usize>) -> io::Result<Option<i64>> {
    Ok(match row.get(column)? {
        Value::Text(text) => ms_of(&text),
        Value::Real(number) => ms_of_number(number),
        #[expect(clippy::cast_precision_loss, reason = "what is lost is far beyond any calendar")]
        Value::Integer(number) => ms_of_number(number as f64),
        Value::Null | Value::Blob(_) => None,
    })
}

/// Conversations by a key.
struct Groups<K> {
    /// Each with how many were met before it.
    found: HashMap<K, (usize, Conversation)>,
}

impl<K: std::hash::Hash + Eq> Groups<K> {
    fn new() -> Self {
        Self { found: HashMap::new() }
    }

    fn of(&mut self, key: K, name: impl FnOnce(&K) -> String) -> &mut Conversation {
        let (before, name) = (self.found.len(), name(&key));
        let new = || (before, Conversation { name, ..Conversation::default() });
        let (_before, conversation) = self.found.entry(key).or_insert_with(new);
        conversation
    }

    /// All of them, in the order in which they were met.
    fn into_conversations(self) -> Vec<Conversation> {
        let mut found: Vec<_> = self.found.into_values().collect();
        found.sort_unstable_by_key(|(before, _conversation)| *before);
        found.into_iter().map(|(_before, conversation)| conversation).collect()
    }
}
