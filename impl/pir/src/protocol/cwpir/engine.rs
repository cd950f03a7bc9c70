//! Ring, scheme, products and key switches, as both parties use them.

use std::borrow::Cow;
use std::sync::Arc;

use bfv::{Lifted, Multiplier, RnsGadget, Scheme, expansion_exponents};
use lattice::Rlwe;
use ring::{Kernel, Ntt, Poly, Ring};

use super::{Layout, Selection, Set};
use crate::core::threads::side_by_side;
use crate::core::{Result, Shape};
use crate::parts::bfv::{AnswerOpener, Plaintext, ServerKeys};

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub layout: Layout,
    /// The ring of ciphertexts.
    pub ring: Arc<Ring<u32>>,
    pub scheme: Scheme<u32>,
    /// Key switches.
    pub gadget: RnsGadget<u32>,
    /// The keys that a client uploads: of products, if there are any, and of the expansion.
    pub exponents: Vec<u64>,
    /// Products, if there are any.
    multiplier: Option<Multiplier<u32>>,
    pub opener: AnswerOpener,
    /// The phases of encryptions of 0, 1, 2, ..., which words are compared with.
    constants: Vec<Poly<u32, Ntt>>,
    /// What the selected item is multiplied by: 1, or k!.
    pub factor: i64,
    /// 1 / factor.
    inverse: i64,
}

/// What products are made of.
pub enum Operands {
    /// Ciphertexts.
    Whole(Vec<Rlwe<u32, Ntt>>),
    /// Ciphertexts that are lifted, each for all its products.
    Lifted(Vec<Lifted<u32>>),
}

/// The exponents of the keys that a layout needs.
pub fn exponents(layout: &Layout, degree: usize) -> Vec<u64> {
    let relinearisation = (layout.products() > 0).then_some(1);
    relinearisation.into_iter().chain(expansion_exponents(degree, layout.depth)).collect()
}

impl Engine {
    pub fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        let (ring, layout) = (set.ring.ring(kernel)?, set.layout(shape)?);
        let scheme = set.ring.scheme(&ring)?;
        let weight = match set.selection {
            Selection::Arithmetic { weight } => weight as u64,
            _ => 1,
        };
        let t = modulus(set);
        let factorial = (1..=weight).fold(1, |product, i| product * i % t);
        // Fermat's little theorem: t is a prime above k.
        let power = |base: u64, mut exponent: u64| {
            let (mut square, mut power) = (u128::from(base), 1);
            while exponent > 0 {
                power = if exponent & 1 == 1 { power * square % u128::from(t) } else { power };
                (square, exponent) = (square * square % u128::from(t), exponent >> 1);
            }
            power as i64
        };
        let constant = |i: u64| {
            let mut z = vec![0; ring.n()];
            z[0] = i as i64;
            Ok(scheme.scale(&scheme.modulus().shorten(&z)?)?)
        };
        Ok(Self {
            exponents: exponents(&layout, set.ring.degree),
            multiplier: (layout.products() > 0).then(|| Multiplier::new(&scheme, 1)).transpose()?,
            gadget: set.ring.gadget(kernel)?,
            opener: AnswerOpener::new(set.ring.degree, set.switch)?,
            constants: (0..weight.max(2)).map(constant).collect::<Result<_>>()?,
            factor: factorial as i64,
            inverse: power(factorial, t - 2),
            layout,
            scheme,
            ring,
            set: set.clone(),
        })
    }

    /// The bits of a query's word: its expanded ciphertexts.
    pub fn expand(&self, query: &[Rlwe<u32, Ntt>], keys: &ServerKeys, threads: usize) -> Result<Vec<Rlwe<u32, Ntt>>> {
        let exponents = expansion_exponents(self.ring.n(), self.layout.depth);
        let keys = exponents.map(|exponent| keys.of(exponent)).collect::<Result<Vec<_>>>()?;
        let expand = |(number, input)| Ok(self.gadget.expand(input, self.layout.bits_of(number).len(), &keys)?);
        Ok(side_by_side(query.iter().enumerate(), threads, expand)?.into_iter().flatten().collect())
    }

    /// The operands that the bits of a word give.
    pub fn operands(&self, bits: Vec<Rlwe<u32, Ntt>>, threads: usize) -> Result<Operands> {
        let operands = match self.set.selection {
            Selection::Folklore {} => bits.into_iter().flat_map(|bit| [bit.clone(), self.complement(bit)]).collect(),
            _ => bits,
        };
        match (&self.multiplier, self.set.selection) {
            (None, _) | (_, Selection::Arithmetic { .. }) => Ok(Operands::Whole(operands)),
            (Some(multiplier), _) => {
                let lift = |bit: Rlwe<u32, Ntt>| Ok(multiplier.lift(&bit)?);
                Ok(Operands::Lifted(side_by_side(operands.into_iter(), threads, lift)?))
            }
        }
    }

    /// 1 - x.
    fn complement(&self, mut bit: Rlwe<u32, Ntt>) -> Rlwe<u32, Ntt> {
        self.ring.neg_assign(&mut bit.a);
        self.ring.neg_assign(&mut bit.b);
        self.ring.add_assign(&mut bit.b, &self.constants[1]);
        bit
    }

    /// An encryption of [`Self::factor`] if the word is the item's, else of 0.
    pub fn select(&self, operands: &Operands, item: usize, keys: &ServerKeys) -> Result<Rlwe<u32, Ntt>> {
        let chosen = self.layout.operands_of(item);
        let whole = match operands {
            Operands::Lifted(all) => {
                return self.product(chosen.into_iter().map(|i| Cow::Borrowed(&all[i])).collect(), keys);
            }
            Operands::Whole(all) => all,
        };
        let mut sum = whole[chosen[0]].clone();
        chosen[1..].iter().for_each(|i| sum.add_assign(&self.ring, &whole[*i]));
        let Some(multiplier) = &self.multiplier else { return Ok(sum) };
        let term = |i: usize| {
            let mut term = sum.clone();
            self.ring.sub_assign(&mut term.b, &self.constants[i]);
            Ok(Cow::Owned(multiplier.lift(&term)?))
        };
        self.product((0..chosen.len()).map(term).collect::<Result<_>>()?, keys)
    }

    /// The product of two operands or more: of neighbours, then of neighbouring products, and so on.
    fn product(&self, mut factors: Vec<Cow<Lifted<u32>>>, keys: &ServerKeys) -> Result<Rlwe<u32, Ntt>> {
        let Some(multiplier) = &self.multiplier else { return Ok(factors[0].ciphertext().clone()) };
        let key = keys.relinearisation()?;
        let multiply = |left: &Lifted<u32>, right: &Lifted<u32>| multiplier.multiply(left, right, &self.gadget, key);
        loop {
            if let [left, right] = &factors[..] {
                return Ok(multiply(left, right)?);
            }
            let next = factors.chunks(2).map(|pair| match pair {
                [left, right] => Ok(Cow::Owned(multiplier.lift(&multiply(left, right)?)?)),
                _ => Ok(pair[0].clone()),
            });
            factors = next.collect::<Result<_>>()?;
        }
    }

    /// The coefficients of a plaintext of an answer, from the short plaintext that was decrypted.
    pub fn coefficients(&self, z: Vec<i64>) -> impl Iterator<Item = i64> {
        let t = i128::from(modulus(&self.set));
        z.into_iter().map(move |z| {
            let residue = (i128::from(z) * i128::from(self.inverse)).rem_euclid(t);
            (if 2 * residue > t { residue - t } else { residue }) as i64
        })
    }

    /// The short plaintext of coefficients times [`Self::factor`].
    pub fn multiple(&self, z: &[i64]) -> Result<Vec<i64>> {
        Ok(self.scheme.modulus().shorten(&z.iter().map(|z| z * self.factor).collect::<Vec<_>>())?)
    }
}

/// t.
fn modulus(set: &Set) -> u64 {
    match set.ring.plaintext {
        Plaintext::Integer { modulus } => modulus,
        _ => 0,
    }
}
