//! How many operations each step takes.

use lattice::convert::{Extraction, SelectorTree, extraction_automorphisms, mask_row_ntts};
use lattice::product_ntts;
use lattice::rotate::BlindRotationKey;
use serde_json::json;

use super::super::convert::BITS_TOGETHER;
use super::super::form::Selecting;
use super::super::params::Params;
use super::{Described, digits_of, encrypted, keys};
use crate::core::error::Result;
use crate::core::scheme::{count, ntt, operations};

impl<F: Selecting> Described<'_, F> {
    /// NTTs are of N points modulo one prime, but those of compression.
    pub(super) fn operations(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let Params { rlwe, rotation, automorphism, squaring, rgsw, query, database, .. } = self.params;
        let (layout, queries, bits) = (&self.layout, self.workload.queries, self.bits);
        let (n, primes) = (rlwe.degree as u64, rlwe.primes().len() as u64);
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
                "key_bytes": count(&[passes, key_bytes]),
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
                "poly_matrix_multiply_adds": count(&[queries, 2, layout.rows as u64, columns, n, matrix_primes]),
                "poly_matrix_bytes": self.stored_bytes(),
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
        let tries = 1 << self.params.query.encryption().chosen_bits;
        let key_rows: u64 = self.key_rows().iter().sum();
        let (row_words, row_bytes) = (count(&[key_rows, n, primes]), count(&[key_rows, rlwe.poly_bytes()]));
        // Of the switch to the small key: LWE samples, whose masks are drawn in words of eight bytes.
        let samples = query.switching().map_or(0, |switching| n * switching.length as u64);
        let sample_words = count(&[samples, self.params.dimension as u64]);
        let masks = row_bytes.saturating_add(count(&[sample_words, 8]));
        let messages = keys::wire_bytes(self.params, layout, &self.ring, &self.responder)?;
        let wire: u64 = messages.iter().filter(|(name, _)| *name != encrypted::DATABASE).map(|(_, bytes)| bytes).sum();
        let tables: u64 = self.key_tables()?.iter().map(|table| table.bytes).sum();
        let encoded = if self.workload.streamed { 0 } else { count(&[layout.rows as u64, columns, matrix_primes]) };
        let mut all = operations(json!({
            // Each row is a mask times the secret, a message times a weight, and an error. Rows, their bytes, and the frames around these
            // are new memory. Packing residues and masks of LWE samples take more than the units that come nearest: seconds are a lower
            // bound.
            "keys": {
                (&transform): count(&[primes, key_rows]),
                "residue_multiply_adds": count(&[2, row_words]),
                "multiply_adds_u32": sample_words,
                "gaussian_samples": count(&[key_rows, n]).saturating_add(samples),
                "prg_bytes": masks,
                "words_written": row_words.saturating_add(samples),
                "allocated_bytes": row_bytes.saturating_add(count(&[2, wire])),
            },
            // Masks from seeds, bodies from messages; both are new memory beside the tables made of them.
            "key_expansion": {
                "prg_bytes": masks,
                "words_read": row_words.saturating_add(samples),
                "allocated_bytes": tables.saturating_add(row_bytes),
            },
            "query": {
                "prg_bytes": count(&[tries, queries, bodies, dimension, mask_bytes]),
                "gaussian_samples": count(&[tries, queries, bodies]),
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
}

/// Adds to a count of a step.
fn add(step: &mut serde_json::Map<String, serde_json::Value>, operation: &str, more: u64) {
    let before = step.get(operation).and_then(serde_json::Value::as_u64).unwrap_or(0);
    step.insert(operation.into(), before.saturating_add(more).into());
}
