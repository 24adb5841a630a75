//! What a span owes: promises in an agent's words, pending items of summaries and task lists, calls whose
//! result is due. Users open none, and what is done inside the same span is not owed.

mod cue;
mod deferred;
pub(crate) mod ledger;
pub(crate) mod pending;
mod promise;
pub(crate) mod statement;
pub(crate) mod task;
pub(crate) mod verb;

pub use verb::ObligationKind;

use spanvault_types::{ByteRange, Call, Part};

use crate::atom::Locator;
use crate::{CallEffect, Effect};
use promise::{Extent, Promise};
use task::task_list;
use verb::Acts;

/// Something promised or pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obligation {
    /// What kind of act would carry it out.
    pub kind: ObligationKind,
    /// Where its words stand in the original.
    pub range: ByteRange,
    /// Its words, decoded; very long ones by their head.
    pub words: String,
    /// The later span that carried it out, dropped it or recorded its end.
    pub discharged_by: Option<usize>,
    /// The span that says the same again before anything was done: that one owes it from there on.
    pub restated_by: Option<usize>,
}

impl Obligation {
    /// Whether it is still owed, and owed here.
    pub const fn is_open(&self) -> bool {
        self.discharged_by.is_none() && self.restated_by.is_none()
    }
}

/// An obligation on its way into the ledger.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) obligation: Obligation,
    pub(crate) acts: Acts,
    /// It is said to be for later.
    pub(crate) later: bool,
    /// The words of its object, where it is a change that is put off.
    pub(crate) put_off: Vec<String>,
    /// Thought, not said.
    pub(crate) thought: bool,
    /// The item of a task list, by which a later state of the list knows it again.
    pub(crate) task: Option<String>,
}

/// What a span does beside the words of one of its parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here {
    /// What its calls carry out.
    pub(crate) acts: Acts,
    /// Whether it says more in a later part.
    pub(crate) speaks_on: bool,
}

impl Here {
    /// The promises of a text that are not done inside the same span.
    pub(crate) fn owed(self, text: &str, promises: Vec<Promise>) -> Vec<Promise> {
        let begins = promises.iter().any(|promise| promise.extent == Extent::Beginning);
        promises.into_iter().filter(|promise| !self.does(promise, text, begins)).collect()
    }

    fn does(self, promise: &Promise, text: &str, begins: bool) -> bool {
        let said = &text[promise.range.clone()];
        // "I'll start by …" leaves the other promises of the span for later.
        let at_once = match promise.extent {
            Extent::Whole => !begins,
            Extent::Beginning => true,
            Extent::Plan => false,
        };
        if at_once && self.acts.meets(promise.acts) {
            return true;
        }
        let telling = promise.acts.meets(Acts::SPEAK.and(Acts::THINK));
        if telling && (promise.words_follow || self.speaks_on) {
            return true;
        }
        // "Let me look at what it does:" and then the telling of it.
        if promise.acts.meets(Acts::LOOK) && promise.words_follow && said.ends_with([':', '：']) {
            return true;
        }
        // "I need to confirm the address. Is it …?"
        promise.asks_later
            && (promise.acts.meets(Acts::ASK) || promise.acts.meets(Acts::LOOK) && is_to_reader(said))
    }
}

fn is_to_reader(said: &str) -> bool {
    const TOWARDS: [&str; 4] = ["you", "your", "confirm", "clarify"];
    let mut words = said.split(|c: char| !c.is_alphabetic());
    words.any(|word| TOWARDS.iter().any(|towards| word.eq_ignore_ascii_case(towards)))
}

/// Enters the promises of a part's text with their places in the original.
pub(crate) fn opened<'a>(
    part: &'a Part,
    text: &'a str,
    original: &'a [u8],
    promises: Vec<Promise>,
    thought: bool,
) -> impl Iterator<Item = Opened> + use<'a> {
    let mut places = Locator::new(part, text, original);
    promises.into_iter().map(move |promise| {
        let acts = acts_in(text, &promise);
        let words = head(&text[promise.range.clone()]);
        let obligation = owing(
            promise.acts.kind(),
            places.locate(promise.range.start, promise.range.end),
            words.to_owned(),
        );
        let later = deferred::is_for_later(text, &promise);
        let put_off = if later { deferred::object(text, &promise) } else { Vec::new() };
        Opened { obligation, acts, later, put_off, thought, task: None }
    })
}

/// The beginning of long words: what is shown, and where names are looked for.
pub(crate) fn head(words: &str) -> &str {
    const BYTES_MAX: usize = 1024;
    let mut end = words.len().min(BYTES_MAX);
    while !words.is_char_boundary(end) {
        end -= 1;
    }
    &words[..end]
}

/// The acts of a promise; one that speaks of the agent's task list is also kept by a call that changes it.
fn acts_in(text: &str, promise: &Promise) -> Acts {
    let words = text[promise.range.clone()].to_lowercase();
    let about_tasks = ["todo", "to-do", "task", "the plan"].iter().any(|name| words.contains(name));
    if about_tasks { promise.acts.and(Acts::TASKS) } else { promise.acts }
}

pub(crate) fn owing(kind: ObligationKind, range: ByteRange, words: String) -> Obligation {
    Obligation { kind, range, words, discharged_by: None, restated_by: None }
}

/// Which acts a call carries out.
pub(crate) fn acts_of_call(call: &Call, effect: &CallEffect) -> Acts {
    let name = call.tool.to_lowercase();
    let command = command_of(call);
    if task_list(call).is_some()
        || name.starts_with("todo")
        || matches!(name.as_str(), "taskcreate" | "taskupdate" | "update_plan")
    {
        return Acts::TASKS.and(Acts::THINK);
    }
    let mut acts = Acts::THINK;
    if command.is_some() || effect.is_check {
        acts = acts.and(Acts::LOOK).and(Acts::RUN);
    }
    acts = acts.and(match effect.effect {
        Effect::Reads => Acts::LOOK,
        Effect::Mutates => Acts::CHANGE,
        Effect::External => Acts::CHANGE.and(Acts::COMMIT),
        Effect::Opaque => Acts::LOOK.and(Acts::RUN).and(Acts::CHANGE),
    });
    let commits = |word: &str| {
        [
            "commit", "push", "merge", "tag", "rebase", "publish", "release", "pull", "amend", "stash", "pr",
            "add",
        ]
        .contains(&word)
    };
    let words = command.map_or(name.as_str(), |command| command);
    let git = command.is_none() || words.contains("git") || words.contains("gh ") || words.contains("hub ");
    if git && words.split(|c: char| !c.is_alphanumeric()).any(commits) {
        acts = acts.and(Acts::COMMIT);
    }
    if ["ask", "question", "clarif", "confirm"].iter().any(|word| name.contains(word))
        || name == "exitplanmode"
    {
        acts = acts.and(Acts::ASK).and(Acts::SPEAK);
    }
    if ["message", "finish", "respond", "reply", "email", "submit", "report"]
        .iter()
        .any(|word| name.contains(word))
    {
        acts = acts.and(Acts::SPEAK);
    }
    acts
}

/// The command line or program that a call runs, where it is such a call.
pub(crate) fn command_of(call: &Call) -> Option<&str> {
    ["command", "cmd", "script", "code"].iter().find_map(|key| call.args.get(key)?.as_str())
}
