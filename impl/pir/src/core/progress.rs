//! Progress reports of long work.

/// Receives progress of long phases; the command line draws a bar, tests ignore it.
pub trait Progress: Sync {
    /// A phase of `total` units of work begins.
    fn begin(&self, phase: &str, total: u64);
    /// Reports that `units` more units are done.
    fn advance(&self, units: u64);
    /// The phase is over.
    fn end(&self);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: &str, _total: u64) {}
    fn advance(&self, _units: u64) {}
    fn end(&self) {}
}
