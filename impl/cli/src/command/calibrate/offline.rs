//! Costs of preprocessing and updates: encoding, interpolation, hints, packing tables. Each is the rest of a call after subtracting its
//! operations with known costs.

use std::hint::black_box;

use ::lattice::pack::{Method, Packing};
use ::lattice::{RingGadget, Workspace};
use gadget::{Coins, Family};
use pir::parts::digits::{Digits, centred_digits};
use pir::parts::lwe_matrix::NegacyclicMatrix;
use pir::protocol::inspire::{Code, Interpolate, Interpolation};
use ring::matrix::column::{EXCESS, LINE, ring_products};
use ring::{ColumnMatrix, Kind, Modulus, PackedMatrix, Seed, Vectors, Work};

use super::calibrator::{Calibrator, Failed, Found};
use super::lattice::{N, ring};

/// Digits of packing: three, of 19 bits.
const BASE: u64 = 1 << 19;
/// Ciphertexts of a small packing.
const FEW: usize = 64;
/// Plaintext modulus of interpolations, bits of cut entries.
const P: u32 = 65537;
const CUT_BITS: u32 = 14;

/// Matrices of 16-bit entries: written by rows, their entries changed one by one, their columns transformed.
pub(super) fn columns(c: &mut Calibrator) -> Result<(), Failed> {
    let cols = c.pick(8192, 1024);
    let fill = || -> Result<ColumnMatrix, Failed> {
        let mut matrix = ColumnMatrix::new(N, cols, N)?;
        for row in (0..N).step_by(LINE) {
            let entries = black_box(vec![row as i16; LINE * cols]);
            matrix.set_rows((row, LINE), (0, cols), &entries, cols)?;
        }
        Ok(matrix)
    };
    c.each("column_entries", Found::Warm, N * cols, &fill)?;

    let mut matrix = fill()?;
    let mut row = 0;
    c.each("scattered_entries", Found::Cold, cols, || -> Result<(), Failed> {
        row = (row + 77) % N;
        for col in 0..cols {
            let entry = matrix.get(row, col);
            matrix.set(row, col, 1 - entry)?;
        }
        Ok(())
    })?;
    // One entry in 2^16 of whitened polynomials is listed. Every entry is read, then changed.
    for i in 0..(N * cols) >> 16 {
        matrix.set(i * 997 % N, i * 101 % cols, EXCESS)?;
    }
    let mut old = vec![0; cols.min(N)];
    c.each("listed_entries", Found::Cold, old.len(), || -> Result<(), Failed> {
        row = (row + 77) % N;
        old.iter_mut().enumerate().for_each(|(col, old)| *old = matrix.get(row, col));
        for (col, old) in old.iter().enumerate() {
            let entry = matrix.get(row, col);
            matrix.set(row, col, if entry == *old { 1 - entry.min(1) } else { 0 })?;
        }
        Ok(())
    })?;

    let ring = ring(N, c.kernel)?;
    let factors = [ring.expand(&Seed([9; 16]).prg(), 0)];
    let mut out: Vec<_> = (0..c.pick(512, 64)).map(|_| ring.zero()).collect();
    let (columns, entries) = (out.len() as u64, (out.len() * N) as u64);
    let work = ring.shape().transforms(columns) + ring.shape().products(columns);
    c.beside(Kind::WidenedEntries, Found::Cold, &(work + Work::of(Kind::WidenedEntries, &[entries])), || {
        ring_products(&matrix, &ring, &factors, 0, &mut out)
    })
}

/// Entries cut from records, coefficients of InsPIRe's polynomials, words of a first layer's hint.
pub(super) fn entries(c: &mut Calibrator) -> Result<(), Failed> {
    let count = 1 << 14;
    let (records, stream) = (vec![0x5a; 2 * count], vec![0xc3; 2 * count]);
    let (mut bytes, mut cut, mut centred) = (vec![0u8; 2 * count], vec![0u16; count], vec![0i16; count]);
    c.each("cut_entries", Found::Warm, count, || {
        bytes.copy_from_slice(black_box(&records));
        ring::bits::read_entries(&bytes, 0, CUT_BITS, &mut cut);
        let half = 1i32 << (CUT_BITS - 1);
        centred.iter_mut().zip(&cut).for_each(|(centred, cut)| *centred = (i32::from(*cut) - half) as i16);
        black_box(&centred);
    })?;

    let (code, mut residues) = (Code::new(P), vec![0u32; count]);
    c.each("plane_entries", Found::Warm, count, || {
        bytes.copy_from_slice(black_box(&records));
        bytes.iter_mut().zip(black_box(&stream)).for_each(|(byte, stream)| *byte ^= stream);
        code.encode(&bytes, &mut residues);
        for (centred, residue) in centred.iter_mut().zip(black_box(&residues)) {
            let residue = *residue as i32;
            let signed = if residue > P as i32 / 2 { residue - P as i32 } else { residue };
            *centred = signed.min(i16::MAX.into()) as i16;
        }
        black_box(&centred);
    })?;

    let (dimension, rows) = (1024, ring::matrix::packed::GROUP_ROWS);
    let mut matrix = PackedMatrix::new(rows, dimension, 8)?;
    (0..rows).try_for_each(|row| matrix.set_row(row, &vec![row as u16; dimension]))?;
    let hint = NegacyclicMatrix::new(Seed([3; 16]), dimension, c.kernel)?.hint(dimension);
    let mut digits = vec![0i16; 2 * dimension];
    let words = (rows * dimension) as u64;
    let work = Work::from([
        (Kind::Transform(dimension), 4 * rows as u64),
        (Kind::ResidueMultiplyAdds, 2 * words),
        (Kind::WidenedEntries, 2 * words),
        (Kind::HintWords, words),
    ]);
    c.beside(Kind::HintWords, Found::Warm, &work, || {
        hint.for_groups(&matrix, 128, 0..1, |_, words| {
            for words in words.chunks_exact(dimension) {
                let switched = words.iter().map(|word| ((u64::from(*word) * 268_369_921 + (1 << 31)) >> 32) as u32);
                centred_digits(Digits { value_bits: 28, digit_bits: 15 }, switched, &mut digits);
                black_box(&digits);
            }
            Ok(())
        })
    })
}

/// Butterflies of interpolations, and divisions of interpolations whose number of points is not a power of two.
pub(super) fn interpolation(c: &mut Calibrator) -> Result<(), Failed> {
    let (vectors, modulus) = (Vectors::new(c.kernel)?, Modulus::new(P)?);
    let methods =
        [("butterflies", Interpolate::CooleyTukey, 8, 8 / 2 * 3), ("divisions", Interpolate::Lagrange, 5, 5 * 4 / 2)];
    for (name, method, points, steps) in methods {
        let mut interpolation = Interpolation::new(method, modulus, vectors, N, (points, 1));
        let mut values: Vec<u32> = (0..points * N).map(|i| i as u32 * 40_503 % P).collect();
        c.each(name, Found::Warm, steps * N, || {
            interpolation.interpolate(black_box(&mut values));
        })?;
    }
    Ok(())
}

/// Packing tables, in memory that is new: InspiRING's of few ciphertexts and of a whole polynomial's, and those of CDKS.
pub(super) fn tables(c: &mut Calibrator) -> Result<(), Failed> {
    let n = c.pick(N, 1024);
    let ring = ring(n, c.kernel)?;
    let gadget = RingGadget::new(&ring, Family::Unsigned, BASE, 0)?;
    let mask = ring.expand(&Seed([5; 16]).prg(), 0);
    let kinds = [
        (Kind::SmallTableSlots, Method::Inspiring, FEW),
        (Kind::TableSlots, Method::Inspiring, n),
        (Kind::TreeSlots, Method::Cdks, n),
    ];
    for (kind, method, gamma) in kinds {
        let packing = Packing::new(method, &gadget, gamma)?;
        let (masks, hints) = (packing.masks(Seed([6; 16])), vec![mask.clone(); gamma]);
        let mut workspace = Workspace::new(Coins::from_seed(Seed([0; 16])));
        let work = method.preprocess_work(gadget.shape(), gamma);
        c.beside(kind, Found::Warm, &work, || packing.preprocess(&masks, &hints, &mut workspace))?;
    }
    Ok(())
}
