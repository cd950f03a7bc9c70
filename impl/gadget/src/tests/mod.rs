//! Properties of every family, on every kernel this processor runs.

mod distribution;
mod laws;
mod recompose;
mod stages;
