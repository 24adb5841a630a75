//! Files that no store wrote: no panic, no endless loop, no made-up answer.

use proptest::prelude::*;
use spanvault_store::{Access, VerifyDepth};
use spanvault_types::Position;
use spanvault_types::codec::Seat;

use crate::support::{Ledger, World, file, is_long};

fn vault() -> (World, Ledger) {
    let world = World::new().with_segments_of(900);
    let store = world.open();
    let mut ledger = Ledger::default();
    for len in [100, 200, 300, 400] {
        ledger.commit(&store, &[len]).unwrap();
    }
    drop(store);
    (world.restarted(), ledger)
}

/// Opens whatever is there and asks for everything.
fn survives(world: &World, ledger: &Ledger) {
    for access in [Access::Read, Access::Write] {
        let Ok((store, _report)) = world.restarted().try_open(access) else { continue };
        for (at, bytes) in ledger.batches.iter().flat_map(|batch| &batch.originals) {
            if let Ok(original) = store.original(*at) {
                assert_eq!(original.bytes, *bytes);
            }
            let _place = store.whereabouts(*at);
        }
        let _frames = store.frames(Position::ZERO).count();
        let _all = store.scan(&[]).unwrap();
        store.verify(VerifyDepth::Data, &mut |_| ()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_long() { 2_000 } else { 60 }))]

    #[test]
    fn i71_no_content_of_a_file_makes_the_store_panic(
        which in 0_usize..6, noise in prop::collection::vec(any::<u8>(), 0..600), keep in 0_usize..800,
    ) {
        let (world, ledger) = vault();
        let names = ["FORMAT", "ACKED", "log/00000001.log", "log/00000002.log", "log/00000001.idx", "log/00000003.idx"];
        let path = file(names[which]);
        let mut bytes = world.disk.bytes(&path).unwrap_or_default();
        bytes.truncate(keep);
        bytes.extend(noise);
        world.disk.put(&path, &bytes).unwrap();
        survives(&world, &ledger);
    }

    #[test]
    fn i17_pieces_of_the_log_in_the_wrong_place_are_not_taken_for_the_log(
        from in 0_usize..900, to in 0_usize..900, len in 1_usize..400, other in any::<bool>(),
    ) {
        let (world, ledger) = vault();
        let target = file("log/00000002.log");
        let source = file(if other { "log/00000001.log" } else { "log/00000002.log" });
        let (source, mut bytes) = (world.disk.bytes(&source).unwrap(), world.disk.bytes(&target).unwrap());
        let piece: Vec<u8> = source.iter().skip(from).take(len).copied().collect();
        for (to, byte) in bytes.iter_mut().skip(to).zip(piece) {
            *to = byte;
        }
        world.disk.put(&target, &bytes).unwrap();
        survives(&world, &ledger);
    }
}

#[test]
fn a_body_made_of_frame_magics_is_searched_and_left() {
    let world = World::new();
    let store = world.open();
    let mut ledger = Ledger::default();
    ledger.commit(&store, &[10]).unwrap();
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    let at = crate::support::push_span(&mut batch, 50, &b"SVF\x01".repeat(20_000));
    writer.commit(batch).unwrap();
    drop(writer);
    ledger.commit(&store, &[20]).unwrap();
    let event_bytes = store.frame(at).unwrap().event.encode(&Seat::bare(at)).unwrap().len() as u64;
    drop(store);
    let world = world.restarted();
    let log = file("log/00000001.log");
    let whole = world.disk.bytes(&log).unwrap();
    let body = whole.windows(8).position(|window| window == b"SVF\x01SVF\x01").unwrap() as u64;
    world.disk.flip_bit(&log, body - 48 - event_bytes - 10, 0).unwrap();
    let (store, report) = world.try_open(Access::Read).unwrap();
    assert!(report.damage.len() == 1 && report.damage[0].from == at, "{report:?}");
    ledger.check_originals(&store);
}
