//! The operations of an instruction set and of a method of reduction that the passes of a transform use.

use super::tables::{Residue, Table};
use std::fmt::Debug;

/// Registers of residues.
///
/// # Safety
/// Every function needs the instructions of the set, and memory functions that a whole register can be accessed there.
pub(super) trait Isa: Copy {
    type W: Residue;
    type V: Copy;
    /// Base-two logarithm of the residues in a register.
    const LOG_LANES: usize;
    /// Base-two logarithm of the registers that the innermost pass holds.
    const LOG_BLOCK: usize;
    /// Layers that one of the outer passes does at most.
    const LOG_RADIX: usize;

    /// Whether passes hold more than four registers.
    const MANY_REGISTERS: bool;

    unsafe fn load(from: *const Self::W) -> Self::V;
    /// A number of 32 bits in each lane, its sign extended.
    unsafe fn load_signed(from: *const i32) -> Self::V;
    unsafe fn store(to: *mut Self::W, v: Self::V);
    unsafe fn splat(value: Self::W) -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned minimum.
    unsafe fn min(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul_low(a: Self::V, b: Self::V) -> Self::V;

    /// Exchanges the lanes of `a` whose index has the bit `distance` with those of `b` that lack it; undone by itself.
    unsafe fn exchange(distance: usize, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// The lanes of `a` and `b` alternating.
    unsafe fn zip(a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Undoes [`Self::zip`].
    unsafe fn unzip(a: Self::V, b: Self::V) -> (Self::V, Self::V);

    /// [`super::passes::forward`] compiled for these instructions.
    unsafe fn forward<F: Field<I = Self>>(
        constants: &Constants<Self::W>,
        table: &Table<Self::W>,
        signed: Option<&[i32]>,
        data: &mut [Self::W],
    );
    /// [`super::passes::inverse`] compiled for these instructions.
    unsafe fn inverse<F: Field<I = Self>>(
        constants: &Constants<Self::W>,
        table: &Table<Self::W>,
        scale: &[Self::W; 4],
        data: &mut [Self::W],
    );

    /// From [0, 2 * bound) to [0, bound).
    #[inline(always)]
    unsafe fn below(v: Self::V, bound: Self::V) -> Self::V {
        // SAFETY: the caller's promise.
        unsafe { Self::min(v, Self::sub(v, bound)) }
    }
}

/// Functions of [`Isa`] and its like that are an expression each, of the instructions of the set.
macro_rules! instructions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:tt: $type:ty),*) $(-> $result:ty)? = $value:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        unsafe fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller's promise.
            unsafe { $value }
        }
    )*};
}
pub(super) use instructions;

/// Numbers that depend on the prime alone, in an order of the field's own.
pub(super) type Constants<W> = [W; 8];

/// The register of a field.
pub(super) type V<F> = <<F as Field>::I as Isa>::V;
/// The word of a field.
pub(super) type Word<F> = <<F as Field>::I as Isa>::W;
/// A factor with its quotient, lane by lane.
pub(super) type Factor<F> = (V<F>, V<F>);

/// The reduction of a forward layer's first operands: none.
pub(super) const KEEP: u8 = 0;
/// The reduction that inputs below 2p need.
pub(super) const START: u8 = 1;
/// A full reduction, after which [`Field::slack`] layers may follow, this one included.
pub(super) const REDUCE: u8 = 2;

/// Arithmetic modulo p on registers, in a lazy range.
///
/// # Safety
/// As [`Isa`]. `new` takes the constants of a prime that the field supports.
pub(super) trait Field: Copy + Debug + Send + Sync + 'static {
    type I: Isa;
    /// Whether values grow from layer to layer, so that some must reduce them.
    const LAZY: bool;
    /// Layers that inputs below 2p count for.
    const START_LEVEL: usize;
    /// Inverse layers from one reduction of the sums to the next.
    const PERIOD: usize;
    /// The registers of the prime's constants.
    type Registers: Copy;

    fn constants(prime: Word<Self>) -> Constants<Word<Self>>;
    /// The factor w in [0, p) as the field multiplies by it.
    fn factor(w: Word<Self>, prime: Word<Self>) -> [Word<Self>; 2];
    /// Forward layers from one reduction to the next.
    fn slack(constants: &Constants<Word<Self>>) -> usize;

    unsafe fn new(constants: &Constants<Word<Self>>) -> Self::Registers;
    /// From a signed number above -p and below p to an input.
    unsafe fn lift(r: Self::Registers, v: V<Self>) -> V<Self>;
    /// From a residue in [0, p) to an input of the inverse.
    #[inline(always)]
    unsafe fn enter(v: V<Self>) -> V<Self> {
        v
    }
    /// (x + w y, x - w y).
    unsafe fn forward<const MODE: u8>(
        r: Self::Registers,
        x: V<Self>,
        y: V<Self>,
        w: Factor<Self>,
    ) -> (V<Self>, V<Self>);
    /// (x + y, w (x - y)); `level`: layers since the last that reduced.
    unsafe fn inverse(r: Self::Registers, level: usize, x: V<Self>, y: V<Self>, w: Factor<Self>) -> (V<Self>, V<Self>);
    /// (u (x + y), w (x - y)) in [0, p).
    unsafe fn last(
        r: Self::Registers,
        level: usize,
        x: V<Self>,
        y: V<Self>,
        u: Factor<Self>,
        w: Factor<Self>,
    ) -> (V<Self>, V<Self>);
    /// From the range after the last forward layer to [0, p).
    unsafe fn finish(r: Self::Registers, v: V<Self>) -> V<Self>;
}
