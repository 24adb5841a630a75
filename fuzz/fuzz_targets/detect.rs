//! Detection against any bytes: it ends, and says the same twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use spanvault_import::{Head, Importer, detect};

fuzz_target!(|head: &[u8]| {
    let found = detect(head).map(Importer::format).ok();
    assert_eq!(detect(head).map(Importer::format).ok(), found);
    if found.is_none() {
        let unknown_for_all = spanvault_import::importers().iter().all(|importer| {
            importer.detect(&Head::new(head)) == spanvault_import::Confidence::No
        });
        assert!(unknown_for_all || head.iter().all(u8::is_ascii_whitespace));
    }
});
