//! What descriptions of these protocols have in common: messages, tables, and the work of all but selecting.

use ring::{Kind, RingShape, Work};

use crate::core::plan::{Plan, count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Shape, Sizes, TableBytes};
use crate::parts::bfv::{AnswerKey, FamilyRing, Plaintext, RingTable, Switch, answer_bytes, query_bytes, write_work};
use crate::parts::ring_matrix::{Digits, Gadget, GadgetNumbers};

numbers! {
    /// The ring of ciphertexts, and key switches.
    pub struct RingNumbers(ring: &FamilyRing) {
        ring_degree: usize = ring.degree,
        plaintext: Plaintext = ring.plaintext,
        #[serde(skip_serializing_if = "Option::is_none")]
        special_modulus: Option<u64> = ring.special_modulus,
        automorphism_gadget: GadgetNumbers = GadgetNumbers::new(
            Gadget { base_log2: ring.digit_bits, dropped: 0, digits: Digits::Balanced },
            ring.digits(),
        ),
    }
}

numbers! {
    /// The moduli of answers, and what is stored of a database.
    pub struct StoredNumbers(switch: Option<Switch>, shape: Shape, stored: u64) {
        #[serde(skip_serializing_if = "Option::is_none")]
        mask_modulus: Option<u64> = switch.map(|switch| switch.mask_modulus),
        #[serde(skip_serializing_if = "Option::is_none")]
        body_modulus: Option<u64> = switch.map(|switch| switch.body_modulus),
        stored_bytes: u64 = stored,
        information_bytes: u64 = shape.database_bytes(),
        expansion: f64 = stored as f64 / shape.database_bytes() as f64,
    }
}

/// What travels, from which bytes, memory and work are counted.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub ring: &'a FamilyRing,
    pub switch: Option<Switch>,
    /// A client's keys.
    pub keys: u64,
    /// Queries, of one record or of a batch.
    pub queries: u64,
    /// Ciphertexts of a query, and of the answer to it.
    pub ciphertexts: [usize; 2],
}

impl Sent<'_> {
    /// Bytes of all keys, queries and answers.
    pub fn bytes(&self) -> [u64; 3] {
        let Self { ring, switch, keys, queries, ciphertexts: [sent, answers] } = *self;
        let answer = answer_bytes(ring, switch) as u64;
        [
            ring.keys_bytes(keys),
            count(&[queries, query_bytes(ring, sent) as u64]),
            count(&[queries, answers as u64, answer]),
        ]
    }

    /// Adds the messages and the instances that they show; the symbols are those of digits of a key, and of ciphertexts of a query and of an answer.
    pub fn describe(&self, sizes: &mut Sizes, records: u64, [digits, sent, answers]: [&str; 3]) {
        let [keys, query, answer] = self.bytes();
        let formula = format!("8 + K (24 + {digits} N (log2(q) + log2(P)) / 8)");
        sizes.message("keys", Direction::Upload, "offline", keys, &formula, None);
        let formula = format!("(16 + {sent} N log2(q) / 8) k");
        sizes.message("query", Direction::Upload, "query", query, &formula, Some(records));
        let formula = match self.switch {
            Some(_) => format!("{answers} N (log2(q_a) + log2(q_b)) / 8 k"),
            None => format!("2 {answers} N log2(q) / 8 k"),
        };
        sizes.message("answer", Direction::Download, "answer", answer, &formula, Some(records));
        sizes.instances = self.ring.instances(self.keys * self.ring.digits() as u64);
    }

    /// Memory, of that many stored bytes: the peak is where plaintexts are made, or online. Both parties have tables of their own.
    pub fn memory(&self, stored: u64, making: u64, online: u64, multiplies: bool) -> Result<MemoryMap> {
        let [key_message, query, answer] = self.bytes();
        let (keys, secrets) = (self.keys * self.ring.key_bytes(), 5 * self.ring.shape().poly_bytes());
        let product = if multiplies { self.ring.multiply_shape()?.product_bytes(self.ring.switch_shape()) } else { 0 };
        let online = online.saturating_add(2 * query).saturating_add(2 * answer).saturating_add(product);
        let online = online.max(3 * key_message);
        let tables = 2 * self.ring.table_bytes(multiplies)?;
        Ok(MemoryMap {
            server: vec![TableBytes::new("database", stored), TableBytes::new("keys", keys)],
            client: vec![TableBytes::new("secrets", secrets)],
            peak_bytes: stored
                .saturating_add(making.max(keys.saturating_add(online)))
                .saturating_add(secrets + tables + PROCESS_BYTES),
        })
    }

    fn of_queries(&self, ciphertexts: usize) -> u64 {
        count(&[ciphertexts as u64, self.queries])
    }

    /// Residues of all queries' bodies.
    fn residues(&self) -> u64 {
        let RingShape { degree, primes } = self.ring.shape();
        count(&[self.of_queries(self.ciphertexts[0]), (degree * primes) as u64])
    }

    /// Adds the making of queries, whose plaintexts take `encoded`, and step `parse` of the answer, its first.
    pub fn ask(&self, plan: &mut Plan, encoded: Work) -> Result<()> {
        let (ring, sent) = (self.ring.shape(), self.of_queries(self.ciphertexts[0]));
        let samples =
            [(Kind::GaussianSamples, count(&[sent, ring.degree as u64])), (Kind::WordsWritten, self.residues())];
        let scaled = self.ring.plaintext.family().shorten_work(ring.degree)? + ring.transforms(2) + ring.products(2);
        plan.phase("query", encoded + scaled * sent + samples.into());
        let parsed = [(Kind::WordsRead, self.residues()), (Kind::PrgBytes, self.residues().saturating_mul(4))];
        plan.step("answer", "parse", parsed.into());
        Ok(())
    }

    /// Adds step `write` of the answer, its last, and the opening of answers, of which a plaintext takes `decoded` beside.
    pub fn respond(&self, plan: &mut Plan, decoded: Work) -> Result<()> {
        let (ring, answers) = (self.ring.shape(), self.of_queries(self.ciphertexts[1]));
        let words = Work::of(Kind::WordsWritten, &[self.bytes()[2] / 4]);
        plan.step("answer", "write", write_work(ring, self.switch) * answers + words);
        let shortened = self.ring.plaintext.family().shorten_work(ring.degree)?;
        plan.phase("extract", (AnswerKey::work(ring, self.switch) + shortened + decoded) * answers);
        Ok(())
    }
}
