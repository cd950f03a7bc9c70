//! Sums of 32-bit products as percentages of what the multiply port of a core with AVX-512 makes, measured in turn:
//! `cargo run --release -p pirlab-ring --example multiply_port [rounds]`. Medians of short samples, which other processes disturb
//! less than Criterion's.

use std::error::Error;

#[cfg(target_arch = "x86_64")]
mod measure {
    use ring::residues::{TILE, Vectors};
    use ring::{Buffer, Kernel, Modulus};
    use std::hint::black_box;
    use std::time::Instant;

    /// Products of [`port`].
    const PRODUCTS: usize = 1 << 14;
    const Q: u32 = 268_369_921;

    /// Products of eight lanes that wait for nothing.
    #[target_feature(enable = "avx512f")]
    fn port() {
        let a = std::arch::x86_64::_mm512_set1_epi64(5);
        for _ in 0..PRODUCTS / 128 {
            // SAFETY: the processor has AVX-512, as the feature says; nothing but registers is touched.
            unsafe {
                std::arch::asm!(
                    ".rept 16", "vpmuludq {0}, {1}, {1}", ".endr",
                    out(zmm_reg) _, in(zmm_reg) a, options(nomem, nostack)
                );
            }
        }
    }

    /// Nanoseconds per product of one call.
    fn sample(products: usize, call: &mut dyn FnMut()) -> f64 {
        let calls = (400_000 / products).max(1);
        call();
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_nanos() as f64 / (calls * products) as f64
    }

    fn median(mut samples: Vec<f64>) -> f64 {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    }

    fn residues(len: usize) -> Result<Buffer<u32>, Box<dyn std::error::Error>> {
        let mut words = Buffer::<u32>::zeroed(len)?;
        words.iter_mut().enumerate().for_each(|(i, word)| *word = (i as u32).wrapping_mul(2_654_435_761) % Q);
        Ok(words)
    }

    /// Slices of one input, tiles of one and of four.
    pub fn shape(rounds: usize, [n, terms, columns]: [usize; 3]) -> Result<[f64; 3], Box<dyn std::error::Error>> {
        const GROUPS: usize = 4;
        let (vectors, modulus, pitch) = (Vectors::new(Kernel::Avx512)?, Modulus::new(Q)?, n + TILE);
        let (left, right) = (residues(GROUPS * terms * pitch)?, residues(terms * columns * pitch)?);
        let (mut first, mut second) = (residues(columns * pitch)?, residues(columns * pitch)?);
        let mut third = residues(GROUPS * columns * pitch)?;
        let lefts: Vec<&[u32]> = left.chunks_exact(pitch).take(terms).map(|words| &words[..n]).collect();
        let rights: Vec<&[u32]> = right.chunks_exact(pitch).map(|words| &words[..n]).collect();
        let mut outs: Vec<&mut [u32]> = first.chunks_exact_mut(pitch).map(|words| &mut words[..n]).collect();
        let (tiles, products) = (right.chunks_exact(terms * n).take(columns).collect::<Vec<_>>(), n * terms * columns);
        let mut samples = [(); 4].map(|()| Vec::with_capacity(rounds));
        for _ in 0..rounds {
            // SAFETY: the kernel was found available.
            samples[0].push(sample(PRODUCTS, &mut || unsafe { port() }));
            let mut call = || vectors.sum_products(&modulus, black_box(&lefts), &rights, &mut outs);
            samples[1].push(sample(products, &mut call));
            let mut call = || vectors.sum_tiles(&modulus, n, black_box(&left[..terms * pitch]), &tiles, &mut second);
            samples[2].push(sample(products, &mut call));
            let mut call = || vectors.sum_tiles(&modulus, n, black_box(&left), &tiles, &mut third);
            samples[3].push(sample(GROUPS * products, &mut call));
        }
        let [port, one, tiled, four] = samples.map(median);
        Ok([one, tiled, four].map(|time| 100.0 * port / time))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    #[cfg(target_arch = "x86_64")]
    if ring::Kernel::available().contains(&ring::Kernel::Avx512) {
        let rounds = std::env::args().nth(1).map_or(Ok(301), |rounds| rounds.parse())?;
        println!("    n terms columns   slices %    tiles %   tiles of four inputs %");
        for (n, terms, columns) in
            [(64, 32, 2), (64, 16, 8), (256, 6, 2), (2048, 6, 2), (2048, 6, 1), (2048, 8, 6), (2048, 8, 8)]
        {
            let [one, tiled, four] = measure::shape(rounds, [n, terms, columns])?;
            println!("{n:>5} {terms:>5} {columns:>7} {one:>10.1} {tiled:>10.1} {four:>24.1}");
        }
        return Ok(());
    }
    Err("skipped: the processor lacks AVX-512".into())
}
