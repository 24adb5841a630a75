use std::io::{Cursor, Write};

use super::*;

const TEXT: &[u8] = b"{\"a\":1}\n{\"b\":2}\n";

fn packed(container: Container, text: &[u8]) -> Vec<u8> {
    match container {
        Container::Zstd => zstd::bulk::compress(text, 3).unwrap(),
        Container::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        Container::Zip => {
            let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
            writer.add_directory("samples", zip::write::SimpleFileOptions::default()).unwrap();
            for name in ["samples/../../1.json", "header.json"] {
                let deflated = zip::write::SimpleFileOptions::default()
                    .compression_method(zip::CompressionMethod::Deflated);
                writer.start_file(name, deflated).unwrap();
                writer.write_all(text).unwrap();
            }
            writer.finish().unwrap().into_inner()
        }
        // What is in a database is written by us: see the tests of `lcm`.
        Container::Sqlite => unreachable!("it holds no files"),
    }
}

/// Those that files are packed in.
const ALL: [Container; 3] = [Container::Zstd, Container::Gzip, Container::Zip];

fn unpacked(
    container: Container,
    file: &[u8],
    bytes_max: u64,
) -> Result<Vec<(String, Vec<u8>)>, ImportError> {
    let mut found = Vec::new();
    container.unpack(Cursor::new(file), bytes_max, &mut |member| {
        let mut bytes = Vec::new();
        let read = member.bytes.read_to_end(&mut bytes);
        found.push((member.name.to_owned(), bytes));
        if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

#[test]
fn a_container_is_known_by_its_first_bytes_and_gives_what_is_in_it() {
    assert_eq!(Container::of(TEXT), None);
    for container in ALL {
        let file = packed(container, TEXT);
        assert_eq!(Container::of(&file), Some(container));
        let files = unpacked(container, &file, 1 << 20).unwrap();
        assert!(files.iter().all(|(_name, bytes)| bytes == TEXT));
        let names: Vec<&str> = files.iter().map(|(name, _bytes)| name.as_str()).collect();
        match container {
            Container::Zstd | Container::Gzip | Container::Sqlite => assert_eq!(names, [""]),
            // A name is a name: nobody goes where it leads.
            Container::Zip => assert_eq!(names, ["samples/../../1.json", "header.json"]),
        }
        assert_eq!(
            container.measure(Cursor::new(&file), 1 << 20).unwrap(),
            (TEXT.len() * names.len()) as u64
        );
    }
}

#[test]
fn several_frames_are_one_stream() {
    for container in [Container::Zstd, Container::Gzip] {
        let file = [packed(container, TEXT), packed(container, TEXT)].concat();
        assert_eq!(unpacked(container, &file, 1 << 20).unwrap()[0].1, [TEXT, TEXT].concat());
    }
}

#[test]
fn a_damaged_frame_is_told_of_however_few_bytes_are_asked_for_at_a_time() {
    // It promises 1,316 bytes and has none. Found by the fuzzer.
    let file = b"\x28\xb5\x2f\xfd\x50\x4b\x24\x04\x01\0\0";
    let mut told = Vec::new();
    for at_once in [1, 32, 2_000, 1 << 20] {
        let read = Container::Zstd.unpack(Cursor::new(file), 1 << 20, &mut |member| {
            let mut buffer = vec![0; at_once];
            while member.bytes.read(&mut buffer).is_ok_and(|read| read > 0) {}
            ControlFlow::Continue(())
        });
        told.push(read.unwrap_err().to_string());
    }
    told.push(Container::Zstd.measure(Cursor::new(file), 1 << 20).unwrap_err().to_string());
    assert!(told.iter().all(|error| error == &told[0]), "{told:?}");
}

#[test]
fn a_bomb_is_stopped_at_the_limit_and_a_file_of_just_that_length_is_none() {
    let zeros = vec![0; 8 << 20];
    for container in ALL {
        let file = packed(container, &zeros);
        let all = if container == Container::Zip { 16 << 20 } else { 8 << 20 };
        assert_eq!(container.measure(Cursor::new(&file), all).unwrap(), all);
        let bomb = container.measure(Cursor::new(&file), all - 1);
        assert!(matches!(bomb, Err(ImportError::UnpacksTooFar { .. })), "{bomb:?}");
    }
    assert_eq!(Container::bytes_max(10_000, 4 << 30), 64 << 20, "a small file may not become a large one");
    assert_eq!(Container::bytes_max(1 << 30, 4 << 30), 4 << 30);
}

#[test]
fn a_container_that_is_damaged_or_cut_off_is_an_error() {
    for container in ALL {
        let file = packed(container, &TEXT.repeat(100));
        for end in 5..file.len() {
            let cut_off = container.measure(Cursor::new(&file[..end]), 1 << 20);
            assert!(matches!(cut_off, Err(ImportError::Unpack { .. })), "{container:?} cut off at {end}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_damage_makes_it_panic(at: proptest::sample::Index, to: u8, n in 0_usize..3) {
        let container = ALL[n];
        let mut file = packed(container, &TEXT.repeat(20));
        let at = at.index(file.len());
        file[at] = to;
        // Not all damage can be seen; what is unpacked stays within the limit.
        if let Ok(files) = unpacked(container, &file, 1 << 12) {
            let total: usize = files.iter().map(|(_name, bytes)| bytes.len()).sum();
            proptest::prop_assert!(total <= 1 << 12);
        }
    }
}
