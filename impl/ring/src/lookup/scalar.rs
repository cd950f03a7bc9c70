//! The loops, which the other paths compile with their own instructions.

use super::Small;

/// Compiles the loops with the instructions of a path.
macro_rules! recompile {
    ($features:literal) => {
        $crate::lookup::scalar::recompile! { $features:
            reduce(modulus: Small, x: &[u32], shift: u32, out: &mut [u32]);
            places(modulus: Small, x: &[u32], shift: u32, places: &mut [u32]);
            split_places(moduli: (Small, Small), x: &[u32], shift: u32, places: &mut [u32], high: &mut [u32]);
            bytes(table: &[u8], record: (usize, usize), places: &[u32], out: &mut [u32]);
            pairs(table: &[u8], record: (usize, usize), places: &[u32], out: &mut [u32]);
            jets(modulus: Small, table: (&[u8], usize, usize), places: &[u32], high: &[u32], out: &mut [u32]);
            add_products(x: &[u32], factors: [u32; 2], first: &mut [u64], second: &mut [u64]);
            add_product(x: &[u32], factor: u32, sum: &mut [u64]);
            take(modulus: Small, sums: &mut [u64], out: &mut [u32]);
            ask(table: &[u8], stride: usize, places: &[u32]);
        }
    };
    ($features:literal: $($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[target_feature(enable = $features)]
        pub(super) fn $name($($argument: $type),*) {
            scalar::$name($($argument),*)
        }
    )*};
}
pub(super) use recompile;

#[inline(always)]
pub(super) fn reduce(modulus: Small, x: &[u32], shift: u32, out: &mut [u32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = modulus.reduce(x + shift));
}

#[inline(always)]
pub(super) fn places(modulus: Small, x: &[u32], shift: u32, places: &mut [u32]) {
    places.fill(0);
    for x in x.chunks_exact(places.len()) {
        for (place, x) in places.iter_mut().zip(x) {
            *place = place.wrapping_mul(modulus.value).wrapping_add(modulus.reduce(x.wrapping_add(shift)));
        }
    }
}

#[inline(always)]
pub(super) fn split_places(
    (modulus, square): (Small, Small),
    x: &[u32],
    shift: u32,
    places: &mut [u32],
    high: &mut [u32],
) {
    places.fill(0);
    let points = places.len();
    for (x, high) in x.chunks_exact(points).zip(high.chunks_exact_mut(points)) {
        for ((place, x), high) in places.iter_mut().zip(x).zip(high) {
            let residue = square.reduce(x.wrapping_add(shift));
            *high = modulus.divide(residue);
            let low = residue.wrapping_sub(high.wrapping_mul(modulus.value));
            *place = place.wrapping_mul(modulus.value).wrapping_add(low);
        }
    }
}

#[inline(always)]
pub(super) fn bytes(table: &[u8], (stride, offset): (usize, usize), places: &[u32], out: &mut [u32]) {
    for (out, place) in out.iter_mut().zip(places) {
        *out = u32::from(table[*place as usize * stride + offset]);
    }
}

#[inline(always)]
pub(super) fn pairs(table: &[u8], (stride, offset): (usize, usize), places: &[u32], out: &mut [u32]) {
    for (out, place) in out.iter_mut().zip(places) {
        let at = *place as usize * stride + offset;
        *out = u32::from(table[at]) | u32::from(table[at + 1]) << 8;
    }
}

/// Points whose records are held at a time.
const POINTS: usize = 64;

#[inline(always)]
pub(super) fn jets(
    modulus: Small,
    (table, stride, offset): (&[u8], usize, usize),
    places: &[u32],
    high: &[u32],
    out: &mut [u32],
) {
    let points = places.len();
    for start in (0..points).step_by(POINTS) {
        let here = start..points.min(start + POINTS);
        let (mut records, mut sums) = ([0u64; POINTS], [0u64; POINTS]);
        for (record, place) in records.iter_mut().zip(&places[here.clone()]) {
            let at = *place as usize * stride + offset;
            // The slice panics beyond the table; of eight bytes the conversion cannot fail.
            *record = <[u8; 8]>::try_from(&table[at..at + 8]).map_or(0, u64::from_le_bytes);
        }
        for (j, high) in high.chunks_exact(points).enumerate() {
            for ((sum, record), high) in sums.iter_mut().zip(&records).zip(&high[here.clone()]) {
                *sum += (record >> (16 + 8 * j) & 255) * u64::from(*high);
            }
        }
        for ((out, record), sum) in out[here].iter_mut().zip(&records).zip(&sums) {
            *out = (*record as u32 & 0xffff) + modulus.value * modulus.reduce(*sum as u32);
        }
    }
}

#[inline(always)]
pub(super) fn add_products(x: &[u32], factors: [u32; 2], first: &mut [u64], second: &mut [u64]) {
    let factors = factors.map(u64::from);
    for ((x, first), second) in x.iter().zip(first).zip(second) {
        *first += u64::from(*x) * factors[0];
        *second += u64::from(*x) * factors[1];
    }
}

#[inline(always)]
pub(super) fn add_product(x: &[u32], factor: u32, sum: &mut [u64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += u64::from(*x) * u64::from(factor));
}

#[inline(always)]
pub(super) fn take(modulus: Small, sums: &mut [u64], out: &mut [u32]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = modulus.reduce_wide(*sum);
        *sum = 0;
    }
}

#[inline(always)]
pub(super) fn ask(table: &[u8], stride: usize, places: &[u32]) {
    for place in places {
        let at = table.as_ptr().wrapping_add(*place as usize * stride);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch cannot fault, and every x86-64 processor has it.
        unsafe {
            crate::prefetch::ask_for::<false, u8>(at)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }
}
