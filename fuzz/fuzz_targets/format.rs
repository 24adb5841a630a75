//! One format against any bytes: `SPANVAULT_FUZZ_FORMAT` names it; without it, all of them.

#![no_main]

use std::ops::ControlFlow;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use spanvault_import::{Head, Importer, Limits, Piece, by_name, importers};
use spanvault_types::SpanKind;

static CHOSEN: LazyLock<Vec<&dyn Importer>> = LazyLock::new(|| match std::env::var("SPANVAULT_FUZZ_FORMAT") {
    Ok(name) => vec![by_name(&name).expect("SPANVAULT_FUZZ_FORMAT names a format")],
    Err(_all) => importers().to_vec(),
});

fuzz_target!(|file: &[u8]| {
    if file.is_empty() {
        return;
    }
    // Small limits, so that small files reach what is done with large ones.
    let small = Limits { record_bytes_max: 64, body_bytes_max: 256, ..Limits::default() };
    for importer in CHOSEN.iter() {
        for limits in [&Limits::default(), &small] {
            check(*importer, file, limits);
        }
        importer.detect(&Head::new(file));
    }
});

fn check(importer: &dyn Importer, file: &[u8], limits: &Limits) {
    let mut rest = file;
    let mut offset = 0;
    let cut = importer.cut(&mut &*file, limits, &mut |piece| {
        let bytes = piece.bytes();
        assert!(!bytes.is_empty(), "no piece is empty");
        rest = rest.strip_prefix(bytes).expect("the pieces are the file");
        if let Piece::Span(record) = &piece {
            match &record.quarantine {
                Some(quarantine) => assert_eq!(quarantine.offset, offset, "where the record starts"),
                None if record.content.kind == SpanKind::TooLarge => {}
                None => {
                    let again = importer.parse(&record.bytes);
                    assert_eq!(again.as_ref(), Ok(&record.content), "an original is read as its record was");
                    importer.kept_by_compaction(&record.bytes);
                    for part in &record.content.parts {
                        let (start, end) = (part.range.start, part.range.end);
                        assert!(start <= end && end <= record.bytes.len() as u64, "a part lies in its original");
                    }
                }
            }
        }
        offset += bytes.len() as u64;
        ControlFlow::Continue(())
    });
    assert!(cut.is_ok(), "{cut:?}");
    assert!(rest.is_empty(), "the pieces are the whole file");
    // Nothing else may panic on bytes that are no record.
    if let Ok(content) = importer.parse(file) {
        assert_eq!(importer.parse(file), Ok(content));
    }
    importer.kept_by_compaction(file);
}
