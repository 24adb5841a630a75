//! Makes one run of several that follow each other, a block of each in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::vec;

use spanvault_types::Position;

use super::Term;
use super::draft::Share;
use super::run::Run;
use super::writer::RunWriter;

/// Writes all that `runs` hold; says whether they were whole.
pub(super) fn merge(runs: &[Arc<Run>], mut writer: RunWriter) -> io::Result<bool> {
    let mut cursors: Vec<Cursor<'_>> = runs.iter().map(|run| Cursor::new(run)).collect();
    let mut positions = Vec::new();
    loop {
        for cursor in &mut cursors {
            if !cursor.advance() {
                return Ok(false);
            }
        }
        let Some(least) = cursors.iter().filter_map(Cursor::term).min() else { break };
        positions.clear();
        for cursor in cursors.iter_mut().filter(|cursor| cursor.term() == Some(least)) {
            positions.extend(cursor.head.take().into_iter().flat_map(|(_term, positions)| positions));
        }
        writer.entry(least, &positions)?;
    }
    let mut sessions = BTreeMap::new();
    for (session, share) in runs.iter().flat_map(|run| run.sessions()) {
        sessions.entry(*session).or_insert_with(Share::default).combine(share);
    }
    let unread: Vec<u64> = runs.iter().flat_map(|run| run.unread()).map(Position::get).collect();
    writer.finish(&unread, &sessions)?;
    Ok(true)
}

/// Where in a run a merge stands.
struct Cursor<'r> {
    run: &'r Run,
    /// The block that is read next.
    next: usize,
    block: vec::IntoIter<(Term, Vec<u64>)>,
    /// The entry that is taken next.
    head: Option<(Term, Vec<u64>)>,
}

impl<'r> Cursor<'r> {
    fn new(run: &'r Run) -> Self {
        Self { run, next: 0, block: Vec::new().into_iter(), head: None }
    }

    fn term(&self) -> Option<Term> {
        self.head.as_ref().map(|(term, _positions)| *term)
    }

    /// Has the next entry at hand, if there is one; says whether what it read was whole.
    fn advance(&mut self) -> bool {
        while self.head.is_none() {
            self.head = self.block.next();
            if self.head.is_none() {
                if self.next >= self.run.blocks() {
                    return true;
                }
                let mut entries = Vec::new();
                if self.run.block(self.next, &mut |term, at| entries.push((term, at))).is_none() {
                    return false;
                }
                self.next += 1;
                self.block = entries.into_iter();
            }
        }
        true
    }
}
