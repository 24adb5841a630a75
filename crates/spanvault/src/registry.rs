//! What a vault knows of tools: the program's registry and the file that adds to it.

use std::io;
use std::path::Path;

use spanvault_env::OpenMode;
use spanvault_evidence::{Lowered, Registry};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::vault::Vault;

/// The name of the file in a vault's directory.
const FILE: &str = "registry.json";
/// The longest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// What a vault knows of tools beyond the program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegistryInfo {
    /// The tools that a file added, sorted, each with what it does.
    pub added: Vec<(String, &'static str)>,
    /// The tools that read as doing less than their names are known to do, because the file says so.
    pub lowered: Vec<Lowered>,
}

impl Vault {
    /// What this vault knows of tools beyond the program: see `docs/guides/registry.md`.
    pub fn registry(&self) -> RegistryInfo {
        info(&self.registry)
    }
}

/// Reads a file that adds tools, without a vault.
///
/// # Errors
/// `NotFound` where there is none; `Invalid`, with the line, where it cannot be used.
pub fn read_registry(options: &Options, path: impl AsRef<Path>) -> Result<RegistryInfo> {
    let path = path.as_ref();
    match read(options, path)? {
        Some(registry) => Ok(info(&registry)),
        None => Err(Error::not_found(format!("read the registry {}: there is no such file", path.display()))),
    }
}

fn info(registry: &Registry) -> RegistryInfo {
    RegistryInfo {
        added: registry.added().into_iter().map(|(name, effect)| (name.to_owned(), effect)).collect(),
        lowered: registry.lowered().to_vec(),
    }
}

/// The registry of the vault in `dir`: with the file that the options name, else with its own, if it has one.
pub(crate) fn load(options: &Options, dir: &Path) -> Result<Registry> {
    let found = match &options.registry {
        Some(path) => Some(read(options, path)?.ok_or_else(|| {
            Error::not_found(format!("read the registry {}: there is no such file", path.display()))
        })?),
        None => read(options, &dir.join(FILE))?,
    };
    let registry = found.unwrap_or_default();
    for lowered in registry.lowered() {
        let Lowered { tool, known, reads_as, reason } = lowered;
        tracing::warn!(tool, known, reads_as, reason, "a known side effect is read as less");
    }
    Ok(registry)
}

fn read(options: &Options, path: &Path) -> Result<Option<Registry>> {
    let failed =
        |error: io::Error| Error::invalid(format!("read the registry {}", path.display())).with_source(error);
    let file = match options.env.disk.open(path, OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let len = file.len().map_err(failed)?;
    if len > FILE_BYTES_MAX {
        let message =
            format!("read the registry {}: it is longer than {FILE_BYTES_MAX} bytes", path.display());
        return Err(Error::invalid(message));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    let read = file.read_at(&mut bytes, 0).map_err(failed)?;
    bytes.truncate(read);
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("read the registry {}: it is no UTF-8", path.display())).with_source(error)
    })?;
    Registry::extended(&text).map(Some).map_err(|error| {
        Error::invalid(format!("read the registry {}:{}: {}", path.display(), error.line, error.what))
            .with_hint("mend the line; \"spanvault registry --file FILE\" checks a file")
    })
}

#[cfg(test)]
mod tests;
