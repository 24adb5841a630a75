//! What the standard output looks like from here: a terminal or not, how wide, with colour or without.

use std::io::{self, IsTerminal};

/// How words may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Whether a person looks at a terminal.
    pub(crate) is_terminal: bool,
    /// Whether colours may be used.
    pub(crate) has_colour: bool,
    /// Columns of the terminal.
    pub(crate) width: Option<u16>,
    /// Rows of the terminal.
    pub(crate) rows: Option<u16>,
}

impl Look {
    /// What a pipe or a file gets.
    pub(crate) const BARE: Self = Self { is_terminal: false, has_colour: false, width: None, rows: None };

    /// Looks at the standard output.
    pub(crate) fn of_stdout() -> Self {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return Self::BARE;
        }
        let size = rustix::termios::tcgetwinsize(&stdout).ok();
        let is_known = |cells: &u16| *cells > 0;
        Self {
            is_terminal: true,
            has_colour: wants_colour(),
            width: size.map(|size| size.ws_col).filter(is_known),
            rows: size.map(|size| size.ws_row).filter(is_known),
        }
    }
}

/// No colour where `NO_COLOR` is set to anything, or where the terminal cannot do it.
fn wants_colour() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
