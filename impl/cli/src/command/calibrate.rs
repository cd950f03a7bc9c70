//! `pirlab calibrate`: unit costs of this machine, from which the estimator predicts seconds.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pir::linear::RecordCode;
use pir::progress::Progress;
use pir::record::Machine;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{DiscreteGaussian, Kernel, PackedMatrix, Seed, StdDev, Vector32};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bars::Bars;
use crate::failure::{Failure, Outcome};
use crate::machine::{self, bandwidth, pin};
use crate::measure::plan::find_kernel;
use crate::measure::record::refuse_debug_build;
use crate::measure::row::KERNEL;
use crate::output::{Table, print, to_json};
use crate::store;
use crate::units::{now, seconds};

/// Measure the unit costs of this machine (seconds per multiply-add, byte, sample), in under a minute.
#[derive(clap::Args)]
pub struct Args {
    /// Where they go (JSON).
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Kernel path: auto, scalar, avx2 or avx512.
    #[arg(long, default_value = KERNEL)]
    kernel: String,
    /// Smaller tables and no bandwidth probe: seconds instead of a minute, and rougher figures.
    #[arg(long)]
    quick: bool,
}

/// Unit costs of a machine on one core.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Always `pirlab/calibration/1`.
    pub schema: String,
    /// The machine, with its read bandwidth before.
    pub machine: Machine,
    /// Kernel path taken.
    pub kernel: String,
    /// Build profile.
    pub profile: String,
    /// RFC 3339, UTC.
    pub measured: String,
    /// The costs.
    pub unit_seconds: UnitSeconds,
}

/// Seconds for one of each; names as in the operations of descriptions.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitSeconds {
    /// A byte read from memory at the probed bandwidth.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes_read: Option<f64>,
    /// A stored byte of a seeded database: generated, cut into entries, packed.
    pub bytes_written: f64,
    /// A stored byte of a packed matrix (10-bit entries, 256 MiB) times one vector, read from memory: what `bytes_read`
    /// becomes in an answer phase.
    pub matvec_bytes: f64,
    /// One multiply-add of a packed entry in cache.
    pub multiply_adds_packed: f64,
    /// One multiply-add of a packed matrix times a matrix (the hint).
    pub matrix_multiply_adds: f64,
    /// One multiply-add of dense 32-bit words in cache.
    pub multiply_adds_u32: f64,
    /// One byte of the pseudorandom generator.
    pub prg_bytes: f64,
    /// One sample of the error distribution.
    pub gaussian_samples: f64,
    /// One base-p digit of a record of 2048 bits.
    pub digit_conversions: f64,
}

/// Width of packed entries: that of the published sets at a gigabyte.
const WIDTH: u32 = 10;
/// Columns of the hint products: the LWE dimension of the published sets.
const DIMENSION: usize = 1024;

/// Runs the command.
pub fn main(args: &Args) -> Outcome<()> {
    refuse_debug_build()?;
    let kernel = find_kernel(&args.kernel)?;
    store::check_writable(&args.out)?;
    let mut machine = machine::facts();
    let bars = Bars::default();
    bars.begin("calibrating", 8);
    machine.read_bandwidth_before = if args.quick { None } else { bandwidth::in_child() };
    bars.advance(1);
    pin::to_one_core();
    let costs = measure(kernel, args.quick, machine.read_bandwidth_before, &bars)
        .map_err(|e| Failure::Result(format!("calibrate: {e}.")))?;
    bars.end();
    let calibration = Calibration {
        schema: "pirlab/calibration/1".into(),
        machine,
        kernel: kernel.to_string(),
        profile: crate::measure::record::PROFILE.into(),
        measured: now(),
        unit_seconds: costs,
    };
    let text = to_json(&calibration)?;
    store::write(&args.out, &text)?;
    let mut table = Table::new(&["one of", ">takes", ">a second"]);
    let costs = serde_json::to_value(&calibration.unit_seconds).unwrap_or_default();
    for (name, cost) in costs.as_object().into_iter().flatten() {
        if let Some(cost) = cost.as_f64() {
            table.row([name.replace('_', " "), seconds(cost), format!("{:.3e}", 1.0 / cost)]);
        }
    }
    print(&table.text())
}

type Failed = Box<dyn std::error::Error>;

fn measure(kernel: Kernel, quick: bool, bandwidth: Option<f64>, bars: &Bars) -> Result<UnitSeconds, Failed> {
    let time = if quick { Duration::from_millis(30) } else { Duration::from_millis(800) };
    let mut costs = UnitSeconds { bytes_read: bandwidth.map(|rate| 1.0 / rate), ..UnitSeconds::default() };
    let prg = Seed(*b"pirlab calibrate").prg();
    let words = |count: usize| {
        let mut words = vec![0u32; count];
        prg.fill_u32_at(0, &mut words);
        words
    };

    let large_rows = if quick { 1 << 10 } else { 13_107 };
    let start = Instant::now();
    let large = matrix(large_rows, 1 << 14)?;
    costs.bytes_written = start.elapsed().as_secs_f64() / large.stored_bytes() as f64;
    costs.matvec_bytes = matvec(kernel, &large, time)? / large.stored_bytes() as f64;
    drop(large);
    bars.advance(1);
    let small = matrix(64, 1 << 12)?;
    costs.multiply_adds_packed = matvec(kernel, &small, time)? / (small.rows() * small.cols()) as f64;
    bars.advance(1);

    let (rows, depth) = (if quick { 64 } else { 512 }, 2048);
    let (d, a) = (matrix(rows, depth)?, words(depth * DIMENSION));
    let mut out = vec![0; rows * DIMENSION];
    let call = median_time(time, || ring::matmul::matmul_accumulate(kernel, &d, 0, &a, DIMENSION, &mut out, 1))?;
    costs.matrix_multiply_adds = call / (rows * depth * DIMENSION) as f64;
    bars.advance(1);

    let rows = 64;
    let (a, x) = (words(rows * DIMENSION), words(DIMENSION));
    let mut out = vec![0; rows];
    let call = median_time(time, || ring::dense::matvec_u32(kernel, &a, &x, &mut out, 1))?;
    costs.multiply_adds_u32 = call / (rows * DIMENSION) as f64;
    bars.advance(1);

    let mut bytes = vec![0u8; 1 << 20];
    let call = median_time(time, || -> Result<(), Failed> {
        prg.fill_at(0, &mut bytes);
        Ok(())
    })?;
    costs.prg_bytes = call / bytes.len() as f64;
    bars.advance(1);

    let gaussian = DiscreteGaussian::new(StdDev(6.4))?;
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let mut samples = vec![0i32; 1 << 14];
    let call = median_time(time, || -> Result<(), Failed> {
        gaussian.fill(&mut rng, &mut samples);
        Ok(())
    })?;
    costs.gaussian_samples = call / samples.len() as f64;
    bars.advance(1);

    let code = RecordCode::new(2048, 495);
    let (record, mut digits) = (vec![0xa5; 256], vec![0u16; code.entries_per_record() as usize]);
    let call = median_time(time, || -> Result<(), Failed> {
        for _ in 0..64 {
            code.digits(black_box(&record), &mut digits);
        }
        Ok(())
    })?;
    costs.digit_conversions = call / (64 * digits.len()) as f64;
    bars.advance(1);
    Ok(costs)
}

/// A matrix of random packed entries.
fn matrix(rows: usize, cols: usize) -> Result<PackedMatrix, Failed> {
    let mut matrix = PackedMatrix::new(rows, cols, WIDTH)?;
    let mut bits = vec![0u8; (cols * WIDTH as usize).div_ceil(8) + 8];
    let prg = Seed(*b"pirlab calibrate").prg();
    for row in 0..rows {
        prg.fill_at(row as u64 * bits.len() as u64, &mut bits);
        matrix.set_row_from_bits(row, &bits, 0)?;
    }
    Ok(matrix)
}

/// Seconds of one product with a vector.
fn matvec(kernel: Kernel, matrix: &PackedMatrix, time: Duration) -> Result<f64, Failed> {
    let mut elements = vec![0u32; matrix.cols()];
    Seed(*b"pirlab calibrate").prg().fill_u32_at(0, &mut elements);
    let query = [Vector32::prepare(&elements)];
    let mut out = vec![0u32; matrix.rows()];
    median_time(time, || ring::matvec::matvec(kernel, matrix, &query, &mut [&mut out[..]], 1))
}

/// Median seconds of a call, over as many as fit in `time`, at least three, after one to warm up.
fn median_time<E: Into<Failed>>(time: Duration, mut call: impl FnMut() -> Result<(), E>) -> Result<f64, Failed> {
    call().map_err(Into::into)?;
    let start = Instant::now();
    let mut samples = Vec::new();
    while samples.len() < 3 || start.elapsed() < time {
        let begun = Instant::now();
        call().map_err(Into::into)?;
        samples.push(begun.elapsed().as_secs_f64());
    }
    samples.sort_by(f64::total_cmp);
    Ok(samples[samples.len() / 2])
}
