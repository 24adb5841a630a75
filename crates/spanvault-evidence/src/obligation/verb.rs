//! What a verb announces: the kinds of act that would carry it out.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What kind of act a promise announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObligationKind {
    /// To look: read, search, list, check.
    Look,
    /// To run something: a test, a build, a program.
    Run,
    /// To change something: edit, create, configure, book.
    Change,
    /// To commit, push, merge or publish.
    Commit,
    /// To ask the user.
    Ask,
    /// To say something: explain, summarise, show.
    Speak,
    /// A call was made and its result is due.
    Result,
}

impl ObligationKind {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Run => "run",
            Self::Change => "change",
            Self::Commit => "commit",
            Self::Ask => "ask",
            Self::Speak => "speak",
            Self::Result => "result",
        }
    }
}

/// A set of kinds of act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acts(u8);

impl Acts {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const LOOK: Self = Self(1);
    pub(crate) const RUN: Self = Self(2);
    pub(crate) const CHANGE: Self = Self(4);
    pub(crate) const COMMIT: Self = Self(8);
    pub(crate) const ASK: Self = Self(16);
    pub(crate) const SPEAK: Self = Self(32);
    /// Thinking aloud: done by whatever the agent says or does next.
    pub(crate) const THINK: Self = Self(64);
    /// Every act that a call can be.
    pub(crate) const BY_CALL: Self = Self(1 | 2 | 4 | 8);
    /// Keeping the agent's own task list.
    pub(crate) const TASKS: Self = Self(128);
    /// How many single acts there are.
    pub(crate) const COUNT: usize = 8;

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The numbers of the single acts in this set.
    pub(crate) fn each(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |act| self.0 & (1 << act) != 0)
    }

    /// The kind that names a promise of these acts.
    pub(crate) const fn kind(self) -> ObligationKind {
        if self.meets(Self::LOOK) {
            ObligationKind::Look
        } else if self.meets(Self::RUN) {
            ObligationKind::Run
        } else if self.meets(Self::CHANGE) {
            ObligationKind::Change
        } else if self.meets(Self::COMMIT) {
            ObligationKind::Commit
        } else if self.meets(Self::ASK) {
            ObligationKind::Ask
        } else {
            ObligationKind::Speak
        }
    }
}

/// What a word does in an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// It announces these acts.
    Acts(Acts),
    /// It only opens: the act is named by a later word ("start by reading").
    Opens,
    /// It announces nothing that could be carried out ("let me know", "I'll be").
    Idle,
}

const LOOK_OR_RUN: Acts = Acts::LOOK.and(Acts::RUN);
const RUN_OR_CHANGE: Acts = Acts::RUN.and(Acts::CHANGE);
const LOOK_OR_THINK: Acts = Acts::LOOK.and(Acts::THINK);

/// The lexicon: base forms, grouped by what they announce.
const LEXICON: &[(Verb, &[&str])] = &[
    (
        Verb::Acts(Acts::LOOK),
        &[
            "look read see view find search examine explore inspect locate grep open fetch get retrieve",
            "list study scan browse pull research gather query lookup dig navigate peek identify collect",
            "download observe monitor scroll load obtain dive learn discover survey review determine",
            "visit",
        ],
    ),
    (
        Verb::Acts(LOOK_OR_RUN),
        &[
            "check recheck double-check verify validate confirm ensure investigate diagnose debug test",
            "reproduce measure count compare audit troubleshoot authenticate",
        ],
    ),
    (
        Verb::Acts(LOOK_OR_THINK),
        &["understand trace analyze analyse follow figure evaluate assess narrow isolate map"],
    ),
    (
        Verb::Acts(Acts::RUN),
        &[
            "run rerun re-run build rebuild compile execute lint benchmark launch profile perform invoke",
            "call",
        ],
    ),
    (Verb::Acts(Acts::RUN.and(Acts::THINK)), &["calculate compute estimate"]),
    (
        Verb::Acts(RUN_OR_CHANGE),
        &["install format deploy submit generate regenerate kill restart reset reboot"],
    ),
    (
        Verb::Acts(Acts::CHANGE),
        &[
            "fix update add write edit create implement change modify refactor remove delete rename move",
            "replace configure apply revert clean tackle make simplify extract insert set convert improve",
            "adjust rewrite document mark cancel book process transfer address correct resolve",
            "introduce split merge combine consolidate wire hook integrate migrate port copy restore undo",
            "patch save store register enable disable increase reduce decrease bump upgrade downgrade",
            "switch extend expand drop strip wrap inline reorder reorganize restructure rework redesign",
            "design define declare append prepend include exclude swap handle complete finish schedule",
            "order pay refund return exchange reserve send reply forward post invite assign grant revoke",
            "issue finalize initiate mirror pass strengthen tweak align sync reinstate do put take reopen",
            "archive upload translate tidy polish sort normalize unify deduplicate cover record log track",
            "rotate provision scale seed populate import export sanitize trim truncate encode decode encrypt sign",
            "escalate waive enroll subscribe unsubscribe renew activate deactivate lock unlock approve reject",
            "close allocate attach detach connect disconnect mount unmount shift relocate postpone prolong",
        ],
    ),
    (Verb::Acts(Acts::COMMIT), &["commit push publish release tag rebase squash amend stage cherry-pick"]),
    (Verb::Acts(Acts::ASK), &["ask clarify request"]),
    (
        Verb::Acts(Acts::SPEAK),
        &[
            "summarize summarise explain describe show tell present provide outline answer suggest",
            "recommend report give propose share respond inform notify walk break lay highlight",
            "demonstrate draft recap discuss help assist guide offer",
        ],
    ),
    (
        Verb::Acts(Acts::THINK),
        &[
            "think consider reconsider reason rethink re-think recall plan weigh brainstorm decide re-read",
            "focus step",
        ],
    ),
    (Verb::Acts(Acts::BY_CALL), &["use work prepare spawn delegate approach reuse experiment"]),
    (
        Verb::Opens,
        &[
            "start begin continue proceed try retry go ahead keep attempt also now first just quickly then next",
            "again to by with on and back carefully simply instead quick briefly actually immediately",
            "further thoroughly directly systematically manually finally definitely probably really still",
            "only both jump double more closely properly need want like either at the a this in once",
            "second third last lastly additionally separately temporarily perhaps maybe",
        ],
    ),
    (
        Verb::Idle,
        &[
            "know be have say assume wait note mention admit guess bet leave stick never not no hold stay",
            "remain become happen lose forget remember stop mind hope trust avoid skip happily apologize",
            "thank point emphasize always love let been ignore",
        ],
    ),
];

/// What `word`, in lower case, does in an announcement; base forms and `-ing` forms are known.
pub(crate) fn verb(word: &str) -> Option<Verb> {
    if let Some(known) = base(word) {
        return Some(known);
    }
    let stem = word.strip_suffix("ing")?;
    let doubled = stem.as_bytes().windows(2).last().is_some_and(|last| last[0] == last[1]);
    base(stem)
        .or_else(|| base(&format!("{stem}e")))
        .or_else(|| doubled.then(|| base(&stem[..stem.len() - 1])).flatten())
}

fn base(word: &str) -> Option<Verb> {
    static KNOWN: LazyLock<HashMap<&str, Verb>> = LazyLock::new(|| {
        let words = |(verb, lines): &(Verb, &'static [&'static str])| {
            let verb = *verb;
            lines.iter().flat_map(|line| line.split(' ')).map(move |word| (word, verb))
        };
        LEXICON.iter().flat_map(words).collect()
    });
    KNOWN.get(word).copied()
}

/// The acts that `word` announces, where it is a verb that announces any.
pub(crate) fn acts(word: &str) -> Option<Acts> {
    match verb(word)? {
        Verb::Acts(acts) => Some(acts),
        Verb::Opens | Verb::Idle => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_stands_in_the_lexicon_twice() {
        let mut seen = std::collections::HashSet::new();
        let twice: Vec<_> = LEXICON
            .iter()
            .flat_map(|(_, lines)| *lines)
            .flat_map(|line| line.split(' '))
            .filter(|word| !seen.insert(*word))
            .collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn gerunds_are_known_by_their_base_form() {
        assert_eq!(acts("updating"), Some(Acts::CHANGE));
        assert_eq!(acts("running"), Some(Acts::RUN));
        assert_eq!(acts("checking"), Some(LOOK_OR_RUN));
        assert_eq!(acts("being"), None);
        assert_eq!(verb("string"), None);
    }
}
