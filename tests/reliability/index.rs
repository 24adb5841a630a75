//! T9: whatever happens to the index in sled, the vault gives the same answers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use spanvault::{SpanDraft, SpanFilter, Vault};
use spanvault_testkit::reliability;

use crate::is_full;

/// Everything that a vault can be asked for, as text.
fn dump(dir: &Path) -> String {
    let vault = Vault::open(dir).unwrap();
    let mut text = String::new();
    let spans = &mut |span: spanvault::SpanInfo| {
        let hash = span.hash.expect("nothing is damaged");
        let bytes = vault.recover(hash)?;
        writeln!(text, "{span:?} {}", String::from_utf8_lossy(&bytes)).expect("text");
        Ok(())
    };
    vault.spans(&SpanFilter::default(), spans).unwrap();
    for session in vault.sessions().unwrap() {
        writeln!(text, "{} {:?}", session.name(), session.context().unwrap()).expect("text");
    }
    text
}

fn fill(dir: &Path, from: u64, to: u64) {
    let vault = Vault::open(dir).unwrap();
    let session = vault.session("run").unwrap();
    for n in from..to {
        session
            .record(SpanDraft::user(format!("Entry {n} of ledger /srv/ledger/{n}.csv says {}.", n * 17)))
            .unwrap();
    }
    vault.close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn i12_whatever_happens_to_the_index_the_answers_stay() {
    let root = tempfile::tempdir().unwrap();
    let (whole, other) = (root.path().join("whole"), root.path().join("other"));
    fill(&whole, 0, 20);
    let old = root.path().join("old-index");
    copy(&whole.join("index"), &old);
    fill(&whole, 20, 40);
    fill(&other, 100, 130);
    let answers = dump(&whole);
    let mut trials = 0_u64;
    let mut tried = |harm: &dyn Fn(&Path), what: &str| {
        let dir = root.path().join("trial");
        copy(&whole, &dir);
        harm(&dir.join("index"));
        assert_eq!(dump(&dir), answers, "{what}");
        fs::remove_dir_all(&dir).unwrap();
        trials += 1;
    };
    tried(&|index| fs::remove_dir_all(index).unwrap(), "no index");
    for (from, what) in [(&old, "an older index"), (&other.join("index"), "the index of another vault")] {
        let replace = |index: &Path| {
            fs::remove_dir_all(index).unwrap();
            copy(from, index);
        };
        tried(&replace, what);
    }
    for file in files(&whole.join("index")) {
        let name = file.strip_prefix(whole.join("index")).unwrap().to_owned();
        let bytes = fs::read(&file).unwrap();
        let steps = if is_full() { 60 } else { 4 };
        for n in 0..steps {
            let at = bytes.len() * n / steps;
            tried(
                &|index| fs::write(index.join(&name), &bytes[..at]).unwrap(),
                &format!("{} cut to {at}", name.display()),
            );
            if bytes.is_empty() {
                break;
            }
            let flip = |index: &Path| {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (n % 8);
                fs::write(index.join(&name), flipped).unwrap();
            };
            tried(&flip, &format!("byte {at} of {} turned", name.display()));
        }
    }
    reliability("t9_index_destructions", trials, 100);
}
