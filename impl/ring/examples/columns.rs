//! The product of columns of 16-bit entries with a query beside reading as many bytes, interleaved: the median and the best of the
//! ratios of their speeds. Argument: MiB of the matrix (default 512).

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use ring::bandwidth::Probe;
use ring::matrix::column;
use ring::{ColumnMatrix, Kernel, Modulus, ResidueVector};

const N: usize = 2048;
const ROUNDS: usize = 15;
/// Streams and prefetch distances of reading, of which the fastest counts.
const READING: [(usize, usize); 6] = [(1, 0), (2, 0), (4, 0), (2, 4096), (4, 4096), (1, 16384)];

fn main() -> Result<(), Box<dyn Error>> {
    let mebibytes: usize = std::env::args().nth(1).map_or(Ok(512), |argument| argument.parse())?;
    let rows = 8 * N;
    let cols = (mebibytes << 20) / (2 * rows);
    let mut matrix = ColumnMatrix::new(rows, cols, N)?;
    let mixed = |i: usize| (i as u32).wrapping_mul(2_654_435_761);
    let entries: Vec<i16> = (0..column::LINE * cols).map(|i| mixed(i) as i16).collect();
    for first in (0..rows).step_by(column::LINE) {
        matrix.set_rows((first, column::LINE), (0, cols), &entries, cols)?;
    }
    let moduli: Vec<Modulus<u32>> =
        [268_369_921u32, 249_561_089].into_iter().map(Modulus::new).collect::<Result<_, _>>()?;
    let residues: Vec<u32> = (0..2 * rows).map(|i| mixed(i) % 249_561_089).collect();
    let queries = [ResidueVector::new(&moduli, &residues)?];
    let kernel = Kernel::best();
    let probe = Probe::new(kernel, mebibytes << 20)?;
    let (mut reading, mut product) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let fastest = READING.iter().map(|(streams, ahead)| probe.once(*streams, *ahead)).fold(0.0, f64::max);
        reading.push(fastest);
        let start = Instant::now();
        black_box(column::product(kernel, &matrix, &queries, 1)?);
        product.push(matrix.stored_bytes() as f64 / start.elapsed().as_secs_f64());
    }
    let best = |speeds: &[f64]| speeds.iter().copied().fold(0.0, f64::max);
    let mut ratios: Vec<f64> = product.iter().zip(&reading).map(|(product, reading)| product / reading).collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "{kernel}: reading {:.1} GB/s at best, product {:.1} GB/s, {:.2} of it; median of {ROUNDS} ratios {:.2}",
        best(&reading) / 1e9,
        best(&product) / 1e9,
        best(&product) / best(&reading),
        ratios[ROUNDS / 2],
    );
    Ok(())
}
