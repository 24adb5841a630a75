//! Builds the runs of a recipe from pieces that arrive one by one.

use spanvault_types::{Position, RecipeRun};

/// The runs of one piece of a recipe, in the making.
#[derive(Default)]
pub(super) struct Runs {
    done: Vec<RecipeRun>,
    open: Option<OpenRun>,
}

/// A run that can still grow.
struct OpenRun {
    run: RecipeRun,
    /// Whether the gap after its last span has been seen.
    is_gap_seen: bool,
}

impl Runs {
    /// Adds a span with its index in the source, or a gap.
    pub(super) fn push(&mut self, position: Position, index: Option<u64>) {
        match index {
            Some(index) => self.push_span(position, index),
            None => self.push_gap(position),
        }
    }

    fn push_span(&mut self, span: Position, index: u64) {
        if let Some(OpenRun { run, is_gap_seen }) = &mut self.open {
            let follows = run.first.get() + run.count == span.get() && run.index + run.count == index;
            if follows && *is_gap_seen {
                run.count += 1;
                *is_gap_seen = false;
                return;
            }
        }
        self.close();
        let run = RecipeRun { first: span, count: 1, index, gap: Position::ZERO };
        self.open = Some(OpenRun { run, is_gap_seen: false });
    }

    fn push_gap(&mut self, gap: Position) {
        if let Some(OpenRun { run, is_gap_seen: is_gap_seen @ false }) = &mut self.open
            && (run.count == 1 || run.gap == gap)
        {
            run.gap = gap;
            *is_gap_seen = true;
            return;
        }
        self.close();
        self.done.push(RecipeRun { first: Position::ZERO, count: 0, index: 0, gap });
    }

    /// Ends the open run. A last span whose gap never came stands in a run of its own.
    fn close(&mut self) {
        let Some(OpenRun { mut run, is_gap_seen }) = self.open.take() else { return };
        if is_gap_seen || run.count == 1 {
            self.done.push(run);
            return;
        }
        run.count -= 1;
        let first = Position::new(run.first.get() + run.count);
        let last = RecipeRun { first, count: 1, index: run.index + run.count, gap: Position::ZERO };
        self.done.extend([run, last]);
    }

    pub(super) fn finish(mut self) -> Vec<RecipeRun> {
        self.close();
        self.done
    }
}

/// The pieces of a run, in order: each span with its index, each gap without.
pub(crate) fn pieces_of(run: &RecipeRun) -> impl Iterator<Item = (Position, Option<u64>)> + use<> {
    let RecipeRun { first, count, index, gap } = *run;
    let has_gap = gap != Position::ZERO;
    let spans = (0..count).flat_map(move |n| {
        let span = (Position::new(first.get().saturating_add(n)), Some(index.saturating_add(n)));
        [Some(span), has_gap.then_some((gap, None))].into_iter().flatten()
    });
    spans.chain((count == 0 && has_gap).then_some((gap, None)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces() -> impl Strategy<Value = Vec<(u64, Option<u64>)>> {
        let piece = prop_oneof![
            3 => (1_u64..6, 0_u64..4).prop_map(|(at, index)| (at, Some(index))),
            2 => (1_u64..4).prop_map(|gap| (gap, None)),
        ];
        proptest::collection::vec(piece, 0..24)
    }

    fn built(pieces: &[(u64, Option<u64>)]) -> Vec<RecipeRun> {
        let mut runs = Runs::default();
        for (at, index) in pieces {
            runs.push(Position::new(*at), *index);
        }
        runs.finish()
    }

    proptest! {
        #[test]
        fn the_runs_of_a_recipe_give_its_pieces_again(pieces in pieces()) {
            let again: Vec<_> = built(&pieces).iter().flat_map(pieces_of).map(|(at, i)| (at.get(), i)).collect();
            prop_assert_eq!(again, pieces);
        }
    }

    #[test]
    fn lines_with_the_same_end_are_one_run() {
        let lines: Vec<_> = (0..1_000).flat_map(|n| [(10 + n, Some(n)), (5, None)]).collect();
        assert_eq!(built(&lines).len(), 1);
    }
}
