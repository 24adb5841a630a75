//! The open brackets around a place in JSON text, one bit each.

/// A kind of bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// `{ … }`
    Object,
    /// `[ … ]`
    Array,
}

/// A stack of containers.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    words: Vec<u64>,
    depth: usize,
}

impl Nesting {
    pub(crate) const fn depth(&self) -> usize {
        self.depth
    }

    pub(crate) fn push(&mut self, container: Container) {
        let bit = self.depth % 64;
        if bit == 0 {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(container == Container::Array) << bit;
        }
        self.depth += 1;
    }

    pub(crate) fn pop(&mut self) {
        let Some(depth) = self.depth.checked_sub(1) else { return };
        self.depth = depth;
        let bit = depth % 64;
        if let Some(word) = self.words.last_mut() {
            *word &= !(1 << bit);
        }
        if bit == 0 {
            self.words.pop();
        }
    }

    /// The innermost container.
    pub(crate) fn top(&self) -> Option<Container> {
        let bit = self.depth.checked_sub(1)? % 64;
        let array = self.words.last()? >> bit & 1 == 1;
        Some(if array { Container::Array } else { Container::Object })
    }
}
