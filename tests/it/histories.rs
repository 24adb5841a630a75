//! Long random histories, in a vault and in its model.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use spanvault_testkit::history;

use crate::twin::{Look, Twin};

#[test]
fn devh() {
    let get = |n: &str, d: u64| std::env::var(n).ok().and_then(|s| s.parse().ok()).unwrap_or(d);
    let (cases, steps, seed) = (get("CASES", 50), get("LEN", 40), get("SEED", 1));
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() });
    let mut seen = std::collections::BTreeMap::new();
    let start = std::time::Instant::now();
    for n in 0..cases {
        let ops = history(steps as usize).new_tree(&mut runner).unwrap().current();
        if std::env::var("TRACE").is_ok() {
            eprintln!("case {n} {:?} {ops:?}", start.elapsed());
        }
        let ran = std::panic::catch_unwind(|| {
            let mut twin = Twin::new(n);
            twin.walk(&ops, Look::All);
            twin.done
        });
        if let Err(panic) = ran {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            let key: String =
                text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_ascii_digit()).collect();
            let (count, shortest) = seen.entry(key).or_insert((0, text.clone()));
            *count += 1;
            if text.len() < shortest.len() {
                *shortest = text;
            }
        }
    }
    eprintln!("{cases} histories in {:?}", start.elapsed());
    for (_what, (count, shortest)) in seen {
        eprintln!("=== {count} x {shortest}");
    }
}
