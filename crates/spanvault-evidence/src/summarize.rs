//! The built-in summarizer: short, deterministic, without a model. It says what was asked, what was done by tool
//! and how it ended, and what was said last; what it leaves out stands in the digest and the manifest.

use std::collections::BTreeMap;

use spanvault_types::{Part, PartBody, Role, SpanKind};

use crate::line::short;
use crate::negative::call_at;
use crate::{Effect, Fate, SessionReading, SpanText, tokens_of_bytes};

/// The least and the most that a summary text takes, in estimated tokens.
const TOKENS: (u64, u64) = (24, 240);

/// Of how many tokens of its sources a summary takes one.
const SHARE: u64 = 24;

/// Summarises the spans `covered` (ascending) of a session and the `summaries` that stand before them.
pub fn summarize(
    reading: &SessionReading,
    spans: &[SpanText<'_>],
    covered: &[usize],
    summaries: &[&str],
) -> String {
    let tokens: u64 = covered.iter().filter_map(|at| reading.spans.get(*at)).map(|span| span.tokens).sum();
    let tokens = tokens + summaries.iter().map(|summary| tokens_of_bytes(summary.len() as u64)).sum::<u64>();
    let budget = (tokens / SHARE).clamp(TOKENS.0, TOKENS.1).min(tokens);
    let budget = usize::try_from(budget * 4).unwrap_or(usize::MAX);
    let mut text = String::new();
    for summary in summaries {
        add(&mut text, &format!("Before: {}", short(summary, budget / 3 / summaries.len())), budget);
    }
    let asked = covered.iter().filter_map(|at| said_by(spans.get(*at)?, Role::User));
    let asked: Vec<_> = asked.filter(|text| !is_markup(text)).collect();
    if let Some(first) = asked.first() {
        add(&mut text, &format!("Asked: {}", short(first, budget / 4)), budget);
    }
    if let [_, .., last] = asked.as_slice() {
        add(&mut text, &format!("Asked last: {}", short(last, budget / 5)), budget);
    }
    let acts = acts(reading, spans, covered);
    if !acts.is_empty() {
        add(&mut text, &format!("Done: {}.", acts.join(", ")), budget);
    }
    let told = covered.iter().rev().find_map(|at| said_by(spans.get(*at)?, Role::Assistant));
    let told =
        told.map(|told| told.split("```").next().filter(|words| !words.trim().is_empty()).unwrap_or(told));
    if let Some(told) = told.or_else(|| text.is_empty().then(|| any_words(spans, covered)).flatten()) {
        let room = budget.saturating_sub(text.len() + 7);
        if room > 16 {
            add(&mut text, &format!("Told: {}", short(told, room)), budget);
        }
    }
    text
}

fn add(text: &mut String, line: &str, budget: usize) {
    if !text.is_empty() {
        text.push('\n');
    }
    let room = budget.saturating_sub(text.len());
    text.push_str(&if line.len() <= room { line.to_owned() } else { short(line, room) });
    let kept = text.trim_end().len();
    text.truncate(kept);
}

fn said_by<'a>(span: &SpanText<'a>, role: Role) -> Option<&'a str> {
    if span.content.role != role || span.content.kind == SpanKind::Meta {
        return None;
    }
    span.content.parts.iter().find_map(|part| match &part.body {
        PartBody::Text(text) | PartBody::Summary(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        PartBody::Thinking(_) | PartBody::Call(_) | PartBody::Result(_) => None,
    })
}

/// What a runtime wrote in the user's name: the tags of a command, the note of an interrupt.
fn is_markup(text: &str) -> bool {
    text.starts_with('<') || text.starts_with("[Request interrupted")
}

fn any_words<'a>(spans: &[SpanText<'a>], covered: &[usize]) -> Option<&'a str> {
    let parts = covered.iter().filter_map(|at| spans.get(*at)).flat_map(|span| &span.content.parts);
    parts
        .map(|part| match &part.body {
            PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => text.trim(),
            PartBody::Result(outcome) => outcome.text.trim(),
            PartBody::Call(call) => call.tool.as_str(),
        })
        .find(|text| !text.is_empty())
}

/// What was done, by tool: how often, and how often it failed or was never answered.
fn acts(reading: &SessionReading, spans: &[SpanText<'_>], covered: &[usize]) -> Vec<String> {
    #[derive(Default)]
    struct Tool {
        times: usize,
        failed: usize,
        unknown: usize,
        changes: bool,
    }
    let mut by_tool: BTreeMap<&str, Tool> = BTreeMap::new();
    for paired in reading.calls.iter().filter(|paired| covered.binary_search(&paired.call.span).is_ok()) {
        let part = spans.get(paired.call.span).and_then(|span| span.content.parts.get(paired.call.part));
        let Some(call) = call_at(part) else { continue };
        let tool = by_tool.entry(call.tool.as_str()).or_default();
        tool.times += 1;
        tool.failed += usize::from(paired.fate.fate == Fate::Failed);
        tool.unknown += usize::from(paired.fate.fate == Fate::Unknown);
        tool.changes |= matches!(paired.effect.effect, Effect::Mutates | Effect::External);
    }
    let mut tools: Vec<_> = by_tool.into_iter().collect();
    tools.sort_by_key(|(_, tool)| (!tool.changes, std::cmp::Reverse(tool.times)));
    let line = |(name, tool): (&str, Tool)| {
        let said = format!("{} ×{}", short(name, 40), tool.times);
        let ends: Vec<_> = [(tool.failed, "failed"), (tool.unknown, "unanswered")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, end)| format!("{count} {end}"))
            .collect();
        if ends.is_empty() { said } else { format!("{said} ({})", ends.join(", ")) }
    };
    tools.into_iter().take(8).map(line).collect()
}

/// The readable text of spans and summaries, as a summarizer is given it: each speaker by name.
pub fn source_text(spans: &[SpanText<'_>], summaries: &[&str]) -> String {
    said(spans, summaries).collect()
}

/// The same, a line for each time that somebody speaks.
pub(crate) fn said<'a>(
    spans: &'a [SpanText<'_>],
    summaries: &'a [&str],
) -> impl Iterator<Item = String> + 'a {
    let line = |speaker: &str, said: &str| {
        let said = said.trim();
        (!said.is_empty()).then(|| format!("{speaker}: {said}\n"))
    };
    let of_summaries = summaries.iter().filter_map(move |summary| line("summary", summary));
    let spoken = spans.iter().filter(|span| span.content.kind != SpanKind::Meta);
    let of_spans = spoken.flat_map(move |span| {
        let speaker = span.content.role.as_str();
        span.content.parts.iter().filter_map(move |part| line(speaker, &part_text(part)))
    });
    of_summaries.chain(of_spans)
}

/// The readable text of one part.
pub(crate) fn part_text(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => text.clone(),
        PartBody::Call(call) => format!("{} {}", call.tool, call.args),
        PartBody::Result(outcome) => outcome.text.clone(),
    }
}

#[cfg(test)]
mod tests;
