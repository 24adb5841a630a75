//! The one error of the facade.

use std::error::Error as StdError;
use std::fmt;

use spanvault_store::StoreError;
use spanvault_types::Position;

/// What went wrong, as far as the caller would act differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request makes no sense as it stands.
    Invalid,
    /// Nothing has that name.
    NotFound,
    /// It contradicts something that is recorded.
    Conflict,
    /// The gate refused what the caller asked for.
    Refused,
    /// The bytes that would answer are gone, lawfully, and a tombstone says so.
    Insufficient,
    /// Somebody else has the vault, or the disk is full: later it may work.
    Unavailable,
    /// Bytes are damaged or missing.
    Corrupt,
    /// Anything else that failed.
    Internal,
}

impl ErrorKind {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "Invalid",
            Self::NotFound => "NotFound",
            Self::Conflict => "Conflict",
            Self::Refused => "Refused",
            Self::Insufficient => "Insufficient",
            Self::Unavailable => "Unavailable",
            Self::Corrupt => "Corrupt",
            Self::Internal => "Internal",
        }
    }
}

/// A failure, with its kind, a way out where there is one, and its source.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    pid: Option<u32>,
    tombstone: Option<Position>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What the facade's calls return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, message, hint: None, pid: None, tombstone: None, source: None }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// A failure of code that the facade was handed: a summarizer without an answer, a sink that cannot write.
    pub fn from_caller(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::new(kind, message)
    }

    /// The same failure with a way out.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    #[must_use]
    pub(crate) fn with_tombstone(mut self, tombstone: Position) -> Self {
        self.0.tombstone = Some(tombstone);
        self
    }

    /// What the caller can act on.
    pub const fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether it says that an original is gone or damaged, and nothing worse.
    pub(crate) const fn is_about_an_original(&self) -> bool {
        matches!(self.kind(), ErrorKind::Insufficient | ErrorKind::Corrupt)
    }

    /// The way out, where there is one: usually the next command or call.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The process that holds the vault, where that is what stands in the way.
    pub const fn pid(&self) -> Option<u32> {
        self.0.pid
    }

    /// The tombstone of what is gone, where that is what stands in the way.
    pub const fn tombstone(&self) -> Option<Position> {
        self.0.tombstone
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("hint", &self.0.hint)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let made = |kind| Self::new(kind, message.clone());
        #[expect(clippy::wildcard_enum_match_arm, reason = "the store's errors may grow; what is new is internal")]
        let mut made = match &error {
            StoreError::Busy { pid, .. } => {
                let mut busy = made(ErrorKind::Unavailable)
                    .with_hint("wait until it is done, or open the vault for reading, which is never busy");
                busy.0.pid = *pid;
                busy
            }
            StoreError::NoSpace { .. } => made(ErrorKind::Unavailable)
                .with_hint("nothing was lost; make room, or free some with \"spanvault reclaim\""),
            StoreError::Poisoned => made(ErrorKind::Unavailable).with_hint("open the vault again"),
            StoreError::ReadOnly => made(ErrorKind::Invalid).with_hint("open the vault for writing"),
            StoreError::NoVault { .. } => made(ErrorKind::NotFound)
                .with_hint("\"spanvault ingest FILE\" makes a vault; --vault or $SPANVAULT_DIR says where"),
            StoreError::NotAVault { .. } => {
                made(ErrorKind::Invalid).with_hint("choose an empty or a new directory; this one was not touched")
            }
            StoreError::NewerFormat { .. } => {
                made(ErrorKind::Invalid).with_hint("use a newer spanvault; the vault was not touched")
            }
            StoreError::NotPrivate { .. } => {
                made(ErrorKind::Invalid).with_hint("a vault belongs to one user: \"chmod 700\" it, or open it as its owner")
            }
            StoreError::NotFound { .. } | StoreError::NoOriginal { .. } => made(ErrorKind::NotFound),
            StoreError::Corrupt { .. } | StoreError::Missing { .. } | StoreError::Damaged { .. } => {
                made(ErrorKind::Corrupt).with_hint("\"spanvault verify --read-data\" lists all damage")
            }
            StoreError::Reclaimed { tombstone, .. } => made(ErrorKind::Insufficient)
                .with_tombstone(*tombstone)
                .with_hint("its bytes were removed when their retention had ended; the tombstone says by which permit"),
            StoreError::TooLarge { .. } => made(ErrorKind::Invalid),
            StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                made(ErrorKind::Invalid).with_hint("choose a directory that this user may write in")
            }
            _ => made(ErrorKind::Internal),
        };
        made.0.source = Some(Box::new(error));
        made
    }
}
