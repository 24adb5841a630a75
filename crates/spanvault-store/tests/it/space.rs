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

/// Bytes of logs and of sidecars.
fn taken(world: &World) -> (u64, u64) {
    let of = |extension: &str| {
        let files = world.disk.files();
        let named =
            files.iter().filter(|(path, _len)| path.extension().is_some_and(|found| found == extension));
        named.map(|(_path, len)| len).sum::<u64>()
    };
    (of("log"), of("idx"))
}

#[test]
fn a_span_of_4_kib_takes_little_beside_its_bytes_and_little_once_it_is_gone() {
    let world = World::new().with_segments_of(2 << 20);
    let (store, originals) = filled(&world);
    let (log, sidecars) = taken(&world);
    let beside = (log - SPANS * BODY_BYTES as u64) / SPANS;
    // About half of them are in the sealed segment.
    let in_sidecar = sidecars * 2 / SPANS;
    println!("beside its bytes: {beside} in the log, {in_sidecar} in its sidecar");
    assert!(beside <= 104 && in_sidecar <= 20, "{log}, {sidecars}");

    let gone: Vec<_> = originals.iter().step_by(2).copied().collect();
    condemn(&store, &gone).unwrap();
    for gone in gone.chunks(500) {
        remove_all(&store, gone).unwrap();
    }
    free(&store).unwrap();
    let (log, sidecars) = taken(&world);
    let kept = SPANS / 2 * (BODY_BYTES as u64 + beside);
    let left = (log - kept) / (SPANS / 2);
    let in_sidecars = sidecars / SPANS;
    println!("of one that is gone: {left} in the log; of each: {in_sidecars} in sidecars");
    println!("in all: {} thousandths of the bodies", (log + sidecars) * 1_000 / (SPANS * BODY_BYTES as u64));
    assert!(left <= 220, "{log}");
    assert!(in_sidecars <= 20, "{sidecars}");
}
