//! What is read in stretches is what is read one by one.

use proptest::prelude::*;
use spanvault_store::{Store, Whereabouts};
use spanvault_types::key::{self, Table};
use spanvault_types::{Event, Position};

use crate::support::{Ledger, World, file};
use crate::tiers::{condemn, demote, free, positions, remove_all, rescue};

/// The tables whose keys begin with an original.
const TABLES: [Table; 3] = [Table::Fate, Table::Cold, Table::Occurrence];

/// A vault of many small segments with originals that are hot, cold, condemned, rescued and gone, next to each other.
fn many_fates(world: &World) -> (Store, Vec<Position>) {
    let store = world.open();
    let mut ledger = Ledger::default();
    for _ in 0..40 {
        ledger.commit(&store, &[200, 60, 90]).unwrap();
    }
    let all = positions(&ledger);
    let every = |n: usize| all.iter().skip(n).step_by(7).copied().collect::<Vec<_>>();
    demote(&store, &all[20..60]).unwrap();
    condemn(&store, &every(0)).unwrap();
    condemn(&store, &every(3)).unwrap();
    rescue(&store, &every(3)[..6]);
    remove_all(&store, &every(0)[..9]).unwrap();
    free(&store).unwrap();
    condemn(&store, &every(5)).unwrap();
    (store, all)
}

/// Checks each original of the log against what is said of it alone; gives how many there are, and frames that are not.
fn check_originals(store: &Store) -> (usize, usize) {
    let (mut found, mut unreadable) = (0, 0);
    for original in store.originals(Position::ZERO) {
        let Ok((at, span, place)) = original else {
            unreadable += 1;
            continue;
        };
        assert_eq!(place, store.whereabouts(at), "of {at}");
        assert_eq!(Event::SpanRecorded(span), store.frame(at).unwrap().event);
        found += 1;
    }
    (found, unreadable)
}

#[test]
fn originals_in_a_row_are_where_each_of_them_is() {
    let world = World::new().with_segments_of(2_000);
    let (store, all) = many_fates(&world);
    for store in [&store, &world.read(), &world.restarted().read()] {
        assert_eq!(check_originals(store), (all.len(), 0));
        let places: Vec<_> = all.iter().map(|at| store.whereabouts(*at)).collect();
        let count = |which: fn(&Whereabouts) -> bool| places.iter().filter(|place| which(place)).count();
        assert!(count(|place| matches!(place, Whereabouts::Hot)) > 20, "{places:?}");
        assert!(count(|place| matches!(place, Whereabouts::Cold { .. })) > 20, "{places:?}");
        assert!(count(|place| matches!(place, Whereabouts::Condemned { .. })) > 20, "{places:?}");
        assert_eq!(count(|place| matches!(place, Whereabouts::Reclaimed { .. })), 9, "{places:?}");
    }
}

#[test]
fn i47_a_frame_that_cannot_be_read_is_an_error_among_originals_too() {
    let world = World::new().with_segments_of(2_000);
    let (store, all) = many_fates(&world);
    drop(store);
    let path = file("log/00000002.log");
    let len = world.disk.files().into_iter().find(|(found, _len)| *found == path).unwrap().1;
    for at in (200..len).step_by(70) {
        let world = world.restarted();
        world.disk.flip_bit(&path, at, 3).unwrap();
        let store = world.try_open(spanvault_store::Access::Read).unwrap().0;
        let (found, unreadable) = check_originals(&store);
        assert_eq!(unreadable, store.frames(Position::ZERO).filter(Result::is_err).count(), "byte {at}");
        assert!(found + 2 >= all.len(), "byte {at}: {found}");
    }
}

#[test]
fn a_frame_is_given_with_the_original_that_it_has() {
    let world = World::new().with_segments_of(2_000);
    let (store, all) = many_fates(&world);
    let mut bodies = store.bodies();
    let mut there = 0;
    for at in &all {
        let (frame, original) = bodies.read(*at).unwrap();
        assert_eq!(frame, store.frame(*at).unwrap());
        if let Some(original) = original {
            assert_eq!(original, store.original(*at).unwrap());
            there += 1;
        } else {
            assert!(!matches!(store.whereabouts(*at), Whereabouts::Hot), "of {at}");
        }
    }
    assert!(there > 40, "{there}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_column_has_what_a_look_up_finds(steps in prop::collection::vec(-40_i64..60, 1..120)) {
        let world = World::new().with_segments_of(2_000);
        let (store, _all) = many_fates(&world);
        for table in TABLES {
            let (mut column, mut at) = (store.column(table), 0_u64);
            for step in &steps {
                // Most steps are short, as in a walk; some go back or far.
                at = at.saturating_add_signed(if *step > 20 { 1 } else { *step });
                let first = Position::new(at);
                let wanted: Vec<_> =
                    store.scan(&key::key(table, &[first])).unwrap().into_iter().map(|(_key, at)| at).collect();
                prop_assert_eq!(column.of(first).unwrap().collect::<Vec<_>>(), wanted.clone());
                prop_assert_eq!(column.last(first).unwrap(), wanted.last().copied());
            }
        }
    }
}
