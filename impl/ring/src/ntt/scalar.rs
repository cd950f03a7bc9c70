//! The portable path: one butterfly at a time, Shoup's products by precomputed quotients and Harvey's lazy ranges
//! ("Faster arithmetic for number-theoretic transforms", 2014). The reference for the others.

use super::tables::{Factors, Residue, Twiddle};
use super::transform::Transform;

/// Twiddles of the portable path: index `m + i` for block `i` of the layer of `m` blocks; 0 is unused.
#[derive(Debug)]
pub(super) struct Tables<W> {
    prime: W,
    forward: Vec<Twiddle<W>>,
    inverse: Vec<Twiddle<W>>,
    /// 1/N, and 1/N times the twiddle of the last inverse layer.
    scale: [Twiddle<W>; 2],
}

impl<W: Residue> Tables<W> {
    pub(super) fn new(prime: W, factors: &Factors) -> Self {
        let twiddles = |values: &[u64]| values.iter().map(|w| Twiddle::new(*w, prime)).collect();
        Self {
            prime,
            forward: twiddles(&factors.powers),
            inverse: twiddles(&factors.inverses),
            scale: factors.scale.map(|value| Twiddle::new(value, prime)),
        }
    }

    /// Values of both operands in [0, 4p) where that fits, else in [0, p).
    fn lazy(&self) -> bool {
        self.prime.to_u64() >> (W::BITS - 2) == 0
    }

    /// The last layer, with the product by 1/N where `scaled`.
    fn finish_inverse(&self, data: &mut [W], scaled: bool) {
        let (half, p) = (data.len() / 2, self.prime);
        let (first, last) = if scaled { (self.scale[0], self.scale[1]) } else { (Twiddle::new(1, p), self.inverse[1]) };
        let (low, high) = data.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            let (sum, difference) = if self.lazy() {
                (x.add(*y), x.add(p).add(p).sub(*y))
            } else {
                (x.add(*y).below(p), x.sub(*y).min(x.sub(*y).add(p)))
            };
            *x = first.mul(sum, p).below(p);
            *y = last.mul(difference, p).below(p);
        }
    }

    fn forward_in<const LAZY: bool>(&self, data: &mut [W]) {
        let p = self.prime;
        let twice = p.add(p);
        if !LAZY {
            data.iter_mut().for_each(|x| *x = x.below(p));
        }
        let (mut m, mut t) = (1, data.len() / 2);
        while t > 0 {
            for (block, twiddle) in data.chunks_exact_mut(2 * t).zip(&self.forward[m..]) {
                let (low, high) = block.split_at_mut(t);
                for (x, y) in low.iter_mut().zip(high) {
                    let product = twiddle.mul(*y, p);
                    if LAZY {
                        let first = x.below(twice);
                        (*x, *y) = (first.add(product), first.add(twice).sub(product));
                    } else {
                        let product = product.below(p);
                        let difference = x.sub(product);
                        (*x, *y) = (x.add(product).below(p), difference.min(difference.add(p)));
                    }
                }
            }
            (m, t) = (2 * m, t / 2);
        }
        data.iter_mut().for_each(|x| *x = x.below(twice).below(p));
    }

    /// All layers but the last. In and out: [0, 2p) if lazy, else [0, p).
    fn inverse_in<const LAZY: bool>(&self, data: &mut [W]) {
        let p = self.prime;
        let twice = p.add(p);
        let (mut m, mut t) = (data.len() / 2, 1);
        while m > 1 {
            for (block, twiddle) in data.chunks_exact_mut(2 * t).zip(&self.inverse[m..]) {
                let (low, high) = block.split_at_mut(t);
                for (x, y) in low.iter_mut().zip(high) {
                    if LAZY {
                        let difference = x.add(twice).sub(*y);
                        (*x, *y) = (x.add(*y).below(twice), twiddle.mul(difference, p));
                    } else {
                        let difference = x.sub(*y);
                        let difference = difference.min(difference.add(p));
                        (*x, *y) = (x.add(*y).below(p), twiddle.mul(difference, p).below(p));
                    }
                }
            }
            (m, t) = (m / 2, 2 * t);
        }
    }
}

impl<W: Residue> Transform<W> for Tables<W> {
    fn bytes(&self) -> usize {
        size_of_val(&self.forward[..]) + size_of_val(&self.inverse[..])
    }

    fn forward(&self, data: &mut [W]) {
        if self.lazy() { self.forward_in::<true>(data) } else { self.forward_in::<false>(data) }
    }

    fn forward_signed(&self, signed: &[i32], data: &mut [W]) {
        for (x, signed) in data.iter_mut().zip(signed) {
            *x = W::from_u64(i64::from(*signed) as u64).add(self.prime);
        }
        self.forward(data);
    }

    fn inverse(&self, data: &mut [W], scaled: bool) {
        if self.lazy() {
            self.inverse_in::<true>(data)
        } else {
            self.inverse_in::<false>(data)
        }
        self.finish_inverse(data, scaled);
    }
}
