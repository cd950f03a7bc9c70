//! Progress bars on standard error; nothing where that is not a terminal.

use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pir::core::progress::Progress;

/// Draws one bar a phase.
#[derive(Default)]
pub struct Bars {
    label: String,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bars {
    /// Bars that begin with `label` (the row's name in a group).
    pub fn labelled(label: &str) -> Self {
        Self { label: label.into(), bar: Mutex::new(None) }
    }

    fn replace(&self, bar: Option<ProgressBar>) {
        let mut place = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(old) = place.take() {
            old.finish_and_clear();
        }
        *place = bar;
    }
}

impl Progress for Bars {
    fn begin(&self, phase: &str, total: u64) {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
        let template = "{prefix}{msg:12} [{bar:32}] {percent:>3} %  {elapsed}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        if !self.label.is_empty() {
            bar.set_prefix(format!("{}: ", self.label));
        }
        bar.set_message(phase.to_string());
        self.replace(Some(bar));
    }

    fn advance(&self, units: u64) {
        let place = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(bar) = place.as_ref() {
            bar.inc(units);
        }
    }

    fn end(&self) {
        self.replace(None);
    }
}
