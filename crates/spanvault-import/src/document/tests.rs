use proptest::prelude::*;

use super::*;
use crate::testing::{Drip, collect, joined, near_json, spans};

fn read(_object: crate::json::Raw<'_>) -> Reading {
    Reading { content: unread(SpanKind::Meta), session: None }
}

const fn shape(paths: &'static [&'static [Step]]) -> Shape {
    Shape {
        format: "list",
        frame: Frame { paths, one_path: false, session: Some("name") },
        read,
        lists: false,
    }
}

const LIST: Shape = shape(&[&[Step::Each], &[Step::Member("messages"), Step::Each]]);
const RUNS: Shape = shape(&[&[Step::Each, Step::Member("traj"), Step::Each]]);

fn pieces_of(shape: &Shape, limits: &Limits, bytes: &[u8]) -> Vec<Piece> {
    let pieces = collect(|sink| cut(&mut &*bytes, limits, shape, sink)).unwrap();
    assert_eq!(joined(&pieces), bytes);
    pieces
}

/// The pieces as text: place and bytes of records, gaps in angle quotes.
fn shown(shape: &Shape, text: &str) -> Vec<String> {
    pieces_of(shape, &Limits::default(), text.as_bytes())
        .iter()
        .map(|piece| match piece {
            Piece::Span(Record { record, index, bytes, quarantine, .. }) => {
                let aside = if quarantine.is_some() { " aside" } else { "" };
                format!("{record}#{index}{aside} {}", String::from_utf8_lossy(bytes))
            }
            Piece::Gap(bytes) => format!("«{}»", String::from_utf8_lossy(bytes)),
        })
        .collect()
}

#[test]
fn elements_are_records_and_the_rest_is_gaps() {
    assert_eq!(
        shown(&LIST, "[ {\"a\": [1, {}]} ,\n{\"b\":\"]}\\\"[\"}]\n"),
        ["«[ »", "#0 {\"a\": [1, {}]}", "« ,\n»", "#1 {\"b\":\"]}\\\"[\"}", "«]\n»"]
    );
    assert_eq!(shown(&LIST, " [] "), ["« [] »"]);
}

#[test]
fn a_member_leads_to_the_elements_and_only_the_one_at_the_top() {
    assert_eq!(
        shown(&LIST, r#"{"info":{"messages":[{"x":1}]},"m\u0065ssages":[{},{}],"end":[{}]}"#),
        [
            r#"«{"info":{"messages":[{"x":1}]},"m\u0065ssages":[»"#,
            "#0 {}",
            "«,»",
            "#1 {}",
            "«],\"end\":[{}]}»"
        ]
    );
    assert_eq!(shown(&LIST, r#"{"messages":{"a":[{}]}}"#).len(), 1, "an object where the array should be");
    assert_eq!(shown(&LIST, r#"{"messages\"":[{}]}"#).len(), 1, "a name with a quote at its end");
    assert_eq!(shown(&LIST, r#"{"list":["messages",[{}]]}"#).len(), 1, "a string is no name");
}

#[test]
fn of_several_arrays_the_first_that_holds_anything_is_taken() {
    const EITHER: Shape = Shape {
        frame: Frame {
            paths: &[&[Step::Member("steps"), Step::Each], &[Step::Member("talk"), Step::Each]],
            one_path: true,
            session: None,
        },
        ..LIST
    };
    let records = |text: &str| {
        shown(&EITHER, text).into_iter().filter(|piece| piece.starts_with('#')).collect::<Vec<_>>()
    };
    assert_eq!(records(r#"{"steps":[{"a":1}],"talk":[{}]}"#), [r#"#0 {"a":1}"#]);
    assert_eq!(records(r#"{"talk":[{}],"steps":[{"a":1}]}"#), ["#0 {}"]);
    assert_eq!(records(r#"{"steps":[],"talk":[{},{}]}"#), ["#0 {}", "#1 {}"]);
    assert_eq!(records(r#"{"x":{"talk":[{}]},"y":"talk","steps":7}"#).len(), 0);
}

#[test]
fn a_document_names_its_session_before_its_records_or_not_at_all() {
    let session =
        |text: &str| spans(&pieces_of(&LIST, &Limits::default(), text.as_bytes()))[0].session.clone();
    assert_eq!(session(r#"{"x":{"name":"inner"},"na\u006de":"s\n1","messages":[{}]}"#), "s\n1");
    assert_eq!(session(r#"{"messages":[{}],"name":"late"}"#), "");
    assert_eq!(session(r#"{"name":7,"messages":[{}]}"#), "");
    assert_eq!(session(&format!(r#"{{"name":"{}","messages":[{{}}]}}"#, "s".repeat(9000))), "");
}

#[test]
fn a_whole_document_is_one_record_and_what_follows_it_is_put_aside() {
    const WHOLE: Shape = shape(&[]);
    assert_eq!(shown(&WHOLE, " {\"a\": [1]}\n"), ["« »", "#0 {\"a\": [1]}", "«\n»"]);
    assert_eq!(shown(&WHOLE, "{} {}"), ["#0 {}", "« »", "#1 aside {}"]);
    assert_eq!(shown(&WHOLE, "{\"a\""), ["#0 aside {\"a\""]);
}

#[test]
fn documents_a_line_are_cut_apart_and_a_broken_one_takes_no_other_with_it() {
    let cut = |text: &str| {
        let pieces = collect(|sink| {
            cut_lines(&mut text.as_bytes(), &Limits::default(), &LIST, LineNames::LineAndPlace, sink)
        })
        .unwrap();
        assert_eq!(joined(&pieces), text.as_bytes());
        let place = |record: &&Record| {
            format!(
                "{} #{}{}",
                record.record,
                record.index,
                if record.quarantine.is_some() { " aside" } else { "" }
            )
        };
        spans(&pieces).iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(
        cut("{\"messages\":[{},{}]}\n\n{\"messages\":[{\nwords\n[{}]"),
        [
            "line 0 /messages #0",
            "line 0 /messages #1",
            "line 2 /messages #0 aside",
            "line 3 #0 aside",
            "line 4 #0"
        ]
    );
}

#[test]
fn every_element_of_an_outer_array_is_a_record_of_its_own() {
    let spans = shown(&RUNS, r#"[{"id":[{}],"traj":[{},{}]}, 7, {"traj":null}, {"traj":[{}]}]"#);
    let places: Vec<_> = spans.iter().filter(|piece| piece.starts_with('/')).collect();
    assert_eq!(places, ["/0#0 {}", "/0#1 {}", "/3#0 {}"]);
    let pieces = pieces_of(&RUNS, &Limits::default(), br#"[{"traj":[{}]}]"#);
    assert_eq!(testing_session(&pieces), "runs.json/0");
}

fn testing_session(pieces: &[Piece]) -> String {
    spans(pieces)[0].session_name("runs.json")
}

#[test]
fn a_bad_element_is_put_aside_and_the_next_is_read() {
    assert_eq!(
        shown(&LIST, r#"[{"a":tru},7,"x",[],null,{}]"#).join(""),
        r#"«[»#0 aside {"a":tru}«,»#1 aside 7«,»#2 aside "x"«,»#3 aside []«,»#4 aside null«,»#5 {}«]»"#
    );
    let limits = Limits::default();
    let pieces = pieces_of(&LIST, &limits, b"[{\"a\":\"\xff\"},{}]");
    let quarantine = spans(&pieces)[0].quarantine.clone();
    assert_eq!(quarantine, Some(Quarantine { offset: 1, reason: Unparsed::NotUtf8 { at: 6 } }));
}

#[test]
fn what_follows_a_break_or_an_early_end_is_put_aside_whole() {
    assert_eq!(shown(&LIST, "[{} {}]"), ["«[»", "#0 {}", "« »", "#1 aside {}]"]);
    assert_eq!(shown(&LIST, "[{},{\"a\":[}},{}]"), ["«[»", "#0 {}", "«,»", "#1 aside {\"a\":[}},{}]"]);
    assert_eq!(shown(&LIST, "[{},{\"a\":\""), ["«[»", "#0 {}", "«,»", "#1 aside {\"a\":\""]);
    assert_eq!(shown(&LIST, "[{},"), ["«[»", "#0 {}", "#1 aside ,"]);
    assert_eq!(shown(&LIST, "[{}]}"), ["«[»", "#0 {}", "«]»", "#1 aside }"]);
    assert_eq!(shown(&LIST, "words"), ["#0 aside words"]);
    assert_eq!(
        shown(&RUNS, "[{\"traj\":[{}]},{\"traj\":[{},x"),
        ["«[{\"traj\":[»", "/0#0 {}", "«]},{\"traj\":[»", "/1#0 {}", "«,»", "/1#1 aside x"]
    );
    let pieces = pieces_of(&LIST, &Limits::default(), b"[{},{\"a\"");
    let quarantine = spans(&pieces)[1].quarantine.clone();
    assert_eq!(quarantine, Some(Quarantine { offset: 4, reason: Unparsed::Truncated }));
}

#[test]
fn a_byte_order_mark_is_part_of_the_first_gap() {
    assert_eq!(shown(&LIST, "\u{feff}[{}]"), ["«\u{feff}[»", "#0 {}", "«]»"]);
}

#[test]
fn i75_nesting_costs_no_stack_and_large_elements_go_unread() {
    let deep = format!("[{{\"a\":{}1{}}},{{}}]", "[".repeat(100_000), "]".repeat(100_000));
    let limits = Limits { record_bytes_max: 1000, ..Limits::default() };
    let pieces = pieces_of(&LIST, &limits, deep.as_bytes());
    let kinds: Vec<_> = spans(&pieces).iter().map(|record| (record.index, record.content.kind)).collect();
    assert_eq!(kinds, [(0, SpanKind::TooLarge), (1, SpanKind::Meta)]);
    let kinds: Vec<_> = spans(&pieces_of(&LIST, &Limits::default(), deep.as_bytes()))
        .iter()
        .map(|record| record.content.kind)
        .collect();
    assert_eq!(kinds, [SpanKind::Meta, SpanKind::Meta]);
}

#[test]
fn i75_a_document_above_the_limit_is_refused() {
    let limits = Limits { document_bytes_max: 8, ..Limits::default() };
    let refused = collect(|sink| cut(&mut &b"[{},{},{}]"[..], &limits, &LIST, sink));
    assert!(matches!(refused, Err(ImportError::DocumentTooLarge { format: "list", bytes_max: 8 })));
    assert!(collect(|sink| cut(&mut &b"[{},{} ]"[..], &limits, &LIST, sink)).is_ok());
}

#[test]
fn an_empty_source_is_an_error_and_white_space_a_gap() {
    let empty = collect(|sink| cut(&mut &b""[..], &Limits::default(), &LIST, sink));
    assert!(matches!(empty, Err(ImportError::EmptySource)));
    assert_eq!(shown(&LIST, " \n"), ["« \n»"]);
}

#[test]
fn a_sink_that_breaks_is_given_nothing_more() {
    let mut seen = 0;
    cut(&mut &b"[{},{}]"[..], &Limits::default(), &LIST, &mut |_piece| {
        seen += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(seen, 1);
}

/// How a source of documents is cut.
type Cut =
    fn(&mut dyn Read, &Limits, &Shape, &mut dyn FnMut(Piece) -> ControlFlow<()>) -> Result<(), ImportError>;

proptest! {
    #[test]
    fn i76_the_pieces_are_the_bytes_and_do_not_hang_on_how_they_arrive(
        bytes in near_json(),
        helpings in prop::collection::vec(1_usize..9, 1..4),
        record_bytes_max in 1_usize..40,
        body_bytes_max in 1_usize..40,
        kind in 0_u8..4,
    ) {
        let limits = Limits { record_bytes_max, body_bytes_max, ..Limits::default() };
        let shape = match kind { 0 => &RUNS, 1 => &shape(&[]), _ => &LIST };
        let cut: Cut = match kind {
            2 => |source, limits, shape, sink| cut_lines(source, limits, shape, LineNames::Place, sink),
            _ => cut,
        };
        let at_once = collect(|sink| cut(&mut &*bytes, &limits, shape, sink));
        let mut drip = Drip { bytes: &bytes, helpings: &helpings, reads: 0 };
        let dripped = collect(|sink| cut(&mut drip, &limits, shape, sink));
        match (at_once, dripped) {
            (Ok(at_once), Ok(dripped)) => {
                prop_assert_eq!(joined(&at_once), bytes);
                prop_assert_eq!(at_once, dripped);
            }
            (at_once, dripped) => prop_assert!(bytes.is_empty() && at_once.is_err() && dripped.is_err()),
        }
    }

    #[test]
    fn every_element_of_a_well_formed_document_is_a_record(
        elements in prop::collection::vec(prop::sample::select(vec![
            r#"{"a":"\\\"]}"}"#, "{ }", "[[{}],\"}\"]", "\"x,]\"", "-1.5", "null",
        ]), 0..8),
        space in "[ \n]{0,2}",
    ) {
        let text = format!("{space}[{space}{}{space}]", elements.join(&format!("{space},{space}")));
        let pieces = pieces_of(&LIST, &Limits::default(), text.as_bytes());
        let found: Vec<_> = spans(&pieces).iter().map(|record| record.bytes.clone()).collect();
        let indexes: Vec<_> = spans(&pieces).iter().map(|record| record.index).collect();
        prop_assert_eq!(found, elements.iter().map(|element| element.as_bytes().to_vec()).collect::<Vec<_>>());
        prop_assert_eq!(indexes, (0..elements.len() as u64).collect::<Vec<_>>());
    }
}
