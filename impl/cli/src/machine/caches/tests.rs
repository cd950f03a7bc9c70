use super::{Caches, LEAST_BYTES};

/// The cores that this thread may run on.
#[cfg(target_os = "linux")]
fn allowed() -> Vec<bool> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).map(|core| set.is_set(core)).collect()
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> Vec<bool> {
    Vec::new()
}

#[test]
fn who_empties_the_caches_of_rows_stays_where_it_may_run() {
    let before = allowed();
    let caches = Caches::new().unwrap();
    assert!(caches.probe.bytes() >= LEAST_BYTES || crate::machine::memory::free().unwrap() < 8 << 30);
    assert!(caches.flush() > 0.0);
    assert_eq!(allowed(), before);
}
