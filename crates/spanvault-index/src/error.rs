//! Why an index gave no answer.

use std::error::Error;
use std::io;
use std::path::PathBuf;

/// Why an index gave no answer. None of these says anything about the vault: the log has the truth.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A key that no index takes: empty, of the reserved table 0, or too long (I14).
    #[error("index a key of {len} bytes: it is empty, of table 0, or longer than {max} bytes", max = crate::KEY_BYTES_MAX)]
    Key {
        /// Its length.
        len: usize,
    },
    /// The engine reports an error.
    #[error("{doing} the index")]
    Engine {
        /// What was being done.
        doing: &'static str,
        /// What the engine says.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The engine panicked; the panic was contained.
    #[error("{doing} the index: its engine panicked: {message}")]
    Panicked {
        /// What was being done.
        doing: &'static str,
        /// What the panic says.
        message: String,
    },
    /// An entry that this crate did not write.
    #[error("read the index: an entry does not decode")]
    Entry,
    /// An earlier call failed; see [`crate::Index::clear`].
    #[error("use the index: an earlier call failed")]
    Broken,
    /// The disk is full. The index may be sound: nothing is known against it.
    #[error("{doing} the index: the disk is full")]
    NoSpace {
        /// What was being done.
        doing: &'static str,
        /// What the file system says.
        #[source]
        source: io::Error,
    },
    /// Another handle, perhaps one inherited by a child process, still has the index open.
    #[error("open the index at {}: it is in use", path.display())]
    InUse {
        /// The index.
        path: PathBuf,
    },
    /// The file system says no.
    #[error("{doing} the index")]
    Files {
        /// What was being done.
        doing: &'static str,
        /// What it says.
        #[source]
        source: io::Error,
    },
}
