//! Progress bars on standard error; nothing where that is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pir::core::progress::Progress;

/// Draws one bar, for one phase after the other.
pub struct Bars(ProgressBar);

impl Bars {
    /// Bars that begin with `label` (the row's name in a group).
    pub fn labelled(label: &str) -> Self {
        let template = "{prefix}{msg:12} [{bar:32}] {percent:>3} %  {elapsed}, {eta} left";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let prefix = if label.is_empty() { String::new() } else { format!("{label}: ") };
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
        Self(bar.with_style(style.progress_chars("=> ")).with_prefix(prefix))
    }
}

impl Progress for Bars {
    fn begin(&self, phase: &str, total: u64) {
        self.0.set_length(total);
        self.0.set_message(phase.to_string());
        // Draws the bar again, which was cleared at the end of the previous phase.
        self.0.reset();
    }

    fn advance(&self, units: u64) {
        self.0.inc(units);
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
