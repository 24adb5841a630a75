//! Which calls a question is about.

use serde_json::Value;
use spanvault_evidence::{Effect, Fate, is_empty_result};

use super::equality::json_equal;
use super::error::QueryError;
use super::matching::Matcher;
use super::query::Calls;
use super::reading::{CallAnswer, ReadCall, Reading};
use super::terms::Need;

/// A filter on calls ready to run.
#[derive(Debug)]
pub(super) struct CallFilter {
    tools: Option<Vec<String>>,
    args: Vec<(String, Matcher)>,
    args_exactly: Option<Value>,
    any_arg: Option<Matcher>,
    effects: Option<Vec<Effect>>,
    fate: Option<Fate>,
    path: Option<Matcher>,
    /// Only calls that returned nothing, failed, or were denied.
    negative: bool,
}

/// What can be said of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It is one.
    Yes,
    /// It is none.
    No,
    /// It may be one.
    Doubtful {
        /// Because its effect cannot be seen through.
        opaque: bool,
        /// Because its result may stand in one of these spans.
        unseen: Vec<usize>,
    },
}

impl CallFilter {
    pub(super) fn new(field: &str, calls: &Calls, negative: bool) -> Result<Self, QueryError> {
        let named = |name: &str| format!("{field}.{name}");
        if calls.tool.as_ref().is_some_and(Vec::is_empty) {
            return Err(QueryError::field(named("tool"), "names no tool"));
        }
        let matcher = |name: String, wanted| Matcher::new(&name, wanted);
        Ok(Self {
            tools: calls.tool.clone(),
            args: calls
                .args
                .iter()
                .map(|(name, wanted)| Ok((name.clone(), matcher(named(&format!("args.{name}")), wanted)?)))
                .collect::<Result<_, QueryError>>()?,
            args_exactly: calls.args_exactly.clone(),
            any_arg: calls.any_arg.as_ref().map(|wanted| matcher(named("any_arg"), wanted)).transpose()?,
            effects: calls.effect.as_ref().map(|words| effects(&named("effect"), words)).transpose()?,
            fate: calls.fate.as_ref().map(|word| fate(&named("fate"), word)).transpose()?,
            path: calls.path.as_ref().map(|wanted| matcher(named("path"), wanted)).transpose()?,
            negative,
        })
    }

    /// What a span must hold so that it can hold such a call, or one that may be such a call.
    pub(super) fn need(&self) -> Need {
        let mut need = Need::default();
        let by_effect = self.effects.is_some() || self.path.is_some();
        match &self.tools {
            Some(tools) => need.add_tools(tools),
            None if by_effect => need.add_any_opaque(),
            None => {}
        }
        if !by_effect {
            need.opaque.clear();
        }
        if let Some(effects) = &self.effects {
            need.add_effects(effects);
        }
        if let Some(path) = &self.path {
            need.add_path(path, self.only_mutations());
        }
        self.args.iter().for_each(|(name, wanted)| need.add_arg(name, wanted));
        if let Some(wanted) = &self.any_arg {
            need.add_any_arg(wanted);
        }
        if let Some(args) = &self.args_exactly {
            need.add_args_exactly(args);
        }
        need.opaque_is_doubt = self.args.is_empty()
            && self.any_arg.is_none()
            && self.args_exactly.is_none()
            && self.fate.is_none()
            && !self.negative;
        need
    }

    /// Whether `read` is one of the calls that are asked for.
    pub(super) fn judge(&self, reading: &Reading, read: &ReadCall) -> Judgement {
        if !self.names(reading, read) {
            return Judgement::No;
        }
        let (effect, path) = (self.by_effect(read), self.by_path(read));
        let (Some(effect_sure), Some(path_sure)) = (effect, path) else { return Judgement::No };
        let opaque = !(effect_sure && path_sure);
        let unseen = match self.by_result(reading, read) {
            Ok(true) => Vec::new(),
            Ok(false) => return Judgement::No,
            Err(unseen) => unseen,
        };
        if opaque || !unseen.is_empty() { Judgement::Doubtful { opaque, unseen } } else { Judgement::Yes }
    }

    /// The paths of `read` that the question is about: those that it writes where only mutations are asked for.
    pub(super) fn paths<'a>(&self, read: &'a ReadCall) -> &'a [String] {
        if self.only_mutations() { &read.effect.writes } else { &read.effect.paths }
    }

    fn only_mutations(&self) -> bool {
        self.effects.as_ref().is_some_and(|wanted| wanted.iter().all(|e| *e == Effect::Mutates))
    }

    /// Whether tool and arguments are as asked for.
    fn names(&self, reading: &Reading, read: &ReadCall) -> bool {
        let Some(call) = reading.call(read.call) else { return false };
        self.tools.as_ref().is_none_or(|tools| tools.contains(&call.tool))
            && self.args_exactly.as_ref().is_none_or(|args| json_equal(args, &call.args))
            && self.args.iter().all(|(name, wanted)| call.args.get(name).is_some_and(|arg| wanted.holds(arg)))
            && self.any_arg.as_ref().is_none_or(|wanted| match call.args.as_object() {
                Some(args) => args.values().any(|arg| wanted.holds_inside(arg)),
                None => wanted.holds_inside(&call.args),
            })
    }

    /// `None`: no. `Some(false)`: perhaps. `Some(true)`: yes.
    fn by_effect(&self, read: &ReadCall) -> Option<bool> {
        let Some(wanted) = &self.effects else { return Some(true) };
        let effect = read.effect.effect;
        let known_to_write = effect == Effect::Opaque && !read.effect.writes.is_empty();
        if wanted.contains(&effect) || (known_to_write && wanted.contains(&Effect::Mutates)) {
            return Some(true);
        }
        (effect == Effect::Opaque).then_some(false)
    }

    /// `None`: no. `Some(false)`: perhaps. `Some(true)`: yes.
    fn by_path(&self, read: &ReadCall) -> Option<bool> {
        let Some(wanted) = &self.path else { return Some(true) };
        if self.paths(read).iter().any(|path| wanted.holds_for(path)) {
            return Some(true);
        }
        (read.effect.effect == Effect::Opaque).then_some(false)
    }

    /// Whether the fate is as asked for; `Err` with the spans that the result may stand in, or that do not say.
    fn by_result(&self, reading: &Reading, read: &ReadCall) -> Result<bool, Vec<usize>> {
        if self.fate.is_none() && !self.negative {
            return Ok(true);
        }
        let (at, fate) = match &read.answer {
            CallAnswer::InDoubt(unseen) => return Err(unseen.clone()),
            // It has a result that may report a failure or not.
            CallAnswer::Result { at, fate }
                if fate.fate == Fate::Unknown && (self.negative || self.fate != Some(Fate::Unknown)) =>
            {
                return Err(vec![at.span]);
            }
            CallAnswer::Result { at, fate } => (Some(*at), fate),
            CallAnswer::None(fate) => (None, fate),
        };
        let as_wanted = self.fate.is_none_or(|wanted| wanted == fate.fate);
        let returned_nothing = || {
            let harmless = !matches!(read.effect.effect, Effect::Mutates | Effect::External);
            let outcome = at.and_then(|at| reading.outcome(at));
            harmless
                && reading
                    .call(read.call)
                    .zip(outcome)
                    .is_some_and(|(call, outcome)| is_empty_result(call, outcome))
        };
        let negative = !self.negative || fate.fate == Fate::Failed || !fate.executed || returned_nothing();
        Ok(as_wanted && negative)
    }
}

fn effects(field: &str, words: &[String]) -> Result<Vec<Effect>, QueryError> {
    const ALL: [Effect; 4] = [Effect::Reads, Effect::Mutates, Effect::External, Effect::Opaque];
    if words.is_empty() {
        return Err(QueryError::field(field, "names no effect"));
    }
    let known = |word: &String| ALL.into_iter().find(|effect| effect.as_str() == word);
    words
        .iter()
        .map(|word| {
            known(word).ok_or_else(|| {
                QueryError::field(
                    field,
                    format!("unknown word `{word}`, expected one of reads, mutates, external, opaque"),
                )
            })
        })
        .collect()
}

fn fate(field: &str, word: &str) -> Result<Fate, QueryError> {
    [Fate::Succeeded, Fate::Failed, Fate::Unknown].into_iter().find(|fate| fate.as_str() == word).ok_or_else(
        || {
            QueryError::field(
                field,
                format!("unknown word `{word}`, expected one of succeeded, failed, unknown"),
            )
        },
    )
}
