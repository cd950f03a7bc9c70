//! The algorithms once more, on integers modulo q by schoolbook, straight from the papers.

use super::properties::Fixture;
use crate::tests::integers;
use crate::{Method, PackingKeys, PackingMasks};
use gadget::Family;
use ring::{Ntt, Poly, Ring};

/// Coefficients modulo q.
pub(super) type Element = Vec<u128>;

/// Z_q[X] / (X^N + 1) and digits in base z.
pub(super) struct Slow {
    pub q: u128,
    pub z: u128,
    pub length: usize,
    pub family: Family,
}

/// Mask and body of each digit of a key.
pub(super) type Key = (Vec<Element>, Vec<Element>);

/// An intermediate result: the power of the generator that is switched to (0: the two halves joined) or the width of a node of the
/// tree, its mask and its body.
pub(super) type Step = (usize, [Element; 2]);

impl Slow {
    fn add(&self, f: &Element, g: &Element) -> Element {
        f.iter().zip(g).map(|(x, y)| (x + y) % self.q).collect()
    }

    fn scale(&self, f: &Element, factor: u128) -> Element {
        f.iter().map(|x| x * factor % self.q).collect()
    }

    /// f X^exponent.
    fn shift(&self, f: &Element, exponent: usize) -> Element {
        let n = f.len();
        let mut out = vec![0; n];
        for (j, &x) in f.iter().enumerate() {
            let place = (j + exponent) % (2 * n);
            out[place % n] = if place < n { x } else { (self.q - x) % self.q };
        }
        out
    }

    fn mul(&self, f: &Element, g: &[i128]) -> Element {
        let q = self.q as i128;
        g.iter().enumerate().fold(vec![0; f.len()], |sum, (j, y)| {
            self.add(&sum, &self.scale(&self.shift(f, j), y.rem_euclid(q) as u128))
        })
    }

    /// f(X^exponent).
    fn map(&self, f: &Element, exponent: usize) -> Element {
        let n = f.len();
        f.iter().enumerate().fold(vec![0; n], |sum, (j, &x)| {
            let mut monomial = vec![0; n];
            monomial[0] = x;
            self.add(&sum, &self.shift(&monomial, j * exponent % (2 * n)))
        })
    }

    /// The digits of every coefficient, unsigned or balanced.
    fn digits(&self, f: &Element) -> Vec<Vec<i128>> {
        let (q, z) = (self.q as i128, self.z as i128);
        let mut rest: Vec<i128> = f.iter().map(|&x| x as i128).collect();
        let low = match self.family {
            Family::Unsigned => 0,
            _ => z / 2,
        };
        if low > 0 {
            rest.iter_mut().for_each(|x| *x -= if 2 * *x >= q { q } else { 0 });
        }
        let mut all = Vec::new();
        for t in 0..self.length {
            let digit = |x: i128| if t + 1 == self.length { x } else { (x + low).rem_euclid(z) - low };
            let digits: Vec<i128> = rest.iter().map(|&x| digit(x)).collect();
            rest.iter_mut().zip(&digits).for_each(|(x, digit)| *x = (*x - digit) / z);
            all.push(digits);
        }
        all
    }

    /// The digits of f times the rows.
    fn switch(&self, f: &Element, rows: &[Element]) -> Element {
        let digits = self.digits(f);
        digits.iter().zip(rows).fold(vec![0; f.len()], |sum, (digits, row)| self.add(&sum, &self.mul(row, digits)))
    }

    fn inverse(&self, power_of_two: usize) -> u128 {
        (0..power_of_two.ilog2()).fold(1, |x, _| if x % 2 == 0 { x / 2 } else { (x + self.q) / 2 })
    }

    /// Algorithms 1 and 2 of InsPIRe.
    pub fn inspiring(
        &self,
        ring_masks: &[Element],
        bodies: &[u128],
        keys: &[Key],
        steps: &mut Vec<Step>,
    ) -> [Element; 2] {
        let (n, gamma) = (ring_masks[0].len(), ring_masks.len());
        let component = |sigma: usize| {
            let sum = ring_masks
                .iter()
                .enumerate()
                .fold(vec![0; n], |sum, (j, mask)| self.add(&sum, &self.shift(&self.map(mask, sigma), j)));
            self.scale(&sum, self.inverse(gamma))
        };
        let mut b = vec![0; n];
        b[..gamma].copy_from_slice(bodies);
        let mut half = |sign: usize, generator: usize, order: usize| {
            let power = |i: usize| (0..i).fold(sign, |power, _| power * generator % (2 * n));
            let mut head = component(power(order - 1));
            for i in (0..order - 1).rev() {
                let images = |rows: &[Element]| rows.iter().map(|row| self.map(row, power(i))).collect::<Vec<_>>();
                b = self.add(&b, &self.switch(&head, &images(&keys[0].1)));
                head = self.add(&component(power(i)), &self.switch(&head, &images(&keys[0].0)));
                steps.push((power(i), [head.clone(), b.clone()]));
            }
            head
        };
        if gamma < n {
            let a = half(1, 2 * n / gamma + 1, gamma);
            return [a, b];
        }
        let (first, second) = (half(1, 5, n / 2), half(2 * n - 1, 5, n / 2));
        b = self.add(&b, &self.switch(&second, &keys[1].1));
        let joined = [self.add(&first, &self.switch(&second, &keys[1].0)), b];
        steps.push((0, joined.clone()));
        joined
    }

    /// PackLWEs and the trace of CDKS, recursively.
    pub fn cdks(&self, ring_masks: &[Element], bodies: &[u128], keys: &[Key], steps: &mut Vec<Step>) -> [Element; 2] {
        let n = ring_masks[0].len();
        let inputs: Vec<[Element; 2]> = ring_masks
            .iter()
            .zip(bodies)
            .map(|(mask, &body)| {
                let mut b = vec![0; n];
                b[0] = body;
                [mask.clone(), b].map(|part| self.scale(&part, self.inverse(n)))
            })
            .collect();
        let mut packed = self.pack_lwes(&inputs, keys, steps);
        for key in inputs.len().ilog2() as usize..keys.len() {
            packed = self.join(&packed, &[vec![0; n], vec![0; n]], key, keys, steps);
        }
        packed
    }

    fn pack_lwes(&self, inputs: &[[Element; 2]], keys: &[Key], steps: &mut Vec<Step>) -> [Element; 2] {
        if let [only] = inputs {
            return only.clone();
        }
        let every_second = |first: usize| inputs.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
        let even = self.pack_lwes(&every_second(0), keys, steps);
        let odd = self.pack_lwes(&every_second(1), keys, steps);
        self.join(&even, &odd, inputs.len().ilog2() as usize - 1, keys, steps)
    }

    /// even + Y odd + EvalAuto(even - Y odd) with key number `key`, that of X -> X^(2^(key + 1) + 1).
    fn join(
        &self,
        even: &[Element; 2],
        odd: &[Element; 2],
        key: usize,
        keys: &[Key],
        steps: &mut Vec<Step>,
    ) -> [Element; 2] {
        let (n, power) = (even[0].len(), 1 << (key + 1));
        let parts: [_; 2] = std::array::from_fn(|i| {
            let shifted = self.shift(&odd[i], n / power);
            let negated = self.shift(&odd[i], n / power + n);
            (self.add(&even[i], &shifted), self.map(&self.add(&even[i], &negated), power + 1))
        });
        let [(a, mapped_a), (b, mapped_b)] = parts;
        let a = self.add(&a, &self.switch(&mapped_a, &keys[key].0));
        let b = self.add(&self.add(&b, &mapped_b), &self.switch(&mapped_a, &keys[key].1));
        steps.push((power, [a.clone(), b.clone()]));
        [a, b]
    }
}

fn element(ring: &Ring<u32>, poly: &Poly<u32, Ntt>) -> Element {
    integers(ring, &ring.inverse(poly.clone()))
}

fn rows(ring: &Ring<u32>, masks: &PackingMasks, keys: &PackingKeys, roles: usize, length: usize) -> Vec<Key> {
    let row = |role: usize| (0..length).map(move |row| (role, row));
    (0..roles)
        .map(|role| {
            (
                row(role).map(|(role, row)| element(ring, masks.row(role, row))).collect(),
                row(role).map(|(role, row)| element(ring, keys.row(role, row))).collect(),
            )
        })
        .collect()
}

/// Table, batch and packing without a table against the slow algorithms.
fn check(method: Method, gamma: usize, family: Family, base: u64, limbs: usize) {
    let mut fixture = Fixture::new(method, gamma, family, base, 0, limbs);
    let (ring_masks, bodies) = fixture.uniform_inputs(gamma);
    let packing = &fixture.packing;
    let ring = packing.ring();
    let slow = Slow { q: ring.modulus_u128().unwrap(), z: base.into(), length: packing.gadget().length(), family };
    let keys = rows(ring, &fixture.masks, &fixture.keys, packing.exponents().len(), slow.length);
    let elements: Vec<Element> = ring_masks.iter().map(|mask| element(ring, mask)).collect();
    let body: Element = integers(ring, &bodies)[..gamma].to_vec();
    let [a, b] = match method {
        Method::Inspiring => slow.inspiring(&elements, &body, &keys, &mut Vec::new()),
        Method::Cdks => slow.cdks(&elements, &body, &keys, &mut Vec::new()),
    };
    // At gamma < N, the bodies' coefficients from gamma on must not matter.
    let table = packing.preprocess(&fixture.masks, &ring_masks, &mut fixture.workspace).unwrap();
    let online = packing.pack(&fixture.masks, &fixture.keys, &ring_masks, &bodies, &mut fixture.workspace).unwrap();
    for packed in [table.pack(&fixture.keys, &bodies).unwrap(), online] {
        assert_eq!(integers(ring, &packed.a), a, "{method} {gamma} {family} {base} mask");
        assert_eq!(integers(ring, &packed.b), b, "{method} {gamma} {family} {base} body");
    }
}

#[test]
fn inspiring_is_the_algorithm() {
    for gamma in [64, 32, 16, 8, 2, 1] {
        check(Method::Inspiring, gamma, Family::Unsigned, 1 << 10, 1);
    }
    check(Method::Inspiring, 64, Family::Balanced, 1 << 19, 2);
    check(Method::Inspiring, 16, Family::Balanced, 1 << 10, 1);
}

#[test]
fn cdks_is_the_algorithm() {
    for gamma in [64, 32, 4, 1] {
        check(Method::Cdks, gamma, Family::Unsigned, 1 << 10, 1);
    }
    check(Method::Cdks, 64, Family::Balanced, 1 << 19, 2);
}
