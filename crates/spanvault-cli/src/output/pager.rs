//! Shows output that is longer than the terminal in a pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use super::Sink;

/// Holds a screenful back; what is longer goes to the pager from its first line on.
pub(crate) struct Pager<W> {
    terminal: W,
    rows: usize,
    state: State,
}

enum State {
    /// It fits so far.
    Held { bytes: Vec<u8>, lines: usize },
    /// It is too long, and the pager shows it.
    Paged(Child),
    /// It is too long, and there is no pager.
    Plain,
}

impl<W: Write> Pager<W> {
    pub(crate) fn new(terminal: W, rows: u16) -> Self {
        Self { terminal, rows: usize::from(rows), state: State::Held { bytes: Vec::new(), lines: 0 } }
    }

    fn overflow(&mut self, held: &[u8]) -> io::Result<()> {
        self.state = start().map_or(State::Plain, State::Paged);
        self.write_all(held)
    }
}

impl<W: Write> Write for Pager<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Held { bytes, lines } => {
                bytes.extend_from_slice(buf);
                *lines += memchr::memchr_iter(b'\n', buf).count();
                // The prompt that follows takes a line too.
                if *lines >= self.rows {
                    let held = std::mem::take(bytes);
                    self.overflow(&held)?;
                }
                Ok(buf.len())
            }
            State::Paged(child) => match &mut child.stdin {
                Some(stdin) => stdin.write(buf),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
            State::Plain => self.terminal.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Held { .. } => Ok(()),
            State::Paged(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
            State::Plain => self.terminal.flush(),
        }
    }
}

impl<W: Write> Sink for Pager<W> {
    fn finish(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Plain) {
            State::Held { bytes, .. } => self.terminal.write_all(&bytes)?,
            State::Paged(mut child) => {
                drop(child.stdin.take());
                child.wait()?;
            }
            State::Plain => {}
        }
        self.terminal.flush()
    }
}

impl<W> Drop for Pager<W> {
    fn drop(&mut self) {
        // A command that failed half-way still leaves the terminal to the pager until it is closed.
        if let State::Paged(child) = &mut self.state {
            drop(child.stdin.take());
            drop(child.wait());
        }
    }
}

/// Starts `$PAGER`, or `less` where nothing is said; `None` where there is none or it is switched off.
fn start() -> Option<Child> {
    let pager = match std::env::var("PAGER") {
        Ok(pager) if pager.trim().is_empty() || pager.trim() == "cat" => return None,
        Ok(pager) => pager,
        Err(_unset) => "less".to_owned(),
    };
    let mut command = Command::new("sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Quit where one screen is enough, let colours through, leave the text on the screen.
        command.env("LESS", "FRX");
    }
    command.spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_the_screen_is_printed_as_it_is() {
        let mut terminal = Vec::new();
        let mut pager = Pager::new(&mut terminal, 3);
        pager.write_all(b"one\ntwo\n").unwrap();
        pager.finish().unwrap();
        drop(pager);
        assert_eq!(terminal, b"one\ntwo\n");
    }
}
