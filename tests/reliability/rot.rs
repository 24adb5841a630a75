//! T8: every byte of a vault turns, every file is cut: it is reported, or it does no harm; nothing is silently absent.

use std::path::PathBuf;

use spanvault::{ErrorKind, Packing, VerifyDepth};
use spanvault_testkit::reliability;

use crate::draw::Draw;
use crate::is_full;
use crate::script::{Act, Stage};

/// How large the vault is at least whose every byte turns.
const BYTES_MIN: u64 = 32 << 10;
/// As many calls and results as that takes.
const MANY: u8 = 15;

/// A vault with hot, cold and condemned originals, summaries and a hold.
fn vault(packing: Packing) -> Stage {
    let mut stage = Stage::new(8).packing(packing);
    let vault = stage.open().unwrap();
    Stage::found(&vault).unwrap();
    for act in [
        Act::Record(0),
        Act::Record(1),
        Act::Demote,
        Act::Record(2),
        Act::Record(3),
        Act::Compact,
        Act::Hold,
        Act::Wait,
        Act::Reclaim,
        Act::Record(4),
    ] {
        stage.act(&vault, act).unwrap();
    }
    for n in 5..MANY {
        stage.act(&vault, Act::Record(n)).unwrap();
    }
    drop(vault);
    let bytes: u64 = files(&stage).iter().map(|(_path, len)| len).sum();
    assert!(bytes >= BYTES_MIN, "{bytes} bytes");
    stage
}

/// How many originals damage took; every one of them says so.
fn lost(stage: &Stage, moment: &str) -> usize {
    let vault = match stage.open() {
        Ok(vault) => vault,
        // The stamp of the vault itself: then nothing is touched, and nothing is silent.
        Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Invalid) => return 0,
        Err(error) => panic!("{moment}: {error:?}"),
    };
    let mut lost = 0;
    for (hash, known) in &stage.ledger.originals {
        match vault.recover(*hash) {
            Ok(bytes) => assert_eq!(bytes, known.bytes, "{moment}: {hash} has other bytes"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{moment}: {hash}: {error:?}");
                lost += 1;
            }
        }
    }
    if lost > 0 {
        let found = vault.verify(VerifyDepth::Data, &mut |_progress| {}).unwrap();
        assert!(!found.is_sound(), "{moment}: verify does not see what is lost");
    }
    lost
}

fn files(stage: &Stage) -> Vec<(PathBuf, u64)> {
    let is_kept = |path: &PathBuf| !path.ends_with("LOCK");
    stage.disk.files().into_iter().filter(|(path, len)| *len > 0 && is_kept(path)).collect()
}

#[test]
fn i16_i17_a_bit_that_turns_anywhere_is_reported_or_does_no_harm() {
    let whole = vault(Packing::Single);
    let mut draw = Draw::new(8);
    let (mut flips, mut most) = (0_u64, 0);
    for (path, len) in files(&whole) {
        let stride = if is_full() { 1 } else { 1 + len / 12 };
        for byte in (0..len).step_by(usize::try_from(stride).expect("small")) {
            let stage = whole.with_disk(whole.disk.restart());
            let bit = u8::try_from(draw.below(8)).expect("a bit");
            stage.disk.flip_bit(&path, byte, bit).unwrap();
            most = most.max(lost(&stage, &format!("bit {bit} of byte {byte} of {}", path.display())));
            flips += 1;
        }
    }
    reliability("t8_flips", flips, BYTES_MIN);
    reliability("t8_originals_lost_to_one_bit", most, 1);
    assert!(most <= 1, "one bit took {most} originals");
}

#[test]
fn i16_i17_a_bit_that_turns_in_a_block_of_originals_costs_no_more_than_those_that_are_in_it() {
    let whole = vault(Packing::Solid);
    let (mut flips, mut most) = (0_u64, 0);
    for (path, len) in packs(&whole) {
        let stride = if is_full() { 1 } else { 1 + len / 40 };
        for byte in (0..len).step_by(usize::try_from(stride).expect("small")) {
            let stage = whole.with_disk(whole.disk.restart());
            stage.disk.flip_bit(&path, byte, u8::try_from(byte % 8).expect("a bit")).unwrap();
            most = most.max(lost(&stage, &format!("byte {byte} of {}", path.display())));
            flips += 1;
        }
    }
    // Two calls and their results were demoted, in one session.
    reliability("t8_flips_in_blocks", flips, 0);
    reliability("t8_originals_lost_to_one_bit_of_a_block", most, 4);
    assert!((1..=4).contains(&most), "one bit took {most} originals");
}

fn packs(stage: &Stage) -> Vec<(PathBuf, u64)> {
    files(stage)
        .into_iter()
        .filter(|(path, _len)| path.extension().is_some_and(|kind| kind == "pack"))
        .collect()
}

#[test]
fn i16_a_file_that_is_cut_anywhere_is_reported() {
    let solid = vault(Packing::Solid);
    let whole = vault(Packing::Single);
    let mut cuts = 0_u64;
    let all = files(&whole).into_iter().map(|file| (&whole, file));
    for (whole, (path, len)) in all.chain(packs(&solid).into_iter().map(|file| (&solid, file))) {
        let bytes = whole.disk.bytes(&path).unwrap();
        let stride = if is_full() { 1 } else { 1 + len / 8 };
        for end in (len.saturating_sub(8 << 10)..len).step_by(usize::try_from(stride).expect("small")) {
            let stage = whole.with_disk(whole.disk.restart());
            let kept = bytes.get(..usize::try_from(end).expect("small")).expect("shorter");
            stage.disk.put(&path, kept).unwrap();
            lost(&stage, &format!("{} cut to {end} of {len} bytes", path.display()));
            cuts += 1;
        }
    }
    reliability("t8_truncations", cuts, "every-length");
}
