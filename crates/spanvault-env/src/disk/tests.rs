//! The simulated disk behaves like the real one, as far as nothing fails.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::{RealDisk, SimDisk};

#[derive(Debug, Clone)]
enum Step {
    Create(String),
    Write(String, u64, Vec<u8>),
    SetLen(String, u64),
    MakeDir(String),
    Rename(String, String),
    Remove(String),
    List(String),
    Lock(String),
}

/// Names from a small tree, so that steps meet.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "x/y/z"]).prop_map(str::to_owned)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => name().prop_map(Step::Create),
        3 => (name(), 0..600_u64, prop::collection::vec(any::<u8>(), 0..600))
            .prop_map(|(name, at, bytes)| Step::Write(name, at, bytes)),
        1 => (name(), 0..1_500_u64).prop_map(|(name, len)| Step::SetLen(name, len)),
        2 => name().prop_map(Step::MakeDir),
        3 => (name(), name()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => name().prop_map(Step::Remove),
        1 => name().prop_map(Step::List),
        1 => name().prop_map(Step::Lock),
    ]
}

/// What a step gives, so far as callers can rely on it.
fn take(disk: &dyn Disk, root: &Path, step: &Step) -> Result<String, &'static str> {
    let at = |name: &String| root.join(name);
    let done = match step {
        Step::Create(name) => disk.open(&at(name), OpenMode::CreateNew).map(|_file| ()),
        Step::Write(name, offset, bytes) => disk
            .open(&at(name), OpenMode::Write)
            .and_then(|file| file.write_at(bytes, *offset).and(file.sync())),
        Step::SetLen(name, len) => disk.open(&at(name), OpenMode::Write).and_then(|file| file.set_len(*len)),
        Step::MakeDir(name) => disk.create_dir(&at(name)),
        Step::Rename(from, to) => disk.rename(&at(from), &at(to)).and_then(|()| disk.sync_dir(root)),
        Step::Remove(name) => disk.remove(&at(name)),
        Step::List(name) => return tree(disk, &at(name)).map(|lines| lines.join(" ")).map_err(|e| why(&e)),
        Step::Lock(name) => match disk.lock(&at(name)) {
            Ok(_lock) => Ok(()),
            Err(LockError::Io(error)) => Err(error),
            Err(LockError::Busy { .. }) => return Ok("busy".into()),
        },
    };
    done.map(|()| String::new()).map_err(|error| why(&error))
}

fn why(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::NotFound {
        "not found"
    } else if error.kind() == io::ErrorKind::AlreadyExists {
        "already exists"
    } else {
        "refused"
    }
}

/// Every name below `dir` with what is in it.
fn tree(disk: &dyn Disk, dir: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in disk.list(dir)? {
        let path = dir.join(&entry.name);
        if entry.is_dir {
            lines.push(format!("{}/", entry.name));
            lines.extend(tree(disk, &path)?.into_iter().map(|line| format!("{}/{line}", entry.name)));
        } else {
            let mut bytes = vec![0; usize::try_from(entry.len).unwrap()];
            let file = disk.open(&path, OpenMode::Read)?;
            assert_eq!((file.read_at(&mut bytes, 0)? as u64, file.len()?), (entry.len, entry.len));
            lines.push(format!("{}={bytes:?}", entry.name));
        }
    }
    Ok(lines)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_simulated_disk_behaves_like_the_real_one(steps in prop::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let (real, sim) = (RealDisk, SimDisk::new());
        for step in &steps {
            let expected = take(&real, dir.path(), step);
            // A lock writes the holder's id into its file, which differs.
            if let (Step::Lock(name), Ok(_)) = (step, &expected) {
                real.open(&dir.path().join(name), OpenMode::Write).unwrap().set_len(0).unwrap();
                take(&sim, Path::new("/"), step).unwrap();
                take(&sim, Path::new("/"), &Step::SetLen(name.clone(), 0)).unwrap();
                continue;
            }
            prop_assert_eq!(take(&sim, Path::new("/"), step), expected, "{:?}", step);
        }
        prop_assert_eq!(tree(&sim, Path::new("/")).unwrap(), tree(&real, dir.path()).unwrap());
    }
}
