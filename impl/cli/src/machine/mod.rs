//! The machine: its model, its free memory, and the core of a run.

pub mod bandwidth;
pub mod caches;
pub mod memory;
pub mod pin;

use std::fs;

use pir::core::record::Machine;

/// The facts about the machine in a record, except the bandwidth.
pub fn facts() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let logical = cpuinfo.lines().filter(|line| line.starts_with("processor")).count() as u64;
    let available = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    Machine {
        cpu: processor(&cpuinfo),
        cores: if logical > 0 { logical } else { available },
        memory_bytes: memory::total().unwrap_or(0),
        free_memory_bytes: memory::free().unwrap_or(0),
        load_at_start: load().unwrap_or(0.0),
        os: os(),
        huge_pages: huge_pages(),
        read_bandwidth: Vec::new(),
    }
}

/// The processor's model: its name, with family and model if the name has no number, as in guests of some hypervisors ("AMD EPYC"
/// names several generations).
fn processor(cpuinfo: &str) -> String {
    let field = |name: &str| {
        let of_name = |line: &&str| line.split_once(':').is_some_and(|(key, _)| key.trim() == name);
        cpuinfo.lines().find(of_name)?.split_once(':').map(|(_, value)| value.trim().to_string())
    };
    let Some(name) = field("model name") else { return std::env::consts::ARCH.to_string() };
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) if !name.contains(|c: char| c.is_ascii_digit()) => {
            format!("{name} (family {family}, model {model})")
        }
        _ => name,
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
mod tests;
