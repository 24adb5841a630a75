//! Streams what the facade lists into the output.

use spanvault::{Error, ErrorKind};

use crate::failure::Failure;

/// Why the printing stopped, kept while the facade comes back.
#[derive(Default)]
pub(crate) struct Stopped(Option<Failure>);

impl Stopped {
    /// What a sink of the facade says to one piece: where printing it failed, the listing stops.
    pub(crate) fn heed(&mut self, printed: Result<(), Failure>) -> spanvault::Result<()> {
        printed.map_err(|failure| {
            self.0 = Some(failure);
            Error::from_caller(ErrorKind::Internal, "print the answer")
        })
    }

    /// What the listing came to.
    pub(crate) fn or<T>(self, listed: spanvault::Result<T>) -> Result<T, Failure> {
        match self.0 {
            Some(failure) => Err(failure),
            None => Ok(listed?),
        }
    }
}

/// Lists through `list`, printing each item.
pub(crate) fn stream<T>(
    list: impl FnOnce(&mut dyn FnMut(T) -> spanvault::Result<()>) -> spanvault::Result<()>,
    mut print: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut stopped = Stopped::default();
    let listed = list(&mut |item| stopped.heed(print(item)));
    stopped.or(listed)
}
