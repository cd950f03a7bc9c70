//! The work of each step. Transforms have N points modulo one prime.

use lattice::GadgetShape;
use lattice::convert::{Extraction, SelectorTree, rgsw_work};
use lattice::lwe::LweSwitcher;
use lattice::rotate::BlindRotationKey;
use ring::{Kind, PolyMatrix, RingShape, Work};

use super::super::cipher::{self, converted_bytes, keystream_work};
use super::super::convert::BITS_TOGETHER;
use super::super::form::Selecting;
use super::super::switching::KeySwitching;
use super::{Described, digits_of, encrypted};
use crate::core::Result;
use crate::core::plan::{Plan, count};
use crate::parts::ring_matrix::Gadget;

impl<F: Selecting> Described<'_, F> {
    pub(super) fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let (layout, updates) = (&self.layout, self.workload.updates);
        let mut plan = Plan::default();
        self.keys_work(&mut plan)?;
        self.query_work(&mut plan)?;
        self.selectors_work(&mut plan);
        self.selection_work(&mut plan);
        plan.phase("extract", Work::of(Kind::Phases, &[1]));
        plan.phase("update_encode", self.matrix_ring().transforms(count(&[updates, layout.parts as u64, 2])));
        self.database_work(&mut plan);
        Ok(plan.operations())
    }

    fn ring_shape(&self) -> RingShape {
        self.params.rlwe.shape()
    }

    /// The ring of the database's polynomials.
    fn matrix_ring(&self) -> RingShape {
        RingShape { primes: self.matrix_primes(), ..self.ring_shape() }
    }

    fn gadget(&self, gadget: Gadget) -> GadgetShape {
        gadget.shape(&self.params.rlwe)
    }

    /// Masks and errors of LWE encryptions, or the keystream of a cipher.
    fn query_work(&self, plan: &mut Plan) -> Result<()> {
        let Some(encryption) = self.params.encryption() else {
            let keystream = count(&[self.workload.queries, cipher::aes::BLOCK as u64]);
            plan.phase("query", Work::of(Kind::PrgBytes, &[keystream]));
            return Ok(());
        };
        // Pirouette's query is under the ring key, that of Pirouette^H under the small one.
        let of_small = self.params.query.switching().is_none();
        let dimension = if of_small { self.params.lwe.dimension } else { self.ring.n() } as u64;
        let bytes = u64::from(encryption.modulus_log2.div_ceil(8));
        let masks = count(&[self.workload.queries, self.bodies()?, dimension, bytes]);
        let tries = 1 << encryption.chosen_bits;
        let samples = count(&[tries, self.workload.queries, self.bodies()?]);
        plan.phase("query", Work::from([(Kind::PrgBytes, count(&[tries, masks])), (Kind::GaussianSamples, samples)]));
        plan.step("answer", "parse", Work::of(Kind::PrgBytes, &[masks]));
        Ok(())
    }

    /// Keys, made by the client and expanded by the server. Packing residues and masks of LWE samples take longer than the kinds of work that
    /// stand for them: seconds are a lower bound.
    fn keys_work(&self, plan: &mut Plan) -> Result<()> {
        let ring = self.ring_shape();
        let rows = self.key_rows().iter().sum::<u64>() + self.round_key_rows();
        let (words, bytes) =
            (count(&[rows, ring.degree as u64, ring.primes as u64]), count(&[rows, ring.poly_bytes()]));
        // The switch to the small key consists of LWE samples, whose masks are drawn in words of eight bytes.
        let samples = self.params.query.switching().map_or(0, |switching| (ring.degree * switching.length()) as u64);
        let sample_words = count(&[samples, self.params.lwe.dimension as u64]);
        let masks = bytes.saturating_add(count(&[sample_words, 8]));
        let wire: u64 =
            self.keys_sent()?.iter().filter(|(name, _)| *name != encrypted::DATABASE).map(|(_, bytes)| bytes).sum();
        let tables: u64 = self.key_tables()?.iter().map(|table| table.bytes).sum();
        // Each row is a mask times the secret, a message times a weight, and an error. Rows, their bytes and the frames around them
        // are new memory.
        let made = ring.transforms(rows) + ring.products(2 * rows);
        let written = [
            (Kind::MultiplyAddsU32, sample_words),
            (Kind::GaussianSamples, count(&[rows, ring.degree as u64]).saturating_add(samples)),
            (Kind::PrgBytes, masks),
            (Kind::WordsWritten, words.saturating_add(samples)),
            (Kind::AllocatedBytes, bytes.saturating_add(count(&[2, wire]))),
        ];
        plan.phase("keys", made + written.into());
        // Masks come from seeds and bodies from messages; both are new memory beside the tables made of them.
        let expanded = [
            (Kind::PrgBytes, masks),
            (Kind::WordsRead, words.saturating_add(samples)),
            (Kind::AllocatedBytes, tables.saturating_add(bytes)),
        ];
        plan.phase("key_expansion", expanded.into());
        Ok(())
    }

    /// From the LWE encryptions of an index to RGSW encryptions of its bits.
    fn selectors_work(&self, plan: &mut Plan) {
        let (params, queries, bits) = (self.params, self.workload.queries, self.bits);
        let (ring, rotation) = (self.ring_shape(), params.shape());
        let (digits, digit_bits) = digits_of(params, bits);
        let gadget = self.gadget(params.blind_rotation.gadget());
        let key_bytes = BlindRotationKey::expanded_bytes(&self.ring, rotation, gadget.length) as u64;
        let rotations =
            |number: u64, passes: u64| rotation.work(gadget) * number + Work::of(Kind::KeyBytes, &[passes, key_bytes]);
        let passes = |number: u64| count(&[queries, number.div_ceil(BITS_TOGETHER as u64)]);
        let [trace, squaring] = [params.automorphism, params.squaring].map(|gadget| self.gadget(gadget));
        let switch =
            |switching: &KeySwitching| LweSwitcher::switch_work(ring.degree, params.lwe.dimension, switching.length());
        if let (Some(rounds), Some(switching)) = (params.query.rounds(), params.query.switching()) {
            let (bytes, of_rounds) = (params.query.keystream_bytes(bits as u32), self.gadget(rounds.gadget()));
            let converted = 8 * converted_bytes(bytes);
            let rows = keystream_work(bytes, &rounds.positions(&params.rlwe), of_rounds, (trace, squaring)) * queries;
            let switches = switch(switching) * count(&[queries, converted + bits]);
            plan.step("answer", "cipher", rotations(count(&[queries, converted]), passes(converted)) + rows + switches);
        } else if let Some(switching) = params.query.switching() {
            let switch = switch(switching);
            let floors = count(&[queries, digits.saturating_sub(1), if digit_bits == 1 { 1 } else { 2 }]);
            plan.step("answer", "digits", rotations(floors, floors) + switch.clone() * floors);
            let tables = ring.transforms(2 + 2 * digit_bits) * count(&[queries, digits]);
            let switches = switch * count(&[queries, digits + bits]);
            plan.step("answer", "bits", rotations(count(&[queries, digits]), passes(digits)) + tables + switches);
        }
        let rows = rgsw_work(&params.rgsw.positions(&params.rlwe), Extraction::Tree, trace, squaring)
            * count(&[queries, bits]);
        plan.step("answer", "rgsw", rotations(count(&[queries, bits]), passes(bits)) + rows);
    }

    /// From the selectors to the response. Sums and differences of CMUXes are not counted.
    fn selection_work(&self, plan: &mut Plan) {
        let (layout, queries) = (&self.layout, self.workload.queries);
        let (ring, matrix, rgsw) = (self.ring_shape(), self.matrix_ring(), self.gadget(self.params.rgsw.gadget()));
        if !self.params.database.encrypted {
            let leaves = if matrix.primes < ring.primes {
                // Leaves are transformed back, switched, and transformed again.
                (ring.transforms(2) + matrix.transforms(2)) * layout.rows as u64
            } else {
                Work::default()
            };
            let tree = SelectorTree::<u32>::work(layout.row_bits as usize, 1, rgsw);
            plan.step("answer", "selector", (tree + leaves) * queries);
            let columns = layout.matrix_columns();
            let product = PolyMatrix::multiply_work(matrix, (layout.rows, columns), 2 * queries, self.stored_bytes());
            let back = matrix.transforms(count(&[queries, 2 * columns as u64]));
            plan.step("answer", "first_dimension", product + back);
        }
        let products = |each: u64| rgsw.external_product_work() * count(&[queries, layout.parts as u64, each]);
        plan.step("answer", "folding", products((layout.columns as u64).saturating_sub(1)));
        plan.step("answer", "rotation", products(layout.position_bits.into()));
        let compressed = self.responder.gadget().shape().key_switch_work();
        plan.step("answer", "compression", compressed * count(&[queries, layout.slots as u64]));
    }

    /// The work on the database before any query.
    fn database_work(&self, plan: &mut Plan) {
        let (ring, columns) = (self.ring_shape(), self.layout.matrix_columns() as u64);
        let encoded = self.matrix_ring().transforms(count(&[self.layout.rows as u64, columns]));
        let streamed = self.workload.streamed;
        if self.params.database.encrypted {
            let masks = [
                (Kind::GaussianSamples, count(&[columns, ring.degree as u64])),
                (Kind::PrgBytes, count(&[columns, ring.poly_bytes()])),
            ];
            plan.kept("database_encryption", streamed, encoded + ring.transforms(columns) + masks.into());
        } else {
            plan.kept("encode", streamed, encoded + Work::of(Kind::BytesWritten, &[self.stored_bytes()]));
        }
    }
}
