use std::io::{Error, Read};

use proptest::prelude::*;
use spanvault_types::SpanContent;

use super::*;
use crate::testing::{Drip, collect, joined, near_json, spans};

/// Reads a line `{"s": session}`.
fn read(line: Raw<'_>) -> Reading {
    let session = line.text_field("s").map(std::borrow::Cow::into_owned);
    Reading { content: SpanContent { event_key: Some("read".to_owned()), ..unread(SpanKind::Meta) }, session }
}

fn pieces_within(limits: &Limits, bytes: &[u8]) -> Vec<Piece> {
    collect(|sink| cut(&mut &*bytes, limits, read, Named::Each, sink)).unwrap()
}

fn pieces(bytes: &[u8]) -> Vec<Piece> {
    let pieces = pieces_within(&Limits::default(), bytes);
    assert_eq!(joined(&pieces), bytes);
    pieces
}

/// The pieces as text, gaps in angle quotes.
fn shown(pieces: &[Piece]) -> Vec<String> {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Span(record) => format!("{} {}", record.index, String::from_utf8_lossy(&record.bytes)),
            Piece::Gap(bytes) => format!("«{}»", bytes.escape_ascii()),
        })
        .collect()
}

#[test]
fn a_line_is_a_record_and_its_end_is_a_gap() {
    let pieces = pieces(b"{\"a\":1}\n  {\"a\":2} \r\n\n\n{\"a\":3}");
    assert_eq!(shown(&pieces), ["0 {\"a\":1}", r"«\n  »", "1 {\"a\":2}", r"« \r\n\n\n»", "4 {\"a\":3}"]);
}

#[test]
fn only_line_feeds_end_lines() {
    let pieces = pieces("{\"a\":\"\u{2028}\u{85}\"}\r{\"a\":2}\n".as_bytes());
    assert_eq!(spans(&pieces).iter().map(|record| record.index).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn a_byte_order_mark_is_a_gap() {
    let pieces = pieces(b"\xef\xbb\xbf{}\n{}");
    assert_eq!(shown(&pieces), [r"«\xef\xbb\xbf»", "0 {}", r"«\n»", "1 {}"]);
}

#[test]
fn two_objects_on_a_line_are_two_records_of_one_index() {
    let pieces = pieces(b"{\"a\":1}{\"a\":2} {\"a\":3}\n{}");
    assert_eq!(shown(&pieces), ["0 {\"a\":1}", "0 {\"a\":2}", "« »", "0 {\"a\":3}", r"«\n»", "1 {}"]);
}

#[test]
fn a_bad_line_is_put_aside_with_its_place_and_reason_and_the_next_is_read() {
    for (bad, reason) in [
        (&b"{\"a\":tru}"[..], Unparsed::Malformed { at: 8 }),
        (b"{\"a\":1}}", Unparsed::Malformed { at: 0 }),
        (b"{\"a\":", Unparsed::Truncated),
        (b"{\"a\":\"\xc3", Unparsed::Truncated),
        (b"[1]", Unparsed::NotAnObject),
        (b"null", Unparsed::NotAnObject),
        (b"{\"a\":\"\xff\"}", Unparsed::NotUtf8 { at: 6 }),
        (b"\0\0\0\0", Unparsed::Malformed { at: 0 }),
        (b"{\"a\":\"\0\"}", Unparsed::Malformed { at: 6 }),
        (b"plain words", Unparsed::Malformed { at: 0 }),
    ] {
        let pieces = pieces(&[b"{}\n ", bad, b"\n{}\n"].concat());
        let spans = spans(&pieces);
        let [.., aside, next] = spans.as_slice() else { panic!("{}", bad.escape_ascii()) };
        let offset = aside.quarantine.as_ref().unwrap().offset;
        assert_eq!(aside.quarantine, Some(Quarantine { offset, reason }), "{}", bad.escape_ascii());
        assert!(bad.ends_with(&aside.bytes));
        assert_eq!(offset + aside.bytes.len() as u64, 4 + bad.len() as u64);
        assert_eq!((aside.index, aside.content.kind), (1, SpanKind::Quarantined));
        assert_eq!((next.index, next.content.event_key.as_deref()), (2, Some("read")));
    }
}

#[test]
fn i75_a_line_above_the_limit_is_handed_over_unread_and_the_rest_goes_on() {
    let limits = Limits { record_bytes_max: 20, body_bytes_max: 50, ..Limits::default() };
    let large = format!("{{\"s\":\"one\",\"a\":\"{}\"}}", "x".repeat(20));
    let bytes = format!("{{\"s\":\"two\"}}\n{large}\r\n{{\"a\":3}}\n{}\n{{}}", " ".repeat(70));
    let pieces = pieces_within(&limits, bytes.as_bytes());
    assert_eq!(joined(&pieces), bytes.as_bytes());
    let spans = spans(&pieces);
    assert_eq!(spans[1].bytes, large.as_bytes());
    assert_eq!((spans[1].content.kind, spans[1].session.as_str()), (SpanKind::TooLarge, "two"));
    assert_eq!(spans[1].quarantine, None);
    assert_eq!(spans[2].bytes, b"{\"a\":3}");
    assert_eq!((spans.len(), spans[3].index), (4, 4), "white space is a gap, however much of it there is");
}

#[test]
fn a_line_larger_than_a_body_is_several_spans_of_one_index() {
    let limits = Limits { record_bytes_max: 20, body_bytes_max: 50, ..Limits::default() };
    let bytes = format!("{}\n{{}}", "y".repeat(120));
    let pieces = pieces_within(&limits, bytes.as_bytes());
    let sizes: Vec<_> = spans(&pieces).iter().map(|record| (record.index, record.bytes.len())).collect();
    assert_eq!(sizes, [(0, 50), (0, 50), (0, 20), (1, 2)]);
}

#[test]
fn a_line_that_names_no_session_goes_with_the_one_before() {
    let pieces = pieces(b"{}\nbad\n{\"s\":\"one\"}\n{}\n{\"s\":\"two\"}\n{\"s\":\"\"}\n{\"s\":\"/etc\"}");
    let sessions: Vec<_> = spans(&pieces).iter().map(|record| record.session.as_str()).collect();
    assert_eq!(
        sessions,
        ["one", "one", "one", "one", "two", "two", "two"],
        "the first ones with the first named"
    );
}

#[test]
fn a_file_without_a_session_takes_its_name_from_its_source() {
    let pieces = pieces(b"{}\n{}\n");
    assert_eq!(spans(&pieces)[1].session_name("notes"), "notes");
    assert_eq!(spans(&self::pieces(b"{\"s\":\"one\"}"))[0].session_name("notes"), "one");
}

#[test]
fn i75_little_is_held_back_while_no_session_is_known() {
    let line = format!("{{\"a\":\"{}\"}}\n", "z".repeat(1 << 20));
    let mut seen = 0;
    let mut source = line.repeat(6).into_bytes();
    source.extend_from_slice(b"{\"s\":\"late\"}\n");
    cut(&mut &*source, &Limits::default(), read, Named::Each, &mut |piece| {
        if let Piece::Span(record) = piece {
            seen += 1;
            assert_eq!(record.session, if record.index == 6 { "late" } else { "" });
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(seen, 7);
}

#[test]
fn a_sink_that_breaks_is_given_nothing_more() {
    let mut seen = 0;
    let mut source = &b"{\"s\":\"one\"}\n{}\n{}\n"[..];
    cut(&mut source, &Limits::default(), read, Named::Each, &mut |_piece| {
        seen += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn an_empty_source_and_one_that_fails_are_errors() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _buffer: &mut [u8]) -> Result<usize, Error> {
            Err(Error::other("gone"))
        }
    }
    let mut none = |_piece| ControlFlow::Continue(());
    let empty = cut(&mut &b""[..], &Limits::default(), read, Named::Each, &mut none);
    assert!(matches!(empty, Err(ImportError::EmptySource)));
    let failed = cut(&mut Failing, &Limits::default(), read, Named::Each, &mut none);
    assert!(matches!(failed, Err(ImportError::Read { .. })));
}

proptest! {
    #[test]
    fn i76_the_pieces_are_the_bytes_and_do_not_hang_on_how_they_arrive(
        bytes in near_json(),
        helpings in prop::collection::vec(1_usize..9, 1..4),
        record_bytes_max in 1_usize..40,
        body_bytes_max in 1_usize..40,
    ) {
        let limits = Limits { record_bytes_max, body_bytes_max, ..Limits::default() };
        let at_once = collect(|sink| cut(&mut &*bytes, &limits, read, Named::Each, sink));
        let mut drip = Drip { bytes: &bytes, helpings: &helpings, reads: 0 };
        let dripped = collect(|sink| cut(&mut drip, &limits, read, Named::Each, sink));
        match (at_once, dripped) {
            (Ok(at_once), Ok(dripped)) => {
                prop_assert_eq!(joined(&at_once), bytes);
                prop_assert_eq!(at_once, dripped);
            }
            (at_once, dripped) => prop_assert!(bytes.is_empty() && at_once.is_err() && dripped.is_err()),
        }
    }
}
