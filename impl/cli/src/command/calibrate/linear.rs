//! Costs of the linear schemes: packed and dense matrices modulo 2^32, generators, record codes, messages.

use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;

use gadget::Balanced32;
use pir::core::wire::FrameBuilder;
use pir::parts::lwe_matrix::RecordCode;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{DiscreteGaussian, Kernel, PackedMatrix, PreparedVector, Seed, StdDev, Vector32};

use super::costs::{Scale, UnitCosts};
use super::timing::{self, Failed, Timer};
use crate::measure::child::Worker;
use crate::measure::job::Step;
use crate::protocol::plan::Plan;
use crate::protocol::row::{DATABASE, Row};

/// Width of packed entries: that of the published sets at a gigabyte.
const WIDTH: u32 = 10;
/// Columns of the hint products: the LWE dimension of the published sets.
const DIMENSION: usize = 1024;
/// Columns of the packed matrices of the curve; rows from eight on.
const COLUMNS: usize = 4096;
/// Queries answered together where a batch is measured: kernels unpack entries for four at a time.
const BATCH: usize = 8;
/// Queries that share a pass over a matrix that is in no cache.
const SHARED: usize = 4;

/// A set for databases of one record.
const SIMPLEPIR: &str = r#"
protocol = "simplepir"
title = "What a phase costs"
source = { kind = "toy" }
lwe = { dimension = 1024, modulus = "2^32", secret = { kind = "uniform" }, error = { stddev = 6.4 } }
plain_moduli = [{ log2_samples = 13, modulus = 991 }]
"#;

fn generator() -> ring::Prg {
    Seed(*b"pirlab calibrate").prg()
}

fn words(count: usize) -> Vec<u32> {
    let mut words = vec![0u32; count];
    generator().fill_u32_at(0, &mut words);
    words
}

/// What the smallest product costs with nothing of it in cache. It is part of `phases`, so it is taken off the cost of bytes.
fn smallest_product(kernel: Kernel, timer: &Timer) -> Result<f64, Failed> {
    let (matrix, query) = (matrix(8, 32)?, [Vector32::prepare(&words(32))]);
    let mut out = [0u32; 8];
    timer.cold(|| ring::matrix::packed::matvec(kernel, &matrix, &query, &mut [&mut out[..]], 1))
}

/// Products with packed matrices.
pub(super) fn packed(kernel: Kernel, scale: &Scale, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let query = [Vector32::prepare(&words(COLUMNS))];
    let base = smallest_product(kernel, timer)?;
    for rows in [8, 128, 2048, scale.pick(52_428, 4096)] {
        let start = std::time::Instant::now();
        let matrix = matrix(rows, COLUMNS)?;
        let (encoding, bytes) = (start.elapsed().as_secs_f64(), matrix.stored_bytes());
        let mut out = vec![0u32; rows];
        let call = timer.cold(|| ring::matrix::packed::matvec(kernel, &matrix, &query, &mut [&mut out[..]], 1))?;
        costs.at("matvec_bytes", bytes, (call - base).max(0.1 * call) / bytes as f64);
        let queries: Vec<_> = (0..SHARED).map(|_| Vector32::prepare(&words(COLUMNS))).collect();
        let call = timer.cold(|| ring::matrix::packed::matvec_new(kernel, &matrix, &queries, 1))?;
        costs.one("batch_multiply_adds_packed", (call - base).max(0.1 * call) / (rows * COLUMNS * SHARED) as f64);
        // That of the largest stays, where nothing fixed counts.
        costs.one("bytes_written", encoding / bytes as f64);
    }

    let (rows, columns) = (4096, 1024);
    let matrix = matrix(rows, columns)?;
    let queries: Vec<_> = (0..BATCH).map(|_| Vector32::prepare(&words(columns))).collect();
    let together = timer.warm(|| ring::matrix::packed::matvec_new(kernel, &matrix, &queries, 1))?;
    let narrow = self::matrix(rows, 32)?;
    let queries: Vec<_> = (0..BATCH).map(|_| Vector32::prepare(&words(32))).collect();
    let sums = |queries: &[PreparedVector]| {
        timer.warm(|| ring::matrix::packed::matvec_new(kernel, &narrow, queries, 1).map(drop))
    };
    let narrow_adds = (rows * 32 * BATCH) as f64;
    let wide_adds = (rows * columns * BATCH) as f64;
    let add = slope((narrow_adds, sums(&queries)?), (wide_adds, together));
    costs.one("multiply_adds_packed", add);
    // A row's sum with one query; in a batch, further queries share what a row costs beside it.
    let beside = |queries: &[PreparedVector]| -> Result<f64, Failed> {
        Ok((sums(queries)? - add * (rows * 32 * queries.len()) as f64).max(0.0) / rows as f64)
    };
    let (one, several) = (beside(&queries[..1])?, beside(&queries)?);
    costs.one("row_sums", one);
    costs.one("further_row_sums", (several - one).max(0.0) / (BATCH - 1) as f64);
    Ok(())
}

/// Seconds an operation, from a few operations and many: at least a tenth of what each of the many took, since a disturbed call
/// of few may even take longer.
fn slope((few, short): (f64, f64), (many, long): (f64, f64)) -> f64 {
    ((long - short) / (many - few)).max(0.1 * long / many)
}

/// The hint's products: a packed matrix times a dense one.
pub(super) fn matrices(kernel: Kernel, scale: &Scale, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let depth = 2048;
    let a = words(depth * DIMENSION);
    let mut times = Vec::new();
    let sizes = [8, scale.pick(512, 64)];
    for rows in sizes {
        let d = matrix(rows, depth)?;
        let mut out = vec![0; rows * DIMENSION];
        times.push(timer.warm(|| ring::matrix::packed::matmul_accumulate(kernel, &d, 0, &a, DIMENSION, &mut out, 1))?);
    }
    let adds = sizes.map(|rows| (rows * depth * DIMENSION) as f64);
    let add = slope((adds[0], times[0]), (adds[1], times[1]));
    costs.one("matrix_multiply_adds", add);
    let left = times[0] - add * adds[0];
    costs.one("matrix_words", left.max(0.0) / (depth * DIMENSION) as f64);

    let rows = 64;
    let x = words(DIMENSION);
    let mut out = vec![0; rows];
    let call = timer.warm(|| ring::matrix::dense::matvec_u32(kernel, &a[..rows * DIMENSION], &x, &mut out, 1))?;
    costs.one("multiply_adds_u32", call / (rows * DIMENSION) as f64);
    Ok(())
}

/// Generators and codes.
pub(super) fn codes(timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let mut bytes = vec![0u8; 1 << 20];
    let call = timer.warm(|| {
        generator().fill_at(0, &mut bytes);
    })?;
    costs.one("prg_bytes", call / bytes.len() as f64);

    let gaussian = DiscreteGaussian::new(StdDev(6.4))?;
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let mut samples = vec![0i32; 1 << 14];
    let call = timer.warm(|| {
        gaussian.fill(&mut rng, &mut samples);
    })?;
    costs.one("gaussian_samples", call / samples.len() as f64);

    let code = RecordCode::new(2048, 495);
    let (record, mut digits) = (vec![0xa5; 256], vec![0u16; code.entries_per_record() as usize]);
    let call = timer.warm(|| {
        for _ in 0..64 {
            code.digits(black_box(&record), &mut digits);
        }
    })?;
    costs.one("digit_conversions", call / (64 * digits.len()) as f64);

    let balanced = Balanced32::new(552).ok_or("no balanced digits in base 552")?;
    let (residues, mut digits) = (words(1 << 12), vec![0i16; balanced.length()]);
    let call = timer.warm(|| {
        for &residue in &residues {
            balanced.decompose(black_box(residue), &mut digits);
            black_box(&digits);
        }
    })?;
    costs.one("balanced_digits", call / (residues.len() * balanced.length()) as f64);
    Ok(())
}

/// Messages, which the other party has just written, and memory that is new to the process.
pub(super) fn messages(timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    let count = 1 << 14;
    let values = words(count);
    let mut builder = FrameBuilder::new(4 * count);
    builder.put_words(0, &values);
    let query = builder.finish("calibrate", "query");
    let read = timer.recent(|| {
        let message = query.clone().check("calibrate", "query", 4 * count as u64)?;
        black_box(Vector32::prepare(&message.native_words(0, count)));
        Ok::<_, Failed>(())
    })?;
    costs.one("words_read", read / count as f64);
    let write = timer.recent(|| {
        let mut builder = FrameBuilder::new(4 * count);
        builder.put_words(0, &values);
        black_box(builder.finish("calibrate", "answer"));
    })?;
    costs.one("words_written", write / count as f64);

    // More than the allocator keeps, so that each call's memory is new.
    let bytes = 16 << 20;
    let fresh = timer.warm(|| {
        let mut memory = vec![0u8; bytes];
        memory.chunks_mut(4096).for_each(|page| page[0] = 1);
        black_box(memory);
    })?;
    costs.one("allocated_bytes", fresh / bytes as f64);
    Ok(())
}

/// The answer of SimplePIR's server to queries for its only record, of one bit: what every phase costs, and what a further query does. Measured
/// as rows are, by workers that take turns and find the caches empty: a session that nobody interrupts answers in half the time.
pub(super) fn phase(kernel: Kernel, timer: &Timer, costs: &mut UnitCosts) -> Result<(), Failed> {
    // Where queries are few this counts: four run through other code than one.
    const FURTHER: u64 = 3;
    let mut set = tempfile::Builder::new().suffix(".toml").tempfile()?;
    set.write_all(SIMPLEPIR.as_bytes())?;
    let start = |queries: u64| {
        let row = Row {
            id: "calibrate".into(),
            parameters: set.path().into(),
            with: Default::default(),
            records: 1,
            record_bits: 1,
            queries,
            updates: 0,
            repetitions: 1,
            threads: 1,
            streamed: false,
            database: DATABASE.into(),
            kernel: kernel.to_string(),
            seed: Some("1".into()),
            noise_seconds: Some(0.0),
            time_limit_seconds: None,
            predicted_seconds: None,
            out: PathBuf::new(),
        };
        Worker::<Plan>::start(&row, None)
    };
    // As many as the largest groups have rows: each finds less of what it left the more others come between.
    let mut workers = Vec::new();
    for place in 0..6 {
        workers.push(start(if place % 2 == 0 { 1 } else { 1 + FURTHER })?);
    }
    workers.iter_mut().try_for_each(|worker| worker.take(Step::Prepare).map(drop))?;
    timer.turns(|caches| {
        workers.iter_mut().try_for_each(|worker| {
            caches.flush();
            worker.take(Step::Repetition).map(drop)
        })
    })?;
    let (mut one, mut several) = (Vec::new(), Vec::new());
    for (place, worker) in workers.iter_mut().enumerate() {
        let report = worker.take(Step::Finish)?.ok_or("a worker has no report")?;
        let answer = report.phases.into_iter().find(|phase| phase.name == "answer").ok_or("SimplePIR has no answer")?;
        if place % 2 == 0 { &mut one } else { &mut several }.extend(answer.seconds);
    }
    let (one, several) = (timing::median(one), timing::median(several));
    costs.one("phases", one);
    costs.one("queries", (several - one).max(0.0) / FURTHER as f64);
    Ok(())
}

/// A matrix of random packed entries.
fn matrix(rows: usize, cols: usize) -> Result<PackedMatrix, Failed> {
    let mut matrix = PackedMatrix::new(rows, cols, WIDTH)?;
    let mut bits = vec![0u8; (cols * WIDTH as usize).div_ceil(8) + 8];
    let prg = generator();
    for row in 0..rows {
        prg.fill_at(row as u64 * bits.len() as u64, &mut bits);
        matrix.set_row_from_bits(row, &bits, 0)?;
    }
    Ok(matrix)
}
