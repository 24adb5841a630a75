//! What a bench is told on its command line.

use crate::Outcome;

/// The words after `--`.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    words: Vec<String>,
}

impl Settings {
    /// Those of this process; cargo's own word is left out.
    pub fn from_command_line() -> Self {
        Self { words: std::env::args().skip(1).filter(|word| word != "--bench").collect() }
    }

    /// Whether `--NAME` stands there.
    pub fn has(&self, name: &str) -> bool {
        self.words.iter().any(|word| word.strip_prefix("--") == Some(name))
    }

    /// The word after `--NAME`.
    pub fn text(&self, name: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word.strip_prefix("--") == Some(name))?;
        self.words.get(at + 1).map(String::as_str)
    }

    /// The number after `--NAME`, `usual` without it. Underscores may stand in it.
    ///
    /// # Errors
    /// Where it is none.
    pub fn count(&self, name: &str, usual: usize) -> Outcome<usize> {
        match self.text(name) {
            Some(text) => Ok(text.replace('_', "").parse().map_err(|error| format!("--{name}: {error}"))?),
            None => Ok(usual),
        }
    }
}
