//! The words digits are written to.

use bytemuck::Pod;

mod sealed {
    pub trait Sealed {}
    impl Sealed for i8 {}
    impl Sealed for i16 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// A signed word that digits are written to: `i8`, `i16`, `i32` or `i64`.
pub trait Digit: sealed::Sealed + Pod + Default + Send + Sync + PartialEq + std::fmt::Debug {
    /// Bits of the word.
    const BITS: u32;

    /// The word of that value, truncated.
    fn from_i64(value: i64) -> Self;
    /// The value.
    fn to_i64(self) -> i64;
}

macro_rules! digit {
    ($($word:ty),*) => {$(
        impl Digit for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            fn from_i64(value: i64) -> Self {
                value as $word
            }

            #[inline]
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
        }
    )*};
}
digit!(i8, i16, i32, i64);
