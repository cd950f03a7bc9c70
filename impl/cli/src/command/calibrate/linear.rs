//! Costs of the linear schemes: packed and dense matrices modulo 2^32, generators, record codes, messages.

use std::hint::black_box;
use std::io::Write;

use gadget::Balanced32;
use pir::core::wire::FrameBuilder;
use pir::parts::lwe_matrix::RecordCode;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{DiscreteGaussian, PackedMatrix, PreparedVector, Seed, StdDev, Vector32};
use serde_json::json;

use super::calibrator::{Calibrator, Failed, Found, rest};
use super::lattice::residues;
use crate::measure::child::Worker;
use crate::measure::job::Step;
use crate::protocol::plan::Plan;
use crate::protocol::row::Row;
use crate::units::quartiles;

/// Width of packed entries, which the published sets have at a gigabyte.
const WIDTH: u32 = 10;
/// Columns of the hint products: the LWE dimension of the published sets.
const DIMENSION: usize = 1024;
/// Columns of the packed matrices of the curve; rows from eight on.
const COLUMNS: usize = 4096;
/// Queries of a measured batch: kernels unpack entries for four at a time.
const BATCH: usize = 8;
/// Queries that share a pass over a matrix that is not in any cache.
const SHARED: usize = 4;

/// A set for databases of one record.
const SIMPLEPIR: &str = r#"
protocol = "simplepir"
title = "What a phase costs"
source = { kind = "toy" }
lwe = { dimension = 1024, modulus = "2^32", secret = { kind = "uniform" }, error = { stddev = 6.4 } }
plain_moduli = [{ log2_samples = 13, modulus = 991 }]
"#;

fn words(count: usize) -> Vec<u32> {
    residues(count, 1 << 32)
}

fn queries(count: usize, columns: usize) -> Vec<PreparedVector> {
    (0..count).map(|_| Vector32::prepare(&words(columns))).collect()
}

/// Seconds of a packed matrix times queries.
fn product(c: &Calibrator, found: Found, matrix: &PackedMatrix, queries: &[PreparedVector]) -> Result<f64, Failed> {
    c.seconds(found, || ring::matrix::packed::matvec_new(c.kernel, matrix, queries, 1).map(drop))
}

/// The same with one query, which writes into existing memory as an answer does.
fn single(c: &Calibrator, matrix: &PackedMatrix, query: &[PreparedVector]) -> Result<f64, Failed> {
    let mut out = vec![0u32; matrix.rows()];
    c.seconds(Found::Cold, || ring::matrix::packed::matvec(c.kernel, matrix, query, &mut [&mut out[..]], 1))
}

/// Products with packed matrices.
pub(super) fn packed(c: &mut Calibrator) -> Result<(), Failed> {
    // The cost of the smallest product with empty caches. It is part of `phases`, so it is subtracted from the cost of bytes.
    let base = single(c, &matrix(8, 32)?, &queries(1, 32))?;
    let shared = queries(SHARED, COLUMNS);
    for rows in [8, 128, 2048, c.pick(52_428, 4096)] {
        let encoding = c.seconds(Found::Cold, || matrix(rows, COLUMNS))?;
        let matrix = matrix(rows, COLUMNS)?;
        let bytes = matrix.stored_bytes();
        let call = single(c, &matrix, &shared[..1])?;
        c.at("matvec_bytes", bytes, rest(call, base) / bytes as f64);
        // The costs of the largest size stay, for which fixed costs do not matter.
        let call = product(c, Found::Cold, &matrix, &shared)?;
        c.set("batch_multiply_adds_packed", rest(call, base) / (rows * COLUMNS * SHARED) as f64);
        c.set("bytes_written", encoding / bytes as f64);
    }

    let (rows, columns) = (4096, 1024);
    let together = product(c, Found::Warm, &matrix(rows, columns)?, &queries(BATCH, columns))?;
    let (narrow, queries) = (matrix(rows, 32)?, queries(BATCH, 32));
    let (one, several) =
        (product(c, Found::Warm, &narrow, &queries[..1])?, product(c, Found::Warm, &narrow, &queries)?);
    let adds = |columns: usize, queries: usize| (rows * columns * queries) as f64;
    let add = slope((adds(32, BATCH), several), (adds(columns, BATCH), together));
    c.set("multiply_adds_packed", add);
    // A row's sum with one query; in a batch, further queries share the other costs of a row.
    let beside = |sums: f64, queries: usize| (sums - add * adds(32, queries)).max(0.0) / rows as f64;
    let (one, several) = (beside(one, 1), beside(several, BATCH));
    c.set("row_sums", one);
    c.set("further_row_sums", (several - one).max(0.0) / (BATCH - 1) as f64);
    Ok(())
}

/// Seconds of an operation, from calls with few and with many: at least a tenth of the mean of the many, because a disturbed call
/// with few may even take longer.
fn slope((few, short): (f64, f64), (many, long): (f64, f64)) -> f64 {
    ((long - short) / (many - few)).max(0.1 * long / many)
}

/// The hint's products: a packed matrix times a dense one.
pub(super) fn matrices(c: &mut Calibrator) -> Result<(), Failed> {
    let (kernel, depth) = (c.kernel, 2048);
    let a = words(depth * DIMENSION);
    let few_and_many = [8, c.pick(512, 64)].map(|rows| -> Result<_, Failed> {
        let (d, mut out) = (matrix(rows, depth)?, vec![0; rows * DIMENSION]);
        let product = || ring::matrix::packed::matmul_accumulate(kernel, &d, 0, &a, DIMENSION, &mut out, 1);
        Ok(((rows * depth * DIMENSION) as f64, c.seconds(Found::Warm, product)?))
    });
    let [few, many] = few_and_many;
    let (few, many) = (few?, many?);
    let add = slope(few, many);
    c.set("matrix_multiply_adds", add);
    c.set("matrix_words", (few.1 - add * few.0).max(0.0) / (depth * DIMENSION) as f64);

    let (x, mut out) = (words(DIMENSION), vec![0; 64]);
    let entries = out.len() * DIMENSION;
    c.each("multiply_adds_u32", Found::Warm, entries, || {
        ring::matrix::dense::matvec_u32(kernel, &a[..entries], &x, &mut out, 1)
    })
}

/// Generators and codes.
pub(super) fn codes(c: &mut Calibrator) -> Result<(), Failed> {
    let (prg, mut bytes) = (Seed(*b"pirlab calibrate").prg(), vec![0u8; 1 << 20]);
    c.each("prg_bytes", Found::Warm, bytes.len(), || prg.fill_at(0, &mut bytes))?;

    let mut blocks = vec![[0u8; 16]; 1 << 12];
    c.each("prf_blocks", Found::Warm, blocks.len(), || prg.permute(black_box(&mut blocks)))?;
    // Sums of words from random places: of a table in the second-level cache, and of one that is not in any cache.
    let tables = [("hint_words_64", Found::Warm, 1 << 15), ("random_reads", Found::Cold, c.pick(1 << 25, 1 << 20))];
    for (name, found, length) in tables {
        let (table, places) = (vec![1u64; length], residues::<u32>(1 << 14, length as u64));
        c.each(name, found, places.len(), || {
            black_box(places.iter().fold(0, |sum, &place| sum ^ table[place as usize]));
        })?;
    }

    let gaussian = DiscreteGaussian::new(StdDev(6.4))?;
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let mut samples = vec![0i32; 1 << 14];
    c.each("gaussian_samples", Found::Warm, samples.len(), || gaussian.fill(&mut rng, &mut samples))?;

    let code = RecordCode::new(2048, 495);
    let (record, mut digits) = (vec![0xa5; 256], vec![0u16; code.entries_per_record() as usize]);
    c.each("digit_conversions", Found::Warm, 64 * digits.len(), || {
        for _ in 0..64 {
            code.digits(black_box(&record), &mut digits);
        }
    })?;

    let balanced = Balanced32::new(552).ok_or("no balanced digits in base 552")?;
    let (residues, mut digits) = (words(1 << 12), vec![0i16; balanced.length()]);
    c.each("balanced_digits", Found::Warm, residues.len() * balanced.length(), || {
        for &residue in &residues {
            balanced.decompose(black_box(residue), &mut digits);
            black_box(&digits);
        }
    })
}

/// Messages, which the other party has just written, and memory that is new to the process.
pub(super) fn messages(c: &mut Calibrator) -> Result<(), Failed> {
    let count = 1 << 14;
    let values = words(count);
    let write = |name: &str| {
        let mut builder = FrameBuilder::new(4 * count);
        builder.put_words(0, &values);
        builder.finish("calibrate", name)
    };
    let query = write("query");
    c.each("words_read", Found::Recent, count, || {
        let message = query.clone().check("calibrate", "query", 4 * count as u64)?;
        black_box(Vector32::prepare(&message.native_words(0, count)));
        Ok::<_, Failed>(())
    })?;
    c.each("words_written", Found::Recent, count, || {
        black_box(write("answer"));
    })?;
    // The size exceeds what the allocator keeps, so that each call's memory is new.
    let bytes = 16 << 20;
    c.each("allocated_bytes", Found::Warm, bytes, || {
        let mut memory = vec![0u8; bytes];
        memory.chunks_mut(4096).for_each(|page| page[0] = 1);
        black_box(memory);
    })
}

/// The answer of SimplePIR's server to queries for its only record, of one bit: the cost of every phase, and of a further query. It is
/// measured like rows, by workers that take turns and find the caches empty: an uninterrupted session answers in half the time.
pub(super) fn phase(c: &mut Calibrator) -> Result<(), Failed> {
    // This matters for few queries: four run through other code than one.
    const FURTHER: u64 = 3;
    let mut set = tempfile::Builder::new().suffix(".toml").tempfile()?;
    set.write_all(SIMPLEPIR.as_bytes())?;
    let start = |queries: u64| -> Result<_, Failed> {
        let row: Row = serde_json::from_value(json!({
            "id": "calibrate", "parameters": set.path(), "records": 1, "record_bits": 1, "queries": queries, "repetitions": 2,
            "kernel": c.kernel.to_string(), "seed": "1", "noise_seconds": 0.0, "out": "",
        }))?;
        Ok(Worker::<Plan>::start(&row, None)?)
    };
    // As many workers as the largest groups have rows: the more of them, the less of its data each still finds in caches.
    let places = [1, 1 + FURTHER].repeat(3);
    let mut workers = places.iter().map(|&queries| start(queries)).collect::<Result<Vec<_>, _>>()?;
    workers.iter_mut().try_for_each(|worker| worker.take(Step::Prepare).map(drop))?;
    c.turns(|caches| {
        workers.iter_mut().try_for_each(|worker| {
            worker.take(Step::WarmUp)?;
            caches.flush();
            Ok(worker.take(Step::Repetition).map(drop)?)
        })
    })?;
    let (mut one, mut several) = (Vec::new(), Vec::new());
    for (queries, worker) in places.iter().zip(&mut workers) {
        let report = worker.take(Step::Finish)?.ok_or("a worker has no report")?;
        let answer =
            report.measured.phases.into_iter().find(|phase| phase.name == "answer").ok_or("SimplePIR has no answer")?;
        if *queries == 1 { &mut one } else { &mut several }.extend(answer.seconds);
    }
    let median = |samples: &[f64]| quartiles(samples).map(|(_, median, _)| median).ok_or("a worker has no answer");
    let (one, several) = (median(&one)?, median(&several)?);
    c.set("phases", one);
    c.set("queries", (several - one).max(0.0) / FURTHER as f64);
    Ok(())
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
