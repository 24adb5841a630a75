//! The pass that reads a session: it meets each span once and keeps two ledgers, of promises and of negative
//! results.

use std::collections::HashMap;
use std::ops::Range;

use spanvault_types::{Call, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use crate::negative::absorb::Negatives;
use crate::negative::denial::denies;
use crate::negative::request::{requests, strings};
use crate::negative::{Negative, call_at, negative, result_is_negative};
use crate::obligation::ledger::{Ledger, Settled};
use crate::obligation::pending::pending_items;
use crate::obligation::statement::{Statement, statement};
use crate::obligation::task::{added_task, is_over, task_items, task_list};
use crate::obligation::verb::{Acts, ObligationKind};
use crate::obligation::{Here, Obligation, Opened, acts_of_call, opened, owing};
use crate::{At, Fate, PairedCall, SpanText, exit_code_of};

/// What the pass finds in one span.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) negative: bool,
    pub(crate) opens: Vec<Obligation>,
    pub(crate) discharges: Vec<usize>,
    pub(crate) negatives: Vec<Negative>,
}

/// The pass, at one span of the session.
pub(crate) struct Reader<'a> {
    spans: &'a [SpanText<'a>],
    calls: &'a [PairedCall],
    call_of: HashMap<At, usize>,
    result_of: HashMap<At, usize>,
    read: Vec<Read>,
    ledger: Ledger,
    negatives: Negatives,
    /// The conversation spans before this one.
    ordinal: u64,
    /// Calls of this turn whose result is due: the obligation's place.
    unanswered: Vec<(usize, usize)>,
    /// Items of the agent's task list by the number that the tool gave them.
    tasks: HashMap<String, String>,
}

/// Whether a span of this kind has a call, or may have: the bytes of a call can be gone, its kind never is.
const fn may_call(kind: SpanKind) -> bool {
    !kind.was_parsed() || matches!(kind, SpanKind::ToolCall | SpanKind::ToolResult)
}

impl<'a> Reader<'a> {
    pub(crate) fn new(spans: &'a [SpanText<'a>], calls: &'a [PairedCall]) -> Self {
        Self {
            spans,
            calls,
            call_of: calls.iter().enumerate().map(|(number, paired)| (paired.call, number)).collect(),
            result_of: calls
                .iter()
                .enumerate()
                .filter_map(|(number, paired)| Some((paired.result?, number)))
                .collect(),
            read: spans.iter().map(|_| Read::default()).collect(),
            ledger: Ledger::new(spans.iter().any(|span| may_call(span.content.kind))),
            negatives: Negatives::default(),
            ordinal: 0,
            unanswered: Vec::new(),
            tasks: HashMap::new(),
        }
    }

    /// Passes by the spans before number `from`. What they owe is not asked, and what they settle stands before them too;
    /// only the numbers of tasks are theirs alone.
    pub(crate) fn skip_to(&mut self, from: usize) {
        for paired in self.calls.iter().filter(|paired| paired.call.span < from) {
            let Some(content) = self.spans.get(paired.call.span).map(|span| span.content) else { continue };
            let call = call_at(content.parts.get(paired.call.part));
            let succeeded = paired.result.is_some() && paired.fate.fate != Fate::Failed;
            if let Some(call) = call.filter(|_| succeeded && content.kind.is_conversation()) {
                self.number_task(call, paired);
            }
        }
    }

    /// Reads the next span.
    pub(crate) fn span(&mut self, at: usize) {
        let SpanText { content, original } = self.spans[at];
        if !content.kind.is_conversation() {
            return;
        }
        self.ordinal += 1;
        if begins_turn(content) {
            self.turn(at, content);
        }
        let acts = self.acts(at, content);
        let last_said = content.parts.iter().rposition(speaks);
        let mut opens = Vec::new();
        for (number, part) in content.parts.iter().enumerate() {
            let place = At { span: at, part: number };
            let here = Here { acts, speaks_on: last_said.is_some_and(|last| last > number) };
            let thought = matches!(part.body, PartBody::Thinking(_));
            match &part.body {
                PartBody::Call(call) => {
                    opens.extend(task_items(part, call, original));
                    self.call(place, call, part, &mut opens);
                }
                PartBody::Result(outcome) => self.result(place, part, outcome),
                PartBody::Thinking(text) | PartBody::Text(text)
                    if thought || content.role == Role::Assistant =>
                {
                    let said = statement(text);
                    self.read[at].negative |= !said.denials.is_empty();
                    if !thought && said.speaks {
                        self.statement(at, text, &said);
                    }
                    let owed = here.owed(text, said.promises);
                    opens.extend(opened(part, text, original, owed, thought));
                }
                PartBody::Summary(text) => {
                    self.read[at].negative |= denies(text);
                    opens.extend(opened(part, text, original, pending_items(text), false));
                }
                PartBody::Text(text) | PartBody::Thinking(text) => self.read[at].negative |= denies(text),
            }
        }
        self.ledger.open(at, self.ordinal, &opens);
        self.read[at].opens = opens.into_iter().map(|opened| opened.obligation).collect();
    }

    fn turn(&mut self, at: usize, content: &SpanContent) {
        self.ledger.begin_turn();
        self.negatives.begin_turn();
        // An interrupt ends the calls that were under way; a mere message does not.
        if is_abort(content) {
            for (span, place) in std::mem::take(&mut self.unanswered) {
                self.read[span].opens[place].discharged_by = Some(at);
                self.read[at].discharges.push(span);
            }
        }
    }

    /// The acts of the calls of a span, which may do at once what its words announce.
    fn acts(&self, at: usize, content: &SpanContent) -> Acts {
        let mut acts = Acts::NONE;
        for (number, part) in content.parts.iter().enumerate() {
            let Some(number) = self.call_of.get(&At { span: at, part: number }) else { continue };
            if let PartBody::Call(call) = &part.body {
                acts = acts.and(acts_of_call(call, &self.calls[*number].effect));
            }
        }
        acts
    }

    fn call(&mut self, at: At, call: &Call, part: &Part, opens: &mut Vec<Opened>) {
        let Some(paired) = self.call_of.get(&at).map(|number| &self.calls[*number]) else { return };
        if paired.result.is_none() && paired.fate.executed && !ends_the_run(&call.tool) {
            self.unanswered.push((at.span, opens.len()));
            let obligation = owing(ObligationKind::Result, part.range, call.tool.clone());
            let acts = Acts::NONE;
            opens.push(Opened {
                obligation,
                acts,
                later: false,
                put_off: Vec::new(),
                thought: false,
                task: None,
            });
        }
        let Some(result) = paired.result else { return };
        let succeeded = paired.fate.fate == Fate::Succeeded;
        if succeeded || self.reports(result, paired) {
            let acts = acts_of_call(call, &paired.effect);
            let names = strings(&call.args).into_iter().chain([call.tool.as_str()]);
            self.ledger.call(at.span, self.ordinal, acts, names);
        }
        if succeeded {
            self.negatives.succeeded(at.span, &requests(call, paired));
            self.tasks_of(at.span, call, paired);
        }
    }

    fn tasks_of(&mut self, span: usize, call: &Call, paired: &PairedCall) {
        if let Some(items) = task_list(call) {
            self.ledger.task_list(span, &items);
        }
        let argument = |names: [&str; 2]| names.iter().find_map(|name| call.args.get(name)?.as_str());
        self.number_task(call, paired);
        let over = argument(["status", "state"]).is_some_and(is_over);
        let task = argument(["taskId", "task_id"]).filter(|_| over).and_then(|id| self.tasks.get(id));
        if let Some(words) = task {
            self.ledger.task_over(span, words);
        }
    }

    /// Takes note of the number that a tool gave a task.
    fn number_task(&mut self, call: &Call, paired: &PairedCall) {
        if let Some(subject) = added_task(call) {
            let number = paired.result.and_then(|result| number_in(self.outcome(result)?));
            self.tasks.extend(number.map(|number| (number, subject.to_owned())));
        }
    }

    /// A check that ran was carried out, also where what it reports is a failure.
    fn reports(&self, result: At, paired: &PairedCall) -> bool {
        const COULD_NOT_RUN: [i64; 3] = [126, 127, 137];
        let code = self.outcome(result).and_then(exit_code_of);
        paired.effect.is_check
            && paired.fate.executed
            && !code.is_some_and(|code| COULD_NOT_RUN.contains(&code))
    }

    fn outcome(&self, at: At) -> Option<&'a Outcome> {
        match &self.spans.get(at.span)?.content.parts.get(at.part)?.body {
            PartBody::Result(outcome) => Some(outcome),
            PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Call(_) => None,
        }
    }

    fn result(&mut self, at: At, part: &'a Part, outcome: &'a Outcome) {
        let paired = self.result_of.get(&at).map(|number| &self.calls[*number]);
        let call = paired.and_then(|paired| {
            let part = self.spans.get(paired.call.span)?.content.parts.get(paired.call.part);
            Some((call_at(part)?, paired))
        });
        let read = &mut self.read[at.span];
        read.negative |= result_is_negative(call, outcome);
        let Some((call, paired)) = call else { return };
        let Some(found) = negative(call, paired, part, outcome, self.spans[at.span].original) else { return };
        let texts = strings(&call.args).into_iter().chain([found.words.as_str()]);
        self.negatives.enter((at.span, read.negatives.len()), requests(call, paired), texts);
        read.negatives.push(found);
    }

    fn statement(&mut self, at: usize, text: &str, said: &Statement) {
        let sentence = |range: &Range<usize>| &text[range.clone()];
        self.ledger.statement(at, said.asks, said.done.iter().map(sentence));
        for denial in said.denials.iter().map(sentence) {
            self.negatives.denied(at, denial);
        }
    }

    /// What was found, the settled promises and absorbed results entered.
    pub(crate) fn finish(mut self) -> Vec<Read> {
        for ((span, place), settled) in self.ledger.settled() {
            match settled {
                Settled::Discharged(by) => {
                    self.read[span].opens[place].discharged_by = Some(by);
                    self.read[by].discharges.push(span);
                }
                Settled::Restated(by) => self.read[span].opens[place].restated_by = Some(by),
            }
        }
        for absorbed in self.negatives.absorbed() {
            let (span, place) = absorbed.place;
            let negative = &mut self.read[span].negatives[place];
            negative.succeeded_in = absorbed.succeeded_in;
            negative.denied_in = absorbed.denied_in;
        }
        for read in &mut self.read {
            read.discharges.sort_unstable();
            read.discharges.dedup();
        }
        self.read
    }
}

/// Whether a span is a user's message: with it a turn begins.
fn begins_turn(content: &SpanContent) -> bool {
    content.role == Role::User
        && content.kind == SpanKind::Message
        && content.parts.iter().any(|part| matches!(part.body, PartBody::Text(_)))
}

/// Whether the user stopped the agent.
fn is_abort(content: &SpanContent) -> bool {
    content.parts.iter().any(|part| matches!(&part.body, PartBody::Text(text) if text.trim_start().starts_with("[Request interrupted")))
}

/// Whether a tool's call is the end of a run, which nothing answers.
fn ends_the_run(tool: &str) -> bool {
    ["finish", "submit", "attempt_completion", "final_answer"].contains(&tool)
}

/// The number that a tool gave a task: "Task #3 created".
fn number_in(outcome: &Outcome) -> Option<String> {
    let (_, after) = outcome.text.split_once('#')?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// Whether a part says anything to the reader.
fn speaks(part: &Part) -> bool {
    matches!(&part.body, PartBody::Text(text) if text.chars().any(char::is_alphanumeric))
}
