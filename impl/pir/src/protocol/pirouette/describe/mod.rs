//! Layout, bytes, memory, operations and instances of Pirouette and Pirouette^H.

use lattice::convert::{Extraction, SelectorTree, extraction_automorphisms, mask_row_ntts};
use lattice::lwe::LweSwitchKey;
use lattice::product_ntts;
use lattice::rotate::BlindRotationKey;
use ring::{Kernel, PolyPairs, Ring};
use serde_json::json;

use super::encrypted;
use super::form::Selecting;
use super::keys::{self, lwe_modulus};
use super::params::{BalancedGadget, Params};
use super::query::{Encryption, QuerySeed, SeedUse};
use super::server::{BITS_TOGETHER, block_columns};
use super::trace::index_bits;
use crate::description::{Direction, LweInstance, MemoryMap, TableBytes};
use crate::error::Result;
use crate::folded::{Layout, Responder, ResponseParams};
use crate::params::SecretKind;
use crate::runner::PROCESS_BYTES;
use crate::scheme::{Sizes, count, ntt, operations};
use crate::workload::Workload;

/// Queries that one key is taken to serve: samples of the instances that a query adds to.
const QUERIES_OF_A_KEY: u64 = 1 << 32;

/// What all parts of a description read.
struct Described<'a, F> {
    params: &'a Params<F>,
    layout: Layout,
    workload: &'a Workload,
    ring: std::sync::Arc<Ring<u32>>,
    responder: Responder,
    bits: u64,
}

pub(super) fn describe<F: Selecting>(params: &Params<F>, workload: &Workload) -> Result<Sizes> {
    let ring = params.ring(Kernel::Scalar)?;
    let layout = params.layout(workload.shape)?;
    params.check_streaming(workload.streamed)?;
    let described = Described {
        params,
        layout,
        workload,
        responder: Responder::new(params.response, &ring)?,
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

/// Digits of an index, and bits of a digit: 0 where there are none.
fn digits_of<F: Selecting>(params: &Params<F>, bits: u64) -> (u64, u64) {
    let digit_bits = u64::from(params.query.digit_bits());
    if digit_bits == 0 { (0, 0) } else { (bits.div_ceil(digit_bits), digit_bits) }
}

impl<F: Selecting> Described<'_, F> {
    /// LWE encryptions of a query.
    fn bodies(&self) -> Result<u64> {
        Ok(self.params.query.messages(0, self.bits as u32)?.len() as u64)
    }

    /// Bytes of the database on the server: a matrix, or a ciphertext for each of its polynomials.
    fn stored_bytes(&self) -> u64 {
        let matrix = self.layout.stored_bytes(self.matrix_primes());
        if self.params.database.encrypted { matrix.saturating_mul(2) } else { matrix }
    }

    fn matrix_primes(&self) -> usize {
        self.params.database.moduli
    }

    fn layout(&self) -> serde_json::Map<String, serde_json::Value> {
        let Params {
            source: _,
            rlwe,
            dimension,
            small_secret,
            form: _,
            rotation,
            automorphism,
            squaring,
            rgsw,
            spacing,
            database,
            response,
            response_secret,
            response_error,
            query,
        } = self.params;
        let ResponseParams { degree: response_degree, mask_modulus, body_modulus, base } = response;
        let Encryption { modulus_log2, body_bits, error, seed } = query.encryption();
        let (digits, digit_bits) = digits_of(self.params, self.bits);
        let [p, q] = rlwe.primes;
        let first_modulus = if database.moduli == 1 { p.to_string() } else { format!("{p} * {q}") };
        let mut all = self.layout.describe(database.moduli);
        let gadget = |gadget: &BalancedGadget| gadget.describe();
        let (from_base, length) = (base.ilog2(), self.responder.length());
        all.extend(operations(json!({
            "degree": rlwe.degree,
            "ring_modulus": format!("{p} * {q}"),
            "ring_secret": rlwe.secret,
            "ring_error_stddev": rlwe.error.0,
            "first_dimension_modulus": first_modulus,
            "query_modulus": format!("2^{modulus_log2}"),
            "query_body_modulus": format!("2^{body_bits}"),
            "query_error_stddev": error.0,
            "seed_sent": match seed { SeedUse::PerQuery => "per_query", SeedUse::PerClient => "per_client" },
            "index_bits": self.bits,
            "digit_bits": digit_bits,
            "digits": digits,
            "first_bits": self.layout.row_bits,
            "fold_bits": self.layout.column_bits,
            "rotation_bits": self.layout.position_bits,
            "planes": self.layout.parts,
            "polynomials_per_record": self.layout.parts,
            "record_coefficients": self.record_coefficients(),
            "used_coefficients": self.record_coefficients(),
            "lwe_dimension": dimension,
            "lwe_secret": small_secret,
            "bits_per_step": match self.params.form { lattice::rotate::Form::Cmux => 1, lattice::rotate::Form::Joint => 2 },
            "rotation_gadget": gadget(rotation),
            "automorphism_gadget": gadget(automorphism),
            "squaring_gadget": gadget(squaring),
            "rgsw_gadget": gadget(rgsw),
            "rgsw_window": spacing,
            "encrypted": database.encrypted,
            "stored_bytes": self.stored_bytes(),
            "response_degree": response_degree,
            "response_modulus": mask_modulus.to_string(),
            "mask_modulus": mask_modulus.to_string(),
            "body_modulus": body_modulus.to_string(),
            "response_secret": response_secret,
            "response_error_stddev": response_error.0,
            "response_gadget": { "base_log2": from_base, "dropped": 0, "digits": length, "family": "balanced" },
        })));
        if let Some(switching) = query.switching() {
            all.extend(operations(json!({
                "switching_modulus": format!("2^{}", switching.modulus_log2),
                "switching_error_stddev": switching.error.0,
                "switching_gadget": switching.describe(),
            })));
        }
        all
    }

    /// Coefficients of a response that hold a record: those that decryption errors would show in.
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
        let encryption = self.params.query.encryption();
        if encryption.seed == SeedUse::PerClient {
            sizes.message(super::SEED, upload, "offline", size_of::<QuerySeed>() as u64, "32", None);
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
        let Params { automorphism, squaring, rotation, .. } = self.params;
        let ciphertext = self.ciphertext_bytes();
        let levels = u64::from(self.ring.n().ilog2());
        let rotating = BlindRotationKey::expanded_bytes(&self.ring, self.params.shape(), rotation.length) as u64;
        let mut tables = vec![
            TableBytes::new("blind rotation key", rotating),
            TableBytes::new("automorphism keys", levels * automorphism.length as u64 * ciphertext),
            TableBytes::new("squaring key", squaring.length as u64 * ciphertext),
            TableBytes::new("ring switching key", self.responder.length() as u64 * ciphertext / 2),
        ];
        if let Some(switching) = self.params.query.switching() {
            let modulus = lwe_modulus(switching)?;
            let bytes = LweSwitchKey::bytes(modulus, self.ring.n(), self.params.dimension, switching.length);
            tables.push(TableBytes::new("key switching key", bytes as u64));
        }
        Ok(tables)
    }

    fn memory(&self) -> Result<MemoryMap> {
        let (layout, primes, queries) = (&self.layout, self.matrix_primes(), self.workload.queries);
        let n = self.params.rlwe.degree;
        let stored = self.stored_bytes();
        let key_tables = self.key_tables()?;
        let keys = key_tables.iter().map(|table| table.bytes).sum::<u64>();
        let wire = keys::wire_bytes(self.params, &self.layout, &self.ring, &self.responder)?
            .iter()
            .map(|(_, bytes)| bytes)
            .sum::<u64>();
        let block = if self.workload.streamed {
            let columns = block_columns(layout, primes);
            ring::PolyMatrix::bytes_for(n, primes, layout.rows, columns)
        } else {
            0
        };
        let database = if self.workload.streamed { 0 } else { stored };
        let mut server = vec![TableBytes::new("database", database)];
        server.extend(key_tables);
        let ciphertext = self.ciphertext_bytes();
        let selectors = count(&[self.bits, 2, self.params.rgsw.length as u64, ciphertext]);
        let tree = SelectorTree::<u32>::peak_bytes(layout.row_bits as usize, 1, ciphertext as usize / 2) as u64;
        let vector = PolyPairs::bytes_for(n, primes, layout.rows);
        let products = count(&[layout.matrix_columns() as u64, ciphertext]);
        let each = selectors.saturating_add(vector).saturating_add(count(&[products, 2]));
        let online = count(&[each, queries]).saturating_add(tree).saturating_add(block);
        // Beside the expanded keys: the message, and the bodies read from it, whose residues of 28 bits are in words of 32.
        let exchange = wire.saturating_add(count(&[wire, 8]) / 7);
        let kept = database.saturating_add(keys);
        Ok(MemoryMap {
            server,
            client: vec![TableBytes::new("secrets", 2 * (4 * n as u64 + self.params.rlwe.poly_bytes()))],
            peak_bytes: kept.saturating_add(online.max(exchange)).saturating_add(PROCESS_BYTES),
        })
    }

    /// NTTs are of N points modulo one prime, but those of compression.
    fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let Params { rlwe, rotation, automorphism, squaring, rgsw, query, database, .. } = self.params;
        let (layout, queries, bits) = (&self.layout, self.workload.queries, self.bits);
        let (n, primes) = (rlwe.degree as u64, rlwe.primes.len() as u64);
        let transform = ntt(n);
        let shape = self.params.shape();
        let (digits, digit_bits) = digits_of(self.params, bits);
        let both = |(forward, inverse): (usize, usize)| (forward + inverse) as u64;
        let rotation_ntts = both(shape.ntts(rotation.length, primes as usize));
        let selectors = shape.selectors() as u64;
        let products_a_rotation = count(&[selectors, 4 * rotation.length as u64 + 2, n, primes]);
        let key_bytes = BlindRotationKey::expanded_bytes(&self.ring, shape, rotation.length) as u64;
        let digits_a_rotation = count(&[shape.step_count() as u64, 2 * rotation.length as u64, n]);
        let rotations = |number: u64, passes: u64| {
            json!({
                (&transform): count(&[number, rotation_ntts]),
                "residue_multiply_adds": count(&[number, products_a_rotation]),
                "digits": count(&[number, digits_a_rotation]),
                "bytes_read": count(&[passes, key_bytes]),
            })
        };
        let floors = count(&[queries, digits.saturating_sub(1), if digit_bits == 1 { 1 } else { 2 }]);
        let passes = |number: u64| number.div_ceil(BITS_TOGETHER as u64);
        let positions: Vec<usize> = (0..rgsw.length).map(|row| row * self.params.spacing).collect();
        let automorphisms = extraction_automorphisms(n as usize, &positions, Extraction::Tree) as u64;
        let per_automorphism = both(product_ntts(1, automorphism.length, primes as usize));
        let squares = (rgsw.length * mask_row_ntts(squaring.length, primes as usize)) as u64;
        let mut to_rgsw = operations(rotations(count(&[queries, bits]), count(&[queries, passes(bits)])));
        let extraction = count(&[automorphisms, per_automorphism]) + squares;
        add(&mut to_rgsw, &transform, count(&[queries, bits, extraction]));
        let row_products = 2 * (automorphisms * automorphism.length as u64 + (rgsw.length * squaring.length) as u64);
        add(&mut to_rgsw, "residue_multiply_adds", count(&[queries, bits, row_products, n, primes]));
        add(&mut to_rgsw, "automorphism_slots", count(&[queries, bits, automorphisms, 2 * primes, n]));
        let row_digits = automorphisms * automorphism.length as u64 + (rgsw.length * squaring.length) as u64;
        add(&mut to_rgsw, "digits", count(&[queries, bits, row_digits, n]));
        let product_ntts_each = both(product_ntts(2, rgsw.length, primes as usize));
        let external = |number: u64| {
            json!({
                (&transform): count(&[number, product_ntts_each]),
                "residue_multiply_adds": count(&[number, 4 * rgsw.length as u64, primes, n]),
                "digits": count(&[number, 2 * rgsw.length as u64, n]),
            })
        };
        let (forward, inverse) = SelectorTree::<u32>::ntts(layout.row_bits as usize, 1, rgsw.length, primes as usize);
        let nodes = (1u64 << layout.row_bits) - 1;
        let mut selector = operations(external(count(&[queries, nodes])));
        let switching = if database.moduli < primes as usize {
            count(&[layout.rows as u64, 2 * primes + 2 * database.moduli as u64])
        } else {
            0
        };
        selector.insert(transform.clone(), count(&[queries, (forward + inverse) as u64 + switching]).into());
        let columns = layout.matrix_columns() as u64;
        let matrix_primes = database.moduli as u64;
        let folds = count(&[layout.parts as u64, (layout.columns as u64).saturating_sub(1)]);
        let turns = count(&[layout.parts as u64, layout.position_bits.into()]);
        let compression = count(&[queries, layout.slots as u64]);
        let response_length = self.responder.length() as u64;
        let mut answer = serde_json::Map::new();
        let bodies = self.bodies()?;
        let dimension = F::dimension(n as usize, self.params.dimension) as u64;
        let mask_bytes = u64::from(query.encryption().modulus_log2.div_ceil(8));
        answer.insert("parse".into(), json!({ "prg_bytes": count(&[queries, bodies, dimension, mask_bytes]) }));
        if let Some(switching) = query.switching() {
            let switches = |number: u64| {
                let products = count(&[number, n, switching.length as u64, self.params.dimension as u64]);
                json!({ "multiply_adds_u32": products })
            };
            let mut digit = operations(rotations(floors, floors));
            digit.extend(operations(switches(floors)));
            let mut bit = operations(rotations(count(&[queries, digits]), count(&[queries, passes(digits)])));
            add(&mut bit, &transform, count(&[queries, digits, primes, 2 + 2 * digit_bits]));
            bit.extend(operations(switches(count(&[queries, digits + bits]))));
            answer.insert("digits".into(), digit.into());
            answer.insert("bits".into(), bit.into());
        }
        answer.insert("rgsw".into(), to_rgsw.into());
        if !database.encrypted {
            answer.insert("selector".into(), selector.into());
            let first = json!({
                (&transform): count(&[queries, columns, 2 * matrix_primes]),
                "residue_multiply_adds": count(&[queries, 2, layout.rows as u64, columns, n, matrix_primes]),
                "bytes_read": self.stored_bytes(),
            });
            answer.insert("first_dimension".into(), first);
        }
        answer.insert("folding".into(), external(count(&[queries, folds])));
        answer.insert("rotation".into(), external(count(&[queries, turns])));
        answer.insert(
            "compression".into(),
            json!({
                (&transform): count(&[compression, response_length + 2]),
                "residue_multiply_adds": count(&[compression, 2 * response_length, n]),
                "digits": count(&[compression, response_length, n]),
            }),
        );
        let key_rows: u64 = self.key_rows().iter().sum();
        let encoded = if self.workload.streamed { 0 } else { count(&[layout.rows as u64, columns, matrix_primes]) };
        let mut all = operations(json!({
            "keys": {
                (&transform): count(&[primes, key_rows]),
                "gaussian_samples": count(&[key_rows, n]),
                "prg_bytes": count(&[key_rows, rlwe.poly_bytes()]),
            },
            "key_expansion": { "prg_bytes": count(&[key_rows, rlwe.poly_bytes()]) },
            "query": {
                "prg_bytes": count(&[queries, bodies, dimension, mask_bytes]),
                "gaussian_samples": count(&[queries, bodies]),
            },
            "answer": answer,
            "extract": { "phases": 1 },
            "update_encode": {
                (&transform): count(&[self.workload.updates, layout.parts as u64, 2 * matrix_primes]),
            },
        }));
        if database.encrypted {
            let encryption = json!({
                (&transform): encoded + count(&[columns, primes]),
                "gaussian_samples": count(&[columns, n]),
                "prg_bytes": count(&[columns, rlwe.poly_bytes()]),
            });
            all.insert("database_encryption".into(), encryption);
        } else {
            let written = if self.workload.streamed { 0 } else { self.stored_bytes() };
            all.insert("encode".into(), json!({ (&transform): encoded, "bytes_written": written }));
        }
        Ok(all)
    }

    /// Rows of the ring keys: of blind rotation, automorphisms, squaring.
    fn key_rows(&self) -> [u64; 3] {
        let Params { rotation, automorphism, squaring, .. } = self.params;
        [
            2 * (self.params.shape().selectors() * rotation.length) as u64,
            u64::from(self.ring.n().ilog2()) * automorphism.length as u64,
            squaring.length as u64,
        ]
    }

    /// Every sample the server holds, by the key it is under.
    fn instances(&self) -> Vec<LweInstance> {
        let Params { rlwe, dimension, small_secret, response, response_secret, response_error, query, .. } =
            self.params;
        let n = rlwe.degree as u64;
        let all = "every record asked for under the key";
        let lwe = |name: &str, dimension: u64, log2: u32, secret: SecretKind, error: f64, samples: u64| LweInstance {
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
        let Encryption { modulus_log2, body_bits: _, error, seed: _ } = query.encryption();
        // The body is rounded after the error is added: what is published is less than this.
        instances.push(match query.switching() {
            Some(_) => lwe("query", n, *modulus_log2, rlwe.secret, error.0, QUERIES_OF_A_KEY),
            None => {
                let samples = count(&[QUERIES_OF_A_KEY, self.bits]);
                lwe("query", *dimension as u64, *modulus_log2, *small_secret, error.0, samples)
            }
        });
        if let Some(switching) = query.switching() {
            let samples = n * switching.length as u64;
            let error = switching.error.0;
            instances.push(lwe(
                "key_switching",
                *dimension as u64,
                switching.modulus_log2,
                *small_secret,
                error,
                samples,
            ));
        }
        instances.push(LweInstance {
            name: "response".into(),
            kind: "rlwe".into(),
            dimension: response.degree as u64,
            modulus: response.mask_modulus.to_string(),
            log2_modulus: (response.mask_modulus as f64).log2(),
            secret: *response_secret,
            error_stddev: response_error.0,
            samples: n * self.responder.length() as u64,
            protects: all.into(),
        });
        instances
    }
}

/// Adds to a count of a step.
fn add(step: &mut serde_json::Map<String, serde_json::Value>, operation: &str, more: u64) {
    let before = step.get(operation).and_then(serde_json::Value::as_u64).unwrap_or(0);
    step.insert(operation.into(), before.saturating_add(more).into());
}
