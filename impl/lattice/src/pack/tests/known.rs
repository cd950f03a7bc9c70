//! Every intermediate result of packings at N = 64 against the values in `known.json`, which a program of its own computed
//! (`tests/fixtures/packing_oracle.py` in the repository's root).

use super::oracle::{Element, Key, Slow};
use crate::error::LatticeError;
use crate::pack::evaluate::zero_matrices;
use crate::pack::inspiring::{Sink, collapse};
use crate::tests::integers;
use crate::{Method, Packing, PackingKeys, PackingMasks, RingGadget, Workspace};
use gadget::{Coins, Family};
use ring::{BlockDiagonal, Kernel, Ntt, Poly, Ring, Seed};
use serde::Deserialize;

#[derive(Deserialize)]
struct Known {
    q: u64,
    n: usize,
    cases: Vec<Case>,
}

/// A packing of inputs that a rule gives ([`coefficients`]), its results and how it came to them.
#[derive(Deserialize)]
struct Case {
    method: String,
    gamma: usize,
    family: String,
    base: u64,
    steps: Vec<Step>,
    a: Element,
    b: Element,
}

/// Checksums of a mask and a body, and what they are of: "to h" (switched to that automorphism), "joined", "width w".
#[derive(Debug, Deserialize, PartialEq, PartialOrd)]
struct Step {
    step: String,
    a: u128,
    b: u128,
}

#[derive(Clone, Copy)]
enum Kind {
    RingMask = 1,
    KeyMask,
    KeyBody,
    Body,
}

impl Known {
    /// Coefficient i of polynomial j of kind t is ((64 t + j) 64 + i + 1)^3 40503 + 12345 modulo q.
    fn input(&self, kind: Kind, j: usize) -> Element {
        let first = (64 * kind as u128 + j as u128) * 64 + 1;
        (0..self.n as u128).map(|i| ((first + i).pow(3) * 40503 + 12345) % u128::from(self.q)).collect()
    }

    fn inputs(&self, kind: Kind, count: usize) -> Vec<Element> {
        (0..count).map(|j| self.input(kind, j)).collect()
    }

    /// The sum of (i + 1) f_i.
    fn checksum(&self, f: &Element) -> u128 {
        (1..).zip(f).map(|(i, x)| i * x).sum::<u128>() % u128::from(self.q)
    }

    fn check(&self, case: &Case) {
        let find = |family: &Family| family.to_string() == case.family;
        let family = [Family::Unsigned, Family::Balanced].into_iter().find(find).unwrap();
        let method = [Method::Inspiring, Method::Cdks].into_iter().find(|m| m.to_string() == case.method).unwrap();
        let ring = Ring::<u32>::new(self.n, &[self.q], Kernel::best()).unwrap();
        let gadget = RingGadget::new(&ring, family, case.base, 0).unwrap();
        let packing = Packing::new(method, &gadget, case.gamma).unwrap();
        self.check_slow(case, &packing, family);
        self.check_production(case, &packing);
    }

    /// The reference of the other tests: all steps. The program goes through CDKS's tree by levels, the reference by depth.
    fn check_slow(&self, case: &Case, packing: &Packing, family: Family) {
        let length = packing.gadget().length();
        let slow = Slow { q: self.q.into(), z: case.base.into(), length, family };
        let rows = |kind, role| (0..length).map(|row| self.input(kind, role * length + row)).collect();
        let keys: Vec<Key> =
            (0..packing.exponents().len()).map(|role| (rows(Kind::KeyMask, role), rows(Kind::KeyBody, role))).collect();
        let (ring_masks, bodies) = (self.inputs(Kind::RingMask, case.gamma), self.input(Kind::Body, 0));
        let mut steps = Vec::new();
        let [a, b] = match packing.method() {
            Method::Inspiring => slow.inspiring(&ring_masks, &bodies[..case.gamma], &keys, &mut steps),
            Method::Cdks => slow.cdks(&ring_masks, &bodies[..case.gamma], &keys, &mut steps),
        };
        assert_eq!((&a, &b), (&case.a, &case.b));
        let name = |place: usize| match (packing.method(), place) {
            (Method::Cdks, width) => format!("width {width}"),
            (Method::Inspiring, 0) => "joined".into(),
            (Method::Inspiring, power) => format!("to {power}"),
        };
        let mut found: Vec<Step> = steps
            .iter()
            .map(|(place, [a, b])| Step { step: name(*place), a: self.checksum(a), b: self.checksum(b) })
            .collect();
        let mut known: Vec<&Step> = case.steps.iter().collect();
        if packing.method() == Method::Cdks {
            found.sort_by(|x, y| x.partial_cmp(y).unwrap());
            known.sort_by(|x, y| x.partial_cmp(y).unwrap());
        }
        assert_eq!(found.iter().collect::<Vec<_>>(), known);
    }

    /// What protocols run: packed with and without a table; and of InspiRING the mask that each key switch takes apart.
    fn check_production(&self, case: &Case, packing: &Packing) {
        let ring = packing.ring();
        let poly = |f: &Element| -> Poly<u32, Ntt> { ring.forward(ring.from_u128(f)) };
        let length = packing.gadget().length();
        let rows = |kind| {
            let row = |role: usize| (0..length).map(|row| poly(&self.input(kind, role * length + row))).collect();
            (0..packing.exponents().len()).map(row).collect()
        };
        let masks = PackingMasks::of_rows(packing, rows(Kind::KeyMask));
        let keys = PackingKeys::of_rows(packing, rows(Kind::KeyBody));
        let mut workspace = Workspace::new(Coins::from_seed(Seed([0; 16])));
        let ring_masks: Vec<_> = self.inputs(Kind::RingMask, case.gamma).iter().map(poly).collect();
        let bodies = ring.from_u128(&self.input(Kind::Body, 0));
        let table = packing.preprocess(&masks, &ring_masks, &mut workspace).unwrap();
        let online = packing.pack(&masks, &keys, &ring_masks, &bodies, &mut workspace).unwrap();
        for packed in [table.pack(&keys, &bodies).unwrap(), online] {
            assert_eq!(integers(ring, &packed.a), case.a);
            assert_eq!(integers(ring, &packed.b), case.b);
        }
        if packing.method() == Method::Inspiring {
            let mut heads = Heads { known: self, ring, base: case.base, sums: Vec::new(), room: Vec::new() };
            collapse(packing, &masks, &ring_masks, &mut workspace, &mut heads).unwrap();
            let known = self.switched(case);
            assert_eq!(heads.sums.len(), known.len());
            for (found, known) in heads.sums.iter().zip(known) {
                assert!(known.is_none_or(|known| known == *found), "{} {}", case.gamma, case.family);
            }
        }
    }

    /// The masks that are switched, but for each half's first one, which no switch made.
    fn switched(&self, case: &Case) -> Vec<Option<u128>> {
        let step = |steps: &[Step]| steps.iter().map(|step| Some(step.a)).collect::<Vec<_>>();
        if case.gamma < self.n {
            let (_, rest) = case.steps.split_last().unwrap();
            return [vec![None], step(rest)].concat();
        }
        // The last mask of the second half is switched to the first half's, which stays.
        let half = self.n / 2 - 1;
        [vec![None], step(&case.steps[..half - 1]), vec![None], step(&case.steps[half..2 * half])].concat()
    }
}

/// Puts the digits of each key switch together again.
struct Heads<'a> {
    known: &'a Known,
    ring: &'a Ring<u32>,
    base: u64,
    sums: Vec<u128>,
    room: Vec<BlockDiagonal>,
}

impl Sink for Heads<'_> {
    fn room(&mut self, ring: &Ring<u32>) -> Result<&mut [BlockDiagonal], LatticeError> {
        if self.room.is_empty() {
            self.room = zero_matrices(ring, &[ring.n()])?;
        }
        Ok(&mut self.room)
    }

    fn take(&mut self, _role: usize, _slots: &[u32], digits: &[Poly<u32, Ntt>]) {
        let q = u128::from(self.known.q);
        let weighed = digits.iter().rev().fold(0, |sum, digit| {
            let coefficients = integers(self.ring, &self.ring.inverse(digit.clone()));
            (sum * u128::from(self.base) + self.known.checksum(&coefficients)) % q
        });
        self.sums.push(weighed);
    }
}

#[test]
fn every_step_has_its_known_value() {
    let known: Known = serde_json::from_str(include_str!("known.json")).unwrap();
    assert_eq!(known.cases.len(), 7);
    for case in &known.cases {
        known.check(case);
    }
}
