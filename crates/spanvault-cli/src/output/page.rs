//! Words for people: styled on a terminal, bare elsewhere, and never under the control of what is quoted.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use super::Look;

/// What a piece of text is, and so how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A heading.
    Strong,
    /// Less important than what stands around it.
    Faint,
    /// It went well.
    Good,
    /// Look here.
    Warning,
    /// It went wrong.
    Bad,
}

/// Where words are written.
pub(crate) struct Page<'a> {
    sink: &'a mut dyn Write,
    look: Look,
}

impl<'a> Page<'a> {
    pub(crate) fn new(sink: &'a mut dyn Write, look: Look) -> Self {
        Self { sink, look }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl fmt::Display) -> io::Result<()> {
        writeln!(self.sink, "{line}")
    }

    /// Writes an empty line.
    pub(crate) fn gap(&mut self) -> io::Result<()> {
        self.line("")
    }

    /// Writes a name and what it is, the second in a column of its own.
    pub(crate) fn field(&mut self, name: &str, value: impl fmt::Display) -> io::Result<()> {
        // Padding before painting: escape sequences would count as width.
        let name = format!("{name:<FIELD_WIDTH$}");
        let name = self.paint(Tone::Faint, &name);
        self.line(format_args!("{name} {value}"))
    }

    /// Writes a line that begins a part of the answer.
    pub(crate) fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint(Tone::Strong, text);
        self.line(text)
    }

    /// Writes text that came from outside, line breaks included.
    pub(crate) fn quote(&mut self, text: &str) -> io::Result<()> {
        let text = self.safe(text).into_owned();
        self.sink.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.gap() }
    }

    /// Text from outside as it may be shown here: on a terminal its control characters are made visible, so that
    /// no transcript moves the cursor or hides a line.
    pub(crate) fn safe<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_safe = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        if !self.look.is_terminal || text.chars().all(is_safe) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.chars().map(|c| if is_safe(c) { c } else { picture(c) }).collect())
    }

    /// Text in a tone.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.look.has_colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => 1,
            Tone::Faint => 2,
            Tone::Bad => 31,
            Tone::Good => 32,
            Tone::Warning => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

const FIELD_WIDTH: usize = 14;

/// The picture of a control character, as U+2400 and the following show them.
fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_a_terminal(write: impl FnOnce(&mut Page<'_>) -> io::Result<()>) -> String {
        let mut sink = Vec::new();
        let look = Look { is_terminal: true, has_colour: true, width: Some(80), rows: Some(24) };
        write(&mut Page::new(&mut sink, look)).unwrap();
        String::from_utf8(sink).unwrap()
    }

    #[test]
    fn a_transcript_cannot_move_the_cursor_of_a_terminal() {
        let shown = on_a_terminal(|page| page.quote("fine\n\x1b[2J\u{9b}hidden\r\x7f"));
        assert_eq!(shown, "fine\n\u{241b}[2J\u{fffd}hidden\u{240d}\u{2421}\n");
    }

    #[test]
    fn a_pipe_gets_quoted_text_as_it_is_and_no_colours() {
        let mut sink = Vec::new();
        let mut page = Page::new(&mut sink, Look::BARE);
        page.heading("title").unwrap();
        page.quote("\x1b[2J\n").unwrap();
        assert_eq!(sink, b"title\n\x1b[2J\n");
    }
}
