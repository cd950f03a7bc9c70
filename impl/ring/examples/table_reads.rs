//! Reads a second of tables of all points modulo small primes, by [`Lookups`] and by a plain loop that makes the residues of a point, its
//! place, one read of a byte that was asked for ahead, and one addition; alternating on the same tables.
//!
//! `cargo run --release -p pirlab-ring --example table_reads -- [largest prime] [variables] [bytes a record]`

use std::hint::black_box;
use std::time::Instant;

use ring::primes::is_prime;
use ring::{Buffer, Kernel, Lookups, Seed, Small};

const BATCH: usize = 256;
const SECONDS: f64 = 2.0;

/// The plain loop: sums of a batch over all tables.
fn plain(tables: &[(u32, Buffer<u32>)], stride: usize, x: &[u32], sums: &mut [u64]) {
    let mut places = [[0usize; BATCH]; 2];
    for number in 0..=tables.len() {
        if let Some((prime, table)) = tables.get(number) {
            let reciprocal = 1.0 / f64::from(*prime);
            for (i, place) in places[number % 2].iter_mut().enumerate() {
                let residue = |x: u32| x - ((f64::from(x) + 0.5) * reciprocal) as u32 * prime;
                *place =
                    x.chunks_exact(BATCH).fold(0, |place, x| place * *prime as usize + residue(x[i]) as usize) * stride;
                #[cfg(target_arch = "x86_64")]
                // SAFETY: a prefetch cannot fault.
                unsafe {
                    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                    _mm_prefetch::<_MM_HINT_T0>(table.bytes().as_ptr().wrapping_add(*place).cast());
                }
            }
        }
        if let Some((_, table)) = number.checked_sub(1).and_then(|number| tables.get(number)) {
            let bytes = table.bytes();
            for (sum, place) in sums.iter_mut().zip(&places[(number + 1) % 2]) {
                *sum += u64::from(bytes[*place]);
            }
        }
    }
}

/// The loops of a table, as an evaluation has them: with two sums of products for an addition.
fn lookups(lookups: Lookups, tables: &[(u32, Buffer<u32>)], stride: usize, x: &[u32], sums: &mut [Vec<u64>; 2]) {
    let (mut places, mut read) = ([[0; BATCH]; 2], [0; BATCH]);
    let mut high = [(); 2].map(|()| vec![0; x.len()]);
    let [first, second] = sums;
    for number in 0..=tables.len() {
        if let Some((prime, table)) = tables.get(number) {
            let (Some(modulus), side) = (Small::new((*prime).into()), number % 2) else { return };
            match Small::new(u64::from(prime * prime)).filter(|_| stride > 1) {
                Some(square) => lookups.split_places((modulus, square), x, 3, &mut places[side], &mut high[side]),
                None => lookups.places(modulus, x, 3, &mut places[side]),
            }
            lookups.ask(table.bytes(), stride, &places[side]);
        }
        let Some((prime, table)) = number.checked_sub(1).and_then(|number| tables.get(number)) else { continue };
        let (side, Some(modulus)) = ((number + 1) % 2, Small::new((*prime).into())) else { return };
        if stride > 1 {
            lookups.jets(modulus, (table.bytes(), stride, 0), &places[side], &high[side], &mut read);
        } else {
            lookups.bytes(table.bytes(), (stride, 0), &places[side], &mut read);
        }
        lookups.add_products(&read, [12_345, 54_321], first, second);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let mut next = |default: usize| numbers.next().unwrap_or(Ok(default));
    let (largest, variables, stride) = (next(127)?, next(4)?, next(1)?);
    let primes = (3..=largest as u32).rev().filter(|p| is_prime((*p).into()));
    let table = |prime: u32| {
        let mut table = Buffer::zeroed((prime.pow(variables as u32) as usize * stride + 8).div_ceil(4))?;
        table.fill(0x0102_0301);
        Ok::<_, ring::WordsError>((prime, table))
    };
    let tables = primes.map(table).collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = tables.iter().map(|(_, table)| table.bytes().len()).sum();
    println!("{} tables, {:.2} GiB", tables.len(), bytes as f64 / f64::from(1 << 30));
    let (prg, count) = (Seed([3; 16]).prg(), BATCH * variables);
    let mut random = vec![0; 4 * count];
    let mut counter = 0;
    let mut x = move || {
        prg.fill_at(counter, &mut random);
        counter += 4 * count as u64;
        random.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) >> 4).collect::<Vec<_>>()
    };
    let (mut sums, mut pair) = (vec![0; BATCH], [(); 2].map(|()| vec![0; BATCH]));
    let path = Lookups::new(Kernel::best())?;
    for _ in 0..3 {
        let mut rate = |work: &mut dyn FnMut(&[u32])| {
            let (start, mut reads) = (Instant::now(), 0);
            while start.elapsed().as_secs_f64() < SECONDS {
                work(&x());
                reads += BATCH * tables.len();
            }
            reads as f64 / start.elapsed().as_secs_f64() / 1e6
        };
        let loops = rate(&mut |x| plain(&tables, stride, x, black_box(&mut sums)));
        let ours = rate(&mut |x| lookups(path, &tables, stride, x, black_box(&mut pair)));
        println!("plain {loops:.1}, lookups {ours:.1} million reads a second: {:.2}", ours / loops);
    }
    Ok(())
}
