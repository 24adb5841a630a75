use proptest::prelude::*;

use super::super::crash::Survival;
use super::*;

#[derive(Debug, Clone)]
enum Step {
    Write { at: usize, len: usize, with: u8 },
    SetLen(usize),
    Sync,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3000_usize, 1..1500_usize, 1..=255_u8).prop_map(|(at, len, with)| Step::Write { at, len, with }),
        2 => (0..4000_usize).prop_map(Step::SetLen),
        2 => Just(Step::Sync),
    ]
}

fn crash(content: &Content, survival: Survival) -> Vec<u8> {
    content.after_crash(&mut Fates::new(survival))
}

proptest! {
    #[test]
    fn a_reader_sees_every_write_and_a_crash_gives_back_only_what_was_there(
        steps in prop::collection::vec(step(), 1..40),
        seed in any::<u64>(),
    ) {
        let mut content = Content::default();
        let (mut live, mut synced) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Write { at, len, with } => {
                    content.write(&vec![with; len], at);
                    live.resize(live.len().max(at + len), 0);
                    live[at..at + len].fill(with);
                }
                Step::SetLen(len) => {
                    content.set_len(len);
                    live.resize(len, 0);
                }
                Step::Sync => {
                    content.sync();
                    synced.clone_from(&live);
                }
            }
            prop_assert_eq!(content.bytes(), &live[..]);
            prop_assert_eq!(crash(&content, Survival::All), &live[..]);
            prop_assert_eq!(crash(&content, Survival::Nothing), &synced[..]);
            let torn = crash(&content, Survival::Seeded(seed));
            prop_assert!((live.len().min(synced.len())..=live.len().max(synced.len())).contains(&torn.len()));
            for (at, byte) in torn.iter().enumerate() {
                let allowed = [live.get(at).copied().unwrap_or(0), synced.get(at).copied().unwrap_or(0)];
                prop_assert!(allowed.contains(byte), "byte {at} is {byte}, neither of {allowed:?}");
            }
        }
    }
}
