//! Vectors of ciphertexts that share a mask: bodies b_0, ..., b_(n-1) under as many keys, of which phase j is b_j - a s_j. They are columns
//! of Spiral's matrix encryptions (Menon, Wu, IEEE S&P 2022) and answers with several records.

use crate::decompose::{GadgetShape, RingGadget, Scale};
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::{Masks, Rgsw, Rlwe, RlweKey, RlwePrime, SeededRlwePrime, check};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Ntt, NttPlan, Poly, Ring, Seed, Word, Work};

/// A mask with the bodies that share it, all in domain `D`.
#[derive(Clone, Debug)]
pub struct VectorRlwe<W: Word, D> {
    /// The mask.
    pub a: Poly<W, D>,
    /// The bodies, by key.
    pub bodies: Vec<Poly<W, D>>,
}

impl<W: Word, D> VectorRlwe<W, D> {
    /// Zeros with that number of bodies.
    pub fn zero(ring: &Ring<W>, bodies: usize) -> Self {
        Self { a: ring.zero(), bodies: (0..bodies).map(|_| ring.zero()).collect() }
    }

    /// The mask and body `j`: a ciphertext under key j.
    pub fn part(&self, j: usize) -> Rlwe<W, D>
    where
        D: Clone,
    {
        Rlwe { a: self.a.clone(), b: self.bodies[j].clone() }
    }

    /// The mask, then the bodies.
    pub fn polys(&self) -> impl Iterator<Item = &Poly<W, D>> {
        std::iter::once(&self.a).chain(&self.bodies)
    }

    fn polys_mut(&mut self) -> Vec<&mut Poly<W, D>> {
        std::iter::once(&mut self.a).chain(&mut self.bodies).collect()
    }
}

/// The gadget encryption of a vector of messages on the wire, a part for each key. All parts have the masks of one seed, which under
/// different keys they may share.
///
/// # Errors
/// Another number of messages (NTT domain) than of keys, a key or a message of another ring than the gadget's.
pub fn seeded_vector<W: Word>(
    keys: &[RlweKey<W>],
    messages: &[Poly<W, Ntt>],
    gadget: &RingGadget<W>,
    error: &DiscreteGaussian,
    seed: Seed,
    rng: &mut impl RngCore,
) -> Result<Vec<SeededRlwePrime<W>>, LatticeError> {
    if keys.len() != messages.len() {
        return Err(LatticeError::Mismatch("keys and messages of different numbers"));
    }
    let parts = keys.iter().zip(messages);
    parts.map(|(key, message)| SeededRlwePrime::new(key, message, gadget, error, &mut Masks::new(seed), rng)).collect()
}

/// The gadget encryption of a vector of messages m_0, ..., m_(n-1) in full: phase j of row t is m_j base^(dropped + t).
#[derive(Clone, Debug)]
pub struct VectorPrime<W: Word> {
    scale: Scale,
    rows: Vec<VectorRlwe<W, Ntt>>,
}

impl<W: Word> VectorPrime<W> {
    /// The expansion of what [`seeded_vector`] made, part by part.
    ///
    /// # Errors
    /// No parts; parts that do not share their masks.
    pub fn new(ring: &Ring<W>, parts: &[SeededRlwePrime<W>]) -> Result<Self, LatticeError> {
        let unlike = LatticeError::Mismatch("parts of a vector and of another");
        let Some(first) = parts.first().filter(|first| parts.iter().all(|part| part.shares_masks(first))) else {
            return Err(unlike);
        };
        let expanded = first.expand(ring);
        let rows = expanded.rows.into_iter().enumerate();
        let rows =
            rows.map(|(t, row)| VectorRlwe { a: row.a, bodies: parts.iter().map(|part| part.body(t)).collect() });
        Ok(Self { scale: expanded.scale, rows: rows.collect() })
    }

    /// A gadget encryption of rows that were made by homomorphic operations, by digit.
    ///
    /// # Errors
    /// A number of rows other than that of the digits, rows of another ring or of different numbers of bodies.
    pub fn from_rows(gadget: &RingGadget<W>, rows: Vec<VectorRlwe<W, Ntt>>) -> Result<Self, LatticeError> {
        let bodies = rows.first().map_or(0, |row| row.bodies.len());
        let key = Self { scale: gadget.scale(), rows };
        gadget.check_vector(&key, bodies).map(|()| key)
    }

    /// The rows, by digit.
    pub fn rows(&self) -> &[VectorRlwe<W, Ntt>] {
        &self.rows
    }

    /// The gadget encryption of m_j under key j.
    pub fn part(&self, j: usize) -> RlwePrime<W> {
        RlwePrime { scale: self.scale, rows: self.rows.iter().map(|row| row.part(j)).collect() }
    }

    /// Bytes in memory: masks and bodies.
    pub fn bytes(&self) -> usize {
        self.rows.iter().flat_map(VectorRlwe::polys).map(Poly::bytes).sum()
    }
}

/// The RGSW encryption of a message m for vectors: under each key's mask part the rows of -s_j m, for body r those of m at place r.
#[derive(Clone, Debug)]
pub struct VectorRgsw<W: Word> {
    /// Of (-s_0 m, ..., -s_(n-1) m): multiplied by the digits of a mask.
    pub mask: VectorPrime<W>,
    /// Of m at place r and zeros elsewhere, by r: multiplied by the digits of body r.
    pub bodies: Vec<VectorPrime<W>>,
}

impl<W: Word> VectorRgsw<W> {
    /// The RGSW encryption of m under key j.
    pub fn part(&self, j: usize) -> Rgsw<W> {
        Rgsw { mask: self.mask.part(j), body: self.bodies[j].part(j) }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.mask.bytes() + self.bodies.iter().map(VectorPrime::bytes).sum::<usize>()
    }
}

impl GadgetShape {
    /// The work of [`RingGadget::vector_product`] for that many polynomials and bodies.
    pub fn vector_product_work(self, polynomials: usize, bodies: usize) -> Work {
        self.vector_product_ntt_work(polynomials, bodies) + self.ring.transforms(1 + bodies as u64)
    }

    /// The work of [`RingGadget::vector_product_ntt`].
    pub fn vector_product_ntt_work(self, polynomials: usize, bodies: usize) -> Work {
        let (digits, outputs) = (polynomials * self.length, 1 + bodies);
        self.digits_work(polynomials as u64)
            + self.ring.transforms(digits as u64)
            + self.ring.products((digits * outputs) as u64)
    }

    /// The work of [`RingGadget::spread`] to that many places.
    pub fn spread_work(self, places: usize) -> Work {
        let rows = self.length * places * (1 + places);
        self.digits_work(1)
            + self.ring.transforms(1 + self.length as u64)
            + self.ring.products(rows as u64)
            + self.ring.moves(places as u64)
    }

    /// The work of [`RingGadget::vector_cmux`]: a difference, a product, a sum.
    pub fn vector_cmux_work(self, bodies: usize) -> Work {
        self.vector_product_work(1 + bodies, bodies) + self.ring.moves(2 * (1 + bodies) as u64)
    }

    /// The work of [`RingGadget::pack_vector`].
    pub fn pack_vector_work(self, ciphertexts: usize, bodies: usize) -> Work {
        self.vector_product_work(ciphertexts, bodies) + self.ring.moves(ciphertexts as u64)
    }
}

impl<W: Word> RingGadget<W> {
    /// The sum over polynomials c and gadget encryptions of vectors (m_j): a vector ciphertext of the sums of c m_j. `out` is overwritten.
    ///
    /// # Errors
    /// Different numbers of bodies, a polynomial or key of another ring, a key made with another gadget.
    pub fn vector_product(
        &self,
        parts: &[(&Poly<W, Coefficient>, &VectorPrime<W>)],
        workspace: &mut Workspace<W>,
        out: &mut VectorRlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        self.vector_product_and(parts, workspace, out, NttPlan::inverse)
    }

    /// Like [`Self::vector_product`], but the result stays in the NTT domain.
    pub fn vector_product_ntt(
        &self,
        parts: &[(&Poly<W, Coefficient>, &VectorPrime<W>)],
        workspace: &mut Workspace<W>,
        out: &mut VectorRlwe<W, Ntt>,
    ) -> Result<(), LatticeError> {
        self.vector_product_and(parts, workspace, out, |_, _| ())
    }

    fn vector_product_and<D>(
        &self,
        parts: &[(&Poly<W, Coefficient>, &VectorPrime<W>)],
        workspace: &mut Workspace<W>,
        out: &mut VectorRlwe<W, D>,
        finish: impl Fn(&NttPlan<W>, &mut [W]),
    ) -> Result<(), LatticeError> {
        out.polys().try_for_each(|poly| check(self.ring(), poly))?;
        for (part, key) in parts {
            check(self.ring(), part)?;
            self.check_vector(key, out.bodies.len())?;
        }
        let polys: Vec<_> = parts.iter().map(|(poly, _)| *poly).collect();
        let rows = |limb: usize, right: &mut Vec<_>| {
            let rows = parts.iter().flat_map(|(_, key)| &key.rows);
            rows.for_each(|row| right.extend(row.polys().map(|poly| poly.limb(limb))));
        };
        self.sum_digits(&polys, rows, workspace, &mut out.polys_mut(), finish);
        Ok(())
    }

    /// Packs ciphertexts under one key s, as many as there are bodies or fewer, into a vector whose phase r is that of ciphertext r.
    /// `keys`: for each place r the gadget encryption of -s there and zeros elsewhere.
    ///
    /// # Errors
    /// More ciphertexts than bodies or keys, and those of [`Self::vector_product`].
    pub fn pack_vector(
        &self,
        ciphertexts: &[Rlwe<W, Coefficient>],
        keys: &[VectorPrime<W>],
        workspace: &mut Workspace<W>,
        out: &mut VectorRlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        if ciphertexts.len() > keys.len().min(out.bodies.len()) {
            return Err(LatticeError::Mismatch("more ciphertexts than places in a vector"));
        }
        ciphertexts.iter().try_for_each(|ciphertext| ciphertext.check(self.ring()))?;
        let parts: Vec<_> = ciphertexts.iter().zip(keys).map(|(ciphertext, key)| (&ciphertext.a, key)).collect();
        self.vector_product(&parts, workspace, out)?;
        for (body, ciphertext) in out.bodies.iter_mut().zip(ciphertexts) {
            self.ring().add_assign(body, &ciphertext.b);
        }
        Ok(())
    }

    /// Puts a ciphertext under one key s at each place of a vector in turn: number r has its phase at place r and zero at the others. `keys`
    /// are those of [`Self::pack_vector`]. The digits are made once for all places.
    ///
    /// # Errors
    /// Those of [`Self::vector_product`].
    pub fn spread(
        &self,
        ciphertext: &Rlwe<W, Coefficient>,
        keys: &[VectorPrime<W>],
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<VectorRlwe<W, Ntt>>, LatticeError> {
        let ring = self.ring();
        ciphertext.check(ring)?;
        keys.iter().try_for_each(|key| self.check_vector(key, keys.len()))?;
        let mut out: Vec<_> = keys.iter().map(|_| VectorRlwe::zero(ring, keys.len())).collect();
        let rows = |limb: usize, right: &mut Vec<_>| {
            let rows = (0..self.length()).flat_map(|t| keys.iter().flat_map(move |key| key.rows[t].polys()));
            right.extend(rows.map(|poly| poly.limb(limb)));
        };
        let mut sums: Vec<_> = out.iter_mut().flat_map(VectorRlwe::polys_mut).collect();
        self.sum_digits(&[&ciphertext.a], rows, workspace, &mut sums, |_, _| ());
        let body = ring.forward(ciphertext.b.clone());
        out.iter_mut().enumerate().for_each(|(place, vector)| ring.add_assign(&mut vector.bodies[place], &body));
        Ok(out)
    }

    /// zero + RGSW(bit) (one - zero): selects `zero` or `one`. `out` is overwritten.
    ///
    /// # Errors
    /// Those of [`Self::vector_product`].
    pub fn vector_cmux(
        &self,
        selector: &VectorRgsw<W>,
        zero: &VectorRlwe<W, Coefficient>,
        one: &VectorRlwe<W, Coefficient>,
        workspace: &mut Workspace<W>,
        out: &mut VectorRlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        let ring = self.ring();
        zero.polys().chain(one.polys()).try_for_each(|poly| check(ring, poly))?;
        if zero.bodies.len() != one.bodies.len() || selector.bodies.len() != one.bodies.len() {
            return Err(LatticeError::Mismatch("vectors of different numbers of bodies"));
        }
        let mut difference = one.clone();
        difference.polys_mut().into_iter().zip(zero.polys()).for_each(|(one, zero)| ring.sub_assign(one, zero));
        let keys = std::iter::once(&selector.mask).chain(&selector.bodies);
        self.vector_product(&difference.polys().zip(keys).collect::<Vec<_>>(), workspace, out)?;
        out.polys_mut().into_iter().zip(zero.polys()).for_each(|(out, zero)| ring.add_assign(out, zero));
        Ok(())
    }

    /// Refuses a key of another ring, of another number of bodies, or made with another gadget.
    fn check_vector(&self, key: &VectorPrime<W>, bodies: usize) -> Result<(), LatticeError> {
        if key.scale != self.scale() || key.rows.len() != self.length() {
            return Err(LatticeError::Mismatch("a gadget and a key made with another"));
        }
        if key.rows.iter().any(|row| row.bodies.len() != bodies) {
            return Err(LatticeError::Mismatch("vectors of different numbers of bodies"));
        }
        key.rows.iter().flat_map(VectorRlwe::polys).try_for_each(|poly| check(self.ring(), poly))
    }
}
