//! Layout, bytes, memory, operations and instances of Pirouette and Pirouette^H.

mod operations;
#[cfg(test)]
mod tests;

use lattice::convert::SelectorTree;
use lattice::lwe::LweSwitchKey;
use lattice::rotate::BlindRotationKey;
use ring::{Kernel, PolyPairs, Ring};
use serde_json::json;

use super::encrypted;
use super::form::Selecting;
use super::keys::{self, lwe_modulus};
use super::query::{Encryption, QuerySeed, SeedUse};
use super::server::{CELLS, TREE_BITS};
use super::set::Set;
use super::trace::index_bits;
use crate::core::plan::{count, operations};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, LweInstance, MemoryMap, Result, SecretKind, Sizes, TableBytes, Workload};
use crate::parts::folding::{Layout, Matrix, Responder};
use crate::parts::ring_matrix::{Gadget, product_text};

/// The common input of all parts of a description.
struct Described<'a, F> {
    params: &'a Set<F>,
    layout: Layout,
    workload: &'a Workload,
    ring: std::sync::Arc<Ring<u32>>,
    responder: Responder,
    bits: u64,
}

pub(super) fn describe<F: Selecting>(params: &Set<F>, workload: &Workload) -> Result<Sizes> {
    let ring = params.ring(Kernel::Scalar)?;
    let layout = params.layout(workload.shape)?;
    params.check_streaming(workload.streamed)?;
    params.encryption().check_queries(workload.queries)?;
    let described = Described {
        params,
        layout,
        workload,
        responder: Responder::new(params.response.params(), &ring)?,
        ring,
        bits: index_bits(&layout).into(),
    };
    let mut sizes = Sizes { layout: described.layout(), ..Sizes::default() };
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

    fn layout(&self) -> serde_json::Map<String, serde_json::Value> {
        let Set { query, rlwe, lwe, blind_rotation, automorphism, squaring, rgsw, database, response } = self.params;
        let Encryption { modulus_log2, body_bits, chosen_bits, error, seed } = self.params.encryption();
        let (digits, digit_bits) = digits_of(self.params, self.bits);
        let modulus = |primes: usize| product_text(&rlwe.primes()[..primes]);
        let mut all = self.layout.describe(database.moduli());
        let gadget = |gadget: Gadget| gadget.describe(rlwe.modulus());
        let (from_base, length) = (response.params().base.ilog2(), self.responder.length());
        all.extend(operations(json!({
            "ring_modulus": modulus(2),
            "ring_secret": rlwe.secret,
            "ring_error_stddev": rlwe.error.stddev().0,
            "first_dimension_modulus": modulus(database.moduli()),
            "query_modulus": format!("2^{modulus_log2}"),
            "query_body_modulus": format!("2^{body_bits}"),
            "query_chosen_bits": chosen_bits,
            "query_error_stddev": error.stddev().0,
            "seed_sent": match seed { SeedUse::PerQuery => "per_query", SeedUse::PerClient => "per_client" },
            "index_bits": self.bits,
            "digit_bits": digit_bits,
            "digits": digits,
            "first_bits": self.layout.row_bits,
            "fold_bits": self.layout.column_bits,
            "rotation_bits": self.layout.position_bits,
            "used_coefficients": self.record_coefficients(),
            "lwe_dimension": lwe.dimension,
            "lwe_secret": lwe.secret,
            "bits_per_step": blind_rotation.bits_per_step,
            "rotation_gadget": gadget(blind_rotation.gadget()),
            "automorphism_gadget": gadget(*automorphism),
            "squaring_gadget": gadget(*squaring),
            "rgsw_gadget": gadget(rgsw.gadget()),
            "rgsw_window": self.params.spacing(),
            "encrypted": database.encrypted,
            "stored_bytes": self.stored_bytes(),
            "response_degree": response.degree,
            "mask_modulus": response.mask_modulus.to_string(),
            "body_modulus": response.body_modulus.to_string(),
            "response_secret": response.secret,
            "response_error_stddev": response.error.stddev().0,
            "response_gadget": { "base_log2": from_base, "dropped": 0, "digits": length, "family": "symmetric" },
        })));
        if let Some(switching) = query.switching() {
            all.extend(operations(json!({
                "switching_modulus": format!("2^{}", switching.modulus_log2),
                "switching_error_stddev": switching.error.stddev().0,
                "switching_gadget": switching.gadget().describe(switching.modulus()),
            })));
        }
        all
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
        for (name, bytes) in keys::wire_bytes(self.params, &self.layout, &self.ring, &self.responder)? {
            let formula = match name {
                keys::ROTATION => "24 + 2 g l_br N log2(Q) / 8, g = 3 n / 2 two bits a step, n else (binary)",
                keys::AUTOMORPHISMS => "log2(N) (24 + l_a N log2(Q) / 8)",
                keys::SQUARING => "24 + l_s N log2(Q) / 8",
                keys::RESPONSE => "24 + l_1 N log2(q_a) / 8",
                keys::FINGERPRINT => "8",
                encrypted::DATABASE => "columns (24 + N log2(Q) / 8)",
                _ => "16 + l_ks N log2(Q_ks) / 8",
            };
            sizes.message(name, upload, "offline", bytes, formula, None);
        }
        let encryption = self.params.encryption();
        if encryption.seed == SeedUse::PerClient {
            sizes.message(super::keys::SEED, upload, "offline", size_of::<QuerySeed>() as u64, "32", None);
        }
        let bodies = self.bodies()?;
        let formula = if encryption.seed == SeedUse::PerClient { "m w k / 8" } else { "32 + m w k / 8" };
        sizes.message("query", upload, "query", encryption.bytes(count(&[bodies, queries])), formula, Some(queries));
        let answer = count(&[self.responder.response_bytes() as u64, self.layout.slots as u64, queries]);
        let formula = "N1 (log2(q_a) + log2(q_b)) c k / 8";
        sizes.message("answer", Direction::Download, "answer", answer, formula, Some(queries));
        Ok(())
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
        Ok(tables)
    }

    fn memory(&self) -> Result<MemoryMap> {
        let (layout, primes) = (&self.layout, self.matrix_primes());
        let n = self.params.rlwe.degree;
        let stored = self.stored_bytes();
        let key_tables = self.key_tables()?;
        let keys = key_tables.iter().map(|table| table.bytes).sum::<u64>();
        let wire = keys::wire_bytes(self.params, &self.layout, &self.ring, &self.responder)?
            .iter()
            .map(|(_, bytes)| bytes)
            .sum::<u64>();
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
        let each = selectors.saturating_add(vector).saturating_add(waiting);
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
        let rows: u64 = self.key_rows().iter().sum::<u64>() + encrypted;
        let mut instances = vec![rlwe.instance("ring", rows * n, all)];
        let Encryption { modulus_log2, error, .. } = self.params.encryption();
        // The body is rounded after the error is added, so less than this instance is published. If a seed is chosen, it reveals that
        // the rounded bits are small: they are part of this instance, and a choice that depends on mask and body alone only uses more samples.
        instances.push(match query.switching() {
            Some(_) => lwe("query", n, modulus_log2, rlwe.secret, error.stddev().0, None),
            None => lwe("query", dimension, modulus_log2, small.secret, error.stddev().0, None),
        });
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
