//! Memory: the machine's total and free memory (control groups included), and the peak of this process.

use std::fs;
use std::path::{Path, PathBuf};

use pir::core::record::MemoryUse;

/// A value in KiB from a file of lines `Key:   123 kB`, in bytes.
fn kib(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|value| 1024 * value)
}

/// Makes the allocator return every block of [`pir::core::description::MAPPED_BYTES`] (a megabyte) or more to the system as soon as it is freed, and keep up to four
/// megabytes of smaller ones. By default glibc raises the first bound as a program runs and then keeps freed blocks, so that a
/// peak depends on the order of allocations; with the first bound set, it keeps only 128 KiB, so that answers of a tenth of a
/// millisecond spend a fifth to a third of their time on pages that the previous one returned.
pub fn settle_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only sets numbers; nothing else runs yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, pir::core::description::MAPPED_BYTES as libc::c_int);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 << 20);
    }
}

pub fn total() -> Option<u64> {
    kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

/// Memory that this process could take: the available memory of the system or of its control group. `None` if the
/// system does not report it.
pub fn free() -> Option<u64> {
    let available = kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(group_free(Path::new("/sys/fs/cgroup"), &groups).map_or(available, |left| left.min(available)))
}

/// The least memory that any control group of the process still allows, for both versions of control groups.
fn group_free(root: &Path, groups: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (base, limit, usage) = if controllers.is_empty() {
            (root.to_path_buf(), "memory.max", "memory.current")
        } else if controllers.split(',').any(|name| name == "memory") {
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
        } else {
            return None;
        };
        // A process in a container may see its group's path but only the group itself mounted at the root.
        let group: PathBuf = base.join(path.trim_start_matches('/'));
        let folders = group.ancestors().take_while(|folder| folder.starts_with(&base));
        folders.filter_map(|folder| left_in(folder, limit, usage)).min()
    };
    groups.lines().filter_map(of_line).min()
}

fn left_in(folder: &Path, limit: &str, usage: &str) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = (number(limit)?, number(usage)?);
    // Page cache that the system can drop counts as usage but can be reclaimed.
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let droppable = stat.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        matches!(key, "inactive_file" | "total_inactive_file").then(|| value.parse::<u64>().ok())?
    });
    Some(limit.saturating_sub(used.saturating_sub(droppable.unwrap_or(0))))
}

/// Resets the peak of this process; false if the system cannot.
fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Records the memory of this process.
#[derive(Clone, Debug)]
pub struct Watch {
    seen: MemoryUse,
}

impl Watch {
    /// Resets the peak, if the system can.
    pub fn start(described_peak_bytes: u64) -> Self {
        // Without this the peak includes the memory before, which is little.
        forget_peak();
        Self { seen: MemoryUse { described_peak_bytes, ..MemoryUse::default() } }
    }

    /// Records the current memory; called at the end of every step.
    pub fn sample(&mut self) {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let larger = |seen: &mut u64, key: &str| *seen = (*seen).max(kib(&status, key).unwrap_or(0));
        larger(&mut self.seen.peak_bytes, "VmHWM");
        larger(&mut self.seen.peak_anonymous_bytes, "RssAnon");
        larger(&mut self.seen.peak_file_bytes, "RssFile");
    }

    /// Runs a step of the online phases, and records the peak of this step alone.
    pub fn online<T>(&mut self, step: impl FnOnce() -> T) -> T {
        self.sample();
        let forgotten = forget_peak();
        let done = step();
        self.sample();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        if let Some(peak) = kib(&status, "VmHWM").filter(|_| forgotten) {
            self.seen.online_peak_bytes = self.seen.online_peak_bytes.max(Some(peak));
        }
        done
    }

    pub fn finish(mut self) -> MemoryUse {
        self.sample();
        self.seen
    }
}

#[cfg(test)]
mod tests;
