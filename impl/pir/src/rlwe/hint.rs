//! What ring queries meet on the server: products with columns of 16-bit entries, their hints, and packing.

use gadget::Coins;
use lattice::pack::{PackingKeys, PackingTable};
use lattice::{Rlwe, Workspace};
use rayon::prelude::*;
use ring::column_matrix::ring_products;
use ring::{Automorphism, Coefficient, ColumnMatrix, Kernel, Ntt, Poly, ResidueVector, Ring, Seed};

use crate::error::{Error, Result};

/// An error of the layers below that only a defect of this program causes.
pub(crate) fn internal(error: impl std::fmt::Display) -> Error {
    Error::Workload(format!("ring layer: {error}"))
}

/// X -> 1/X.
fn inversion(degree: usize) -> Result<Automorphism> {
    Automorphism::new(degree, 2 * degree as u64 - 1).map_err(internal)
}

/// The images of polynomials under X -> 1/X: of masks what hints are made with, of hints what packing takes.
pub(crate) fn inverted<'a>(
    ring: &Ring<u32>,
    polys: impl IntoIterator<Item = &'a Poly<u32, Ntt>>,
) -> Result<Vec<Poly<u32, Ntt>>> {
    let inversion = inversion(ring.n())?;
    Ok(polys.into_iter().map(|poly| ring.automorphism_ntt(poly, &inversion)).collect())
}

/// Buffers of packing; its coins are drawn by randomised gadgets only, which packing does not take.
pub(crate) fn workspace() -> Workspace<u32> {
    Workspace::new(Coins::from_seed(Seed([0; 16])))
}

/// [`ring_products`] of `count` columns from `first` on, by several threads.
pub(crate) fn products(
    matrix: &ColumnMatrix,
    ring: &Ring<u32>,
    factors: &[Poly<u32, Ntt>],
    (first, count): (usize, usize),
    threads: usize,
) -> Result<Vec<Poly<u32, Ntt>>> {
    let mut out: Vec<Poly<u32, Ntt>> = (0..count).map(|_| ring.zero()).collect();
    let each = count.div_ceil(threads.max(1)).max(1);
    let task = |(i, out): (usize, &mut [Poly<u32, Ntt>])| {
        ring_products(matrix, ring, factors, first + i * each, out).map_err(internal)
    };
    if threads <= 1 {
        out.chunks_mut(each).enumerate().try_for_each(task)?;
    } else {
        out.par_chunks_mut(each).enumerate().try_for_each(task)?;
    }
    Ok(out)
}

/// The products of a matrix with a query, as residues modulo each prime.
pub(crate) fn bodies(
    kernel: Kernel,
    matrix: &ColumnMatrix,
    queries: &[ResidueVector],
    threads: usize,
) -> Result<Vec<Vec<u32>>> {
    ring::column_matrix::product(kernel, matrix, queries, threads).map_err(internal)
}

/// The polynomial with `count` consecutive products (of all columns modulo the first prime, then the second) as its first
/// coefficients.
pub(crate) fn body_poly(ring: &Ring<u32>, products: &[u32], first: usize, count: usize) -> Poly<u32, Coefficient> {
    let mut poly = ring.zero();
    let columns = products.len() / ring.primes().len();
    for (limb, products) in poly.limbs_mut().zip(products.chunks_exact(columns)) {
        limb[..count].copy_from_slice(&products[first..first + count]);
    }
    poly
}

/// For each query, the outputs packed by each table: output x takes the products from column x d on. Each table is read once.
pub(crate) fn pack_all(
    ring: &Ring<u32>,
    tables: &[&PackingTable],
    keys: &[PackingKeys],
    products: &[Vec<u32>],
) -> Result<Vec<Vec<Rlwe<u32, Coefficient>>>> {
    let mut packed: Vec<Vec<_>> = keys.iter().map(|_| Vec::with_capacity(tables.len())).collect();
    for (x, table) in tables.iter().enumerate() {
        let polys: Vec<_> = products.iter().map(|products| body_poly(ring, products, x * ring.n(), ring.n())).collect();
        let batch: Vec<_> = keys.iter().zip(&polys).collect();
        let outputs = table.pack_batch(&batch).map_err(internal)?;
        packed.iter_mut().zip(outputs).for_each(|(packed, output)| packed.push(output));
    }
    Ok(packed)
}
