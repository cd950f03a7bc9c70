//! The transform as passes over memory: several layers at a time between registers, and, in the innermost pass, the layers
//! within registers, for which pairs of registers exchange lanes so that every butterfly is between two registers.
//! Twiddles are stored in the order of their use.

use super::lanes::{Constants, Factor, Field, Isa, KEEP, REDUCE, START, V, Word};
use super::tables::Table;

/// Most registers that a pass holds.
const HELD: usize = 16;

/// Base-two logarithm of the registers that the innermost pass holds, for 2^`log_n` points.
pub(super) fn log_block<I: Isa>(log_n: usize) -> usize {
    I::LOG_BLOCK.min(log_n - I::LOG_LANES)
}

/// Layers of each outer pass, first to last, of a forward transform of 2^`log_n` points.
pub(super) fn radices<I: Isa>(log_n: usize) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
    let outer = log_n - I::LOG_LANES - log_block::<I>(log_n);
    // Layers are distributed evenly, so that no pass has a single layer unless there is only one.
    let passes = outer.div_ceil(I::LOG_RADIX);
    (0..passes).map(move |pass| (outer * (pass + 1)) / passes - outer * pass / passes)
}

/// The positions of the next factors: those of all lanes, and those of single lanes.
struct Cursor<W> {
    common: *const W,
    lanes: *const W,
}

impl<W: Copy> Cursor<W> {
    fn new(table: &Table<W>) -> Self {
        Self { common: table.common.as_ptr(), lanes: table.lanes().as_ptr() }
    }
}

#[inline(always)]
unsafe fn broadcast<F: Field>(factor: *const Word<F>) -> Factor<F> {
    // SAFETY: the caller's promise that there are two words.
    unsafe { (F::I::splat(*factor), F::I::splat(*factor.add(1))) }
}

#[inline(always)]
unsafe fn lane_factor<F: Field>(table: &mut Cursor<Word<F>>) -> Factor<F> {
    let lanes = 1 << F::I::LOG_LANES;
    // SAFETY: the caller's promise that the table goes on.
    unsafe {
        let factor = (F::I::load(table.lanes), F::I::load(table.lanes.add(lanes)));
        table.lanes = table.lanes.add(2 * lanes);
        factor
    }
}

/// The factors of `LOG` layers on 2^`LOG` registers: one, two, four.
#[inline(always)]
unsafe fn factors<F: Field, const LOG: usize>(table: &mut Cursor<Word<F>>) -> [Factor<F>; HELD] {
    // SAFETY: as above.
    unsafe {
        let mut all = [(F::I::splat(Word::<F>::default()), F::I::splat(Word::<F>::default())); HELD];
        for factor in &mut all[1..1 << LOG] {
            *factor = broadcast::<F>(table.common);
            table.common = table.common.add(2);
        }
        all
    }
}

#[inline(always)]
unsafe fn load<F: Field, const LOG: usize>(from: *const Word<F>, stride: usize) -> [V<F>; HELD] {
    // SAFETY: the caller's promise that all registers lie within the data.
    unsafe {
        let mut held = [F::I::splat(Word::<F>::default()); HELD];
        for (k, v) in held[..1 << LOG].iter_mut().enumerate() {
            *v = F::I::load(from.add(k * stride));
        }
        held
    }
}

#[inline(always)]
unsafe fn store<F: Field, const LOG: usize>(held: &[V<F>; HELD], to: *mut Word<F>, stride: usize) {
    for (k, v) in held[..1 << LOG].iter().enumerate() {
        // SAFETY: as above.
        unsafe { F::I::store(to.add(k * stride), *v) };
    }
}

/// The pairs of registers of layer `layer` of `LOG`, with the number of their factor.
macro_rules! for_pairs {
    ($log:expr, $layer:expr, |$x:ident, $y:ident, $factor:ident| $body:expr) => {
        let half = 1 << ($log - 1 - $layer);
        for block in 0..1usize << $layer {
            let $factor = (1 << $layer) + block;
            for k in 0..half {
                let $x = 2 * half * block + k;
                let $y = $x + half;
                $body
            }
        }
    };
}

#[inline(always)]
unsafe fn forward_layers<F: Field, const LOG: usize, const MODE: u8>(
    r: F::Registers,
    held: &mut [V<F>; HELD],
    w: &[Factor<F>; HELD],
) {
    // SAFETY: the caller's promise.
    unsafe {
        for_pairs!(LOG, 0, |x, y, f| (held[x], held[y]) = F::forward::<MODE>(r, held[x], held[y], w[f]));
        if LOG > 1 {
            for_pairs!(LOG, 1, |x, y, f| (held[x], held[y]) = F::forward::<KEEP>(r, held[x], held[y], w[f]));
        }
        if LOG > 2 {
            for_pairs!(LOG, 2, |x, y, f| (held[x], held[y]) = F::forward::<KEEP>(r, held[x], held[y], w[f]));
        }
        if LOG > 3 {
            for_pairs!(LOG, 3, |x, y, f| (held[x], held[y]) = F::forward::<KEEP>(r, held[x], held[y], w[f]));
        }
    }
}

/// `level`: of the first of these layers. The last layer multiplies by `scale` where `LAST`.
#[inline(always)]
unsafe fn inverse_layers<F: Field, const LOG: usize, const LAST: bool>(
    r: F::Registers,
    mut level: usize,
    held: &mut [V<F>; HELD],
    w: &[Factor<F>; HELD],
    scale: &[Factor<F>; 2],
) {
    // SAFETY: the caller's promise.
    unsafe {
        if LOG > 3 {
            for_pairs!(LOG, 3, |x, y, f| (held[x], held[y]) = F::inverse(r, level, held[x], held[y], w[f]));
            level = next::<F>(level);
        }
        if LOG > 2 {
            for_pairs!(LOG, 2, |x, y, f| (held[x], held[y]) = F::inverse(r, level, held[x], held[y], w[f]));
            level = next::<F>(level);
        }
        if LOG > 1 {
            for_pairs!(LOG, 1, |x, y, f| (held[x], held[y]) = F::inverse(r, level, held[x], held[y], w[f]));
            level = next::<F>(level);
        }
        if LAST {
            for_pairs!(LOG, 0, |x, y, _f| {
                (held[x], held[y]) = F::last(r, level, held[x], held[y], scale[0], scale[1]);
            });
        } else {
            for_pairs!(LOG, 0, |x, y, f| (held[x], held[y]) = F::inverse(r, level, held[x], held[y], w[f]));
        }
    }
}

#[inline(always)]
fn next<F: Field>(level: usize) -> usize {
    (level + 1) % F::PERIOD
}

/// `LOG` layers, beginning with that of `blocks` blocks.
#[inline(always)]
unsafe fn forward_pass<F: Field, const LOG: usize, const MODE: u8>(
    r: F::Registers,
    (n, blocks): (usize, usize),
    table: &mut Cursor<Word<F>>,
    data: *mut Word<F>,
) {
    let stride = (n / blocks) >> LOG;
    for block in 0..blocks {
        // SAFETY: the table holds 2^LOG - 1 factors a block; the registers of a block lie within it.
        unsafe {
            let w = factors::<F, LOG>(table);
            for j in (0..stride).step_by(1 << F::I::LOG_LANES) {
                let at = data.add(((block * stride) << LOG) + j);
                let mut held = load::<F, LOG>(at, stride);
                forward_layers::<F, LOG, MODE>(r, &mut held, &w);
                store::<F, LOG>(&held, at, stride);
            }
        }
    }
}

/// The first `LOG` layers, from signed numbers to `data`.
#[inline(always)]
unsafe fn forward_signed<F: Field, const LOG: usize>(
    r: F::Registers,
    n: usize,
    table: &mut Cursor<Word<F>>,
    signed: *const i32,
    data: *mut Word<F>,
) {
    let stride = n >> LOG;
    // SAFETY: as in `forward_pass`; there are as many signed numbers as points.
    unsafe {
        let w = factors::<F, LOG>(table);
        for j in (0..stride).step_by(1 << F::I::LOG_LANES) {
            let mut held = [F::I::splat(Word::<F>::default()); HELD];
            for (k, v) in held[..1 << LOG].iter_mut().enumerate() {
                *v = F::lift(r, F::I::load_signed(signed.add(k * stride + j)));
            }
            forward_layers::<F, LOG, START>(r, &mut held, &w);
            store::<F, LOG>(&held, data.add(j), stride);
        }
    }
}

#[inline(always)]
unsafe fn inverse_pass<F: Field, const LOG: usize, const LEVEL: usize, const LAST: bool>(
    r: F::Registers,
    (n, blocks): (usize, usize),
    table: &mut Cursor<Word<F>>,
    scale: &[Factor<F>; 2],
    data: *mut Word<F>,
) {
    let stride = (n / blocks) >> LOG;
    for block in 0..blocks {
        // SAFETY: as in `forward_pass`.
        unsafe {
            let w = factors::<F, LOG>(table);
            for j in (0..stride).step_by(1 << F::I::LOG_LANES) {
                let at = data.add(((block * stride) << LOG) + j);
                let mut held = load::<F, LOG>(at, stride);
                inverse_layers::<F, LOG, LAST>(r, LEVEL, &mut held, &w, scale);
                store::<F, LOG>(&held, at, stride);
            }
        }
    }
}

/// The innermost layers, block by block of 2^`LOG` registers; `INNER`: the mode of the first layer within registers.
#[inline(always)]
unsafe fn forward_blocks<F: Field, const LOG: usize, const MODE: u8, const INNER: u8>(
    r: F::Registers,
    n: usize,
    table: &mut Cursor<Word<F>>,
    data: *mut Word<F>,
) {
    let lanes = 1 << F::I::LOG_LANES;
    for start in (0..n).step_by(lanes << LOG) {
        // SAFETY: the table holds the factors of each block; its registers lie within the data.
        unsafe {
            let at = data.add(start);
            let w = factors::<F, LOG>(table);
            let mut held = load::<F, LOG>(at, lanes);
            forward_layers::<F, LOG, MODE>(r, &mut held, &w);
            // Layer by layer, so that the butterflies of several pairs overlap.
            for layer in 1..=F::I::LOG_LANES {
                for pair in held[..1 << LOG].chunks_exact_mut(2) {
                    let (a, b) = F::I::exchange(lanes >> layer, pair[0], pair[1]);
                    let w = lane_factor::<F>(table);
                    (pair[0], pair[1]) = match layer {
                        1 => F::forward::<INNER>(r, a, b, w),
                        _ => F::forward::<KEEP>(r, a, b, w),
                    };
                }
            }
            for pair in held[..1 << LOG].chunks_exact_mut(2) {
                (pair[0], pair[1]) = F::I::zip(F::finish(r, pair[0]), F::finish(r, pair[1]));
            }
            store::<F, LOG>(&held, at, lanes);
        }
    }
}

#[inline(always)]
unsafe fn inverse_blocks<F: Field, const LOG: usize, const LAST: bool>(
    r: F::Registers,
    n: usize,
    table: &mut Cursor<Word<F>>,
    scale: &[Factor<F>; 2],
    data: *mut Word<F>,
) {
    let lanes = 1 << F::I::LOG_LANES;
    for start in (0..n).step_by(lanes << LOG) {
        // SAFETY: as in `forward_blocks`.
        unsafe {
            let at = data.add(start);
            let mut held = load::<F, LOG>(at, lanes);
            for pair in held[..1 << LOG].chunks_exact_mut(2) {
                (pair[0], pair[1]) = F::I::unzip(F::enter(pair[0]), F::enter(pair[1]));
            }
            for layer in 0..F::I::LOG_LANES {
                for pair in held[..1 << LOG].chunks_exact_mut(2) {
                    let (a, b) = F::inverse(r, layer % F::PERIOD, pair[0], pair[1], lane_factor::<F>(table));
                    (pair[0], pair[1]) = F::I::exchange(1 << layer, a, b);
                }
            }
            let w = factors::<F, LOG>(table);
            inverse_layers::<F, LOG, LAST>(r, F::I::LOG_LANES % F::PERIOD, &mut held, &w, scale);
            store::<F, LOG>(&held, at, lanes);
        }
    }
}

/// Calls a pass with its number of layers as a constant. Sets of few registers are spared the code of long passes.
macro_rules! with_layers {
    ($layers:expr, $pass:ident::<$F:ident $(, $constant:tt)*>($($argument:expr),*)) => {
        if $F::I::MANY_REGISTERS {
            match $layers {
                4 => $pass::<$F, 4 $(, $constant)*>($($argument),*),
                3 => $pass::<$F, 3 $(, $constant)*>($($argument),*),
                2 => $pass::<$F, 2 $(, $constant)*>($($argument),*),
                _ => $pass::<$F, 1 $(, $constant)*>($($argument),*),
            }
        } else {
            match $layers {
                2 => $pass::<$F, 2 $(, $constant)*>($($argument),*),
                _ => $pass::<$F, 1 $(, $constant)*>($($argument),*),
            }
        }
    };
}

/// The forward transform of `data`, or of `signed` into `data`. `table`: as [`super::vector`] lays it out.
///
/// # Safety
/// The instructions of the set; a table and constants made for `data.len()` points and this field; as many signed numbers.
#[inline(always)]
pub(super) unsafe fn forward<F: Field>(
    constants: &Constants<Word<F>>,
    table: &Table<Word<F>>,
    mut signed: Option<&[i32]>,
    data: &mut [Word<F>],
) {
    let (n, mut table, data) = (data.len(), Cursor::new(table), data.as_mut_ptr());
    let slack = F::slack(constants);
    let first_layers = radices::<F::I>(n.trailing_zeros() as usize).next();
    if let Some(input) = signed.take_if(|_| first_layers.is_none_or(|layers| F::START_LEVEL + layers > slack)) {
        // The first pass takes no signed numbers: they are lifted first.
        for j in (0..n).step_by(1 << F::I::LOG_LANES) {
            // SAFETY: the caller's promise.
            unsafe { F::I::store(data.add(j), F::lift(F::new(constants), F::I::load_signed(input.as_ptr().add(j)))) };
        }
    }
    let (mut blocks, mut level, mut mode) = (1, F::START_LEVEL, START);
    let mut enter = |layers: usize, first: bool| {
        mode = match level + layers <= slack {
            true if first => START,
            true => KEEP,
            false => REDUCE,
        };
        level = if mode == REDUCE { layers } else { level + layers };
        mode
    };
    // SAFETY: the caller's promise; each pass advances the table by what it used.
    unsafe {
        let r = F::new(constants);
        for layers in radices::<F::I>(n.trailing_zeros() as usize) {
            let at = (n, blocks);
            let mode = enter(layers, blocks == 1);
            if mode == START {
                match signed {
                    Some(input) => with_layers!(layers, forward_signed::<F>(r, n, &mut table, input.as_ptr(), data)),
                    None => with_layers!(layers, forward_pass::<F, START>(r, at, &mut table, data)),
                }
            } else if F::LAZY && mode == REDUCE {
                with_layers!(layers, forward_pass::<F, REDUCE>(r, at, &mut table, data));
            } else {
                with_layers!(layers, forward_pass::<F, KEEP>(r, at, &mut table, data));
            }
            blocks <<= layers;
        }
        let layers = log_block::<F::I>(n.trailing_zeros() as usize);
        let modes = (enter(layers, blocks == 1), enter(F::I::LOG_LANES, false));
        if F::LAZY {
            match modes {
                (START, KEEP) => with_layers!(layers, forward_blocks::<F, START, KEEP>(r, n, &mut table, data)),
                (START, _) => with_layers!(layers, forward_blocks::<F, START, REDUCE>(r, n, &mut table, data)),
                (KEEP, KEEP) => with_layers!(layers, forward_blocks::<F, KEEP, KEEP>(r, n, &mut table, data)),
                (KEEP, _) => with_layers!(layers, forward_blocks::<F, KEEP, REDUCE>(r, n, &mut table, data)),
                (_, KEEP) => with_layers!(layers, forward_blocks::<F, REDUCE, KEEP>(r, n, &mut table, data)),
                _ => with_layers!(layers, forward_blocks::<F, REDUCE, REDUCE>(r, n, &mut table, data)),
            }
        } else if modes.0 == START {
            with_layers!(layers, forward_blocks::<F, START, KEEP>(r, n, &mut table, data));
        } else {
            with_layers!(layers, forward_blocks::<F, KEEP, KEEP>(r, n, &mut table, data));
        }
    }
}

/// The inverse transform times the factors `scale`: that of the sums of the last layer, that of its differences.
///
/// # Safety
/// As [`forward`], with the table of the inverse.
#[inline(always)]
pub(super) unsafe fn inverse<F: Field>(
    constants: &Constants<Word<F>>,
    table: &Table<Word<F>>,
    scale: &[Word<F>; 4],
    data: &mut [Word<F>],
) {
    let (n, mut table, data) = (data.len(), Cursor::new(table), data.as_mut_ptr());
    // SAFETY: as in `forward`.
    unsafe {
        let r = F::new(constants);
        let scale = &[broadcast::<F>(scale.as_ptr()), broadcast::<F>(scale[2..].as_ptr())];
        let layers = log_block::<F::I>(n.trailing_zeros() as usize);
        let mut blocks = n >> (layers + F::I::LOG_LANES);
        if blocks == 1 {
            return with_layers!(layers, inverse_blocks::<F, true>(r, n, &mut table, scale, data));
        }
        with_layers!(layers, inverse_blocks::<F, false>(r, n, &mut table, scale, data));
        let mut level = (layers + F::I::LOG_LANES) % F::PERIOD;
        for layers in radices::<F::I>(n.trailing_zeros() as usize).rev() {
            blocks >>= layers;
            let at = (n, blocks);
            // Levels are below `Field::PERIOD`, at most three.
            match (blocks == 1, if F::LAZY { level } else { 0 }) {
                (true, 0) => with_layers!(layers, inverse_pass::<F, 0, true>(r, at, &mut table, scale, data)),
                (false, 0) => with_layers!(layers, inverse_pass::<F, 0, false>(r, at, &mut table, scale, data)),
                (last, level) => {
                    if F::LAZY {
                        match (last, level) {
                            (true, 1) => {
                                with_layers!(layers, inverse_pass::<F, 1, true>(r, at, &mut table, scale, data))
                            }
                            (true, _) => {
                                with_layers!(layers, inverse_pass::<F, 2, true>(r, at, &mut table, scale, data))
                            }
                            (_, 1) => with_layers!(layers, inverse_pass::<F, 1, false>(r, at, &mut table, scale, data)),
                            _ => with_layers!(layers, inverse_pass::<F, 2, false>(r, at, &mut table, scale, data)),
                        }
                    }
                }
            }
            level = (level + layers) % F::PERIOD;
        }
    }
}
