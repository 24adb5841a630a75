//! The pairs of a term and a span that a vault has posted, and runs that are made of pairs.

use std::collections::BTreeMap;
use std::path::Path;

use spanvault_env::Env;
use spanvault_index::postings::{Run, RunDraft, Runs, RunsLog, Term};
use spanvault_types::Position;

use crate::{Outcome, check, place};

/// So many spans make a new run at most, as in a vault whose originals have 4 KB: it reads 64 MB of them at a time.
const STRETCH_SPANS: u64 = 1 << 14;
/// Runs that a bench made are of no log and of no reader.
const NOBODY: [u8; 32] = [0; 32];

/// A term, and a span that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The term.
    pub term: Term,
    /// The number of the span, from 1.
    pub span: u64,
}

/// For each span, in the order of the log, all terms that a closed vault has posted of it, as often as it did.
///
/// # Errors
/// What the disk says, and where runs are damaged or leave a gap.
pub fn of_vault(dir: &Path) -> Outcome<BTreeMap<Position, Vec<Term>>> {
    let disk = Env::real().disk;
    let mut spans: BTreeMap<Position, Vec<Term>> = BTreeMap::new();
    let mut next = Position::new(1);
    for path in place::files_below(&dir.join("postings"))? {
        let run = Run::open(&*disk, &path).ok_or("a run is not whole")?;
        check(run.first() == next, || format!("nothing is posted from {next} on"))?;
        check(run.unread().next().is_none(), || "a span could not be read".to_owned())?;
        next = run.last().next();
        each_entry(&run, &mut |term, positions| {
            for at in positions {
                spans.entry(Position::new(at)).or_default().push(term);
            }
        })?;
    }
    Ok(spans)
}

/// Hands out every term of a run with the spans that hold it.
///
/// # Errors
/// Where a block is damaged.
pub fn each_entry(run: &Run, each: &mut dyn FnMut(Term, Vec<u64>)) -> Outcome {
    (0..run.blocks()).try_for_each(|number| Ok(run.block(number, each).ok_or("a block is damaged")?))
}

/// Runs in a directory of a bench.
pub fn open_runs(dir: &Path) -> Runs {
    Runs::open(&*Env::real().disk, dir, &RunsLog { reader: NOBODY, chain_at: |_at| Some(NOBODY) })
}

/// Adds a run of all that comes before `last`, and merges runs as a vault does.
///
/// # Errors
/// What the disk says.
pub fn push_run(runs: &mut Runs, draft: RunDraft, last: Position) -> Outcome {
    Ok(runs.push(&*Env::real().disk, draft, last, NOBODY, NOBODY)?)
}

/// Makes runs of these pairs, which come in the order of their spans, stretch by stretch.
///
/// # Errors
/// What the disk says.
pub fn make_runs(dir: &Path, pairs: &[Pair]) -> Outcome<Runs> {
    let mut runs = open_runs(dir);
    for stretch in pairs.chunk_by(|left, right| left.span / STRETCH_SPANS == right.span / STRETCH_SPANS) {
        let mut draft = RunDraft::default();
        for pair in stretch {
            draft.post(pair.term, Position::new(pair.span));
        }
        push_run(&mut runs, draft, Position::new(stretch.last().map_or(0, |pair| pair.span)))?;
    }
    Ok(runs)
}
