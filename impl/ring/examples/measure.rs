//! Prints how near the kernels come to what the machine allows: `cargo run --release --example measure [rows cols width]`.
//! Products and bandwidth probes alternate in one process; figures are medians of nine.

use rayon::prelude::*;
use ring::bandwidth::Probe;
use ring::matrix::{dense, packed};
use ring::{DiscreteGaussian, Kernel, PackedMatrix, Prg, StdDev, Vector32, Words};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 9;

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let &[rows, cols, width, ..] = arguments.as_slice() else {
        return Err("arguments: rows cols width [columns of A for the matrix product]".into());
    };
    let width = width as u32;
    let mut matrix = PackedMatrix::new(rows, cols, width)?;
    let prg = Prg::new([1; 16]);
    let row_bytes = (cols * width as usize).div_ceil(8) + 600;
    let mut row = vec![0; row_bytes];
    prg.fill_at(0, &mut row);
    let encode = seconds(|| {
        for mut block in matrix.blocks_mut() {
            for r in 0..block.rows() {
                assert!(width == 16 || block.set_row_from_bits(r, &row, 3 + r as u64).is_ok());
            }
        }
    });
    let payload = rows as f64 * cols as f64 * f64::from(width) / 8.0;
    println!("encode rows from bits, first touch: {:.2} GB/s", payload / encode / 1e9);
    let encode = seconds(|| {
        for mut block in matrix.blocks_mut() {
            for r in 0..block.rows() {
                assert!(width == 16 || block.set_row_from_bits(r, &row, r as u64).is_ok());
            }
        }
    });
    println!("encode rows from bits, again: {:.2} GB/s", payload / encode / 1e9);
    let best = Probe::new(Kernel::best(), 2 << 30)?;
    let reading = best.best(3);
    println!(
        "probe: {:.2} GB/s ({} streams, {} ahead)",
        reading.bytes_per_second / 1e9,
        reading.streams,
        reading.ahead
    );
    let elements: Vec<Vec<u32>> = (0..8u64)
        .map(|k| {
            let mut query = vec![0; cols];
            prg.fill_u32_at(k << 32, &mut query);
            query
        })
        .collect();
    for kernel in Kernel::available() {
        for k in [1, 2, 4, 8] {
            let prepared: Vec<_> = elements[..k].iter().map(|query| Vector32::prepare(query)).collect();
            let mut out = vec![vec![0; rows]; k];
            let (mut times, mut probes) = (Vec::new(), Vec::new());
            for _ in 0..if kernel == Kernel::Scalar { 1 } else { ROUNDS } {
                probes.push(best.once(reading.streams, reading.ahead));
                let mut parts: Vec<&mut [u32]> = out.iter_mut().map(Vec::as_mut_slice).collect();
                times.push(seconds(|| packed::matvec(kernel, &matrix, &prepared, &mut parts, 1).unwrap_or_default()));
            }
            let (rate, probe) = (matrix.stored_bytes() as f64 / median(times), median(probes));
            println!(
                "matvec {kernel}, {k} queries: {:.2} GB/s, probe {:.2} GB/s, ratio {:.3}",
                rate / 1e9,
                probe / 1e9,
                rate / probe
            );
            if kernel == Kernel::Scalar {
                break;
            }
        }
    }

    let n = arguments.get(3).copied().unwrap_or(1024);
    let chunk = packed::RECOMMENDED_CHUNK_ROWS.min(cols / 32 * 32);
    let mut a = vec![0; chunk * n];
    prg.fill_u32_at(0, &mut a);
    let mut hint = vec![0; rows * n];
    for kernel in Kernel::available().into_iter().filter(|kernel| *kernel != Kernel::Scalar) {
        let mut run = || {
            let result = packed::matmul_accumulate(kernel, &matrix, 0, &a, n, &mut hint, 1);
            assert!(result.is_ok());
        };
        run();
        let time = median((0..3).map(|_| seconds(&mut run)).collect());
        let products = rows as f64 * chunk as f64 * n as f64;
        println!(
            "matmul {kernel}, {chunk} columns: {time:.3} s, {:.1} G products/s, whole matrix {:.1} s",
            products / time / 1e9,
            time * cols as f64 / chunk as f64
        );
    }

    let (l, n) = (65536, 1024);
    let mut a = Words::zeroed(l * n)?;
    a.par_chunks_mut(n).enumerate().for_each(|(i, row)| prg.fill_u32_at((i * n) as u64, row));
    let (x, mut long, mut short) = (&elements[0][..n.min(cols)], vec![0; l], vec![0; 4 * n]);
    let x: Vec<u32> = x.iter().copied().chain(std::iter::repeat(1)).take(n).collect();
    let digits: Vec<i16> = (0..4 * l).map(|i| (i % 999) as i16 - 500).collect();
    for kernel in Kernel::available() {
        let bytes = (4 * l * n) as f64 / 1e9;
        let probe = median((0..ROUNDS).map(|_| best.once(reading.streams, reading.ahead)).collect()) / 1e9;
        let dot = median(
            (0..ROUNDS)
                .map(|_| seconds(|| black_box(dense::matvec_u32(kernel, &a, &x, &mut long, 1)).unwrap_or_default()))
                .collect(),
        );
        let acc = median(
            (0..ROUNDS)
                .map(|_| {
                    seconds(|| {
                        black_box(dense::digits_accumulate(kernel, &digits, l, &a, n, &mut short)).unwrap_or_default()
                    })
                })
                .collect(),
        );
        println!(
            "dense {kernel}: A*x {:.2} GB/s, digits (4 rows) {:.2} GB/s, probe {probe:.2} GB/s",
            bytes / dot,
            bytes / acc
        );
    }

    let mut bytes = vec![0u8; 64 << 20];
    let time = median((0..ROUNDS).map(|_| seconds(|| prg.fill_at(0, &mut bytes))).collect());
    println!("prg bytes: {:.2} GB/s", bytes.len() as f64 / time / 1e9);
    let time = median((0..ROUNDS).map(|_| seconds(|| prg.fill_u32_at(0, &mut a[..16 << 20]))).collect());
    println!("prg words: {:.2} GB/s", (64 << 20) as f64 / time / 1e9);
    for stddev in [3.2, 6.4, 81.4, 16384.0] {
        let gaussian = DiscreteGaussian::new(StdDev(stddev))?;
        let mut out = vec![0; 1 << 20];
        let time = seconds(|| gaussian.fill(&mut prg.rng(), &mut out));
        println!("gaussian stddev {stddev}: {:.1} M samples/s", out.len() as f64 / time / 1e6);
    }
    Ok(())
}
