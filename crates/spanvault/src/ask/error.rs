//! Why a question gets no answer at all.

use thiserror::Error;

/// A query that makes no sense as it stands.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// It is no JSON, has an unknown field, or a field of the wrong type. The message names the field.
    #[error("read the query: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// Not exactly one field says what to find.
    #[error(
        "read the query: exactly one of calls, text, order and negatives must say what to find, not {found}"
    )]
    Find {
        /// How many do.
        found: usize,
    },
    /// A field has a value that it cannot have.
    #[error("read the query: {field}: {problem}")]
    Field {
        /// The field.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl QueryError {
    pub(super) fn field(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Field { field: field.into(), problem: problem.into() }
    }
}

/// Why a question gets no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AskError<E> {
    /// The query makes no sense.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The scope names a source or record that nothing was recorded from. It is no *absent*: nothing was searched.
    #[error("find {place}: nothing was recorded from it")]
    NothingThere {
        /// The fields of the scope that name it, with their values.
        place: String,
    },
    /// The originals cannot be read.
    #[error(transparent)]
    Originals(E),
}
