use std::path::Path;

use spanvault_env::{Disk, Env, OpenMode, SimDisk};

use super::*;
use crate::cold::{PackWriter, Packing};
use crate::stamp::VaultId;

const ID: u64 = 0xfeed;
/// Originals of one session.
const SESSION: u64 = 40;
const PACKINGS: [Packing; 2] = [Packing::Single, Packing::Solid];

fn key() -> CheckKey {
    VaultId::random(&*Env::simulated(3).0.random).check_key()
}

/// Records that are alike in all but a few places.
fn record(number: u64) -> Vec<u8> {
    let salt = blake3::hash(&number.to_le_bytes());
    format!(
        "{{\"type\":\"tool_result\",\"number\":{number},\"text\":\"exit status 0\",\"digest\":\"{salt}\"}}\n"
    )
    .into_bytes()
}

fn write(disk: &SimDisk, dictionary: &[u8], count: u64, packing: Packing) -> u64 {
    let file = disk.open(Path::new("/pack"), OpenMode::CreateNew).unwrap();
    let key = key();
    let mut writer = PackWriter::new(&*file, &key, ID, dictionary, packing).unwrap();
    for number in 0..count {
        let bytes = record(number);
        writer.add(10 + number, number / SESSION, &ContentHash::of(&bytes), &bytes).unwrap();
    }
    writer.finish().unwrap()
}

fn open(disk: &SimDisk) -> Result<Pack> {
    Pack::open(Arc::from(disk.open(Path::new("/pack"), OpenMode::Read).unwrap()), &key(), ID)
}

/// The original with this number.
fn get(pack: &Pack, number: u64) -> Result<Vec<u8>> {
    pack.line(number).and_then(|line| pack.original(&line)).map(|(_hash, bytes)| bytes)
}

fn trained() -> Vec<u8> {
    let samples: Vec<_> = (0..300).map(record).collect();
    super::super::train(&samples, 1 << 20, Packing::Single).expect("alike enough")
}

#[test]
fn originals_read_back_with_and_without_a_dictionary_alone_and_together() {
    let dictionary = trained();
    let mut lens = Vec::new();
    for packing in PACKINGS {
        for dictionary in [&[][..], &dictionary] {
            let disk = SimDisk::new();
            let len = write(&disk, dictionary, 400, packing);
            assert_eq!(len, disk.bytes(Path::new("/pack")).unwrap().len() as u64);
            let pack = open(&disk).unwrap();
            let (mut lines, mut blocks) = (Window::default(), Window::default());
            for number in 0..400 {
                let line = pack.line(number).unwrap();
                assert_eq!(line.position, 10 + number);
                let together = if packing == Packing::Solid { 40 } else { 1 };
                assert_eq!(line.together(), together, "a block has originals of one session");
                let known = (ContentHash::of(&record(number)), record(number));
                assert_eq!(pack.original(&line).unwrap(), known);
                assert_eq!(pack.line_in(&mut lines, number).unwrap(), line);
                assert_eq!(pack.original_in(&mut blocks, &line).unwrap(), known);
            }
            assert!(pack.line(400).is_err());
            assert!(pack.is_whole(&key()).unwrap());
            assert!(
                Pack::open(Arc::from(disk.open(Path::new("/pack"), OpenMode::Read).unwrap()), &key(), ID + 1)
                    .is_err()
            );
            lens.push(len);
        }
    }
    assert!(lens[1] < lens[0] && lens[2] < lens[1], "{lens:?}");
}

#[test]
fn an_original_takes_little_more_than_what_it_is_compressed_to() {
    let disk = SimDisk::new();
    let len = write(&disk, &[], 400, Packing::Single);
    let pack = open(&disk).unwrap();
    let stored: u64 = (0..400).map(|number| pack.line(number).unwrap().stored).sum();
    // The name is in what is stored. Each copy of the index has six bytes for each.
    assert!(len <= stored + 2 * 6 * 400 + 300, "{len}, of which {stored} are blocks");
}

#[test]
fn what_does_not_become_smaller_is_stored_as_it_is() {
    let disk = SimDisk::new();
    let file = disk.open(Path::new("/pack"), OpenMode::CreateNew).unwrap();
    let (noise, key) = (blake3::hash(b"noise"), key());
    let mut writer = PackWriter::new(&*file, &key, ID, &[], Packing::Single).unwrap();
    writer.add(1, 0, &ContentHash::of(noise.as_bytes()), noise.as_bytes()).unwrap();
    writer.add(2, 0, &ContentHash::of(b""), b"").unwrap();
    writer.finish().unwrap();
    let pack = open(&disk).unwrap();
    let line = pack.line(0).unwrap();
    assert_eq!((line.method, line.stored), (Method::Raw, 32 + 8));
    assert_eq!(get(&pack, 0).unwrap(), noise.as_bytes());
    assert_eq!(get(&pack, 1).unwrap(), b"");
}

#[test]
fn i17_one_damaged_byte_of_a_pack_costs_one_original_or_those_of_its_block() {
    let dictionary = trained();
    for packing in PACKINGS {
        let disk = SimDisk::new();
        let len = write(&disk, &dictionary, 60, packing);
        let block_of = |pack: &Pack, number| pack.line(number).unwrap().offset;
        for byte in (0..len).step_by(3) {
            let damaged = disk.restart();
            damaged.flip_bit(Path::new("/pack"), byte, u8::try_from(byte % 8).unwrap()).unwrap();
            let pack = open(&damaged).unwrap();
            let mut lost = std::collections::BTreeMap::<u64, usize>::new();
            for number in 0..60 {
                match get(&pack, number) {
                    Ok(bytes) => assert_eq!(bytes, record(number), "byte {byte}"),
                    Err(_) => *lost.entry(block_of(&pack, number)).or_default() += 1,
                }
            }
            assert!(lost.len() <= 1, "byte {byte} costs originals of {} blocks", lost.len());
            let most = if packing == Packing::Solid { 40 } else { 1 };
            assert!(lost.values().all(|count| *count <= most), "byte {byte}: {lost:?}");
            assert!(!pack.is_whole(&key()).unwrap(), "byte {byte} goes unnoticed");
        }
    }
}

#[test]
fn i71_no_bytes_make_the_reader_of_packs_panic() {
    for packing in PACKINGS {
        let disk = SimDisk::new();
        let len = usize::try_from(write(&disk, &[], 3, packing)).unwrap();
        let good = disk.bytes(Path::new("/pack")).unwrap();
        for cut in (0..len).step_by(5) {
            disk.put(Path::new("/pack"), &good[..cut]).unwrap();
            let Ok(pack) = open(&disk) else { continue };
            for number in 0..4 {
                if let Ok(bytes) = get(&pack, number) {
                    assert_eq!(bytes, record(number));
                }
            }
            assert!(!pack.is_whole(&key()).unwrap());
        }
    }
}
