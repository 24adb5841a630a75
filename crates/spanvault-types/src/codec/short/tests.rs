//! What version 2 says, byte for byte, and that it says everything.

use proptest::prelude::*;

use super::*;
use crate::codec::{CodecError, encode};
use crate::{ContentHash, Event, Salt};

const AT: Position = Position::new(70_000);

const SEAT: Seat<'_> = Seat { at: AT, commitment: &|| Some(Commitment::from_bytes([9; 32])) };

fn span() -> SpanRecorded {
    SpanRecorded {
        session: Position::new(2),
        ordinal: 300,
        source: Position::ZERO,
        record: String::new(),
        index: 300,
        original: AT,
        bytes: 4_096,
        tokens: 100,
        role: Role::Assistant,
        kind: SpanKind::ToolCall,
        class: EvidentialClass::Structured,
        timestamp_ms: Some(998),
        recorded_at: StoreTime::from_ms(1_000),
        event_key: None,
    }
}

fn commit() -> Commit {
    Commit {
        first: Position::new(69_998),
        durable: Position::new(69_997),
        prev_chain: [1; 32],
        chain: [2; 32],
        counts: Counts { originals: 5, summaries: 0, citations: 200 },
        clock: ClockStamp {
            boot_id: [3; 16],
            boot_ms: 128,
            wall_ms: 1_001,
            store: StoreTime::from_ms(1_000),
        },
    }
}

fn condemned() -> Condemned {
    Condemned { originals: [3, 5, 300].map(Position::new).to_vec(), at: StoreTime::from_ms(1_000) }
}

fn tombstone() -> Reclaimed {
    Reclaimed {
        original: OriginalRef { at: Position::new(69_000), commitment: Commitment::from_bytes([9; 32]) },
        bytes: 4_096,
        class: EvidentialClass::SideEffecting,
        at: StoreTime::from_ms(1_000),
        revision: Position::new(69_999),
        expired_at: Expiry::At(StoreTime::from_ms(900)),
        condemned_at: StoreTime::from_ms(990),
    }
}

/// An event reads back from these bytes and no others, and from its version 1.
fn stays(event: &Event, golden: &[u8], version_1: &[u8]) {
    assert_eq!(event.encode(&SEAT).unwrap(), golden);
    assert_eq!(&Event::decode(golden, &SEAT).unwrap(), event);
    assert_eq!(&Event::decode(version_1, &SEAT).unwrap(), event, "i72: version 1 is still read");
}

#[test]
fn the_bytes_of_version_2_stay_as_they_are() {
    let golden = [3, 0, 2, 0, 0x13, 0x75, 2, 0xac, 2, 0x80, 0x20, 100, 0xe8, 7, 3];
    stays(&Event::SpanRecorded(span()), &golden, &encode(3, 1, &span()).unwrap());

    let told = SpanRecorded {
        source: Position::new(3),
        record: "r".into(),
        index: 5,
        original: Position::new(69_990),
        timestamp_ms: None,
        event_key: Some([7; 16]),
        ..span()
    };
    let mut golden = vec![3, 0, 2, 0, 0x2c, 0x75, 2, 0xac, 2, 5, 3, 1, b'r', 10, 0x80, 0x20, 100, 0xe8, 7];
    golden.extend([7; 16]);
    stays(&Event::SpanRecorded(told.clone()), &golden, &encode(3, 1, &told).unwrap());

    let mut golden = vec![1, 0, 2, 0, 2, 3];
    golden.extend([1; 32]);
    golden.extend([2; 32]);
    golden.extend([5, 0, 0xc8, 1]);
    golden.extend([3; 16]);
    golden.extend([0x80, 1, 0xe8, 7, 2]);
    stays(&Event::Commit(commit()), &golden, &commit().chained_bytes().unwrap());

    let golden = [16, 0, 2, 0, 0xe8, 7, 3, 3, 2, 0xa7, 2];
    stays(&Event::Condemned(condemned()), &golden, &encode(16, 1, &condemned()).unwrap());

    let golden = [18, 0, 2, 0, 2, 0xe8, 7, 0x80, 0x20, 0xe8, 7, 1, 0xc7, 1, 19];
    stays(&Event::Reclaimed(tombstone()), &golden, &encode(18, 1, &tombstone()).unwrap());
}

#[test]
fn a_tombstone_whose_frame_has_another_name_says_its_commitment_itself() {
    let (salt, hash) = (Salt::from_bytes([7; 16]), ContentHash::of(b"span"));
    let other = || Some(hash.commit(&salt));
    let event = Event::Reclaimed(tombstone());
    for seat in [Seat::bare(AT), Seat { at: AT, commitment: &other }] {
        let bytes = event.encode(&seat).unwrap();
        assert_eq!(bytes.len(), event.encode(&SEAT).unwrap().len() + 32);
        assert_eq!(Event::decode(&bytes, &seat).unwrap(), event);
    }
    let short = event.encode(&SEAT).unwrap();
    assert!(matches!(Event::decode(&short, &Seat::bare(AT)), Err(CodecError::ShortPayload { schema: 18 })));
}

#[test]
fn i71_a_count_beyond_the_bytes_is_refused_before_it_is_allocated() {
    let bytes = [16, 0, 2, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1];
    assert!(matches!(Event::decode(&bytes, &SEAT), Err(CodecError::ShortPayload { schema: 16 })));
}

#[test]
fn i71_bytes_behind_a_short_payload_are_refused() {
    let mut bytes = Event::SpanRecorded(span()).encode(&SEAT).unwrap();
    bytes.push(0);
    assert!(matches!(Event::decode(&bytes, &SEAT), Err(CodecError::TrailingBytes { extra: 1, .. })));
}

fn positions() -> impl Strategy<Value = Position> {
    prop_oneof![Just(AT), Just(Position::ZERO), any::<u64>().prop_map(Position::new)]
}

fn times() -> impl Strategy<Value = StoreTime> {
    any::<u64>().prop_map(StoreTime::from_ms)
}

prop_compose! {
    fn spans()(
        (session, source, original) in (positions(), positions(), positions()),
        (ordinal, index) in prop_oneof![any::<u64>().prop_map(|n| (n, n)), any::<(u64, u64)>()],
        record in ".{0,9}",
        (bytes, tokens) in any::<(u64, u64)>(),
        role_number in 0_u8..4, kind_number in 0_u8..8, class_number in 0_u8..3,
        timestamp_ms: Option<i64>, recorded_at in times(), event_key: Option<[u8; 16]>,
    ) -> SpanRecorded {
        SpanRecorded {
            session, ordinal, source, record, index, original, bytes, tokens,
            role: role(role_number).unwrap(),
            kind: kind(kind_number).unwrap(),
            class: class(class_number).unwrap(),
            timestamp_ms, recorded_at, event_key,
        }
    }
}

prop_compose! {
    fn commits()(
        (first, durable) in (positions(), positions()),
        prev_chain: [u8; 32], chain: [u8; 32],
        (originals, summaries, citations) in any::<(u64, u64, u64)>(),
        boot_id: [u8; 16], boot_ms: u64, wall_ms: u64, store in times(),
    ) -> Commit {
        let counts = Counts { originals, summaries, citations };
        let clock = ClockStamp { boot_id, boot_ms, wall_ms, store };
        Commit { first, durable, prev_chain, chain, counts, clock }
    }
}

prop_compose! {
    fn tombstones()(
        (at, revision) in (positions(), positions()),
        commitment in prop_oneof![Just([9; 32]), any::<[u8; 32]>()],
        bytes: u64, class_number in 0_u8..3,
        expired_at in prop_oneof![Just(Expiry::Never), Just(Expiry::Forever), times().prop_map(Expiry::At)],
        (reclaimed, condemned) in (times(), times()),
    ) -> Reclaimed {
        let original = OriginalRef { at, commitment: Commitment::from_bytes(commitment) };
        let class = class(class_number).unwrap();
        Reclaimed { original, bytes, class, at: reclaimed, revision, expired_at, condemned_at: condemned }
    }
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        spans().prop_map(Event::SpanRecorded),
        commits().prop_map(Event::Commit),
        (prop::collection::vec(positions(), 0..9), times())
            .prop_map(|(originals, at)| Event::Condemned(Condemned { originals, at })),
        tombstones().prop_map(Event::Reclaimed),
    ]
}

proptest! {
    #[test]
    fn every_value_reads_back_from_its_short_form(event in events()) {
        let bytes = event.encode(&SEAT).unwrap();
        prop_assert_eq!(Event::decode(&bytes, &SEAT).unwrap(), event);
    }

    #[test]
    fn i71_no_bytes_make_the_short_decoder_panic_and_none_say_what_others_say(
        payload in prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..4, Just(0x80)], 0..120),
        schema in prop_oneof![Just(1_u16), Just(3), Just(16), Just(18)],
    ) {
        let mut bytes = schema.to_le_bytes().to_vec();
        bytes.extend([2, 0]);
        bytes.extend(payload);
        if let Ok(event) = Event::decode(&bytes, &SEAT) {
            prop_assert_eq!(event.encode(&SEAT).unwrap(), bytes);
        }
    }
}
