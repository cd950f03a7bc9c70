//! Pinning to one core.

/// Pins this process (the calling thread and those it starts) to the last core it may use; the first ones serve more
/// interrupts. Returns the core, or `None` where that is not possible.
#[cfg(target_os = "linux")]
pub fn to_one_core() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).ok()?;
    let core = (0..CpuSet::MAX_CPU).rev().find(|&core| allowed.is_set(core))?;
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).ok()?;
    Some(core)
}

/// Pinning is left to the system.
#[cfg(not(target_os = "linux"))]
pub fn to_one_core() -> Option<usize> {
    None
}
