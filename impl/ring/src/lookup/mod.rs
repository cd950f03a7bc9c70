//! Tables read at places that residues modulo small numbers give, and the sums that combine what is read.
//!
//! Points lie coordinate by coordinate, `batch` of them at a time. Each path compiles the same loops with its own instructions.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(test)]
mod tests;

use crate::kernel::{Checked, Kernel, KernelError, dispatch};

/// A modulus from 3 to 2^16 - 1, odd, with its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small {
    value: u32,
    /// floor(2^32 / value).
    reciprocal: u32,
}

impl Small {
    /// The modulus of that value; None if it is even or out of range.
    pub fn new(value: u64) -> Option<Self> {
        let fits = (3..1 << 16).contains(&value) && value % 2 == 1;
        fits.then(|| Self { value: value as u32, reciprocal: ((1 << 32) / value) as u32 })
    }

    /// The modulus.
    pub fn value(self) -> u32 {
        self.value
    }

    /// x modulo the modulus.
    #[inline(always)]
    pub fn reduce(self, x: u32) -> u32 {
        // The estimate of the quotient is right or one too small.
        let quotient = ((u64::from(x) * u64::from(self.reciprocal)) >> 32) as u32;
        let rest = x.wrapping_sub(quotient.wrapping_mul(self.value));
        rest.min(rest.wrapping_sub(self.value))
    }

    /// x modulo the modulus, for x below 2^48.
    #[inline(always)]
    pub fn reduce_wide(self, x: u64) -> u32 {
        self.reduce(self.reduce((x >> 16) as u32) << 16 | (x as u32 & 0xffff))
    }

    /// floor(x / modulus), for x below 2^16.
    #[inline(always)]
    pub fn divide(self, x: u32) -> u32 {
        ((u64::from(x) * (u64::from(self.reciprocal) + 1)) >> 32) as u32
    }
}

/// The loops on the path of one kernel, which was checked.
#[derive(Clone, Copy, Debug)]
pub struct Lookups(Checked);

impl Lookups {
    /// The loops on that kernel's path.
    ///
    /// # Errors
    /// The processor lacks the kernel's instructions.
    pub fn new(kernel: Kernel) -> Result<Self, KernelError> {
        Checked::new(kernel).map(Self)
    }

    /// out = x + shift modulo a small number; x + shift is below 2^32.
    pub fn reduce(self, modulus: Small, x: &[u32], shift: u32, out: &mut [u32]) {
        assert_eq!(x.len(), out.len(), "a residue of each number");
        dispatch!(self.0, reduce(modulus, x, shift, out));
    }

    /// The places of points in a table of `modulus`^m records: the last coordinate counts by ones, the one before by `modulus`.
    /// Coordinates are x + shift, as in [`Self::reduce`]; there are as many points as places.
    pub fn places(self, modulus: Small, x: &[u32], shift: u32, places: &mut [u32]) {
        assert!(x.len().is_multiple_of(places.len().max(1)), "whole coordinates");
        dispatch!(self.0, places(modulus, x, shift, places));
    }

    /// For p^2 as `square` the places of points modulo p, and `high` with x + shift = low + p high modulo p^2.
    pub fn split_places(
        self,
        (modulus, square): (Small, Small),
        x: &[u32],
        shift: u32,
        places: &mut [u32],
        high: &mut [u32],
    ) {
        assert!(x.len() == high.len() && x.len().is_multiple_of(places.len().max(1)), "whole coordinates");
        dispatch!(self.0, split_places((modulus, square), x, shift, places, high));
    }

    /// Asks for the cache lines of records of `stride` bytes.
    pub fn ask(self, table: &[u8], stride: usize, places: &[u32]) {
        dispatch!(self.0, ask(table, stride, places));
    }

    /// The byte at `offset` of each record.
    ///
    /// # Panics
    /// If a place lies beyond the table.
    pub fn bytes(self, table: &[u8], (stride, offset): (usize, usize), places: &[u32], out: &mut [u32]) {
        assert_eq!(places.len(), out.len(), "a byte of each record");
        dispatch!(self.0, bytes(table, (stride, offset), places, out));
    }

    /// The two bytes at `offset` of each record, the lower one first.
    ///
    /// # Panics
    /// If a place lies beyond the table.
    pub fn pairs(self, table: &[u8], (stride, offset): (usize, usize), places: &[u32], out: &mut [u32]) {
        assert_eq!(places.len(), out.len(), "two bytes of each record");
        dispatch!(self.0, pairs(table, (stride, offset), places, out));
    }

    /// Of each record f + p sum_j d_j high_j modulo p^2 (below 2 p^2), where f is 2 bytes at `offset` and each d_j the next byte.
    ///
    /// # Panics
    /// If 8 bytes from the record's on lie beyond the table.
    pub fn jets(
        self,
        modulus: Small,
        (table, stride, offset): (&[u8], usize, usize),
        places: &[u32],
        high: &[u32],
        out: &mut [u32],
    ) {
        assert!(places.len() == out.len() && high.len().is_multiple_of(out.len().max(1)), "whole coordinates");
        dispatch!(self.0, jets(modulus, (table, stride, offset), places, high, out));
    }

    /// first += x times its factor, second += x times its own.
    pub fn add_products(self, x: &[u32], factors: [u32; 2], first: &mut [u64], second: &mut [u64]) {
        assert!(x.len() == first.len() && x.len() == second.len(), "two sums of each number");
        dispatch!(self.0, add_products(x, factors, first, second));
    }

    /// sum += x times a factor.
    pub fn add_product(self, x: &[u32], factor: u32, sum: &mut [u64]) {
        assert_eq!(x.len(), sum.len(), "a sum of each number");
        dispatch!(self.0, add_product(x, factor, sum));
    }

    /// Sums below 2^48 modulo a small number; they become zero.
    pub fn take(self, modulus: Small, sums: &mut [u64], out: &mut [u32]) {
        assert_eq!(sums.len(), out.len(), "a residue of each sum");
        dispatch!(self.0, take(modulus, sums, out));
    }
}
