//! The machine: what it is, what is free, which core a run is pinned to.

pub mod bandwidth;
pub mod caches;
pub mod memory;
pub mod pin;

use std::fs;

use pir::record::Machine;

/// What is written of the machine into a record, but for the bandwidth.
pub fn facts() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    let logical = cpuinfo.lines().filter(|line| line.starts_with("processor")).count() as u64;
    let available = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    Machine {
        cpu: model.map_or_else(|| std::env::consts::ARCH.to_string(), |(_, name)| name.trim().to_string()),
        cores: if logical > 0 { logical } else { available },
        memory_bytes: memory::total().unwrap_or(0),
        free_memory_bytes: memory::free().unwrap_or(0),
        load_at_start: load().unwrap_or(0.0),
        os: os(),
        huge_pages: huge_pages(),
        read_bandwidth_before: None,
        read_bandwidth_after: None,
    }
}

/// Load average over one minute.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn os() -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok().map(|s| s.trim().to_string());
    match (read("ostype"), read("osrelease")) {
        (Some(kind), Some(release)) => format!("{kind} {release}"),
        _ => std::env::consts::OS.to_string(),
    }
}

/// The setting of transparent huge pages: `always`, `madvise` or `never`.
fn huge_pages() -> String {
    let text = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    chosen.unwrap_or("unknown").to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_facts_are_plausible() {
        let machine = super::facts();
        assert!(!machine.cpu.is_empty() && machine.cores >= 1 && !machine.os.is_empty());
        if cfg!(target_os = "linux") {
            assert!(machine.memory_bytes > machine.free_memory_bytes && machine.free_memory_bytes > 0);
        }
    }
}
