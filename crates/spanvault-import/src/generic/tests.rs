use proptest::prelude::*;
use spanvault_types::SpanKind;

use super::{GenericJsonl, GenericText};
use crate::testing::{Drip, collect, joined, near_json, pieces, spans};
use crate::{Confidence, Head, ImportError, Importer, Limits, Piece, detect};

fn records(text: &str) -> Vec<(u64, String)> {
    let pieces = pieces(&GenericText, text.as_bytes());
    assert_eq!(joined(&pieces), text.as_bytes());
    let spans = spans(&pieces);
    spans.iter().map(|it| (it.index, String::from_utf8_lossy(&it.bytes).into_owned())).collect()
}

#[test]
fn a_block_of_lines_is_a_record_and_empty_lines_are_between() {
    let found = records("\n one\n two\r\n\n \n\nthree");
    assert_eq!(found, [(1, " one\n two".to_owned()), (6, "three".to_owned())]);
}

#[test]
fn a_block_that_grows_starts_with_what_it_was() {
    let (before, after) = (records("a\n\nb\nc"), records("a\n\nb\nc\nd\n\ne"));
    assert_eq!(before[0], after[0]);
    assert_eq!((before[1].0, before[1].1.as_str()), (2, "b\nc"));
    assert!(after[1].0 == 2 && after[1].1.starts_with(&before[1].1));
}

#[test]
fn long_text_is_cut_at_lines_and_a_long_line_into_parts() {
    let lines = "0123456789abcde\n".repeat(10_000);
    let found = records(&lines);
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].0, 4096, "64 KiB of lines of 16 bytes");
    let line = "x".repeat(150_000);
    let found = records(&format!("a\n{line}\nb\n"));
    let sizes: Vec<_> = found.iter().map(|(index, text)| (*index, text.len())).collect();
    assert_eq!(sizes, [(0, 1), (1, 65_536), (1, 65_536), (1, 150_000 - 131_072 + 2)]);
}

#[test]
fn lines_of_any_objects_are_kept_and_nothing_is_read_in_them() {
    let file = b"{\"a\":1}\n{\"b\":2}\nno object\n";
    let pieces = pieces(&GenericJsonl, file);
    let spans = spans(&pieces);
    assert_eq!(spans.len(), 3);
    assert!(spans.iter().all(|it| it.content.kind == SpanKind::Quarantined && it.content.parts.is_empty()));
    assert_eq!(spans.iter().filter(|it| it.quarantine.is_some()).count(), 1, "only the last is a bad line");
    assert_eq!(GenericJsonl.parse(b"{\"a\":1}"), Ok(spans[0].content.clone()));
}

#[test]
fn any_text_is_known_as_text_and_binary_files_are_not() {
    for (head, format) in [
        (&b"Dear diary"[..], "generic_text"),
        (b"{\"a\":1}\n{\"a\":2}\n", "generic_jsonl"),
        (b"{\n  \"a\": 1\n}\n", "generic_text"),
        ("na\u{ef}ve caf\u{e9}\u{2028}\n".as_bytes(), "generic_text"),
        (b"\x1b[31mred\x1b[0m\r\n", "generic_text"),
    ] {
        assert_eq!(detect(head).map(Importer::format).ok(), Some(format), "{head:?}");
    }
    for binary in [
        &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..],
        b"\xff\xfeh\0i\0",
        &[0; 64],
        b"SQLite format 3\0\x10\0\x01\x01",
    ] {
        assert!(matches!(detect(binary), Err(ImportError::UnknownFormat)), "{binary:?}");
    }
    assert_eq!(GenericText.detect(&Head::new(b"\0\0\0")), Confidence::No);
}

proptest! {
    #[test]
    fn i76_blocks_are_the_same_however_the_bytes_arrive(
        bytes in prop_oneof![near_json(), "[ab \n\r]{0,64}".prop_map(String::into_bytes)],
        helpings in prop::collection::vec(1_usize..9, 1..5),
        block in 1_usize..12,
    ) {
        let limits = Limits { record_bytes_max: block, ..Limits::default() };
        let at_once = collect(|sink| GenericText.cut(&mut &*bytes, &limits, sink)).unwrap_or_default();
        prop_assert_eq!(joined(&at_once), bytes.clone());
        let mut drip = Drip { bytes: &bytes, helpings: &helpings, reads: 0 };
        let dripped = collect(|sink| GenericText.cut(&mut drip, &limits, sink)).unwrap_or_default();
        prop_assert_eq!(&at_once, &dripped);
        // What has been handed over of a shorter file stays as it was, but for the last record.
        let shorter = &bytes[..bytes.len() / 2];
        let before: Vec<Piece> = collect(|sink| GenericText.cut(&mut &*shorter, &limits, sink)).unwrap_or_default();
        let (before, after) = (spans(&before), spans(&at_once));
        for (was, is) in before.iter().zip(&after).take(before.len().saturating_sub(1)) {
            prop_assert_eq!(was, is);
        }
    }
}
