//! What can go wrong with a whole source, and what can be wrong with one record.

use crate::json::Fault;

/// Why a source could not be cut. A bad record is never one of these: it becomes a quarantined span.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The source could not be read.
    #[error("read the transcript")]
    Read {
        /// What the reader said.
        #[from]
        source: std::io::Error,
    },
    /// Nothing to import.
    #[error("import the transcript: it is empty")]
    EmptySource,
    /// No importer knows the content, and it is no text.
    #[error("import the transcript: it is no text, and of no known format")]
    UnknownFormat,
    /// A container that cannot be unpacked.
    #[error("unpack the {container} file: it is damaged or cut off")]
    Unpack {
        /// What kind of container.
        container: &'static str,
        /// What the unpacker says.
        source: std::io::Error,
    },
    /// A database that cannot be read.
    #[error("read the SQLite database: {source}")]
    Database {
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// A container that unpacks to more than is allowed.
    #[error("unpack the {container} file: it holds more than {bytes_max} bytes")]
    UnpacksTooFar {
        /// What kind of container.
        container: &'static str,
        /// The limit, in bytes.
        bytes_max: u64,
    },
    /// No importer has that name.
    #[error("import the transcript: there is no format {name:?}")]
    UnknownFormatName {
        /// The name that was asked for.
        name: String,
    },
    /// A format that is one JSON document, in a file above the limit.
    #[error("import the transcript: a {format} document of more than {bytes_max} bytes")]
    DocumentTooLarge {
        /// The format.
        format: &'static str,
        /// The limit, in bytes.
        bytes_max: u64,
    },
}

/// Why bytes could not be read as a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unparsed {
    /// Bytes that are no UTF-8.
    #[error("not UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first wrong byte, counted from the start of the original.
        at: u64,
    },
    /// Bytes that are no JSON.
    #[error("not JSON at byte {at}")]
    Malformed {
        /// The first wrong byte, counted from the start of the original.
        at: u64,
    },
    /// JSON that ends before it is complete.
    #[error("cut off: the JSON ends before it is complete")]
    Truncated,
    /// JSON, but no object.
    #[error("a JSON value that is no object")]
    NotAnObject,
    /// No importer reads this format.
    #[error("no format {name:?} is known")]
    UnknownFormat {
        /// The format's name.
        name: String,
    },
}

impl From<Fault> for Unparsed {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Truncated => Self::Truncated,
            Fault::Unexpected { at } => Self::Malformed { at: at as u64 },
        }
    }
}
