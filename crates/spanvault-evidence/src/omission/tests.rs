use proptest::prelude::*;

use super::*;
use crate::Atom;

fn manifest_of<'a>(
    text: &str,
    covered: impl IntoIterator<Item = &'a Manifest>,
    sources: impl IntoIterator<Item = (Position, Vec<Atom>)>,
) -> Manifest {
    let sources: Vec<_> = sources.into_iter().collect();
    let covered: Vec<Manifest> = covered.into_iter().cloned().collect();
    Manifest::of(text, &covered, &details_of(&sources))
}

fn details_of(sources: &[(Position, Vec<Atom>)]) -> SourceDetails<'_> {
    SourceDetails::of(sources.iter().map(|(at, atoms)| (*at, atoms.as_slice())))
}

fn unnamed(manifest: &Manifest, text: &str, atoms: &[Atom]) -> u64 {
    manifest.unnamed(text, &SourceDetails::of([(Position::new(1), atoms)]))
}
use crate::atoms_of_text;

fn atom(kind: AtomKind, text: &str, normal: &str) -> Atom {
    Atom {
        kind,
        text: text.to_owned(),
        normal: normal.to_owned(),
        part: 0,
        range: spanvault_types::ByteRange::default(),
    }
}

fn source(at: u64, text: &str) -> (Position, Vec<Atom>) {
    (Position::new(at), atoms_of_text(text))
}

fn omitted(manifest: &Manifest) -> Vec<(AtomKind, &str)> {
    manifest.omissions().map(|detail| (detail.kind, detail.normal.as_str())).collect()
}

#[test]
fn what_the_text_does_not_say_is_named_with_an_original_that_holds_it() {
    let sources =
        [source(7, "/etc/app/conf.yaml and INV-2025-08-44719"), source(9, "/etc/app/conf.yaml again")];
    let manifest = manifest_of("wrote configuration for INV-2025-08-44719", [], sources);
    assert_eq!(omitted(&manifest), [(AtomKind::Path, "/etc/app/conf.yaml")]);
    assert_eq!(manifest.find(AtomKind::Path, "/etc/app/conf.yaml").unwrap().at, Position::new(7));
    assert!(manifest.find(AtomKind::Identifier, "INV-2025-08-44719").unwrap().kept);
}

#[test]
fn equal_details_are_one_whatever_they_look_like() {
    let numbers = vec![atom(AtomKind::Number, "1,024", "1024"), atom(AtomKind::Number, "1024", "1024")];
    let manifest = manifest_of("", [], [(Position::new(1), numbers)]);
    assert_eq!(manifest.details().len(), 1);
    assert_eq!(manifest.details()[0].words(), "1,024");
}

#[test]
fn a_path_is_kept_when_it_stands_in_the_text_not_when_its_last_component_does() {
    let manifest = manifest_of("changed conf.yaml", [], [source(1, "wrote /etc/app/conf.yaml")]);
    assert_eq!(omitted(&manifest), [(AtomKind::Path, "/etc/app/conf.yaml")]);
}

#[test]
fn fidelity_counts_what_the_text_kept_by_kind() {
    let manifest = manifest_of("see /a/b.rs", [], [source(1, "/a/b.rs and /a/c.rs")]);
    let path =
        manifest.fidelity().into_iter().find(|fidelity| fidelity.kind == AtomKind::Path as u8).unwrap();
    assert_eq!((path.total, path.kept), (2, 1));
    assert_eq!(manifest.omitted(AtomKind::Path), 1);
}

#[test]
fn five_generations_keep_the_identifiers_of_the_first_named() {
    let mut manifest =
        manifest_of("generation 1 keeps TICKET-1", [], [source(5, "TICKET-1 INV-2025-08-44719 /etc/passwd")]);
    let mut faded = Vec::new();
    for generation in 2..=5 {
        let added = source(generation * 10, &format!("TICKET-{generation}"));
        manifest = manifest_of(&format!("generation {generation}"), [&manifest], [added]);
        faded.push(manifest.fidelity().iter().map(|fidelity| fidelity.kept).sum::<u64>());
    }
    let named = omitted(&manifest);
    for identifier in ["TICKET-1", "TICKET-2", "TICKET-5", "INV-2025-08-44719"] {
        assert!(named.contains(&(AtomKind::Identifier, identifier)), "{identifier} in {named:?}");
    }
    assert_eq!(manifest.find(AtomKind::Identifier, "INV-2025-08-44719").unwrap().at, Position::new(5));
    assert_eq!(faded, [0, 0, 0, 0], "what generation 1 kept, the later texts do not say");
}

#[test]
fn a_detail_that_the_child_kept_is_named_when_the_next_text_drops_it() {
    let child = manifest_of("TICKET-1", [], [source(5, "TICKET-1")]);
    assert_eq!(omitted(&child), []);
    let next = manifest_of("nothing of it", [&child], []);
    assert_eq!(omitted(&next), [(AtomKind::Identifier, "TICKET-1")]);
}

#[test]
fn an_honest_manifest_leaves_nothing_unnamed_and_a_tampered_one_does() {
    let text = "kept TICKET-1";
    let (at, atoms) = source(5, "TICKET-1 TICKET-2 TICKET-3");
    let honest = manifest_of(text, [], [(at, atoms.clone())]);
    assert_eq!(unnamed(&honest, text, &atoms), 0);
    assert_eq!(unnamed(&honest, "kept nothing", &atoms), 1, "it says that TICKET-1 is kept, and it is not");
    let cut = Manifest::from_sorted(honest.details()[..1].to_vec());
    assert_eq!(unnamed(&cut, text, &atoms), 2);
}

#[test]
fn a_long_detail_is_named_by_its_head_and_stays_distinct() {
    let long = "x".repeat(5000);
    let other = format!("{}y", "x".repeat(4999));
    let atoms = vec![atom(AtomKind::Argument, &long, &long), atom(AtomKind::Argument, &other, &other)];
    let manifest = manifest_of("", [], [(Position::new(1), atoms.clone())]);
    assert_eq!(manifest.details().len(), 2);
    assert!(manifest.details().iter().all(|detail| detail.normal.len() < 256));
    assert!(manifest.find(AtomKind::Argument, &long).is_some());
    assert_eq!(unnamed(&manifest, "", &atoms), 0);
}

#[test]
fn over_a_hundred_numbers_are_shown_as_a_count_and_a_range_and_still_listed() {
    let numbers = |count: i32| {
        (0..count).map(|n| atom(AtomKind::Number, &n.to_string(), &n.to_string())).collect::<Vec<_>>()
    };
    let manifest = manifest_of("", [], [(Position::new(3), numbers(150))]);
    let shown = manifest.shown(AtomKind::Number);
    assert_eq!(shown, [Shown::Numbers { at: Position::new(3), count: 150, range: ("0", "149") }]);
    assert_eq!(manifest.omitted(AtomKind::Number), 150);
    let few = manifest_of("", [], [(Position::new(3), numbers(100))]);
    assert_eq!(few.shown(AtomKind::Number).len(), 100);
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        "/[a-z]{1,5}/[a-z]{1,5}\\.(rs|go|yaml)",
        "[A-Z]{2,5}-[0-9]{1,4}",
        "[0-9]{1,3}(,[0-9]{3}){0,2}",
        "`[a-z_ ]{1,10}`",
        "https://[a-z]{1,6}\\.com/[a-z]{0,4}",
        "is not",
        "汉字",
    ];
    proptest::collection::vec(word, 0..30).prop_map(|words| words.join(" "))
}

/// The same details looked for one by one: what each is called, where it was met first, whether the text says it.
fn one_by_one(text: &str, covered: &[Manifest], sources: &[(Position, Vec<Atom>)]) -> Vec<Detail> {
    let said: BTreeSet<_> = atoms_of_text(text).into_iter().map(|atom| (atom.kind, atom.normal)).collect();
    let met = covered.iter().flat_map(|manifest| &manifest.details).cloned();
    let met = met.chain(sources.iter().flat_map(|(at, atoms)| {
        atoms.iter().map(|atom| Detail {
            kind: atom.kind,
            normal: atom.normal.clone(),
            text: (atom.text != atom.normal).then(|| atom.text.clone()),
            at: *at,
            kept: false,
        })
    }));
    let mut found: Vec<Detail> = Vec::new();
    for detail in met {
        match found.iter_mut().find(|known| (known.kind, &known.normal) == (detail.kind, &detail.normal)) {
            Some(known) => known.at = known.at.min(detail.at),
            None => found.push(detail),
        }
    }
    for detail in &mut found {
        detail.kept = said.contains(&(detail.kind, detail.normal.clone()));
    }
    found.sort();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_manifest_holds_what_is_found_one_by_one_and_so_does_what_it_leaves_unnamed(
        covered in proptest::collection::vec(words(), 0..3),
        originals in proptest::collection::vec((words(), 1_u64..9), 0..6),
        text in words(),
        other in words(),
        left_out in 0_usize..6,
    ) {
        let covered: Vec<_> = covered.iter().zip(3..).map(|(words, at)| manifest_of(&text, [], [source(at, words)])).collect();
        let sources: Vec<_> = originals.iter().map(|(words, at)| source(*at, words)).collect();
        let manifest = Manifest::of(&text, &covered, &details_of(&sources));
        prop_assert_eq!(&manifest.details, &one_by_one(&text, &covered, &sources));
        // Held against a text that says something else, and without some of its details.
        let cut = Manifest::from_sorted(manifest.details.iter().skip(left_out).cloned().collect());
        let said: BTreeSet<_> = atoms_of_text(&other).into_iter().map(|atom| (atom.kind, atom.normal)).collect();
        let is_named = |detail: &&Detail| {
            said.contains(&(detail.kind, detail.normal.clone()))
                || cut.find(detail.kind, &detail.normal).is_some_and(|found| !found.kept)
        };
        let unnamed = one_by_one(&text, &[], &sources).iter().filter(|detail| !is_named(detail)).count() as u64;
        prop_assert_eq!(cut.unnamed(&other, &details_of(&sources)), unnamed);
    }

    #[test]
    fn omissions_are_the_atoms_of_the_originals_minus_those_of_the_summary(originals in proptest::collection::vec(words(), 0..6), text in words()) {
        let sources: Vec<_> = originals.iter().zip(1..).map(|(original, at)| source(at, original)).collect();
        let manifest = manifest_of(&text, [], sources.clone());
        let said: BTreeSet<_> = atoms_of_text(&text).into_iter().map(|atom| (atom.kind, atom.normal)).collect();
        let held: BTreeSet<_> = sources.iter().flat_map(|(_, atoms)| atoms).map(|atom| (atom.kind, atom.normal.clone())).collect();
        let expected: Vec<_> = held.difference(&said).cloned().collect();
        let found: Vec<_> = manifest.omissions().map(|detail| (detail.kind, detail.normal.clone())).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(manifest.unnamed(&text, &details_of(&sources)), 0);
        prop_assert_eq!(&Manifest::decode(&manifest.encode().unwrap()).unwrap(), &manifest);
    }

    #[test]
    fn a_manifest_of_manifests_holds_what_one_over_all_originals_holds(first in words(), second in words(), between in words(), text in words()) {
        let child = manifest_of(&between, [], [source(1, &first)]);
        let merged = manifest_of(&text, [&child], [source(2, &second)]);
        let whole = manifest_of(&text, [], [source(1, &first), source(2, &second)]);
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn i71_no_bytes_make_the_decoder_of_manifests_panic(bytes: Vec<u8>, columns: Vec<u8>) {
        prop_assert!(Manifest::decode(&bytes).is_err() || bytes.len() > 4);
        let stored = [&[1][..], &zstd::bulk::compress(&columns, 1).unwrap()].concat();
        if let Ok(manifest) = Manifest::decode(&stored) {
            prop_assert_eq!(Manifest::decode(&manifest.encode().unwrap()).unwrap(), manifest);
        }
    }
}

#[test]
fn i72_a_newer_version_is_an_error() {
    let mut stored = Manifest::default().encode().unwrap();
    stored[0] = 2;
    assert!(matches!(Manifest::decode(&stored), Err(ManifestError::NewerVersion { version: 2 })));
    assert!(matches!(Manifest::decode(&[]), Err(ManifestError::Malformed)));
}

#[test]
fn the_bytes_of_version_1_stay_readable() {
    // One path, kept, with the text that stood in the original, from the original at 7.
    let columns = [&[1, 7, 2, 1, 0, 2][..], b"/a", &[2, 0, 1], b"A", &[1]].concat();
    let stored = [&[1][..], &zstd::bulk::compress(&columns, 3).unwrap()].concat();
    let detail = Detail {
        kind: AtomKind::Path,
        normal: "/a".into(),
        text: Some("/A".into()),
        at: Position::new(7),
        kept: true,
    };
    assert_eq!(Manifest::decode(&stored).unwrap().details(), [detail]);
}

#[test]
fn shared_prefixes_do_not_let_a_small_manifest_grow() {
    // Each entry would repeat a megabyte of the one before it.
    let mut columns = vec![0, 2, 200, 1];
    for _ in 0..200 {
        columns.extend([0x80, 0x80, 0x40, 1]);
    }
    let stored = [&[1][..], &zstd::bulk::compress(&columns, 3).unwrap()].concat();
    assert!(Manifest::decode(&stored).is_err());
}
