//! Files outside the vault that arguments name: what is read, what is written, which transcripts a directory holds.
//!
//! These are the user's own files, pipes and terminals, so they are opened as every program opens them; the files
//! of the vault are reached through `spanvault_env` alone.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Something in a directory of transcripts.
pub(crate) enum Found {
    /// A file.
    File(PathBuf),
    /// Something that is not looked into, and why.
    Other(PathBuf, &'static str),
}

/// Everything under `dir`, in the order of names and numbers, without following links and without looking into `vault`.
pub(crate) fn walk(dir: &Path, vault: PathBuf) -> impl Iterator<Item = Result<Found, Failure>> {
    let vault = vault.canonicalize().unwrap_or(vault);
    let mut pending = vec![Pending::Dir(dir.to_owned())];
    std::iter::from_fn(move || {
        loop {
            match pending.pop()? {
                Pending::File(path, kind) if kind.is_file() => return Some(Ok(Found::File(path))),
                Pending::File(path, kind) if kind.is_symlink() => {
                    return Some(Ok(Found::Other(path, "a link is not followed")));
                }
                Pending::File(path, _special) => return Some(Ok(Found::Other(path, "not a regular file"))),
                Pending::Dir(path) if path.canonicalize().is_ok_and(|path| path == vault) => {
                    return Some(Ok(Found::Other(path, "this vault itself")));
                }
                Pending::Dir(path) => match entries(&path) {
                    Ok(entries) => pending.extend(entries.into_iter().rev()),
                    Err(error) => {
                        return Some(Err(Failure::outside(format!("list {}", path.display()), error)));
                    }
                },
            }
        }
    })
}

enum Pending {
    Dir(PathBuf),
    File(PathBuf, FileType),
}

fn entries(dir: &Path) -> io::Result<Vec<Pending>> {
    let mut found = fs::read_dir(dir)?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?))
        })
        .collect::<io::Result<Vec<_>>>()?;
    found.sort_by_cached_key(|(path, _)| order(path));
    Ok(found
        .into_iter()
        .map(|(path, kind)| if kind.is_dir() { Pending::Dir(path) } else { Pending::File(path, kind) })
        .collect())
}

/// Where a path stands among others: those that are numbered come first, by their number.
fn order(path: &Path) -> (bool, Option<u64>, PathBuf) {
    let number = path.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.parse().ok());
    (number.is_none(), number, path.to_owned())
}

/// The text of a file, or of the standard input where the name is `-`.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::outside(format!("read {}", path.display()), error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("read {}: no UTF-8 at byte {at}", path.display()), "give a text file")
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user's own file, which may be a pipe; not a file of the vault"
)]
fn open(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// Takes bytes, one piece after the other.
pub(crate) type Put<'a> = dyn FnMut(&[u8]) -> Result<(), Failure> + 'a;

/// Fills a file: whole, or not at all.
///
/// A regular file is written beside its place and moved there when it is complete. Anything else, such as a pipe or
/// `/dev/null`, is written directly.
pub(crate) fn fill<T>(
    path: &Path,
    write: impl FnOnce(&mut Put<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failed = |error: io::Error| Failure::outside(format!("write {}", path.display()), error);
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let mut file = append(path).map_err(failed)?;
        return write(&mut |bytes| file.write_all(bytes).map_err(failed));
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = io::BufWriter::new(tempfile::NamedTempFile::new_in(dir).map_err(failed)?);
    let written = write(&mut |bytes| file.write_all(bytes).map_err(failed))?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(written)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a pipe or device that the user names; not a file of the vault"
)]
fn append(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_could_not_be_filled_is_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fill(&path, |put| put(b"old")).unwrap();
        let failed: Result<(), Failure> = fill(&path, |put| {
            put(b"half")?;
            Err(Failure::usage("stop", "here"))
        });
        assert!(failed.is_err());
        assert_eq!(read_text(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn a_directory_is_walked_in_the_order_of_names_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b/2.x", "a", "b/10.x", "b/c", "b/1.x", "vault/log"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), dir.path().join("b/loop")).unwrap();
        let shown: Vec<String> = walk(dir.path(), dir.path().join("vault"))
            .map(|found| match found.unwrap() {
                Found::File(path) => path.strip_prefix(dir.path()).unwrap().display().to_string(),
                Found::Other(path, why) => {
                    format!("{}: {why}", path.strip_prefix(dir.path()).unwrap().display())
                }
            })
            .collect();
        assert_eq!(
            shown,
            [
                "a",
                "b/1.x",
                "b/2.x",
                "b/10.x",
                "b/c",
                "b/loop: a link is not followed",
                "vault: this vault itself"
            ]
        );
    }
}
