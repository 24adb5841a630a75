//! How far a long command is: on the standard error stream, and only where that is a terminal.

use std::borrow::Cow;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that goes away when the work is done.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar that counts bytes.
    pub(crate) fn of_bytes(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new("{wide_msg} {bytes}/{total_bytes} [{bar:24}] {eta:>4}", what)
    }

    /// A bar that counts things.
    pub(crate) fn of_things(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new("{wide_msg} {human_pos}/{human_len} [{bar:24}] {eta:>4}", what)
    }

    fn new(template: &str, what: impl Into<Cow<'static, str>>) -> Self {
        // Hidden by itself where the standard error stream is no terminal.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Self { bar }
    }

    /// Shows how much of `total` is done.
    pub(crate) fn update(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
