//! How a command ends: exit codes, and errors as people and programs read them.

use std::error::Error as StdError;
use std::io::{self, Write as _};

use serde::Serialize;
use spanvault::{Error, ErrorKind};
use spanvault_types::Position;

/// How a command ended that did what it was asked. The numbers are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done, or answered.
    Done = 0,
    /// Something failed that has no number of its own.
    Failed = 1,
    /// The request makes no sense as it stands.
    Usage = 2,
    /// Nothing has that name.
    NotFound = 3,
    /// The gate refused, and nothing was permitted.
    Refused = 4,
    /// The evidence is not enough for an answer.
    Insufficient = 5,
    /// Damage was found.
    Corrupt = 6,
    /// Somebody else has the vault.
    Busy = 7,
}

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The vault says no.
    Vault(Error),
    /// The request makes no sense; nothing was done.
    Usage {
        /// What is wrong with it.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// A file or a program outside the vault failed.
    Outside {
        /// What was tried.
        message: String,
        /// The way out.
        hint: Option<String>,
        /// What the system says.
        source: Option<io::Error>,
    },
    /// Whoever read the output has gone; nobody is left to tell.
    ReaderGone,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn outside(message: impl Into<String>, source: io::Error) -> Self {
        Self::Outside { message: message.into(), hint: None, source: Some(source) }
    }

    /// What went wrong while printing.
    pub(crate) fn printing(source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            Self::ReaderGone
        } else {
            Self::outside("print the answer", source)
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Vault(error) => exit_of(error.kind()),
            Self::Usage { .. } => Exit::Usage,
            Self::Outside { source: Some(source), .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::NotFound
            }
            Self::Outside { .. } => Exit::Failed,
            Self::ReaderGone => Exit::Done,
        }
    }

    /// Says what went wrong, on the standard error stream.
    pub(crate) fn tell(&self, is_json: bool) {
        if !matches!(self, Self::ReaderGone) {
            self.response().tell(is_json);
        }
    }

    /// The error as a line for programs.
    fn response(&self) -> ErrorResponse {
        let kind = match (self, self.exit()) {
            (Self::Vault(error), _) => error.kind().as_str(),
            (_, Exit::Usage) => ErrorKind::Invalid.as_str(),
            (_, Exit::NotFound) => ErrorKind::NotFound.as_str(),
            _ => ErrorKind::Internal.as_str(),
        };
        let mut response =
            ErrorResponse { error: self.message(), kind, hint: None, pid: None, tombstone: None };
        match self {
            Self::Vault(error) => {
                response.hint = error.hint().map(str::to_owned);
                response.pid = error.pid();
                response.tombstone = error.tombstone().map(Position::get);
            }
            Self::Usage { hint, .. } | Self::Outside { hint, .. } => response.hint.clone_from(hint),
            Self::ReaderGone => {}
        }
        response
    }

    /// The error with its causes, as one line.
    fn message(&self) -> String {
        match self {
            Self::Vault(error) => with_causes(error.to_string(), error.source()),
            Self::Usage { message, .. } => message.clone(),
            Self::Outside { message, source, .. } => with_causes(
                message.clone(),
                source.as_ref().map(|source| source as &(dyn StdError + 'static)),
            ),
            Self::ReaderGone => "print the answer: nobody reads it any more".to_owned(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Vault(error)
    }
}

pub(crate) const fn exit_of(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::Invalid => Exit::Usage,
        ErrorKind::NotFound => Exit::NotFound,
        ErrorKind::Refused => Exit::Refused,
        ErrorKind::Insufficient => Exit::Insufficient,
        ErrorKind::Corrupt => Exit::Corrupt,
        ErrorKind::Unavailable => Exit::Busy,
        ErrorKind::Conflict | ErrorKind::Internal | _ => Exit::Failed,
    }
}

/// An error on the standard error stream, with `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorResponse {
    pub(crate) error: String,
    pub(crate) kind: &'static str,
    pub(crate) hint: Option<String>,
    /// Who has the vault, where that is what stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// The log position of the tombstone, where the bytes are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tombstone: Option<u64>,
}

impl ErrorResponse {
    /// Prints it: a line of JSON, or words.
    pub(crate) fn tell(&self, is_json: bool) {
        if is_json {
            to_stderr(serde_json::to_string(self).unwrap_or_default());
        } else {
            to_stderr(in_words("error", &self.error, self.hint.as_deref()));
        }
    }
}

/// A warning on the standard error stream, with `--json`.
#[derive(Debug, Serialize)]
struct WarningResponse<'a> {
    warning: &'a str,
    hint: &'a str,
}

/// Says what is wrong although the command goes on.
pub(crate) fn tell_warning(warning: &str, hint: &str, is_json: bool) {
    if is_json {
        to_stderr(serde_json::to_string(&WarningResponse { warning, hint }).unwrap_or_default());
    } else {
        to_stderr(in_words("warning", warning, Some(hint)));
    }
}

fn in_words(label: &str, message: &str, hint: Option<&str>) -> String {
    let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    format!("{label}: {message}{hint}")
}

/// Where nobody reads the errors, there is nobody to tell about that.
fn to_stderr(mut text: String) {
    text.push('\n');
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Adds what the operating system says, where the message does not say it already. What the engines say, the message
/// of the facade has in its own words.
fn with_causes(mut message: String, mut cause: Option<&(dyn StdError + 'static)>) -> String {
    while let Some(error) = cause {
        let words = error.to_string();
        if error.is::<io::Error>() && !message.contains(&words) {
            message.push_str(": ");
            message.push_str(&words);
        }
        cause = error.source();
    }
    message
}
