//! Real transcripts, where they are there: in, out, compacted, checked, and the same answers from a new index.

use std::path::{Path, PathBuf};

use spanvault::ask::{Get, Query};
use spanvault::{BuiltIn, CompactionOptions, IngestOptions, Vault, VerifyDepth};

/// `SPANVAULT_TRANSCRIPTS`, or the folder beside the repository.
fn collection() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/transcripts");
    let path = std::env::var_os("SPANVAULT_TRANSCRIPTS").map_or_else(beside, PathBuf::from);
    path.join("files").canonicalize().ok()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { directories.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn answers(vault: &Vault, source: &Path) -> Vec<String> {
    let source = source.to_string_lossy();
    let queries = [
        Query::any_call().source(&*source).get(Get::Count),
        Query::any_call().effect("mutates").source(&*source).get(Get::Paths),
        Query::negatives().source(&*source).get(Get::Count),
    ];
    vault
        .ask_all(&queries)
        .unwrap()
        .into_iter()
        .map(|answer| serde_json::to_string(&answer.unwrap()).unwrap())
        .collect()
}

#[test]
fn every_known_transcript_comes_back_and_answers_the_same_after_all_that_is_done_to_it() {
    let Some(collection) = collection() else {
        println!("SKIPPED: no transcripts; SPANVAULT_TRANSCRIPTS says where they are");
        return;
    };
    let known = ["claude-code", "mini-swe-agent"];
    let mut seen = 0;
    for path in known.iter().flat_map(|folder| files(&collection.join(folder))) {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("vault");
        let vault = Vault::open(&dir).unwrap();
        let ingest = || vault.ingest(&path, &IngestOptions::default(), &mut |_done, _of| {});
        let first = ingest().unwrap();
        assert!(first.quarantined.is_empty(), "{}: {:?}", path.display(), first.quarantined);
        let again = ingest().unwrap();
        assert_eq!((again.spans_new, again.bytes_new), (0, 0), "{}", path.display());
        let before = answers(&vault, &path);
        for session in vault.sessions().unwrap() {
            session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
            let again = session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
            assert!(again.is_unchanged(), "{}: {}", path.display(), again.session);
        }
        let mut bytes = Vec::new();
        let sink = &mut |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        vault.restore(&path.to_string_lossy(), sink).unwrap();
        assert!(bytes == std::fs::read(&path).unwrap(), "{} comes back byte for byte", path.display());
        assert!(vault.verify(VerifyDepth::Data, &mut |_at| {}).unwrap().is_sound());
        vault.close().unwrap();
        std::fs::remove_dir_all(dir.join("index")).unwrap();
        let vault = Vault::open(&dir).unwrap();
        vault.rebuild(&mut |_at| {}).unwrap();
        assert_eq!(answers(&vault, &path), before, "{}", path.display());
        seen += 1;
    }
    println!("{seen} transcripts");
    assert!(seen > 20);
}
