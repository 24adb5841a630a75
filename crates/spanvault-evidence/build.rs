//! Digests the sources of the crate that it is run for, this one or spanvault-import: what was read of spans by another
//! state of them may read otherwise now.

use std::path::{Path, PathBuf};
use std::{fs, io};

#[expect(clippy::disallowed_methods, reason = "a build script reads the sources that it is built beside")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let mut files = Vec::new();
    list(Path::new("src"), &mut files)?;
    files.sort();
    // FNV-1a over names and bytes, from two different starts.
    let mut digests = [0xcbf2_9ce4_8422_2325_u64, 0x9ae1_6a3b_2f90_404f];
    for file in files {
        let bytes = fs::read(&file)?;
        let name = file.to_string_lossy();
        for byte in name.bytes().chain([0]).chain(bytes).chain([0]) {
            for digest in &mut digests {
                *digest = (*digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(1);
            }
        }
    }
    let [one, other] = digests;
    println!("cargo::rustc-env=SPANVAULT_SOURCE_DIGEST={one:016x}{other:016x}");
    Ok(())
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}
