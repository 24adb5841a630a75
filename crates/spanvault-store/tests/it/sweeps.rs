//! A sweep hands over what single reads give, or nothing at all.

use std::ops::ControlFlow;

use spanvault_store::{Access, Store};
use spanvault_types::{Event, Position};

use crate::support::{Ledger, World, bytes_of, every, sealed_vault, span};

/// Spans in sealed segments and in the open one, and one that shares the original of another.
fn vault() -> (World, Ledger) {
    let (world, ledger) = sealed_vault();
    let store = world.open();
    let mut writer = store.lock().unwrap();
    let mut batch = writer.begin();
    batch.push(span(Position::new(1), 99, &bytes_of(0, 30)), None);
    writer.commit(batch).unwrap();
    drop(writer);
    drop(store);
    (world.restarted(), ledger)
}

type Swept = (Position, Option<Vec<u8>>);

/// What a sweep up to `end` hands over; `None` where it gives up.
fn swept(store: &Store, end: Position) -> Option<Vec<Swept>> {
    let mut found = Vec::new();
    for stretch in store.stretches(end)? {
        store.sweep(&stretch, &mut |swept| {
            assert_eq!(Event::SpanRecorded(swept.span.clone()), store.frame(swept.at).unwrap().event);
            found.push((swept.at, swept.original().map(<[u8]>::to_vec)));
            ControlFlow::Continue(())
        })?;
    }
    Some(found)
}

fn end(store: &Store) -> Position {
    store.head().position.next()
}

#[test]
fn a_sweep_hands_over_every_span_in_order_with_its_verified_original() {
    let (world, ledger) = vault();
    for store in [world.read(), world.open()] {
        let found = swept(&store, end(&store)).unwrap();
        let (shared, own) = found.split_last().unwrap();
        let written: Vec<Swept> = ledger
            .batches
            .iter()
            .flat_map(|batch| batch.originals.iter().map(|(at, bytes)| (*at, Some(bytes.clone()))))
            .collect();
        assert_eq!(own, written);
        assert_eq!(shared.1, None, "its own frame carries no bytes");
        for end in 1..end(&store).get() {
            let end = Position::new(end);
            let before: Vec<Swept> = found.iter().filter(|(at, _bytes)| *at < end).cloned().collect();
            assert_eq!(swept(&store, end).unwrap(), before);
        }
    }
}

#[test]
fn i16_no_flipped_bit_makes_a_sweep_leave_out_a_span_or_hand_over_other_bytes() {
    let (world, _ledger) = vault();
    let (whole, end) = (swept(&world.read(), end(&world.read())).unwrap(), end(&world.read()));
    let (mut given_up, mut without) = (0, 0);
    for (path, len) in world.disk.files() {
        for byte in (0..len).step_by(every(41)) {
            let damaged = world.restarted();
            damaged.disk.flip_bit(&path, byte, u8::try_from(byte % 8).unwrap()).unwrap();
            let Ok((store, _report)) = damaged.try_open(Access::Read) else { continue };
            let Some(found) = swept(&store, end) else {
                given_up += 1;
                continue;
            };
            for ((at, bytes), (at_whole, bytes_whole)) in found.iter().zip(&whole) {
                assert_eq!(at, at_whole);
                assert!(bytes.is_none() || bytes == bytes_whole, "other bytes at {at}");
                without += usize::from(bytes != bytes_whole);
            }
            assert!(found.len() == whole.len() || !store.damage().is_empty(), "{} {byte}", path.display());
        }
    }
    assert!(given_up > 4 && without > 2, "{given_up} {without}");
}
