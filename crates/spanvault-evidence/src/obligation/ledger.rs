//! Follows obligations through a session: which later span carries each of them out.
//!
//! A promise is discharged by the first later call of its kind that did not fail and stands in the same turn,
//! follows within [`REACH_SPANS`] conversation spans, or shares a name with it. Each event settles all that it
//! can settle at once and no obligation is settled twice, so a session is read in one pass.
//!
//! A change that is put off ("I still have to rotate the key") is not what the next calls are for: only one that speaks
//! of its object carries it out, however late. Where the agent calls no tools, its next statement is what it looked
//! for, unless it said that it would look later; a change that it promises stays open until it says that it is done.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Opened;
use super::deferred::object_words;
use super::verb::Acts;
use crate::prose::names;

/// Within how many conversation spans any call of the kind carries a promise out.
pub(crate) const REACH_SPANS: u64 = 6;

/// An obligation by its span and its place among those that the span opens.
pub(crate) type Owed = (usize, usize);

/// What became of an obligation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    Discharged(usize),
    Restated(usize),
}

#[derive(Debug)]
struct Entry {
    owed: Owed,
    ordinal: u64,
    open: bool,
}

/// Entries by the acts that would settle them. Whoever settles takes a whole list, so each entry is met once.
type ByAct = [Vec<usize>; Acts::COUNT];

/// The open obligations of a session, at one point of it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Vec<Entry>,
    settled: Vec<(Owed, Settled)>,
    /// Opened in this turn.
    turn: ByAct,
    /// Opened before this turn; those out of reach are dropped when they are met.
    earlier: ByAct,
    /// By a name that they share with what would carry them out.
    named: HashMap<String, ByAct>,
    /// Those that are put off, by a word of their object.
    objects: HashMap<String, ByAct>,
    /// Whether the agent of this session calls no tools, so that its words are all it has to look with.
    has_only_words: bool,
    /// Promises to speak or to think, until the agent speaks; to ask, until it asks.
    to_speak: Vec<usize>,
    to_ask: Vec<usize>,
    /// Where the agent has only words: thoughts of looking, until it speaks in a later turn.
    to_tell: Vec<usize>,
    /// Thoughts since the last call.
    thoughts: ByAct,
    /// Items of the task list as it stands.
    tasks: BTreeMap<String, usize>,
}

impl Ledger {
    /// A ledger for a session whose agent calls tools, or never does.
    pub(crate) fn new(calls_tools: bool) -> Self {
        Self { has_only_words: !calls_tools, ..Self::default() }
    }

    /// A user's message begins a turn. It cancels nothing.
    pub(crate) fn begin_turn(&mut self) {
        for (turn, earlier) in self.turn.iter_mut().zip(&mut self.earlier) {
            earlier.append(turn);
        }
        self.thoughts = ByAct::default();
        self.to_speak.append(&mut self.to_tell);
    }

    /// A call that was carried out in span `span`, the `ordinal`th of the conversation.
    pub(crate) fn call<'a>(
        &mut self,
        span: usize,
        ordinal: u64,
        acts: Acts,
        args: impl Iterator<Item = &'a str>,
    ) {
        self.thoughts = ByAct::default();
        for act in acts.each() {
            for entry in std::mem::take(&mut self.turn[act]) {
                self.discharge(entry, span);
            }
            for entry in std::mem::take(&mut self.earlier[act]) {
                if self.entries[entry].ordinal + REACH_SPANS >= ordinal {
                    self.discharge(entry, span);
                }
            }
        }
        for arg in args {
            for name in names(arg) {
                self.share(name, acts, span);
            }
            self.speak_of(arg, acts, span);
        }
    }

    /// The agent spoke; `done` are the sentences that say that something is done.
    pub(crate) fn statement<'a>(&mut self, span: usize, asks: bool, done: impl Iterator<Item = &'a str>) {
        for entry in std::mem::take(&mut self.to_speak) {
            self.discharge(entry, span);
        }
        if asks {
            for entry in std::mem::take(&mut self.to_ask) {
                self.discharge(entry, span);
            }
        }
        let acts = Acts::BY_CALL.and(Acts::TASKS);
        for sentence in done {
            for name in names(sentence) {
                self.share(name, acts, span);
            }
            self.speak_of(sentence, acts, span);
        }
    }

    /// Settles what was put off and has an object that `text` speaks of.
    fn speak_of(&mut self, text: &str, acts: Acts, span: usize) {
        if self.objects.is_empty() {
            return;
        }
        for word in object_words(text) {
            let Some(lists) = self.objects.get_mut(&word) else { continue };
            let sharing: Vec<_> = acts.each().flat_map(|act| std::mem::take(&mut lists[act])).collect();
            for entry in sharing {
                self.discharge(entry, span);
            }
        }
    }

    fn share(&mut self, name: &str, acts: Acts, span: usize) {
        let Some(lists) = self.named.get_mut(name) else { return };
        let sharing: Vec<_> = acts.each().flat_map(|act| std::mem::take(&mut lists[act])).collect();
        for entry in sharing {
            self.discharge(entry, span);
        }
    }

    /// The state of the task list after a call in `span`: items that are over, or that the agent struck off,
    /// are no longer owed; items that are still pending are owed by the newest list.
    pub(crate) fn task_list(&mut self, span: usize, items: &[(String, bool)]) {
        let pending: HashSet<_> =
            items.iter().filter(|(_, pending)| *pending).map(|(words, _)| words).collect();
        for (words, entry) in std::mem::take(&mut self.tasks) {
            let restated = pending.contains(&words);
            self.settle(entry, if restated { Settled::Restated(span) } else { Settled::Discharged(span) });
        }
    }

    /// One item of the task list is over.
    pub(crate) fn task_over(&mut self, span: usize, words: &str) {
        if let Some(entry) = self.tasks.remove(words) {
            self.discharge(entry, span);
        }
    }

    /// Enters what `span` opens.
    pub(crate) fn open(&mut self, span: usize, ordinal: u64, opened: &[Opened]) {
        for (place, opened) in opened.iter().enumerate() {
            if !opened.thought {
                self.restate(opened.acts, span);
            }
            let entry = self.entries.len();
            self.entries.push(Entry { owed: (span, place), ordinal, open: true });
            for word in &opened.put_off {
                let lists = self.objects.entry(word.clone()).or_default();
                opened.acts.each().for_each(|act| lists[act].push(entry));
            }
            if opened.put_off.is_empty() {
                for act in opened.acts.each() {
                    self.turn[act].push(entry);
                    if opened.thought {
                        self.thoughts[act].push(entry);
                    }
                }
            }
            let looks = opened.acts.meets(Acts::LOOK.and(Acts::RUN))
                && !opened.acts.meets(Acts::CHANGE.and(Acts::COMMIT))
                && !opened.later;
            if opened.acts.meets(Acts::SPEAK.and(Acts::THINK))
                || (self.has_only_words && looks && !opened.thought)
            {
                self.to_speak.push(entry);
            } else if self.has_only_words && looks {
                self.to_tell.push(entry);
            }
            if opened.acts.meets(Acts::ASK) {
                self.to_ask.push(entry);
            }
            for name in names(&opened.obligation.words) {
                let lists = self.named.entry(name.to_owned()).or_default();
                for act in opened.acts.each() {
                    lists[act].push(entry);
                }
            }
            if let Some(words) = &opened.task {
                self.tasks.insert(words.clone(), entry);
            }
        }
    }

    /// Thought and then said, with no call between, is one promise: what is said owes it.
    fn restate(&mut self, acts: Acts, span: usize) {
        for act in acts.each() {
            for entry in std::mem::take(&mut self.thoughts[act]) {
                self.settle(entry, Settled::Restated(span));
            }
        }
    }

    fn discharge(&mut self, entry: usize, span: usize) {
        if self.entries[entry].owed.0 < span {
            self.settle(entry, Settled::Discharged(span));
        }
    }

    fn settle(&mut self, entry: usize, settled: Settled) {
        let entry = &mut self.entries[entry];
        if entry.open {
            entry.open = false;
            self.settled.push((entry.owed, settled));
        }
    }

    /// What was settled, in the order of the events that settled it.
    pub(crate) fn settled(self) -> Vec<(Owed, Settled)> {
        self.settled
    }
}
