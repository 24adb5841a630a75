//! Which result answers which call where no id says so.
//!
//! A result answers a call of its own span, else one of the latest *round*, in order and by the tool that it names. A
//! round is the calls that no result and no words of the user part. Order says nothing certain of a round that went on
//! with fewer results than calls, nor of a result while a call of an earlier round of the same turn still waits: such
//! calls are *contested*, and every result that may be theirs is named.

use std::collections::VecDeque;

use spanvault_types::{Call, Outcome};

use super::At;

/// How many waiting calls are looked at for one that a result may answer.
const LOOK_AHEAD: usize = 64;

/// The most results that are named for one contested call.
const NAMED_MAX: usize = 8;

/// What stands in a record, in source order; calls and results by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Call(usize),
    Result(usize),
    /// Words of the user.
    Asked,
    /// Words of anybody else, with no call beside them.
    Said,
}

/// Pairs of a call and a result.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) answered: Vec<(usize, usize)>,
    /// A call, and a result that may be its own; the same call comes again for every such result.
    pub(super) contested: Vec<(usize, usize)>,
}

/// Pairs the calls and results of `events`, none of which an id pairs.
pub(super) fn pair(
    events: impl Iterator<Item = Event>,
    calls: &[(At, &Call)],
    results: &[(At, &Outcome)],
) -> Pairs {
    let mut state = State { calls, results, ..State::default() };
    for event in events {
        match event {
            Event::Call(call) => state.call(call),
            Event::Result(result) => state.result(result),
            Event::Asked => state.asked = true,
            Event::Said => state.went_on = true,
        }
    }
    if state.asked || state.went_on {
        state.close();
    }
    state.pairs
}

#[derive(Debug, Default)]
struct State<'a> {
    calls: &'a [(At, &'a Call)],
    results: &'a [(At, &'a Outcome)],
    /// The calls of the latest round that wait.
    round: VecDeque<usize>,
    /// Those of it that order alone has paired.
    paired: Vec<(usize, usize)>,
    /// The calls of earlier rounds of this turn that wait, and those of earlier turns.
    open: VecDeque<usize>,
    abandoned: VecDeque<usize>,
    /// Since the last call a result, words of the user, other words came.
    answered: bool,
    asked: bool,
    went_on: bool,
    pairs: Pairs,
}

impl State<'_> {
    fn call(&mut self, call: usize) {
        if self.answered || self.asked {
            self.close();
        }
        self.round.push_back(call);
    }

    fn result(&mut self, result: usize) {
        self.answered = true;
        let Some((at, outcome)) = self.results.get(result) else { return };
        let own = |call: &At, _tool: &str| call.span == at.span && call.part < at.part;
        if let Some(call) = self.take(Waiting::Round, &own) {
            self.pairs.answered.push((call, result));
            return;
        }
        let named = |_call: &At, tool: &str| outcome.tool.as_deref() == Some(tool);
        let any = |_call: &At, _tool: &str| true;
        let found = [Waiting::Round, Waiting::Open, Waiting::Abandoned]
            .into_iter()
            .find_map(|waiting| self.take(waiting, &named).map(|call| (waiting, call)))
            .or_else(|| {
                [Waiting::Round, Waiting::Open, Waiting::Abandoned]
                    .into_iter()
                    .find_map(|waiting| self.take(waiting, &any).map(|call| (waiting, call)))
            });
        let Some((waiting, call)) = found else { return };
        self.pairs.answered.push((call, result));
        let rivals: Vec<usize> = self
            .open
            .iter()
            .copied()
            .take(LOOK_AHEAD)
            .filter(|rival| self.may_answer(*rival, call, result))
            .collect();
        match waiting {
            Waiting::Round => {
                if !rivals.is_empty() {
                    self.contest(call, result);
                }
                for rival in rivals {
                    self.contest(rival, result);
                }
                self.paired.push((call, result));
            }
            Waiting::Open | Waiting::Abandoned => self.late(call, result),
        }
    }

    /// A result beyond those of the latest round: which of them is the late one, order does not say.
    fn late(&mut self, call: usize, result: usize) {
        let round: Vec<(usize, usize)> = self
            .paired
            .iter()
            .copied()
            .filter(|(rival, other)| {
                self.may_answer(*rival, call, result) && self.may_answer(call, *rival, *other)
            })
            .take(NAMED_MAX)
            .collect();
        for (rival, other) in round {
            for (call, result) in [(call, result), (call, other), (rival, result), (rival, other)] {
                self.contest(call, result);
            }
        }
    }

    /// Ends the latest round: where it has fewer results than calls, any of its results may be any call's.
    fn close(&mut self) {
        let waiting: Vec<usize> = self.round.iter().copied().take(LOOK_AHEAD).collect();
        for (call, result) in std::mem::take(&mut self.paired) {
            let rivals: Vec<usize> =
                waiting.iter().copied().filter(|rival| self.may_answer(*rival, call, result)).collect();
            if !rivals.is_empty() {
                self.contest(call, result);
            }
            for rival in rivals {
                self.contest(rival, result);
            }
        }
        self.open.append(&mut self.round);
        if self.asked {
            self.abandoned.append(&mut self.open);
        }
        (self.answered, self.asked, self.went_on) = (false, false, false);
    }

    /// Whether `result`, which was given to `call`, may be that of `rival` as well: it names neither tool, or its.
    fn may_answer(&self, rival: usize, call: usize, result: usize) -> bool {
        let tool = |call: usize| self.calls.get(call).map(|(_, call)| call.tool.as_str());
        let named = self.results.get(result).and_then(|(_, outcome)| outcome.tool.as_deref());
        named.is_none() || named == tool(rival) || named != tool(call)
    }

    fn contest(&mut self, call: usize, result: usize) {
        self.pairs.contested.push((call, result));
    }

    /// Takes the first of the `waiting` calls that is as wanted.
    fn take(&mut self, waiting: Waiting, wanted: &dyn Fn(&At, &str) -> bool) -> Option<usize> {
        let calls = self.calls;
        let waiting = match waiting {
            Waiting::Round => &mut self.round,
            Waiting::Open => &mut self.open,
            Waiting::Abandoned => &mut self.abandoned,
        };
        let place = waiting
            .iter()
            .take(LOOK_AHEAD)
            .position(|call| calls.get(*call).is_some_and(|(at, call)| wanted(at, &call.tool)))?;
        waiting.remove(place)
    }
}

/// The calls that wait, by how long.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    Round,
    Open,
    Abandoned,
}

/// For each of `calls` calls, the results that may be its own.
pub(super) fn rivals_of(calls: usize, contested: Vec<(usize, usize)>) -> Vec<Vec<usize>> {
    let mut rivals: Vec<Vec<usize>> = vec![Vec::new(); calls];
    for (call, result) in contested {
        if let Some(known) = rivals.get_mut(call)
            && known.len() < NAMED_MAX
            && !known.contains(&result)
        {
            known.push(result);
        }
    }
    rivals
}
