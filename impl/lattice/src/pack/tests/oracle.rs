//! The algorithms once more, on integers modulo q by schoolbook, straight from the papers.

use super::properties::Fixture;
use crate::tests::integers;
use crate::{Method, Packing, PackingKeys, PackingMasks, RingGadget, Workspace};
use gadget::{Coins, Family};
use ring::{Ntt, Poly, Ring, Seed};

/// Coefficients modulo q.
type Element = Vec<u128>;

/// Z_q[X] / (X^N + 1) and digits in base z.
struct Slow {
    q: u128,
    z: u128,
    length: usize,
    family: Family,
}

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

    /// Algorithms 1 and 2 of InsPIRe. Rows: mask and body of each digit of each key. `steps`: the mask and the body after each switch of
    /// one power of the generator to the one below.
    fn inspiring(
        &self,
        ring_masks: &[Element],
        bodies: &[u128],
        keys: &[(Vec<Element>, Vec<Element>)],
        steps: &mut Vec<[Element; 2]>,
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
                steps.push([head.clone(), b.clone()]);
            }
            head
        };
        if gamma < n {
            let a = half(1, 2 * n / gamma + 1, gamma);
            return [a, b];
        }
        let (first, second) = (half(1, 5, n / 2), half(2 * n - 1, 5, n / 2));
        b = self.add(&b, &self.switch(&second, &keys[1].1));
        [self.add(&first, &self.switch(&second, &keys[1].0)), b]
    }

    /// PackLWEs and the trace of CDKS, recursively.
    fn cdks(&self, ring_masks: &[Element], bodies: &[u128], keys: &[(Vec<Element>, Vec<Element>)]) -> [Element; 2] {
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
        let mut packed = self.pack_lwes(&inputs, keys);
        for key in inputs.len().ilog2() as usize..keys.len() {
            packed = self.join(&packed, &[vec![0; n], vec![0; n]], key, keys);
        }
        packed
    }

    fn pack_lwes(&self, inputs: &[[Element; 2]], keys: &[(Vec<Element>, Vec<Element>)]) -> [Element; 2] {
        if let [only] = inputs {
            return only.clone();
        }
        let every_second = |first: usize| inputs.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
        let (even, odd) = (self.pack_lwes(&every_second(0), keys), self.pack_lwes(&every_second(1), keys));
        self.join(&even, &odd, inputs.len().ilog2() as usize - 1, keys)
    }

    /// even + Y odd + EvalAuto(even - Y odd) with key number `key`, that of X -> X^(2^(key + 1) + 1).
    fn join(
        &self,
        even: &[Element; 2],
        odd: &[Element; 2],
        key: usize,
        keys: &[(Vec<Element>, Vec<Element>)],
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
        [a, b]
    }
}

fn element(ring: &Ring<u32>, poly: &Poly<u32, Ntt>) -> Element {
    integers(ring, &ring.inverse(poly.clone()))
}

fn rows(
    ring: &Ring<u32>,
    masks: &PackingMasks,
    keys: &PackingKeys,
    roles: usize,
    length: usize,
) -> Vec<(Vec<Element>, Vec<Element>)> {
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
        Method::Cdks => slow.cdks(&elements, &body, &keys),
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

/// One tiny case, N = 64 and gamma = 4, whose intermediate values were computed by a third program. Inputs: coefficient i of
/// polynomial j of kind t is ((64 t + j) 64 + i + 1)^3 40503 + 12345 modulo q; kinds are ring masks, key masks, key bodies, bodies.
#[test]
fn a_tiny_case_has_its_known_values() {
    const Q: u64 = 268_369_921;
    let ring = Ring::<u32>::new(64, &[Q], ring::Kernel::best()).unwrap();
    let coefficients = |kind: u128, j: u128| -> Vec<u64> {
        let cube = |i: u128| ((64 * kind + j) * 64 + i + 1).pow(3) * 40503 + 12345;
        (0..64).map(|i| (cube(i) % u128::from(Q)) as u64).collect()
    };
    let poly = |kind, j| -> Poly<u32, Ntt> { ring.forward(ring.from_u64(&coefficients(kind, j))) };
    let wide = |kind, j| -> Element { coefficients(kind, j).into_iter().map(u128::from).collect() };
    let gadget = RingGadget::new(&ring, Family::Unsigned, 1 << 10, 0).unwrap();
    let packing = Packing::new(Method::Inspiring, &gadget, 4).unwrap();

    let slow = Slow { q: Q.into(), z: 1 << 10, length: 3, family: Family::Unsigned };
    let ring_masks: Vec<Element> = (0..4).map(|j| wide(1, j)).collect();
    let key = ((0..3).map(|row| wide(2, row)).collect(), (0..3).map(|row| wide(3, row)).collect());
    let mut steps = Vec::new();
    let [a, b] = slow.inspiring(&ring_masks, &wide(4, 0)[..4], &[key], &mut steps);
    let sum = |f: &Element| (1..).zip(f).map(|(i, x)| i * x).sum::<u128>() % u128::from(Q);
    let found: Vec<[u128; 2]> = steps.iter().map(|[a, b]| [sum(a), sum(b)]).collect();
    assert_eq!(found, [[172_260_433, 263_087_481], [46_853_959, 40_692_125], [131_834_033, 1_485_543]]);
    assert_eq!(a[..4], [237_281_782, 213_755_818, 253_762_904, 53_604_090]);
    assert_eq!(b[..4], [113_522_917, 178_738_164, 84_739_382, 65_063_614]);

    let masks = PackingMasks::of_rows(&packing, vec![(0..3).map(|row| poly(2, row)).collect()]);
    let keys = PackingKeys::of_rows(&packing, vec![(0..3).map(|row| poly(3, row)).collect()]);
    let mut workspace = Workspace::new(Coins::from_seed(Seed([0; 16])));
    let inputs: Vec<_> = (0..4).map(|j| poly(1, j)).collect();
    let table = packing.preprocess(&masks, &inputs, &mut workspace).unwrap();
    let packed = table.pack(&keys, &ring.from_u64(&coefficients(4, 0))).unwrap();
    assert_eq!((integers(&ring, &packed.a), integers(&ring, &packed.b)), (a, b));
}
