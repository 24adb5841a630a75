//! Helpers of this crate's tests.

use std::io::{Error, ErrorKind, Read};
use std::ops::ControlFlow;

use proptest::prelude::*;
use spanvault_types::{ByteRange, Call, Outcome, PartBody, SpanContent};

use crate::{Head, ImportError, Importer, Limits, Piece, Record};

/// A source that gives its bytes in helpings of the given sizes, over and over, and is often interrupted.
pub(crate) struct Drip<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) helpings: &'a [usize],
    pub(crate) reads: usize,
}

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        self.reads += 1;
        if self.reads.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        let helping = self.helpings[self.reads % self.helpings.len()].clamp(1, buffer.len());
        let (now, later) = self.bytes.split_at(helping.min(self.bytes.len()));
        buffer[..now.len()].copy_from_slice(now);
        self.bytes = later;
        Ok(now.len())
    }
}

/// What `cut` hands over of `source`.
pub(crate) fn collect(
    cut: impl FnOnce(&mut dyn FnMut(Piece) -> ControlFlow<()>) -> Result<(), ImportError>,
) -> Result<Vec<Piece>, ImportError> {
    let mut pieces = Vec::new();
    cut(&mut |piece| {
        assert!(!piece.bytes().is_empty(), "no piece is empty");
        pieces.push(piece);
        ControlFlow::Continue(())
    })?;
    Ok(pieces)
}

/// The pieces that an importer cuts `bytes` into.
pub(crate) fn pieces(importer: &dyn Importer, bytes: &[u8]) -> Vec<Piece> {
    collect(|sink| importer.cut(&mut &*bytes, &Limits::default(), sink)).unwrap_or_default()
}

pub(crate) fn spans(pieces: &[Piece]) -> Vec<&Record> {
    pieces
        .iter()
        .filter_map(|piece| if let Piece::Span(record) = piece { Some(record) } else { None })
        .collect()
}

pub(crate) fn joined(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(Piece::bytes).copied().collect()
}

/// The part of `text` in a range.
pub(crate) fn slice(text: &str, range: ByteRange) -> &str {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    &text[place(range.start)..place(range.end)]
}

/// Bytes that look like a transcript for a while.
pub(crate) fn near_json() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![
        4 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\r\n", " ", "\t", "\u{feff}", "\u{2028}", "\0",
            "null", "true", "-1.5e3", "\"a\"", "\"\\ud83d\"", "\"traj\":[", "\"messages\":[", "\"loglines\":[",
            "{\"role\":\"user\",\"content\":\"hi\"}", "{\"type\":\"user\",\"sessionId\":\"s\"}", "[{\"traj\":[{}]}]",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

/// The calls that pieces hold, in order.
pub(crate) fn calls(pieces: &[Piece]) -> Vec<Call> {
    bodies(pieces)
        .filter_map(|body| if let PartBody::Call(call) = body { Some(call.clone()) } else { None })
        .collect()
}

/// The results that pieces hold, in order.
pub(crate) fn results(pieces: &[Piece]) -> Vec<Outcome> {
    bodies(pieces)
        .filter_map(|body| if let PartBody::Result(outcome) = body { Some(outcome.clone()) } else { None })
        .collect()
}

fn bodies(pieces: &[Piece]) -> impl Iterator<Item = &PartBody> {
    spans(pieces).into_iter().flat_map(|record| &record.content.parts).map(|part| &part.body)
}

/// Checks that a file is detected as `format`, and that no importer of another format is sure of it.
pub(crate) fn only_claimed_by(format: &str, file: &str) {
    assert_eq!(crate::detect(file.as_bytes()).map(Importer::format).ok(), Some(format));
    for other in crate::importers().iter().filter(|importer| importer.format() != format) {
        let confidence = other.detect(&Head::new(file.as_bytes()));
        assert!(confidence < crate::Confidence::Likely, "{} claims it: {confidence:?}", other.format());
    }
}

/// The one format that is certain of `text`; how sure the others are is no matter, as long as they are less so.
pub(crate) fn only_format(text: &str) -> &'static str {
    let certain: Vec<_> = crate::importers()
        .iter()
        .filter(|importer| importer.detect(&Head::new(text.as_bytes())) == crate::Confidence::Certain)
        .map(|importer| importer.format())
        .collect();
    let [format] = certain.as_slice() else { panic!("{certain:?} are certain of {text}") };
    format
}

/// The one call of some content.
pub(crate) fn the_call(content: &SpanContent) -> Call {
    let mut calls = content.parts.iter().filter_map(|part| match &part.body {
        PartBody::Call(call) => Some(call.clone()),
        PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Result(_) => None,
    });
    let (Some(call), None) = (calls.next(), calls.next()) else { panic!("not one call: {content:?}") };
    call
}

/// The one result of some content.
pub(crate) fn the_result(content: &SpanContent) -> Outcome {
    let mut results = content.parts.iter().filter_map(|part| match &part.body {
        PartBody::Result(outcome) => Some(outcome.clone()),
        PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Call(_) => None,
    });
    let (Some(result), None) = (results.next(), results.next()) else {
        panic!("not one result: {content:?}")
    };
    result
}
