//! Gives every record its session.

use std::ops::ControlFlow;

use crate::importer::is_session_name;
use crate::object_format::Named;
use crate::{Piece, Record};

/// How much is held back while no session is known, in bytes.
const HELD_BYTES_MAX: usize = 4 << 20;
/// How many pieces are held back.
const HELD_PIECES_MAX: usize = 4096;

/// Hands pieces on, each record with its session.
///
/// A record that names no session goes with the one before it. Files start with records that name none
/// (titles, snapshots): they are held back until the first name comes, and go with that.
pub(super) struct Sessions<'a> {
    named: Named,
    sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    current: String,
    held: Option<Vec<Piece>>,
    held_bytes: usize,
}

impl<'a> Sessions<'a> {
    pub(super) fn new(named: Named, sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>) -> Self {
        Self { named, sink, current: String::new(), held: Some(Vec::new()), held_bytes: 0 }
    }

    pub(super) fn record(&mut self, mut record: Record, session: Option<String>) -> ControlFlow<()> {
        let is_settled = self.named == Named::First && !self.current.is_empty();
        if let Some(name) = session.filter(is_session_name).filter(|_| !is_settled) {
            self.current = name;
            self.flush()?;
        }
        record.session.clone_from(&self.current);
        self.hand_on(Piece::Span(record))
    }

    pub(super) fn gap(&mut self, bytes: Vec<u8>) -> ControlFlow<()> {
        self.hand_on(Piece::Gap(bytes))
    }

    /// Hands on what is held back; nothing is from here on.
    pub(super) fn flush(&mut self) -> ControlFlow<()> {
        for mut piece in self.held.take().into_iter().flatten() {
            if let Piece::Span(record) = &mut piece {
                record.session.clone_from(&self.current);
            }
            (self.sink)(piece)?;
        }
        ControlFlow::Continue(())
    }

    fn hand_on(&mut self, piece: Piece) -> ControlFlow<()> {
        let Some(held) = &mut self.held else { return (self.sink)(piece) };
        self.held_bytes = self.held_bytes.saturating_add(piece.bytes().len());
        held.push(piece);
        if self.held_bytes > HELD_BYTES_MAX || held.len() > HELD_PIECES_MAX {
            return self.flush();
        }
        ControlFlow::Continue(())
    }
}
