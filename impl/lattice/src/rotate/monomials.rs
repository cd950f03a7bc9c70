//! The values X^c - 1 in the NTT domain, made from a table of powers of the root of unity.

use ring::{Ring, Word};

/// Slots whose powers are looked up; the others follow from them by products.
const SEEDED: usize = 16;

/// The powers of every prime's root of unity.
#[derive(Clone, Debug)]
pub(super) struct Monomials<W> {
    /// psi^k for k below 2N, a prime after the other.
    powers: Vec<Vec<W>>,
    /// The residues of 1, a prime after the other.
    ones: Vec<W>,
}

impl<W: Word> Monomials<W> {
    pub(super) fn new(ring: &Ring<W>) -> Self {
        let powers = |(modulus, plan): &(ring::Modulus<W>, ring::ntt::NttPlan<W>)| {
            let (root, mut power) = (plan.root(), W::from_u64(1));
            (0..2 * ring.n())
                .map(|_| {
                    let this = power;
                    power = modulus.mul(power, root);
                    this
                })
                .collect()
        };
        Self { powers: ring.limbs().iter().map(powers).collect(), ones: vec![W::from_u64(1); ring.n()] }
    }

    /// Writes X^`exponent` - 1 (exponent below 2N) modulo prime `limb`: psi^(exponent (2 bitrev(j) + 1)) - 1 in slot j.
    pub(super) fn less_one(&self, ring: &Ring<W>, limb: usize, exponent: usize, out: &mut [W]) {
        let (modulus, plan) = &ring.limbs()[limb];
        let (powers, n) = (&self.powers[limb], ring.n());
        let power = |factor: usize| powers[exponent * factor % (2 * n)];
        for (slot, out) in out[..SEEDED].iter_mut().enumerate() {
            *out = power(plan.slot_exponent(slot));
        }
        // Bit h of a slot's number adds N / h to the exponent 2 bitrev(j) + 1.
        let mut done = SEEDED;
        while done < n {
            let (first, second) = out[..2 * done].split_at_mut(done);
            second.copy_from_slice(first);
            ring.vectors().mul_scalar(modulus, second, power(n / done));
            done *= 2;
        }
        ring.vectors().sub(modulus, out, &self.ones);
    }
}
