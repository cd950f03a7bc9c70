//! Names that both paths give to the instructions of their registers.

/// What the sums take of a register's instructions.
macro_rules! registers {
    (
        $features:literal, $zero:ident, $splat:ident, $splat_wide:ident, $load:ident, $store:ident, $right:ident, $shift:ident, $add:ident, $add_short:ident,
        $subtract:ident, $or:ident, $min:ident, $multiply:ident, $exact:ident
    ) => {
        #[target_feature(enable = $features)]
        #[inline]
        fn zero() -> Register {
            $zero()
        }

        /// A number in every lane.
        #[target_feature(enable = $features)]
        #[inline]
        fn splat(x: u32) -> Register {
            $splat(x as i32)
        }

        /// A number in every 64-bit lane.
        #[target_feature(enable = $features)]
        #[inline]
        fn splat_wide(x: u64) -> Register {
            $splat_wide(x as i64)
        }

        /// # Safety
        /// A register's residues may be read there.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn load(place: *const u32) -> Register {
            // SAFETY: the caller's promise.
            unsafe { $load(place.cast()) }
        }

        /// # Safety
        /// A register's residues may be written there.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn store(place: *mut u32, residues: Register) {
            // SAFETY: the caller's promise.
            unsafe { $store(place.cast(), residues) }
        }

        /// The upper halves of 64-bit lanes as lower ones.
        #[target_feature(enable = $features)]
        #[inline]
        fn upper(x: Register) -> Register {
            $right::<32>(x)
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn shift_right(x: Register, count: __m128i) -> Register {
            $shift(x, count)
        }

        /// Sums of 32-bit lanes.
        #[target_feature(enable = $features)]
        #[inline]
        fn sum_of(a: Register, b: Register) -> Register {
            $add_short(a, b)
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn either(a: Register, b: Register) -> Register {
            $or(a, b)
        }

        /// x - q if that is not negative, else x.
        #[target_feature(enable = $features)]
        #[inline]
        fn reduce_once(x: Register, q: Register) -> Register {
            $min(x, $subtract(x, q))
        }

        /// As [`add_product`], of factors whose upper halves may be known to be zero.
        #[target_feature(enable = $features)]
        #[inline]
        fn add_short_product(sum: Register, a: Register, b: Register) -> Register {
            $add(sum, $exact(a, b))
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn add_product(sum: Register, a: Register, b: Register) -> Register {
            $add(sum, $multiply(a, b))
        }
    };
}
pub(super) use registers;
