//! What several deeds of one call add up to.

use crate::{CallEffect, Effect};

/// The sum of what a call does, deed by deed. Starts as *reads nothing*.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    paths: Vec<String>,
    writes: Vec<String>,
    external: bool,
    unseen: bool,
    check: Check,
}

/// What checks were among the deeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    #[default]
    None,
    /// One that only reads.
    Lint,
    /// One that runs code which cannot be seen.
    Test,
}

/// How many paths are kept for one call; a call that names more is also opaque, so that none is missed.
const PATHS_MAX: usize = 4_096;

impl Tally {
    /// A tally of one deed that cannot be seen through.
    pub(super) fn opaque() -> Self {
        Self { unseen: true, ..Self::default() }
    }

    /// It touches `path`.
    pub(super) fn touch(&mut self, path: &str) {
        self.unseen |= !push(&mut self.paths, path);
    }

    /// It writes, moves or deletes `path`, or what is under it.
    pub(super) fn write(&mut self, path: &str) {
        self.touch(path);
        self.unseen |= !push(&mut self.writes, path);
    }

    /// It changes something that is no file.
    pub(super) fn act_outside(&mut self) {
        self.external = true;
    }

    /// Part of it cannot be seen through.
    pub(super) fn hide(&mut self) {
        self.unseen = true;
    }

    /// It is a check that only reads.
    pub(super) fn lint(&mut self) {
        self.check = self.check.max(Check::Lint);
    }

    /// It is a check that runs code: a test or a build.
    pub(super) fn test(&mut self) {
        self.check = Check::Test;
    }

    /// It also does all that `other` does.
    pub(super) fn absorb(&mut self, other: &Self) {
        other.paths.iter().for_each(|path| self.touch(path));
        other.writes.iter().for_each(|path| self.write(path));
        self.external |= other.external;
        self.unseen |= other.unseen;
        self.check = self.check.max(other.check);
    }

    /// What it adds up to.
    pub(super) fn into_effect(self) -> CallEffect {
        let effect = if self.unseen || self.check == Check::Test {
            Effect::Opaque
        } else if self.external {
            Effect::External
        } else if self.writes.is_empty() {
            Effect::Reads
        } else {
            Effect::Mutates
        };
        let is_check = self.check != Check::None && !self.unseen && !self.external && self.writes.is_empty();
        CallEffect { effect, paths: self.paths, writes: self.writes, is_check }
    }
}

/// Adds `path` unless it is there or there are too many; says whether it is there now.
fn push(paths: &mut Vec<String>, path: &str) -> bool {
    // Commands name few paths, so a linear look is cheap; the bound keeps hostile ones from being quadratic.
    let known = paths.iter().rev().take(256).any(|known| known == path);
    if known {
        return true;
    }
    let room = paths.len() < PATHS_MAX;
    if room {
        paths.push(path.to_owned());
    }
    room
}
