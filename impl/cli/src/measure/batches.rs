//! Batches of rows that are in memory together.

use crate::machine::memory;

/// Tests set this to limit the bytes of a batch; it can only lower the free memory.
const MEMORY: &str = "PIRLAB_GROUP_MEMORY";

/// The memory that a batch may take.
pub fn free_memory() -> Option<u64> {
    let lowered = std::env::var(MEMORY).ok().and_then(|bytes| bytes.parse().ok());
    memory::free().map(|free| lowered.map_or(free, |bytes| free.min(bytes)))
}

/// Consecutive rows whose predicted peaks fit in memory together; if the free memory is unknown, each row is a batch.
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
