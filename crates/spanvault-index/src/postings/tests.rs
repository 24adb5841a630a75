//! Behaviour of runs, on a simulated disk.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use spanvault_env::{Disk, OpenMode, SimDisk};
use spanvault_types::{ContentHash, Position, SetSum};

use super::*;

const READER: [u8; 32] = [7; 32];

fn chain_of(at: Position) -> [u8; 32] {
    *blake3::hash(&at.get().to_le_bytes()).as_bytes()
}

fn log() -> RunsLog<impl Fn(Position) -> Option<[u8; 32]>> {
    RunsLog { reader: READER, chain_at: |at| Some(chain_of(at)) }
}

fn dir() -> &'static Path {
    Path::new("/vault/postings")
}

fn opened(disk: &SimDisk) -> Runs {
    Runs::open(disk, dir(), &log())
}

fn term(n: u64) -> Term {
    Term::new(1, &[&n.to_le_bytes()])
}

/// Pushes a run of `spans` spans, each of session 3 and with the terms `terms_of` it.
fn push(runs: &mut Runs, disk: &SimDisk, spans: u64, terms_of: impl Fn(u64) -> Vec<u64>) {
    let first = runs.next().get();
    let mut draft = RunDraft::default();
    for at in first..first + spans {
        for n in terms_of(at) {
            draft.post(term(n), Position::new(at));
        }
        let share = draft.share(Position::new(3));
        share.spans += 1;
        share.sum.add(&ContentHash::of(&at.to_le_bytes()));
    }
    let last = Position::new(first + spans);
    runs.push(disk, draft, last, chain_of(last), READER).expect("the disk has room");
}

fn found(runs: &Runs, wanted: u64) -> Vec<u64> {
    runs.iter()
        .flat_map(|run| run.positions(term(wanted)).expect("nothing is damaged"))
        .map(Position::get)
        .collect()
}

#[test]
fn runs_that_are_open_already_give_what_those_that_are_opened_anew_give() {
    let disk = SimDisk::new();
    let mut writer = opened(&disk);
    let mut kept = opened(&disk);
    let same = |kept: &Runs, anew: &Runs| {
        assert_eq!(kept.next(), anew.next());
        assert!(kept.iter().map(Run::first).eq(anew.iter().map(Run::first)));
        for wanted in [0, 3, 1_001, 1_230] {
            assert_eq!(found(kept, wanted), found(anew, wanted));
        }
    };
    for _ in 0..11 {
        push(&mut writer, &disk, 50, |at| vec![at % 7, 1_000 + at]);
        // Merges take away what is open; it is read all the same until then, and not asked afterwards.
        let before = found(&kept, 3);
        kept = kept.reopen(&disk, &log());
        assert_eq!(found(&kept, 3)[..before.len()], before);
        same(&kept, &opened(&disk));
    }
    // The log was cut and went on otherwise, was read by another program, or the runs were made again.
    let cut =
        RunsLog { reader: READER, chain_at: |at: Position| Some(chain_of(Position::new(at.get() + 1))) };
    assert_eq!(kept.reopen(&disk, &cut).next(), Position::new(1));
    let other_reader = RunsLog { reader: [8; 32], chain_at: |at| Some(chain_of(at)) };
    assert_eq!(kept.reopen(&disk, &other_reader).next(), Position::new(1));
    writer.clear(&disk).expect("they can be removed");
    assert_eq!(kept.reopen(&disk, &log()).next(), Position::new(1));
    push(&mut writer, &disk, 20, |at| vec![at % 7]);
    same(&kept.reopen(&disk, &log()), &opened(&disk));
}

#[test]
fn what_is_posted_is_found_over_merges_and_after_opening_again() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    for _ in 0..11 {
        push(&mut runs, &disk, 50, |at| vec![at % 7, 1_000 + at]);
    }
    let again = opened(&disk);
    assert!(again.iter().count() < 11, "some were merged");
    assert_eq!(again.next(), runs.next());
    for wanted in [0, 6, 1_033, 1_400, 5_000] {
        let expected: Vec<u64> = (1..again.next().get())
            .filter(|at| at % 51 != 0 && (at % 7 == wanted || 1_000 + at == wanted))
            .collect();
        assert_eq!(found(&again, wanted), expected, "{wanted}");
    }
    let spans: u64 = again.iter().map(|run| run.sessions()[&Position::new(3)].spans).sum();
    assert_eq!(spans, 550);
    let mut sum = SetSum::default();
    again.iter().for_each(|run| sum.combine(&run.sessions()[&Position::new(3)].sum));
    let hashes = (1..again.next().get()).filter(|at| at % 51 != 0);
    assert_eq!(sum, SetSum::of(hashes.map(|at| ContentHash::of(&at.to_le_bytes()))));
}

#[test]
fn runs_of_many_blocks_are_merged_as_if_they_had_been_one() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    for _ in 0..4 {
        push(&mut runs, &disk, 2_000, |at| vec![at % 3, 1_000 + at, 1_000 + at / 2]);
    }
    let merged = opened(&disk);
    let [run] = merged.iter().collect::<Vec<_>>()[..] else { panic!("they are one") };
    assert!(run.blocks() > 8, "of {} blocks", run.blocks());
    let at_of = |n: u64| {
        (1..=8_004)
            .filter(move |at| at % 2_001 != 0 && (at % 3 == n || 1_000 + at == n || 1_000 + at / 2 == n))
    };
    for wanted in [0, 2, 1_001, 2_500, 3_001, 4_999, 9_004] {
        let mut expected: Vec<u64> = at_of(wanted).collect();
        expected.dedup();
        let mut found = found(&merged, wanted);
        found.dedup();
        assert_eq!(found, expected, "{wanted}");
    }
}

#[test]
fn a_damaged_run_is_not_merged_and_what_comes_behind_it_is_still_written() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    push(&mut runs, &disk, 40, |at| vec![at]);
    let first = disk.list(dir()).expect("it is there").remove(0);
    let file = disk.open(&dir().join(&first.name), OpenMode::Write).expect("it opens");
    file.write_at(&[0xff; 4], 12).expect("it writes");
    for _ in 0..5 {
        push(&mut runs, &disk, 40, |at| vec![at]);
    }
    let names = disk.list(dir()).expect("they are there");
    assert!(names.iter().all(|entry| entry.name.strip_suffix(".run").is_some()), "nothing half done is left");
    assert!(names.iter().any(|entry| entry.name == first.name));
    assert_eq!(opened(&disk).next(), runs.next());
}

#[test]
fn a_run_that_is_not_whole_does_not_count_and_neither_does_what_follows_it() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    push(&mut runs, &disk, 300, |at| vec![at]);
    push(&mut runs, &disk, 30, |at| vec![at]);
    let names = disk.list(dir()).expect("it is there");
    let first = dir().join(&names[0].name);
    let whole = names[0].len;
    for cut in [0, 1, whole / 2, whole - 1] {
        disk.open(&first, OpenMode::Write).and_then(|file| file.set_len(cut)).expect("it can be cut");
        assert_eq!(opened(&disk).next(), Position::new(1), "cut to {cut} of {whole}");
    }
}

#[test]
fn a_flipped_bit_is_noticed_wherever_it_is() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    push(&mut runs, &disk, 40, |at| vec![at]);
    let entry = disk.list(dir()).expect("it is there").remove(0);
    let file = disk.open(&dir().join(&entry.name), OpenMode::Write).expect("it opens");
    // The magic at the start says nothing; everything behind it counts.
    for offset in (8..entry.len).step_by(11).chain(entry.len - 40..entry.len) {
        let mut byte = [0];
        file.read_at(&mut byte, offset).expect("it reads");
        file.write_at(&[byte[0] ^ 0x10], offset).expect("it writes");
        let damaged = opened(&disk);
        let noticed =
            damaged.iter().next().is_none_or(|run| (1..=40).any(|n| run.positions(term(n)).is_none()));
        assert!(noticed, "byte {offset} of {}", entry.len);
        file.write_at(&byte, offset).expect("it writes");
    }
}

#[test]
fn a_run_of_another_log_or_another_reader_does_not_count() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    push(&mut runs, &disk, 5, |at| vec![at]);
    let other_log = RunsLog { reader: READER, chain_at: |_at| Some([9; 32]) };
    assert_eq!(Runs::open(&disk, dir(), &other_log).next(), Position::new(1));
    let no_commit = RunsLog { reader: READER, chain_at: |_at| None };
    assert_eq!(Runs::open(&disk, dir(), &no_commit).next(), Position::new(1));
    let other_reader = RunsLog { reader: [1; 32], chain_at: |at| Some(chain_of(at)) };
    assert_eq!(Runs::open(&disk, dir(), &other_reader).next(), Position::new(1));
    assert_eq!(opened(&disk).next(), runs.next());
}

#[test]
fn clearing_leaves_nothing() {
    let disk = SimDisk::new();
    let mut runs = opened(&disk);
    runs.clear(&disk).expect("a directory that is not there is clear");
    push(&mut runs, &disk, 5, |at| vec![at]);
    runs.clear(&disk).expect("the files go");
    assert_eq!((runs.next(), opened(&disk).next()), (Position::new(1), Position::new(1)));
    assert!(disk.list(dir()).expect("the directory stays").is_empty());
}

proptest! {
    #[test]
    fn a_run_answers_as_a_map_does(
        postings in prop::collection::vec((0_u64..40, 1_u64..2_000), 0..600),
        unread in prop::collection::btree_set(1_u64..2_000, 0..20),
    ) {
        let disk = SimDisk::new();
        let mut runs = opened(&disk);
        let mut draft = RunDraft::default();
        let mut model: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (n, at) in &postings {
            draft.post(term(*n), Position::new(*at));
            model.entry(*n).or_default().push(*at);
        }
        for at in &unread {
            draft.unread(Position::new(*at));
        }
        runs.push(&disk, draft, Position::new(2_000), chain_of(Position::new(2_000)), READER).expect("room");
        for n in 0..41 {
            let mut expected = model.remove(&n).unwrap_or_default();
            expected.sort_unstable();
            prop_assert_eq!(found(&runs, n), expected);
        }
        let kept: Vec<u64> = runs.iter().flat_map(Run::unread).map(Position::get).collect();
        prop_assert_eq!(kept, unread.into_iter().collect::<Vec<_>>());
    }
}
