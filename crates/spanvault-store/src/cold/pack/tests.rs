use std::path::Path;

use spanvault_env::{Disk, Env, OpenMode, SimDisk};

use super::*;
use crate::cold::PackWriter;
use crate::stamp::VaultId;

const ID: u64 = 0xfeed;

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

fn write(disk: &SimDisk, dictionary: &[u8], count: u64) -> u64 {
    let file = disk.open(Path::new("/pack"), OpenMode::CreateNew).unwrap();
    let key = key();
    let mut writer = PackWriter::new(&*file, &key, ID, dictionary).unwrap();
    for number in 0..count {
        let bytes = record(number);
        writer.add(10 + number, ContentHash::of(&bytes), &bytes).unwrap();
    }
    writer.finish().unwrap()
}

fn open(disk: &SimDisk) -> Result<Pack> {
    Pack::open(Arc::from(disk.open(Path::new("/pack"), OpenMode::Read).unwrap()), &key(), ID)
}

fn trained() -> Vec<u8> {
    let samples: Vec<_> = (0..300).map(record).collect();
    super::super::train(&samples, 1 << 20).expect("alike enough")
}

#[test]
fn originals_read_back_with_and_without_a_dictionary() {
    let dictionary = trained();
    let mut lens = Vec::new();
    for dictionary in [&[][..], &dictionary] {
        let disk = SimDisk::new();
        let len = write(&disk, dictionary, 400);
        assert_eq!(len, disk.bytes(Path::new("/pack")).unwrap().len() as u64);
        let pack = open(&disk).unwrap();
        for number in 0..400 {
            let line = pack.line(number).unwrap();
            assert_eq!(line.position, 10 + number);
            assert_eq!(pack.original(&line).unwrap(), record(number));
        }
        assert!(pack.line(400).is_err());
        assert!(pack.is_whole(&key()).unwrap());
        assert!(
            Pack::open(Arc::from(disk.open(Path::new("/pack"), OpenMode::Read).unwrap()), &key(), ID + 1)
                .is_err()
        );
        lens.push(len);
    }
    assert!(lens[1] < lens[0], "{lens:?}");
}

#[test]
fn what_does_not_become_smaller_is_stored_as_it_is() {
    let disk = SimDisk::new();
    let file = disk.open(Path::new("/pack"), OpenMode::CreateNew).unwrap();
    let (noise, key) = (blake3::hash(b"noise"), key());
    let mut writer = PackWriter::new(&*file, &key, ID, &[]).unwrap();
    writer.add(1, ContentHash::of(noise.as_bytes()), noise.as_bytes()).unwrap();
    writer.add(2, ContentHash::of(b""), b"").unwrap();
    writer.finish().unwrap();
    let pack = open(&disk).unwrap();
    let line = pack.line(0).unwrap();
    assert_eq!((line.method, line.stored), (Method::Raw, 32));
    assert_eq!(pack.original(&line).unwrap(), noise.as_bytes());
    assert_eq!(pack.original(&pack.line(1).unwrap()).unwrap(), b"");
}

#[test]
fn i17_one_damaged_byte_of_a_pack_costs_one_original_at_most() {
    let dictionary = trained();
    let disk = SimDisk::new();
    let len = write(&disk, &dictionary, 12);
    // Of the two copies of the dictionary a sample of the bytes will do.
    let in_dictionary = |byte: u64| {
        let first = 120..120 + dictionary.len() as u64;
        let second_end = len - 120 - 12 * 64;
        first.contains(&byte) || (second_end - dictionary.len() as u64..second_end).contains(&byte)
    };
    for byte in (0..len).filter(|byte| !in_dictionary(*byte) || byte % 97 == 0) {
        let damaged = disk.restart();
        damaged.flip_bit(Path::new("/pack"), byte, u8::try_from(byte % 8).unwrap()).unwrap();
        let pack = open(&damaged).unwrap();
        let mut lost = 0;
        for number in 0..12 {
            match pack.line(number).and_then(|line| pack.original(&line)) {
                Ok(bytes) => assert_eq!(bytes, record(number), "byte {byte}"),
                Err(_) => lost += 1,
            }
        }
        assert!(lost <= 1, "byte {byte} costs {lost} originals");
        assert!(!pack.is_whole(&key()).unwrap(), "byte {byte} goes unnoticed");
    }
}

#[test]
fn i71_no_bytes_make_the_reader_of_packs_panic() {
    let disk = SimDisk::new();
    let len = usize::try_from(write(&disk, &[], 3)).unwrap();
    let good = disk.bytes(Path::new("/pack")).unwrap();
    for cut in (0..len).step_by(5) {
        disk.put(Path::new("/pack"), &good[..cut]).unwrap();
        let Ok(pack) = open(&disk) else { continue };
        for number in 0..4 {
            if let Ok(bytes) = pack.line(number).and_then(|line| pack.original(&line)) {
                assert_eq!(bytes, record(number));
            }
        }
        assert!(!pack.is_whole(&key()).unwrap());
    }
}
