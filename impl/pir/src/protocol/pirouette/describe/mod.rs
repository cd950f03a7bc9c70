//! Layout, bytes, memory, operations and instances of Pirouette, Pirouette^H and T-Respire.

mod operations;
#[cfg(test)]
mod tests;

use lattice::convert::SelectorTree;
use lattice::lwe::LweSwitchKey;
use lattice::rotate::BlindRotationKey;
use ring::{Kernel, PolyPairs, Ring};

use super::cipher::{self, converted_bytes, round_bytes};
use super::encrypted;
use super::form::Selecting;
use super::keys::{self, lwe_modulus};
use super::query::{Encryption, QuerySeed, SeedUse};
use super::selector::Selector;
use super::server::{CELLS, TREE_BITS};
use super::set::{Set, index_bits};
use super::switching::KeySwitching;
use crate::core::plan::{count, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, LweInstance, MemoryMap, Result, SecretKind, Sizes, TableBytes, Workload};
use crate::parts::folding::{FoldingNumbers, Layout, Matrix, Responder};
use crate::parts::ring_matrix::{Gadget, GadgetNumbers, product_text};

/// The common input of all parts of a description.
pub struct Described<'a, F> {
    params: &'a Set<F>,
    layout: Layout,
    workload: &'a Workload,
    ring: std::sync::Arc<Ring<u32>>,
    responder: Responder,
    bits: u64,
}

numbers! {
    /// The layout of Pirouette, Pirouette^H and T-Respire.
    pub struct Numbers<F: Selecting>(all: &Described<'_, F>) {
        #[serde(flatten)]
        folding: FoldingNumbers = all.folding(),
        ring_modulus: String = all.product(2),
        ring_secret: SecretKind = all.params.rlwe.secret,
        ring_error_stddev: f64 = all.params.rlwe.error.stddev().0,
        first_dimension_modulus: String = all.product(all.matrix_primes()),
        #[serde(flatten)]
        encryption: Option<EncryptionNumbers> = all.params.encryption().map(EncryptionNumbers::new),
        #[serde(flatten)]
        cipher: Option<CipherNumbers> = all.params.query.rounds().map(|rounds| CipherNumbers::new(all.params, rounds, all.bits)),
        index_bits: u64 = all.bits,
        digit_bits: u64 = digits_of(all.params, all.bits).1,
        digits: u64 = digits_of(all.params, all.bits).0,
        first_bits: u32 = all.layout.row_bits,
        fold_bits: u32 = all.layout.column_bits,
        rotation_bits: u32 = all.layout.position_bits,
        used_coefficients: u64 = all.record_coefficients(),
        lwe_dimension: usize = all.params.lwe.dimension,
        lwe_secret: SecretKind = all.params.lwe.secret,
        bits_per_step: u32 = all.params.blind_rotation.bits_per_step,
        rotation_gadget: GadgetNumbers = all.of_ring(all.params.blind_rotation.gadget()),
        automorphism_gadget: GadgetNumbers = all.of_ring(all.params.automorphism),
        squaring_gadget: GadgetNumbers = all.of_ring(all.params.squaring),
        rgsw_gadget: GadgetNumbers = all.of_ring(all.params.rgsw.gadget()),
        rgsw_window: usize = all.params.spacing(),
        encrypted: bool = all.params.database.encrypted,
        mask_modulus: String = all.params.response.mask_modulus.to_string(),
        body_modulus: String = all.params.response.body_modulus.to_string(),
        response_secret: SecretKind = all.params.response.secret,
        response_error_stddev: f64 = all.params.response.error.stddev().0,
        response_gadget: GadgetNumbers = all.response_gadget(),
        #[serde(flatten)]
        switching: Option<SwitchingNumbers> = all.params.query.switching().map(SwitchingNumbers::new),
    }
}

numbers! {
    /// The LWE encryption of an index or of its bits.
    pub struct EncryptionNumbers(encryption: Encryption) {
        query_modulus: String = format!("2^{}", encryption.modulus_log2),
        query_body_modulus: String = format!("2^{}", encryption.body_bits),
        query_chosen_bits: u32 = encryption.chosen_bits,
        query_error_stddev: f64 = encryption.error.stddev().0,
        seed_sent: SeedUse = encryption.seed,
    }
}

numbers! {
    /// The cipher of an index.
    pub struct CipherNumbers<F: Selecting>(params: &Set<F>, rounds: &Selector, bits: u64) {
        rounds_gadget: GadgetNumbers = rounds.gadget().describe(params.rlwe.modulus()),
        rounds_window: usize = rounds.spacing(&params.rlwe),
        keystream_bytes: usize = params.query.keystream_bytes(bits as u32),
        converted_bytes: u64 = converted_bytes(params.query.keystream_bytes(bits as u32)),
    }
}

numbers! {
    /// The switch to the small key.
    pub struct SwitchingNumbers(switching: &KeySwitching) {
        switching_modulus: String = format!("2^{}", switching.modulus_log2),
        switching_error_stddev: f64 = switching.error.stddev().0,
        switching_gadget: GadgetNumbers = switching.gadget().describe(switching.modulus()),
    }
}

pub(super) fn describe<F: Selecting>(params: &Set<F>, workload: &Workload) -> Result<Sizes> {
    let ring = params.ring(Kernel::Scalar)?;
    let layout = params.layout(workload.shape)?;
    params.check_streaming(workload.streamed)?;
    params.encryption().map_or(Ok(()), |encryption| encryption.check_queries(workload.queries))?;
    let described = Described {
        params,
        layout,
        workload,
        responder: Responder::new(params.response.params(), &ring)?,
        ring,
        bits: index_bits(&layout).into(),
    };
    let mut sizes = Sizes::of(&Numbers::new(&described));
    described.messages(&mut sizes)?;
    sizes.memory = described.memory()?;
    sizes.operations = described.operations()?;
    sizes.instances = described.instances();
    Ok(sizes)
}

/// Digits of an index, and bits of a digit; 0 if the index is not decomposed.
fn digits_of<F: Selecting>(params: &Set<F>, bits: u64) -> (u64, u64) {
    let digit_bits = u64::from(params.query.digit_bits());
    if digit_bits == 0 { (0, 0) } else { (bits.div_ceil(digit_bits), digit_bits) }
}

impl<F: Selecting> Described<'_, F> {
    /// LWE encryptions of a query.
    fn bodies(&self) -> Result<u64> {
        Ok(self.params.messages(0, self.bits as u32)?.len() as u64)
    }

    /// Bytes of the server's database: a matrix, or a ciphertext for each of its polynomials.
    fn stored_bytes(&self) -> u64 {
        let matrix = self.layout.stored_bytes(self.matrix_primes());
        if self.params.database.encrypted { matrix.saturating_mul(2) } else { matrix }
    }

    fn matrix_primes(&self) -> usize {
        self.params.database.moduli()
    }

    /// The first primes of the ring.
    fn product(&self, primes: usize) -> String {
        product_text(&self.params.rlwe.primes()[..primes])
    }

    fn of_ring(&self, gadget: Gadget) -> GadgetNumbers {
        gadget.describe(self.params.rlwe.modulus())
    }

    fn response_gadget(&self) -> GadgetNumbers {
        let gadget = Gadget::symmetric(self.params.response.params().base.ilog2(), 0);
        GadgetNumbers::new(gadget, self.responder.length())
    }

    fn folding(&self) -> FoldingNumbers {
        let (primes, information) = (self.matrix_primes(), self.layout.shape.database_bytes());
        let expansion = self.layout.stored_bytes(primes) as f64 / information as f64;
        FoldingNumbers::new(&self.layout, primes, self.stored_bytes(), information, expansion)
    }

    /// Coefficients of a response that hold a record, in which decryption errors would be visible.
    fn record_coefficients(&self) -> u64 {
        let slot = self.layout.dimensions.response_degree as u64;
        let item = self.layout.records_per_item * self.layout.shape.record_bits;
        item.div_ceil(self.layout.dimensions.plain_bits.into()).min(slot * self.layout.slots as u64)
    }

    fn messages(&self, sizes: &mut Sizes) -> Result<()> {
        let Workload { queries, .. } = *self.workload;
        let upload = Direction::Upload;
        for (name, bytes) in self.keys_sent()? {
            let formula = match name {
                keys::ROTATION => "24 + 2 g l_br N log2(Q) / 8, g = 3 n / 2 two bits a step, n else (binary)",
                keys::AUTOMORPHISMS => "log2(N) (24 + l_a N log2(Q) / 8)",
                keys::SQUARING => "24 + l_s N log2(Q) / 8",
                keys::RESPONSE => "24 + l_1 N log2(q_a) / 8",
                keys::FINGERPRINT => "8",
                cipher::OF_FIRST => "128 (24 + 2 l_c N log2(Q) / 8)",
                cipher::OF_OTHERS => "ceil(1280 / N) (24 + N log2(Q) / 8)",
                encrypted::DATABASE => "columns (24 + N log2(Q) / 8)",
                _ => "16 + l_ks N log2(Q_ks) / 8",
            };
            sizes.message(name, upload, "offline", bytes, formula, None);
        }
        if let Some(encryption) = self.params.encryption() {
            if encryption.seed == SeedUse::PerClient {
                sizes.message(super::keys::SEED, upload, "offline", size_of::<QuerySeed>() as u64, "32", None);
            }
            let bodies = self.bodies()?;
            let formula = if encryption.seed == SeedUse::PerClient { "m w k / 8" } else { "32 + m w k / 8" };
            sizes.message(
                "query",
                upload,
                "query",
                encryption.bytes(count(&[bodies, queries])),
                formula,
                Some(queries),
            );
        } else {
            let bytes = count(&[self.params.query.keystream_bytes(self.bits as u32) as u64, queries]);
            sizes.message(cipher::COUNTER, upload, "query", cipher::COUNTER_BYTES, "4", Some(queries));
            sizes.message("query", upload, "query", bytes, "k ceil(m / 8)", Some(queries));
        }
        let answer = count(&[self.responder.response_bytes() as u64, self.layout.slots as u64, queries]);
        let formula = "N1 (log2(q_a) + log2(q_b)) c k / 8";
        sizes.message("answer", Direction::Download, "answer", answer, formula, Some(queries));
        Ok(())
    }

    /// Payload bytes of every key and of an encrypted database, by name.
    fn keys_sent(&self) -> Result<Vec<(&'static str, u64)>> {
        let mut all = keys::wire_bytes(self.params, &self.layout, &self.ring, &self.responder)?;
        if let Some(rounds) = self.params.query.rounds() {
            all.extend(cipher::wire_bytes(&self.ring, self.params.length(rounds.gadget())));
        }
        Ok(all)
    }

    /// Bytes of a ciphertext.
    fn ciphertext_bytes(&self) -> u64 {
        2 * self.params.rlwe.poly_bytes()
    }

    /// Expanded keys of one client, by name.
    fn key_tables(&self) -> Result<Vec<TableBytes>> {
        let params = self.params;
        let length = |gadget: Gadget| params.length(gadget);
        let ciphertext = self.ciphertext_bytes();
        let (degree, levels) = (self.ring.n() as u64, u64::from(self.ring.n().ilog2()));
        let rotating =
            BlindRotationKey::expanded_bytes(&self.ring, params.shape(), length(params.blind_rotation.gadget())) as u64;
        let mut tables = vec![
            TableBytes::new("blind rotation key", rotating),
            // Each key has the tables of its automorphism: two words of 4 bytes for each coefficient.
            TableBytes::new(
                "automorphism keys",
                levels * (length(params.automorphism) as u64 * ciphertext + 8 * degree),
            ),
            TableBytes::new("squaring key", length(params.squaring) as u64 * ciphertext),
            TableBytes::new("ring switching key", self.responder.length() as u64 * ciphertext / 2),
        ];
        if let Some(switching) = self.params.query.switching() {
            let modulus = lwe_modulus(switching)?;
            let bytes = LweSwitchKey::bytes(modulus, self.ring.n(), self.params.lwe.dimension, switching.length());
            tables.push(TableBytes::new("key switching key", bytes as u64));
        }
        if self.params.query.rounds().is_some() {
            tables.push(TableBytes::new("round keys", self.round_key_rows() * ciphertext));
        }
        Ok(tables)
    }

    fn memory(&self) -> Result<MemoryMap> {
        let (layout, primes) = (&self.layout, self.matrix_primes());
        let n = self.params.rlwe.degree;
        let stored = self.stored_bytes();
        let key_tables = self.key_tables()?;
        let keys = key_tables.iter().map(|table| table.bytes).sum::<u64>();
        let wire = self.keys_sent()?.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let block = if self.workload.streamed {
            ring::PolyMatrix::bytes_for(n, primes, layout.rows, Matrix::columns_of_blocks(layout, primes))
        } else {
            0
        };
        let database = if self.workload.streamed { 0 } else { stored };
        // All keys arrive at once. While the first ones, those of blind rotation, are expanded, their bodies are in memory beside the messages;
        // at the end the messages are in memory beside all keys. A matrix exists from the start; a database of ciphertexts is expanded last.
        let rotation = key_tables.first().map_or(0, |table| table.bytes);
        let bodies = count(&[self.key_rows()[0], self.params.rlwe.poly_bytes()]);
        let before = if self.params.database.encrypted { 0 } else { database };
        let first = before.saturating_add(rotation).saturating_add(bodies);
        let kept = database.saturating_add(keys);
        let offline = first.max(kept).saturating_add(wire);
        let mut server = vec![TableBytes::new("database", database)];
        server.extend(key_tables);
        let answering = kept.saturating_add(self.answering()).saturating_add(block);
        Ok(MemoryMap {
            server,
            client: vec![TableBytes::new("secrets", 2 * (4 * n as u64 + self.params.rlwe.poly_bytes()))],
            peak_bytes: offline.max(answering).saturating_add(PROCESS_BYTES),
        })
    }

    /// Bytes that an answer takes beside the database and the keys.
    fn answering(&self) -> u64 {
        let (layout, primes, queries) = (&self.layout, self.matrix_primes(), self.workload.queries);
        let n = self.params.rlwe.degree;
        let ciphertext = self.ciphertext_bytes();
        let selectors = count(&[self.bits, 2, self.params.length(self.params.rgsw.gadget()) as u64, ciphertext]);
        // The roots of the lower trees, and one such tree, whose place its switched leaves take.
        let row_bits = layout.row_bits as usize;
        let upper = row_bits.saturating_sub(TREE_BITS);
        let tree = |bits| SelectorTree::<u32>::peak_bytes(bits, 1, ciphertext as usize / 2) as u64;
        let trees = tree(upper).saturating_add(tree(row_bits.min(TREE_BITS)));
        let vector = PolyPairs::bytes_for(n, primes, layout.rows);
        // Products modulo the matrix's primes and modulo Q, of which an encrypted database has none. A folded ciphertext waits on each level.
        let products = if self.params.database.encrypted {
            count(&[CELLS as u64, ciphertext])
        } else {
            let columns = Matrix::columns_together(layout, primes, self.workload.streamed);
            PolyPairs::bytes_for(n, primes, columns).saturating_add(count(&[columns as u64, ciphertext]))
        };
        let waiting = count(&[layout.parts as u64 + u64::from(layout.column_bits), ciphertext]);
        // The cipher is done before its bits are selectors.
        let ciphered = if self.params.query.rounds().is_some() { round_bytes(n) } else { 0 };
        let each = selectors.saturating_add(vector.max(ciphered)).saturating_add(waiting);
        // Products take the place of the trees.
        count(&[each, queries]).saturating_add(trees.max(count(&[products, queries])))
    }

    /// Numbers of rows of the ring keys: blind rotation, automorphisms, squaring.
    fn key_rows(&self) -> [u64; 3] {
        let Set { blind_rotation, automorphism, squaring, .. } = self.params;
        let length = |gadget: Gadget| self.params.length(gadget) as u64;
        [
            2 * self.params.shape().selectors() as u64 * length(blind_rotation.gadget()),
            u64::from(self.ring.n().ilog2()) * length(*automorphism),
            length(*squaring),
        ]
    }

    /// Ciphertexts under the ring key that hold the round keys of a cipher.
    fn round_key_rows(&self) -> u64 {
        let rounds = self.params.query.rounds();
        rounds.map_or(0, |rounds| cipher::round_key_rows(self.ring.n(), self.params.length(rounds.gadget())))
    }

    /// Every sample the server holds, by the key it is under.
    fn instances(&self) -> Vec<LweInstance> {
        let Set { query, rlwe, lwe: small, response, .. } = self.params;
        let dimension = small.dimension as u64;
        let n = rlwe.degree as u64;
        let all = "every record asked for under the key";
        let lwe =
            |name: &str, dimension: u64, log2: u32, secret: SecretKind, error: f64, samples: Option<u64>| LweInstance {
                name: name.into(),
                kind: "lwe".into(),
                dimension,
                modulus: format!("2^{log2}"),
                log2_modulus: log2.into(),
                secret,
                error_stddev: error,
                samples,
                protects: all.into(),
            };
        let encrypted = if self.params.database.encrypted { self.layout.matrix_columns() as u64 } else { 0 };
        let rows: u64 = self.key_rows().iter().sum::<u64>() + self.round_key_rows() + encrypted;
        let mut instances = vec![rlwe.instance("ring", rows * n, all)];
        // The body is rounded after the error is added, so less than this instance is published. If a seed is chosen, it reveals that
        // the rounded bits are small: they are part of this instance, and a choice that depends on mask and body alone only uses more samples.
        instances.extend(self.params.encryption().map(
            |Encryption { modulus_log2, error, .. }| match query.switching() {
                Some(_) => lwe("query", n, modulus_log2, rlwe.secret, error.stddev().0, None),
                None => lwe("query", dimension, modulus_log2, small.secret, error.stddev().0, None),
            },
        ));
        if let Some(switching) = query.switching() {
            let samples = n * switching.length() as u64;
            let (log2, error) = (switching.modulus_log2, switching.error.stddev().0);
            instances.push(lwe("key_switching", dimension, log2, small.secret, error, Some(samples)));
        }
        instances.push(LweInstance {
            name: "response".into(),
            kind: "rlwe".into(),
            dimension: response.degree as u64,
            modulus: response.mask_modulus.to_string(),
            log2_modulus: (response.mask_modulus as f64).log2(),
            secret: response.secret,
            error_stddev: response.error.stddev().0,
            samples: Some(n * self.responder.length() as u64),
            protects: all.into(),
        });
        instances
    }
}
