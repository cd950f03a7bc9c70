//! The noise of the ciphertexts on the way to a response, which the client never sees.

use lattice::{Rlwe, RlweKey, RlwePrime};
use ring::{Coefficient, Poly};

use super::client::Client;
use super::query::selected_bits;
use super::server::Server;
use crate::error::{Error, Result};
use crate::rlwe::{internal, workspace};
use crate::scheme::{Context, Request};

/// Ciphertexts of a kind that are opened: their errors are alike.
const OPENED: usize = 4;

/// Errors and thresholds of one client's ciphertexts.
struct Meter<'a> {
    client: &'a Client,
    /// q.
    modulus: u64,
}

impl Meter<'_> {
    /// The phase less a known message, centred.
    fn known(&self, phase: &Poly<u32, Coefficient>, message: &Poly<u32, Coefficient>) -> Result<Vec<f64>> {
        lattice::noise::errors(&self.client.engine.ring, phase, message).map_err(internal)
    }

    /// The distances of a phase from the nearest multiples of q / p.
    fn nearest(&self, key: &RlweKey<u32>, ciphertext: &Rlwe<u32, Coefficient>) -> Vec<f64> {
        let ring = &self.client.engine.ring;
        let (mut residues, q) = (vec![0u64; ring.n()], u128::from(self.modulus));
        ring.compose_u64(&key.phase_coefficient(ciphertext), &mut residues);
        let bits = self.client.engine.params.dimensions.plain_bits;
        let distance = |residue: u64| {
            let rest = (u128::from(residue) << bits) % q;
            let rest = if rest > q / 2 { -((q - rest) as f64) } else { rest as f64 };
            rest / f64::from(1u32 << bits)
        };
        residues.into_iter().map(distance).collect()
    }

    /// Logs errors of the ciphertexts modulo q: the threshold is where they would be decrypted wrongly.
    fn log(&self, context: &mut Context, stage: &str, errors: Vec<f64>) {
        let threshold = self.modulus as f64 / 2.0 / self.client.engine.params.plain_modulus() as f64;
        context.noise.add_under(Some(self.client.key_id), stage, threshold, errors);
    }
}

/// Answers the query of `request` for its first index step by step and opens what comes out.
pub fn diagnose(client: &Client, server: &Server, request: &Request, context: &mut Context) -> Result<()> {
    let (engine, layout, key) = (&client.engine, &client.layout, &client.secrets.main);
    let meter = Meter { client, modulus: engine.params.rlwe.modulus() };
    let asked = client.requests.extracted().first();
    let asked = asked.ok_or_else(|| Error::message("answer", "no query was extracted."))?;
    let (place, keys) = (&asked.place, server.keys(request.session)?);
    let query = server.parse(request)?.into_iter().nth(asked.query);
    let query = query.ok_or_else(|| Error::message("query", "a request has at least one query."))?;
    let (selection, mut workspace) = (server.selection(context.threads)?, workspace());
    let constant = |value: u64| {
        let mut message = vec![0; layout.dimensions.degree];
        message[0] = value;
        engine.ring.from_u64(&message)
    };

    let mut row = 0;
    let leaves = query.leaves(engine, layout, keys, &mut workspace)?.map(|part| {
        let part = part?;
        for leaf in part.iter().take(OPENED.saturating_sub(row)) {
            let message = if row == place.row { meter.modulus / engine.params.plain_modulus() } else { 0 };
            let errors = meter.known(&key.phase_coefficient(leaf), &constant(message))?;
            meter.log(context, "leaf", errors);
            row += 1;
        }
        Ok(part)
    });
    let vectors = [selection.leaves(leaves)?];
    let selectors = query.selectors(engine, layout, keys, &mut workspace)?;
    for (selector, bit) in selectors.iter().zip(selected_bits(layout, place)).take(OPENED) {
        let messages: Vec<_> = engine
            .selector
            .weights()
            .iter()
            .map(|&weight| engine.ring.forward(constant(if bit { weight as u64 } else { 0 })))
            .collect();
        let mut rows = |stage: &str, rows: &RlwePrime<u32>, masked: bool| -> Result<()> {
            for (row, message) in rows.rows().iter().zip(&messages) {
                let mut message = message.clone();
                if masked {
                    engine.ring.mul_assign(&mut message, key.ntt());
                    engine.ring.neg_assign(&mut message);
                }
                let errors = meter.known(&key.phase(row), &engine.ring.inverse(message))?;
                meter.log(context, stage, errors);
            }
            Ok(())
        };
        rows("selector_body", &selector.body, false)?;
        rows("selector_mask", &selector.mask, true)?;
    }

    let bucket = asked.query % server.store.buckets.count();
    let mut columns = Vec::new();
    server.store.matrices[bucket].multiply(&selection, &vectors, context, |_, multiply| {
        columns.append(&mut multiply()?[0]);
        Ok(())
    })?;
    for column in columns.iter().take(OPENED) {
        meter.log(context, "first_dimension", meter.nearest(key, column));
    }
    // One part tells as much as all of them.
    columns.truncate(layout.columns);
    let (column_bits, position_bits) = selectors.split_at(layout.column_bits as usize);
    let mut folding = selection.folding(&engine.selector, column_bits);
    folding.extend(columns)?;
    let folded = folding.finish()?.remove(0);
    meter.log(context, "folding", meter.nearest(key, &folded));
    let turned = selection.position(&engine.selector, position_bits, folded, &mut workspace)?;
    meter.log(context, "rotation", meter.nearest(key, &turned));
    let slot = server.project(keys, &turned, &mut workspace)?;
    let kept = |errors: Vec<f64>| errors.into_iter().step_by(layout.dimensions.slots()).collect();
    meter.log(context, "projection", kept(meter.nearest(key, &slot)));
    for (body, key) in server.vectors(keys, &[slot], &mut workspace)?.iter().flatten().zip(&client.secrets.vector) {
        meter.log(context, "vector", kept(meter.nearest(key, body)));
    }
    Ok(())
}
