//! As many cores as a row may use.

use crate::failure::{Failure, Outcome};

/// Gives this process a rayon pool of `threads` threads, where it has none of another size: work may be split into more pieces than that,
/// and a pool made by default would take every core for them.
pub fn to_threads(threads: usize) -> Outcome<()> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    match (built, rayon::current_num_threads()) {
        (Err(error), found) if found != threads => {
            Err(Failure::Result(format!("{threads} threads: this process works with {found} already ({error}).")))
        }
        _ => Ok(()),
    }
}

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
