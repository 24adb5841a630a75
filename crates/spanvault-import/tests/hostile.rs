//! Every format against files that nobody meant well with: each record is read or put aside, the pieces are the file,
//! and nothing panics. `tests/seeds/` holds one small file of each format.

#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads its seeds")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use spanvault_import::{Head, Importer, Limits, Piece, Record, detect, formats, importers};
use spanvault_types::{Encoding, PartBody, SpanKind};

/// The name of a format and a file of it.
type Seed = (String, Vec<u8>);

static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds");
    let mut seeds: Vec<Seed> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
        })
        .filter(|(name, _file): &Seed| formats().contains(&name.as_str()))
        .collect();
    seeds.sort();
    seeds
});

/// Gives its bytes in helpings of this many.
struct Helpings<'a>(&'a [u8], usize);

impl std::io::Read for Helpings<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
        buffer[..now.len()].copy_from_slice(now);
        self.0 = later;
        Ok(now.len())
    }
}

fn cut(importer: &dyn Importer, bytes: &[u8], limits: &Limits, helping: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let cut = importer.cut(&mut Helpings(bytes, helping), limits, &mut |piece| {
        pieces.push(piece);
        ControlFlow::Continue(())
    });
    assert!(cut.is_ok() || bytes.is_empty(), "{}: {cut:?}", importer.format());
    pieces
}

/// What must hold for the pieces of any file.
fn check(importer: &dyn Importer, file: &[u8], pieces: &[Piece], what: &str) {
    let format = importer.format();
    let joined = pieces.iter().map(Piece::bytes).collect::<Vec<_>>().concat();
    assert!(joined == file, "{format}, {what}: the pieces are the file");
    let mut offset = 0;
    for piece in pieces {
        assert!(!piece.bytes().is_empty(), "{format}, {what}: an empty piece");
        if let Piece::Span(record) = piece {
            check_record(importer, record, offset, what);
        }
        offset += piece.bytes().len() as u64;
    }
}

fn check_record(importer: &dyn Importer, record: &Record, offset: u64, what: &str) {
    let format = importer.format();
    if let Some(quarantine) = &record.quarantine {
        assert_eq!(record.content.kind, SpanKind::Quarantined, "{format}, {what}");
        assert_eq!(quarantine.offset, offset, "{format}, {what}: where it starts");
        return;
    }
    if record.content.kind == SpanKind::TooLarge {
        return;
    }
    let again = importer.parse(&record.bytes);
    assert_eq!(
        again.as_ref(),
        Ok(&record.content),
        "{format}, {what}: an original is read as its record was"
    );
    importer.kept_by_compaction(&record.bytes);
    assert!(!record.session_name("source").is_empty(), "{format}, {what}");
    for part in &record.content.parts {
        let range = usize::try_from(part.range.start).unwrap()..usize::try_from(part.range.end).unwrap();
        let bytes = record.bytes.get(range).unwrap_or_else(|| panic!("{format}, {what}: {:?}", part.range));
        let text = match &part.body {
            PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => text,
            PartBody::Result(outcome) => &outcome.text,
            PartBody::Call(_) => continue,
        };
        match part.encoding {
            Encoding::Raw => assert_eq!(String::from_utf8_lossy(bytes), text.as_str(), "{format}, {what}"),
            Encoding::JsonString => {
                assert!(bytes.starts_with(b"\"") && bytes.ends_with(b"\""), "{format}, {what}");
            }
            Encoding::JsonValue => {}
        }
    }
}

#[test]
fn every_format_has_a_seed_that_is_known_for_what_it_is_and_read_whole() {
    let without: Vec<_> =
        formats().into_iter().filter(|format| !SEEDS.iter().any(|(name, _)| name == format)).collect();
    assert_eq!(without, Vec::<&str>::new(), "add a small file of the format to tests/seeds");
    for (name, file) in SEEDS.iter() {
        let importer = detect(file).unwrap();
        assert_eq!(importer.format(), name);
        let pieces = cut(importer, file, &Limits::default(), usize::MAX);
        check(importer, file, &pieces, "as it is");
        for piece in &pieces {
            if let Piece::Span(record) = piece {
                assert_eq!(record.quarantine, None, "{name}");
            }
        }
    }
}

/// `file` with `what` in the place of every `nth` occurrence of `of`.
fn replaced(file: &[u8], of: &str, nth: usize, what: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(file);
    let mut result = String::new();
    for (n, part) in text.split(of).enumerate() {
        if n > 0 {
            result.push_str(if n % nth == 0 { what } else { of });
        }
        result.push_str(part);
    }
    result.into_bytes()
}

/// `file` with `what` inserted at so many places.
fn inserted(file: &[u8], what: &[u8], places: usize) -> Vec<u8> {
    let step = file.len() / (places + 1) + 1;
    file.chunks(step).collect::<Vec<_>>().join(what)
}

fn variants(file: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let digits = "9".repeat(400);
    let deep = "[".repeat(100_000);
    let twice = r#"{"type":"user","type":"assistant","role":7,"content":null,"id":"a","id":"b","#;
    vec![
        ("a byte order mark", [b"\xef\xbb\xbf".as_slice(), file].concat()),
        ("carriage returns", replaced(file, "\n", 1, "\r\n")),
        ("old line ends", replaced(file, "\n", 1, "\r")),
        ("invalid UTF-8", inserted(file, b"\xff\xc3\x28", 7)),
        ("characters that are cut off", inserted(file, b"\xf0\x9f\x98", 3)),
        ("NUL bytes", inserted(file, &[0; 64], 5)),
        ("a hole at the end", [file, &[0; 4096]].concat()),
        ("line separators", replaced(file, " ", 2, "\u{2028}\u{2029}\u{85}")),
        ("escapes of line separators", replaced(file, ":\"", 1, ":\"\\u2028\\u0000\\u007f")),
        ("lone surrogates", replaced(file, ":\"", 2, ":\"\\ud800\\udc00\\ud83d")),
        ("spaced lone surrogates", replaced(file, ": \"", 2, ": \"\\udfff")),
        ("deep nesting", replaced(file, ":\"", 5, &format!(":{deep}\""))),
        ("deep nesting that closes", replaced(file, "null", 1, &format!("{deep}{}", "]".repeat(100_000)))),
        ("huge numbers", replaced(file, ":1", 1, &format!(":-1{digits}.{digits}e{digits}"))),
        ("huge spaced numbers", replaced(file, ": 1", 1, &format!(": 1{digits}"))),
        ("equal names", replaced(file, "{", 2, twice)),
        ("a time before the epoch", replaced(file, "2026-02-03T09", 1, "-0044-03-15T12")),
        ("a time that no clock shows", replaced(file, "2026-02-03T09:00:0", 2, "2262-13-45T99:99:9")),
        ("a time far ahead", replaced(file, "2026-02-03", 1, "9999-12-31")),
        (
            "times that are numbers",
            replaced(file, "\"2026-02-03T09:00:01.000Z\"", 1, "9223372036854775808999"),
        ),
        ("negative times", replaced(file, "17701092", 1, "-99999999999917701092")),
        ("ids that are paths", replaced(file, "\"c1\"", 1, "\"../../../../etc/passwd\\u0000\"")),
        ("sessions that are paths", replaced(file, "\"s-1\"", 1, "\"/../..\"")),
        ("no ids", replaced(file, "\"c1\"", 1, "\"\"")),
        ("values that are missing", replaced(file, "\"content\"", 1, "\"contents\"")),
        ("strings for objects", replaced(file, "{", 3, "\"{\\\"")),
        ("lists for strings", replaced(file, ":\"", 4, ":[\"")),
        ("objects glued together", replaced(file, "\n", 2, "")),
        ("the file twice", [file, file].concat()),
        ("brackets that do not match", replaced(file, "]", 2, "}")),
        ("a quotation mark too many", replaced(file, "\"", 9, "\"\"")),
        ("white space", replaced(file, ",", 1, " \t\u{b}\u{c}\u{a0} ,")),
    ]
}

#[test]
fn i75_no_file_makes_any_format_panic_or_lose_a_byte() {
    for (seed, file) in SEEDS.iter() {
        for (what, variant) in variants(file) {
            for importer in importers() {
                // What was changed in a file of one format says little about the others.
                if importer.format() != seed && variant.len() > 50_000 {
                    continue;
                }
                let pieces = cut(*importer, &variant, &Limits::default(), usize::MAX);
                check(*importer, &variant, &pieces, &format!("{seed} with {what}"));
                importer.detect(&Head::new(&variant));
            }
        }
    }
}

#[test]
fn i76_a_file_that_ends_anywhere_is_cut_into_what_it_is() {
    for (seed, file) in SEEDS.iter() {
        let importer = importers().iter().find(|importer| importer.format() == seed).unwrap();
        for end in (1..file.len()).step_by(file.len() / 200 + 1) {
            let pieces = cut(*importer, &file[..end], &Limits::default(), usize::MAX);
            check(*importer, &file[..end], &pieces, "cut off");
            importer.detect(&Head::new(&file[..end]));
        }
    }
}

#[derive(Debug, Clone)]
enum Mutation {
    Replace(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    /// Copies a stretch to another place.
    Copy(prop::sample::Index, prop::sample::Index, usize),
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let bytes = prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\n",
            "\r",
            "\0",
            "null",
            "true",
            "-1",
            "1e999",
            "\"\\ud800\"",
            "\u{feff}",
            "\u{2028}",
            "---\n",
            "```\n",
            "#### ",
            "> ",
            "<!-- ",
            "_**User",
            "</tool-use>",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    let index = any::<prop::sample::Index>;
    let mutation = prop_oneof![
        3 => (index(), bytes).prop_map(|(at, with)| Mutation::Replace(at, with)),
        2 => (index(), 1_usize..40).prop_map(|(at, len)| Mutation::Remove(at, len)),
        2 => (index(), index(), 1_usize..200).prop_map(|(from, to, len)| Mutation::Copy(from, to, len)),
    ];
    prop::collection::vec(mutation, 1..8)
}

fn mutated(file: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    let mut file = file.to_vec();
    for mutation in mutations {
        if file.is_empty() {
            break;
        }
        match mutation {
            Mutation::Replace(at, with) => {
                let at = at.index(file.len());
                file.splice(at..=at, with.iter().copied());
            }
            Mutation::Remove(at, len) => {
                let at = at.index(file.len());
                file.drain(at..(at + len).min(file.len()));
            }
            Mutation::Copy(from, to, len) => {
                let (from, to) = (from.index(file.len()), to.index(file.len()));
                let stretch = file[from..(from + len).min(file.len())].to_vec();
                file.splice(to..to, stretch);
            }
        }
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn i76_the_pieces_of_a_mutated_file_are_the_file_however_its_bytes_arrive(
        seed in any::<prop::sample::Index>(),
        mutations in mutations(),
        helping in 1_usize..300,
        record_bytes_max in prop_oneof![Just(32_usize << 20), 1_usize..400],
    ) {
        let (name, file) = seed.get(&SEEDS);
        let file = mutated(file, &mutations);
        let own = importers().iter().find(|importer| importer.format() == name);
        let limits = Limits { record_bytes_max, body_bytes_max: record_bytes_max.max(200), ..Limits::default() };
        for importer in own.into_iter().copied().chain(detect(&file).ok()) {
            let pieces = cut(importer, &file, &limits, usize::MAX);
            check(importer, &file, &pieces, name);
            let dripped = cut(importer, &file, &limits, helping);
            prop_assert!(pieces == dripped, "{}: the same however the bytes arrive", importer.format());
        }
    }
}
