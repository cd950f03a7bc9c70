//! Rows that are alive together.

use crate::machine::memory;

/// Tests set this to the bytes that rows alive together may take; it only lowers what is free.
const MEMORY: &str = "PIRLAB_GROUP_MEMORY";

/// What rows may take together.
pub fn free_memory() -> Option<u64> {
    let lowered = std::env::var(MEMORY).ok().and_then(|bytes| bytes.parse().ok());
    memory::free().map(|free| lowered.map_or(free, |bytes| free.min(bytes)))
}

/// Runs of rows whose described peaks fit in memory together; without knowledge of what is free, one row each.
pub fn of<T>(rows: Vec<T>, peak_bytes: impl Fn(&T) -> u64, free: Option<u64>) -> Vec<Vec<T>> {
    let mut batches: Vec<Vec<T>> = Vec::new();
    let mut taken = 0u64;
    for row in rows {
        let peak = peak_bytes(&row);
        match batches.last_mut() {
            Some(batch) if free.is_some_and(|free| taken.saturating_add(peak) <= free) => {
                batch.push(row);
                taken += peak;
            }
            _ => {
                batches.push(vec![row]);
                taken = peak;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests;
