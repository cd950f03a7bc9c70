//! `pirlab check`: whether this machine is ready, on one screen.

use std::process::Command;

use ring::{Kernel, KernelError};
use serde::Serialize;

use crate::failure::Outcome;
use crate::machine::{self, bandwidth};
use crate::measure::record::{COMMIT, DIRTY, PROFILE, RUSTC, commit_remark};
use crate::output::{Table, print, print_json};
use crate::units;

/// Check this machine: kernel paths, memory, read bandwidth, tools.
#[derive(clap::Args)]
pub struct Args {
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Do not probe the read bandwidth (takes some seconds and 256 MiB or more).
    #[arg(long)]
    no_probe: bool,
}

#[derive(Serialize)]
struct Path {
    name: String,
    available: bool,
    chosen: bool,
    missing: Option<String>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: Option<String>,
    remedy: &'static str,
}

#[derive(Serialize)]
struct Checked {
    schema: &'static str,
    machine: pir::core::record::Machine,
    kernels: Vec<Path>,
    read_bandwidth: Option<f64>,
    tools: Vec<Tool>,
    build: Built,
}

#[derive(Serialize)]
struct Built {
    version: &'static str,
    commit: &'static str,
    commit_remark: Option<&'static str>,
    dirty: bool,
    rustc: &'static str,
    profile: &'static str,
}

/// Tools that the pipeline needs, with the remedy for a missing one.
const TOOLS: [(&str, &str); 5] = [
    ("git", "install git with the system's package manager"),
    ("python3", "install Python 3.11 or newer, with its venv module"),
    ("make", "install GNU make with the system's package manager"),
    ("cc", "install a C compiler: gcc or clang"),
    ("cargo", "install Rust with rustup"),
];

pub fn main(args: &Args) -> Outcome<()> {
    let checked = Checked {
        schema: "pirlab/check/1",
        machine: machine::facts(),
        kernels: kernels(),
        read_bandwidth: if args.no_probe { None } else { bandwidth::in_child() },
        tools: TOOLS.iter().map(|&(name, remedy)| Tool { name, version: version(name), remedy }).collect(),
        build: Built {
            version: env!("CARGO_PKG_VERSION"),
            commit: COMMIT,
            commit_remark: commit_remark(),
            dirty: DIRTY == "true",
            rustc: RUSTC,
            profile: PROFILE,
        },
    };
    if args.json { print_json(&checked) } else { print(&screen(&checked)) }
}

fn kernels() -> Vec<Path> {
    let path = |kernel: Kernel| {
        let missing = match kernel.check() {
            Err(KernelError::Missing { missing, .. }) => Some(missing),
            Err(other) => Some(other.to_string()),
            Ok(_) => None,
        };
        Path { name: kernel.to_string(), available: missing.is_none(), chosen: kernel == Kernel::best(), missing }
    };
    Kernel::ALL.into_iter().map(path).collect()
}

/// The first line of a tool's version.
fn version(name: &str) -> Option<String> {
    let output = Command::new(name).arg("--version").output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_string())
}

fn screen(checked: &Checked) -> String {
    let machine = &checked.machine;
    let mut table = Table::pairs();
    table.row(["processor", &format!("{} ({} logical)", machine.cpu, machine.cores)]);
    for path in &checked.kernels {
        let state = match (&path.missing, path.chosen) {
            (Some(missing), _) => format!("not available: the processor lacks {missing}"),
            (None, true) => "available, chosen".into(),
            (None, false) => "available".into(),
        };
        table.row([format!("kernel {}", path.name), state]);
    }
    let memory = format!("{}, {} free", units::bytes(machine.memory_bytes), units::bytes(machine.free_memory_bytes));
    table.row(["memory", &memory]);
    let bandwidth = checked.read_bandwidth.map(|rate| format!("{} GB/s, one core", units::three_digits(rate / 1e9)));
    table.row(["read bandwidth", bandwidth.as_deref().unwrap_or("not probed")]);
    let advice = if machine.huge_pages == "never" { " (slower: set it to madvise or always)" } else { "" };
    table.row(["transparent huge pages", &format!("{}{advice}", machine.huge_pages)]);
    let busy = if machine.load_at_start > 0.5 { " (busy: timings will be disturbed)" } else { "" };
    table.row(["load", &format!("{:.2}{busy}", machine.load_at_start)]);
    table.row(["system", &machine.os]);
    for tool in &checked.tools {
        let missing = || format!("missing: {}", tool.remedy);
        table.row([tool.name.to_string(), tool.version.clone().unwrap_or_else(missing)]);
    }
    let build = &checked.build;
    let dirty = if build.dirty { ", with changes" } else { "" };
    let built = format!("{}, commit {}{dirty}, {}, {} build", build.version, build.commit, build.rustc, build.profile);
    table.row(["pirlab", &built]);
    if let Some(remark) = build.commit_remark {
        table.row([format!("commit {}", build.commit), remark.into()]);
    }
    table.text()
}

#[cfg(test)]
mod tests;
