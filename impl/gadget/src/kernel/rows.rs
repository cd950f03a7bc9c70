//! What rows of digits take of both instruction sets, which differ in the instructions' names alone.

/// Digits at a place, digits written, and rows of digits less dithers, of one lane on registers of one width.
macro_rules! lane_kernels {
    ($features:literal, $register:ty, $load:ident, $store:ident, $and:ident,
     $lane:ty, $set:ident, $right:ident, $left:ident, $minus:ident) => {
        /// Digits `at` and following at `place`. The bits above them are arbitrary.
        ///
        /// # Safety
        /// The planes that the place names reach a register beyond `at`.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn digit(planes: &[$lane], stride: usize, place: Place, at: usize) -> $register {
            let load = |plane: usize| {
                // SAFETY: the caller's promise.
                unsafe { $load(planes.as_ptr().add(plane * stride + at).cast()) }
            };
            let low = $right(load(place.plane), _mm_cvtsi64_si128(place.shift.into()));
            // Bits that shifts bring from a neighbouring byte belong to neither half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            if place.crosses {
                let high = $left(load(place.plane + 1), _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into()));
                select(keep, low, high)
            } else {
                low
            }
        }

        /// Writes the first `left` lanes, or all, as digits.
        ///
        /// # Safety
        /// `out` has room for these digits.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn put<D: Digit>(lanes: $register, out: *mut D, left: usize) {
            const LANES: usize = size_of::<$register>() / size_of::<$lane>();
            // SAFETY: the caller's promise, and `narrow` takes a register.
            unsafe {
                if left < LANES {
                    let mut narrow = [0 as $lane; LANES];
                    $store(narrow.as_mut_ptr().cast(), lanes);
                    loops::put_part(&narrow[..left], out);
                } else if D::BITS == <$lane>::BITS {
                    $store(out.cast(), lanes);
                } else {
                    widen::<$lane, D>(lanes, out);
                }
            }
        }

        /// See the portable path.
        #[target_feature(enable = $features)]
        pub fn dither_rows<D: Digit>(job: &RowsJob<'_, $lane>, dithers: &[$lane], rows: &mut [D]) {
            job.check(rows.len());
            assert!(dithers.len() >= job.planes.len());
            for r in 0..job.places.len() {
                // SAFETY: the job was checked, and the dithers' planes are as many.
                match job.places[r].crosses {
                    true => unsafe { Self::row::<D, true, true>(job, dithers, r, rows) },
                    false => unsafe { Self::row::<D, false, true>(job, dithers, r, rows) },
                }
            }
        }

        /// Row `r` of digits, less those of the dithers if `DITHERED`; `CROSSES` as its place says.
        ///
        /// # Safety
        /// `job` has been checked against `rows`, and if `DITHERED` the planes of the dithers are as many.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn row<D: Digit, const CROSSES: bool, const DITHERED: bool>(
            job: &RowsJob<'_, $lane>,
            dithers: &[$lane],
            r: usize,
            rows: &mut [D],
        ) {
            const LANES: usize = size_of::<$register>() / size_of::<$lane>();
            let (n, place) = (job.coefficients, job.places[r]);
            let (mask, offset) = ($set(place.exact_mask(<$lane>::BITS) as _), $set(job.offsets[r] as _));
            let right = _mm_cvtsi64_si128(place.shift.into());
            let left = _mm_cvtsi64_si128((<$lane>::BITS - place.shift).into());
            // Bits that shifts bring from a neighbouring byte belong to neither half.
            let keep = $set((<$lane>::MAX >> place.shift) as _);
            let start = place.plane * job.stride;
            // SAFETY: `check` saw that planes reach as far as whole blocks of the row.
            let digit = |planes: *const $lane, at: usize| unsafe {
                let low = $right($load(planes.add(start + at).cast()), right);
                if CROSSES {
                    let high = $left($load(planes.add(start + job.stride + at).cast()), left);
                    $and(select(keep, low, high), mask)
                } else {
                    $and(low, mask)
                }
            };
            let out = rows[r * job.row_stride..].as_mut_ptr();
            // SAFETY: `check` saw that the row reaches as far as `n`.
            let each = |at: usize, left: usize| unsafe {
                let mut digits = digit(job.planes.as_ptr(), at);
                if DITHERED {
                    digits = $minus(digits, digit(dithers.as_ptr(), at));
                }
                Self::put($minus(digits, offset), out.add(at), left);
            };
            let fours = n / (4 * LANES) * (4 * LANES);
            for at in (0..fours).step_by(4 * LANES) {
                for r in 0..4 {
                    each(at + r * LANES, usize::MAX);
                }
            }
            for at in (fours..n).step_by(LANES) {
                each(at, n - at);
            }
        }
    };
}
pub(super) use lane_kernels;
