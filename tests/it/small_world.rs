//! Every history of a few steps, in a vault and in its model.

use spanvault_testkit::small_world;

use crate::twin::{Look, Twin};

#[test]
fn dev() {
    let world = small_world();
    let steps: u32 = std::env::var("STEPS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let from: usize = std::env::var("FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let stride: usize = std::env::var("STRIDE").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut seen = std::collections::BTreeMap::new();
    let start = std::time::Instant::now();
    let mut n = 0;
    for history in world.histories(steps).skip(from).step_by(stride) {
        n += 1;
        let ran = std::panic::catch_unwind(|| Twin::new(n as u64).walk(&history, Look::Step));
        if let Err(panic) = ran {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            let (count, shortest) = seen
                .entry(text.lines().next().unwrap_or_default().to_owned())
                .or_insert((0, history.clone()));
            *count += 1;
            if history.len() < shortest.len() {
                *shortest = history;
            }
        }
    }
    eprintln!("{n} histories in {:?}", start.elapsed());
    for (what, (count, shortest)) in seen {
        eprintln!("=== {count} x {what}");
        for op in shortest {
            eprintln!("    {op:?}");
        }
    }
}
#[test]
fn cost() {
    let t = std::time::Instant::now();
    for n in 0..50 {
        Twin::new(n);
    }
    eprintln!("new: {:?}", t.elapsed() / 50);
    let world = small_world();
    for b in &world.beginnings {
        let t = std::time::Instant::now();
        for n in 0..10 {
            let mut w = Twin::new(n);
            w.walk(b, Look::Step);
        }
        eprintln!("{} {:?}", b.len(), t.elapsed() / 10);
        let mut w = Twin::new(1);
        w.walk(b, Look::Step);
        let t = std::time::Instant::now();
        for _ in 0..10 {
            w.look_at_everything();
        }
        eprintln!("  look {:?}", t.elapsed() / 10);
    }
}
