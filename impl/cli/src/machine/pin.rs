//! The cores of a row.

use crate::failure::{Failure, Outcome};

/// Gives this process a rayon pool of `threads` threads; fails if it already has one of another size. Work may be split into more pieces,
/// for which a default pool would use every core.
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
/// interrupts. Returns the core, or `None` if that is not possible.
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
