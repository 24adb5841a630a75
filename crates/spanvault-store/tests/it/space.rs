//! What a span takes on the disk beside its bytes, before and after it was removed: docs/performance.md has the sums.

use spanvault_store::Store;
use spanvault_types::{Event, Position, SessionOpened};

use crate::support::World;
use crate::tiers::{condemn, free, remove_all};

const SPANS: u64 = 2_000;
const BODY_BYTES: usize = 4_096;

/// A vault of spans of 4 KiB in batches of a thousand, all sealed but the last one.
fn filled(world: &World) -> (Store, Vec<Position>) {
    let store = world.open();
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    batch.push(Event::SessionOpened(SessionOpened { name: "run".into(), format: String::new() }), None);
    let mut originals = Vec::new();
    for ordinal in 0..SPANS {
        let mut body = vec![0; BODY_BYTES];
        blake3::Hasher::new().update(&ordinal.to_le_bytes()).finalize_xof().fill(&mut body);
        if ordinal % 1_000 == 0 {
            writer.append(std::mem::replace(&mut batch, writer.begin())).unwrap();
            batch = writer.begin();
        }
        originals.push(crate::support::push_span(&mut batch, ordinal, &body));
    }
    writer.commit(batch).unwrap();
    drop(writer);
    (store, originals)
}

/// Bytes of logs and of sidecars, a span.
fn each(world: &World) -> (f64, f64) {
    let of = |extension: &str| {
        let files = world.disk.files();
        let named =
            files.iter().filter(|(path, _len)| path.extension().is_some_and(|found| found == extension));
        named.map(|(_path, len)| *len as f64).sum::<f64>() / SPANS as f64
    };
    (of("log"), of("idx"))
}

#[test]
fn a_span_of_4_kib_takes_little_beside_its_bytes_and_little_once_it_is_gone() {
    let world = World::new().with_segments_of(2 << 20);
    let (store, originals) = filled(&world);
    let body = BODY_BYTES as f64;
    let (log, sidecars) = each(&world);
    println!("beside its bytes: {:.1} in the log, {sidecars:.1} in sidecars", log - body);
    assert!(log - body < 110.0, "{log}");

    let gone: Vec<_> = originals.iter().step_by(2).copied().collect();
    condemn(&store, &gone).unwrap();
    for gone in gone.chunks(500) {
        remove_all(&store, gone).unwrap();
    }
    free(&store).unwrap();
    let (log, sidecars) = each(&world);
    let of_gone = 2.0 * (log - body / 2.0) - 110.0;
    println!(
        "of one that is gone: {of_gone:.1} in the log, {sidecars:.1} in sidecars; in all {:.4}",
        (log + sidecars) / body
    );
    assert!(of_gone < 240.0, "{log}");
}
