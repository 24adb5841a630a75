//! Everything that reaches the standard streams goes through here.
//!
//! The standard output carries the answer and nothing else: JSON with `--json`, words otherwise. Tables are drawn
//! and colours used only on a terminal; a pipe gets the same columns bare. Progress goes to the standard error
//! stream, and only where that is a terminal.

mod list;
mod look;
mod page;
mod pager;
mod progress;
mod words;

use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;
pub(crate) use list::{Column, List, Listed};
pub(crate) use look::Look;
pub(crate) use page::{Page, Tone};
pub(crate) use progress::Progress;
pub(crate) use words::{bytes, count, counted, instant, joined, one_line, rfc3339, timestamp, to_the_second};

/// An answer that is one thing: a JSON object on one line, or a few lines of words.
pub(crate) trait Response: Serialize {
    /// Says it to people.
    fn human(&self, page: &mut Page<'_>) -> io::Result<()>;
}

/// The standard output, as the command was told to use it.
pub(crate) struct Output {
    is_json: bool,
    look: Look,
    sink: Box<dyn Sink>,
}

/// Where the output goes.
pub(crate) trait Sink: Write {
    /// Writes what is left, and waits for whoever shows it.
    fn finish(&mut self) -> io::Result<()>;
}

impl<W: Write> Sink for BufWriter<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Output {
    /// The standard output of this process.
    pub(crate) fn stdout(is_json: bool) -> Self {
        let look = Look::of_stdout();
        let stdout = io::stdout();
        let sink: Box<dyn Sink> = match look.rows {
            Some(rows) if !is_json && stdout.is_terminal() => Box::new(pager::Pager::new(stdout, rows)),
            _ => Box::new(BufWriter::with_capacity(64 << 10, stdout)),
        };
        Self { is_json, look, sink }
    }

    /// Whether programs read it.
    pub(crate) const fn is_json(&self) -> bool {
        self.is_json
    }

    /// Answers with one thing.
    pub(crate) fn emit(&mut self, response: &impl Response) -> Result<(), Failure> {
        if self.is_json {
            self.line(response)
        } else {
            response.human(&mut self.page()).map_err(Failure::printing)
        }
    }

    /// Writes one JSON object as one line.
    pub(crate) fn line(&mut self, response: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut *self.sink, response).map_err(|error| Failure::printing(error.into()))?;
        self.sink.write_all(b"\n").map_err(Failure::printing)
    }

    /// Lets whoever reads have what was said so far.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.sink.flush().map_err(Failure::printing)
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.sink.write_all(bytes).map_err(Failure::printing)
    }

    /// For words.
    pub(crate) fn page(&mut self) -> Page<'_> {
        Page::new(&mut *self.sink, self.look)
    }

    /// Starts a list of one kind of rows.
    pub(crate) fn list<R: Listed>(&mut self) -> List<'_, R> {
        List::new(self)
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.sink.finish().map_err(Failure::printing)
    }
}
