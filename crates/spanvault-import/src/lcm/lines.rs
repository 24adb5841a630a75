//! A conversation as lines of JSON, written as they are read.

use std::io::{self, Read, Seek};

use super::contents::{Contents, Conversation, Message, Summary};
use super::write;

/// The lines of one conversation. What is held is one row at a time.
pub(crate) struct Lines<'c, R> {
    contents: &'c mut Contents<R>,
    conversation: &'c Conversation,
    /// What was written and not yet read.
    line: Vec<u8>,
    read: usize,
    /// How many messages and summaries were written.
    messages: usize,
    summaries: usize,
    /// Parts of the message that is being written: which ones are still to come.
    parts: std::ops::Range<usize>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was written.
    Begun,
    /// A line has ended.
    Between,
    /// The parts of a message are being written.
    InParts,
}

impl<'c, R: Read + Seek> Lines<'c, R> {
    pub(crate) const fn new(contents: &'c mut Contents<R>, conversation: &'c Conversation) -> Self {
        Self {
            contents,
            conversation,
            line: Vec::new(),
            read: 0,
            messages: 0,
            summaries: 0,
            parts: 0..0,
            state: State::Begun,
        }
    }

    /// Writes on, at most a row; nothing more is written at the end.
    fn write(&mut self) -> io::Result<()> {
        if self.state == State::InParts {
            return self.part();
        }
        let is_first = self.state == State::Begun;
        self.state = State::Between;
        if is_first && self.conversation.row.is_some() {
            return self.row_of_conversation();
        }
        let summary = self.conversation.summaries.get(self.summaries);
        let message = self.conversation.messages.get(self.messages);
        match (summary, message) {
            (Some(summary), _) if summary.after <= self.messages => self.summary(summary),
            (_, Some(message)) => self.message(message),
            (Some(summary), None) => self.summary(summary),
            (None, None) => Ok(()),
        }
    }

    fn row_of_conversation(&mut self) -> io::Result<()> {
        let Contents { database, tables, .. } = &mut *self.contents;
        if let (Some(place), Some(table)) = (self.conversation.row, &tables.conversations) {
            self.line.extend_from_slice(b"{\"table\":\"conversations\"");
            write::members(&mut self.line, table, &mut database.row(table, place)?)?;
            self.line.extend_from_slice(b"}\n");
        }
        Ok(())
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        self.messages += 1;
        let Contents { database, tables, parts, .. } = &mut *self.contents;
        self.line.extend_from_slice(b"{\"table\":\"messages\"");
        write::members(
            &mut self.line,
            &tables.messages,
            &mut database.row(&tables.messages, message.place)?,
        )?;
        let first = parts.partition_point(|part| part.message < message.id);
        let end = parts.partition_point(|part| part.message <= message.id);
        if first == end {
            self.line.extend_from_slice(b"}\n");
        } else {
            self.line.extend_from_slice(b",\"parts\":[");
            self.parts = first..end;
            self.state = State::InParts;
        }
        Ok(())
    }

    fn part(&mut self) -> io::Result<()> {
        let Contents { database, tables, parts, .. } = &mut *self.contents;
        let part = self.parts.next().and_then(|n| parts.get(n));
        if let (Some(part), Some(table)) = (part, &tables.parts) {
            self.line.extend_from_slice(b"{\"table\":\"message_parts\"");
            write::members(&mut self.line, table, &mut database.row(table, part.place)?)?;
            self.line.push(b'}');
        }
        if self.parts.is_empty() {
            self.line.extend_from_slice(b"]}\n");
            self.state = State::Between;
        } else {
            self.line.push(b',');
        }
        Ok(())
    }

    fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        self.summaries += 1;
        let Contents { database, tables, .. } = &mut *self.contents;
        let Some(table) = &tables.summaries else { return Ok(()) };
        self.line.extend_from_slice(b"{\"table\":");
        write::string(&mut self.line, &table.name)?;
        write::members(&mut self.line, table, &mut database.row(table, summary.place)?)?;
        // Where the row itself does not name what it replaced.
        if table.column("source_ids").is_none() {
            write::list(&mut self.line, "messages", &summary.messages, |line, id| {
                line.extend_from_slice(id.to_string().as_bytes());
                Ok(())
            })?;
            write::list(&mut self.line, "parents", &summary.parents, |line, id| write::string(line, id))?;
        }
        self.line.extend_from_slice(b"}\n");
        Ok(())
    }
}

impl<R: Read + Seek> Read for Lines<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.len() {
            self.line.clear();
            self.read = 0;
            self.write()?;
        }
        let rest = self.line.get(self.read..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        let (now, _later) = rest.split_at(len);
        buffer.get_mut(..len).unwrap_or_default().copy_from_slice(now);
        self.read += len;
        Ok(len)
    }
}
