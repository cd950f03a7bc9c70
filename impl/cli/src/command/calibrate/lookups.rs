//! Costs of DEPIR's tables of a polynomial's values: reading them at points, and making them.

use std::hint::black_box;

use ring::{Buffer, Lookups, Seed, Small};

use super::calibrator::{Calibrator, Failed, Found};

/// Points of a batch, and their coordinates.
const BATCH: usize = 256;
const VARIABLES: usize = 4;
/// Values, or values with derivatives, read at random places of a table that no cache holds, while the next places are asked for.
pub(super) fn reads(c: &mut Calibrator) -> Result<(), Failed> {
    let prime = c.pick(113u32, 31);
    // Each measurement reads the same places again: their lines have to be more than a cache holds.
    let batches = c.pick(1 << 14, 64);
    let lookups = Lookups::new(c.kernel)?;
    let small = |modulus: u32| Small::new(modulus.into()).ok_or("a modulus below 2^16");
    let (modulus, square) = (small(prime)?, small(prime * prime)?);
    // Random points: those at a constant distance lie on few lines of the table, which a cache holds.
    let mut inputs = vec![0; batches * BATCH * VARIABLES];
    Seed(*b"pirlab calibrate").prg().fill_u32_at(0, &mut inputs);
    let (mut first, mut second, mut read) = (vec![0u64; BATCH], vec![0u64; BATCH], vec![0u32; BATCH]);
    let mut places = [(); 2].map(|()| vec![0u32; BATCH]);
    let mut high = [(); 2].map(|()| vec![0u32; BATCH * VARIABLES]);
    for (name, stride) in [("table_reads", 1), ("derivative_reads", 2 + VARIABLES)] {
        let mut table = Buffer::<u32>::zeroed((prime.pow(4) as usize * stride + 8).div_ceil(4))?;
        table.fill(0x0102_0304);
        let table = table.bytes();
        c.each(name, Found::Warm, batches * BATCH, || {
            for number in 0..=batches {
                let side = number % 2;
                if let Some(inputs) = inputs.chunks_exact(BATCH * VARIABLES).nth(number) {
                    if stride == 1 {
                        lookups.places(modulus, inputs, 0, &mut places[side]);
                    } else {
                        lookups.split_places((modulus, square), inputs, 0, &mut places[side], &mut high[side]);
                    }
                    lookups.ask(table, stride, &places[side]);
                }
                if number > 0 && stride == 1 {
                    lookups.bytes(table, (stride, 0), &places[1 - side], &mut read);
                } else if number > 0 {
                    lookups.jets(modulus, (table, stride, 0), &places[1 - side], &high[1 - side], &mut read);
                }
                lookups.add_products(&read, [7, 9], &mut first, &mut second);
            }
            black_box((&mut first, &mut second));
            first.fill(0);
            second.fill(0);
        })?;
    }
    Ok(())
}

/// Products and values of tables as they are made, row by row.
pub(super) fn making(c: &mut Calibrator) -> Result<(), Failed> {
    let lookups = Lookups::new(c.kernel)?;
    let modulus = Small::new(127).ok_or("a modulus below 2^16")?;
    let length = modulus.value() as usize;
    let (powers, mut sums, mut residues) = (vec![5u32; length], vec![0u64; length], vec![0u32; length]);
    let rows = 64;
    c.each("table_products", Found::Warm, rows * length, || {
        (0..rows as u32).for_each(|c| lookups.add_product(black_box(&powers), c, &mut sums));
        black_box(&mut sums).fill(0);
    })?;
    let mut records = vec![0u8; 4 * length];
    c.each("table_values", Found::Warm, rows * length, || {
        for _ in 0..rows {
            lookups.take(modulus, black_box(&mut sums), &mut residues);
            records.chunks_exact_mut(4).zip(&residues).for_each(|(record, residue)| record[0] = *residue as u8);
            black_box(&mut records);
        }
    })
}
